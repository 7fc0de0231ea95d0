#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares a detector behind visionmotion with the same detector on whole frames.

The folder is that of opencv-doc's videos. A box of the whole frame is found if one behind
visionmotion overlaps it by more than a half; it is of what moves if a tenth of it is in boxes of
visionmotion. `time` is the detector's processor time, as a part of that for whole frames.
--settings are properties of visionmotion; --check fails if too little is found."""

import json
import os
import re
import sys
import tempfile

import numpy as np

from common import arguments, iou, parse, run, show

MOTION = 'visionmotion message=none n-threads=1 '
START = 5   # frames in which visionmotion learns the background


def search(options, motion, region):
    """Returns the record and the number of windows of each frame, and the processor time."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(options.data, options.film)
        seconds, result = run(
            f'gst-launch-1.0 -m filesrc location={path} ! decodebin ! videoconvert ! {motion} '
            f'waldboostdetect model={options.model} label=found {region} n-threads=1 message=none '
            f'stats-interval=1 ! visionpublish add-empty-results=true '
            f'file-path={folder}/records.jsonl ! fakesink num-buffers={options.frames}')
        if result.returncode != 0:
            sys.exit(result.stderr[-400:])
        with open(folder + '/records.jsonl', encoding='utf-8') as lines:
            records = list(map(json.loads, lines))
    windows = [int(n) for n in re.findall(r'waldboostdetect-stats.*? windows=\(guint64\)(\d+)',
                                          result.stdout)]
    return records, np.array(windows), seconds


def boxes_of(record, label):
    return [(o['x'], o['y'], o['w'], o['h']) for o in record.get('objects', [])
            if o['roi_type'] == label]


def n_found(boxes, among):
    return sum(any(iou(box, other) > 0.5 for other in among) for box in boxes)


def moves(box, parts):
    def common(first, size, other, other_size):
        return max(min(first + size, other + other_size) - max(first, other), 0)

    return sum(common(box[0], box[2], part[0], part[2]) * common(box[1], box[3], part[1], part[3])
               for part in parts) > box[2] * box[3] / 10


def compare(options):
    gate = 'inference-region=roi-centers object-class='
    of_motion, _, idle_gated = search(options, MOTION + '!', gate + 'none')
    _, _, idle = search(options, '', gate + 'none')
    whole, whole_windows, seconds = search(options, '', '')
    gated, windows, seconds_gated = search(
        options, f'{MOTION}{options.settings} !', gate + 'motion')
    counts = np.zeros(4)
    # after num-buffers a later frame of the film follows
    frames = slice(START, options.frames)
    for motion, a, b in zip(of_motion[frames], whole[frames], gated[frames]):
        there, here = boxes_of(a, 'found'), boxes_of(b, 'found')
        moving = [box for box in there if moves(box, boxes_of(motion, 'motion'))]
        counts += [n_found(there, here), len(there), n_found(moving, here), len(moving)]
    return {'boxes': int(counts[1]), 'recall': counts[0] / counts[1], 'moving': int(counts[3]),
            'recall of moving': counts[2] / counts[3],
            'windows': windows[frames].sum() / whole_windows[frames].sum(),
            'time': (seconds_gated - idle_gated) / (seconds - idle)}


def main():
    parser = arguments(__doc__)
    parser.set_defaults(settings='padding=25')
    parser.add_argument('--film', default='vtest.avi')
    parser.add_argument('--model', default='haarcascade_fullbody.xml')
    parser.add_argument('--frames', type=int, default=795, help='of the film')
    parser.add_argument('--check', action='store_true')
    options = parse(parser)
    row = compare(options)
    show(options, model=options.model, **row)
    if options.check and not (row['recall of moving'] >= 0.97 and row['windows'] <= 0.4):
        sys.exit('too little is found, or too much is searched')


if __name__ == '__main__':
    main()
