#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores rcdtrack on videos with one box per frame: it gets the first box and runs once.

Prints for each video the mean IoU, the area under the success curve, the precision (centres within
20 pixels), the fraction of frames that are lost (no box, or an IoU below 0.1) and the processor
time per frame, then the means over videos of fewer than 720 lines and over all others. --peers adds
CSRT, KCF and MIL of opencv-contrib.
"""

import csv
import glob
import json
import os
import sys
import tempfile
import time

import cv2
import numpy as np

from common import arguments, iou, parse, run, show

FIELDS = ('x', 'y', 'width', 'height')
PEERS = ('CSRT', 'KCF', 'MIL')


def load(folder):
    """Returns frames, and boxes as rows of four numbers, NaN where the object is absent."""
    with open(folder + '/truth.csv', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    truth = np.array([[float(row[k]) if row[k] else np.nan for k in FIELDS] for row in rows])
    names = sorted(glob.glob(folder + '/*.jpg'))[:len(rows)]
    return [cv2.imread(name) for name in names], truth


def score(found, truth):
    used = ~np.isnan(truth[:, 0])
    used[0] = False  # the tracker got this box
    none = np.isnan(found[:, 0])
    overlap = np.array([0 if n else iou(f, t)
                        for f, t, n in zip(found, np.nan_to_num(truth), none)])[used]
    apart = found[:, :2] + found[:, 2:] / 2 - truth[:, :2] - truth[:, 2:] / 2
    distance = np.where(none, np.inf, np.hypot(*apart.T))[used]
    steps = np.linspace(0, 1, 21)
    return {'iou': float(overlap.mean()),
            'auc': float(np.mean([(overlap > step).mean() for step in steps])),
            'precision': float((distance <= 20).mean()),
            'lost': float((overlap < 0.1).mean())}


def first_box(frames, truth):
    """Returns the box of the first frame in whole pixels, clipped to the picture."""
    height, width = frames[0].shape[:2]
    x, y, w, h = (int(round(v)) for v in truth[0])
    x, y = max(x, 0), max(y, 0)
    return x, y, min(w, width - x), min(h, height - y)


def track(frames, truth, settings):
    height, width = frames[0].shape[:2]
    x, y, w, h = first_box(frames, truth)
    found = np.full((len(frames), 4), np.nan)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + '/video', 'wb') as video:
            for frame in frames:
                video.write(frame.tobytes())

        def line(element):
            return (f'gst-launch-1.0 -q filesrc location={folder}/video '
                    f'blocksize={width * height * 3} ! rawvideoparse format=bgr '
                    f'width={width} height={height} framerate=25/1 ! videoconvert n-threads=1 '
                    f'! video/x-raw,format=I420 ! {element} fakesink sync=false')

        without, _ = run(line(''))
        seconds, result = run(line(
            f'rcdtrack n-threads=1 message=none object-initial-x={x} object-initial-y={y} '
            f'object-initial-width={w} object-initial-height={h} {settings} ! '
            f'visionpublish file-path={folder}/records.jsonl !'))
        if result.returncode != 0:
            sys.exit(result.stderr[-400:])
        with open(folder + '/records.jsonl', encoding='utf-8') as lines:
            for record in map(json.loads, lines):
                for box in record.get('objects', [])[:1]:
                    found[record['frame_num']] = [box[k] for k in 'xywh']
    return found, (seconds - without) / len(frames) * 1e3


def track_with_peer(name, frames, truth):
    tracker = getattr(cv2, f'Tracker{name}_create')()
    tracker.init(frames[0], first_box(frames, truth))
    found = np.full((len(frames), 4), np.nan)
    found[0] = truth[0]
    start = time.thread_time()
    for i, frame in enumerate(frames[1:], 1):
        ok, box = tracker.update(frame)
        if ok:
            found[i] = box
    return found, (time.thread_time() - start) / len(frames) * 1e3


def main():
    options = parse(arguments(__doc__))
    methods = {'rcdtrack': lambda f, t: track(f, t, options.settings)}
    if options.peers:
        for name in PEERS:
            methods[name] = lambda f, t, name=name: track_with_peer(name, f, t)
    groups = {}
    for name in sorted(os.listdir(options.data)):
        frames, truth = load(os.path.join(options.data, name))
        size = '720p' if frames[0].shape[0] >= 700 else 'small'
        for method, function in methods.items():
            found, ms = function(frames, truth)
            row = {**score(found, truth), 'ms': float(ms)}
            show(options, method=method, video=name, **row)
            groups.setdefault((method, size), []).append(row)
    for (method, size), rows in groups.items():
        show(options, method=method, video=f'mean of {size}',
             **{k: float(np.mean([row[k] for row in rows])) for k in rows[0]})


main()
