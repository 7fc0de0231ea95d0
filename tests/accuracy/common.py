# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared code of the accuracy programs: pipelines and their records, boxes, curves.

docs/accuracy.md describes what the programs measure and the folders that they read.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

import cv2
import numpy as np


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('data', help='the folder of pictures with truth')
    parser.add_argument('--settings', default='', help='further properties of the element, or '
                        'options of the program')
    parser.add_argument('--peers', action='store_true', help='also score other programs')
    parser.add_argument('--json', action='store_true', help='print lines of JSON')
    return parser


def parse(parser):
    cv2.setNumThreads(1)
    return parser.parse_args()


def show(options, **row):
    if options.json:
        print(json.dumps(row), flush=True)
    else:
        print('  '.join(f'{k} {v:.3f}' if isinstance(v, float) else f'{k} {v}'
                        for k, v in row.items()), flush=True)


# ---- pipelines ----

def run(command, **options):
    """Runs a shell command; returns its processor seconds and its result."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    result = subprocess.run(command, shell=True, capture_output=True, text=True, **options)
    return spent() - before, result


def records(pictures, element):
    """Returns for each picture the record that visionpublish writes after the element."""
    found = [{} for _ in pictures]
    with tempfile.TemporaryDirectory() as folder:
        for i, picture in enumerate(pictures):
            cv2.imwrite(f'{folder}/{i:04d}.png', picture, [cv2.IMWRITE_PNG_COMPRESSION, 1])
        _, result = run(
            f'gst-launch-1.0 -q multifilesrc location={folder}/%04d.png '
            f'stop-index={len(pictures) - 1} caps=image/png,framerate=1/1 ! pngdec ! '
            f'videoconvert n-threads=1 ! {element} ! visionpublish add-empty-results=true '
            f'file-path={folder}/records.jsonl ! fakesink sync=false')
        if result.returncode != 0:
            sys.exit(f'{element}: {result.stderr[-400:]}')
        with open(f'{folder}/records.jsonl', encoding='utf-8') as lines:
            for record in map(json.loads, lines):
                found[record['frame_num']] = record
    return found


def milliseconds(picture, element, frames=8):
    """Returns an element's processor time per frame in milliseconds. Runs of `frames` and of twice
    as many frames are timed, with and without the element, so that start and decoding cancel
    out."""
    with tempfile.TemporaryDirectory() as folder:
        cv2.imwrite(folder + '/picture.png', picture)

        def seconds(n, middle):
            return run(f'gst-launch-1.0 -q filesrc location={folder}/picture.png ! pngdec ! '
                       f'videoconvert ! imagefreeze num-buffers={n} ! {middle} '
                       'fakesink sync=false')[0]

        def of_frame(middle):
            spans = [seconds(2 * frames, middle) - seconds(frames, middle) for _ in range(3)]
            return np.median(spans) / frames * 1e3

        return float(of_frame(element + ' !') - of_frame(''))


# ---- boxes ----

def boxes(record, rank_by_neighbours=True):
    """Returns boxes as [x, y, width, height, rank]. Boxes rank by their number of windows, then by
    score; without rank_by_neighbours only by score."""
    found = []
    for o in record.get('objects', []):
        values = {**o.get('detection', {}), **o.get('extra_params', {})}
        score = values.get('score', values.get('confidence', 0))
        rank = score
        if rank_by_neighbours:
            rank = values.get('neighbors', 0) + 1 / (1 + np.exp(-np.clip(score, -30, 30)))
        found.append([o['x'], o['y'], o['w'], o['h'], rank])
    return found


def iou(a, b):
    """Returns the intersection over union of two boxes."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    common = max(0, width) * max(0, height)
    return common / (a[2] * a[3] + b[2] * b[3] - common + 1e-9)


class Curve:
    """Recall against false positives of ranked boxes. found: boxes of each picture; truth: objects
    of each picture, each a list of alternative boxes. In the order of rank, each found box is
    matched to the unmatched object with the highest IoU, if that is at least `threshold`."""

    def __init__(self, found, truth, threshold):
        rows = []
        for of_picture, objects in zip(found, truth):
            used = set()
            for box in sorted(of_picture, key=lambda b: -b[4]):
                best = self._best_object(box, objects, used, threshold)
                used.add(best)
                rows.append((box[4], best is not None))
        rows.sort(key=lambda row: -row[0])
        right = np.array([hit for _, hit in rows], bool)
        self.ranks = np.array([rank for rank, _ in rows])
        self.hits = np.cumsum(right)
        self.mistakes = np.cumsum(~right)
        self.pictures = len(truth)
        self.objects = sum(map(len, truth))

    @staticmethod
    def _best_object(box, objects, used, threshold):
        best, found = threshold, None
        for i, alternatives in enumerate(objects):
            overlap = max(iou(box, a) for a in alternatives)
            if i not in used and overlap >= best:
                best, found = overlap, i
        return found

    def recall_at(self, rate):
        """Returns the best recall with at most `rate` false positives a picture. Boxes of equal
        rank are all counted or all left out."""
        n = len(self.ranks)
        cuts = [i for i in range(n) if self.mistakes[i] <= rate * self.pictures
                and (i == n - 1 or self.ranks[i + 1] < self.ranks[i])]
        return float(self.hits[cuts[-1]] / self.objects) if cuts else 0.0

    def recalls(self):
        return {f'recall at {rate}': self.recall_at(rate) for rate in (0.1, 0.3, 1)}

    def total(self):
        """Returns the recall, and the false positives per picture, of all boxes."""
        if len(self.ranks) == 0:
            return 0.0, 0.0
        return float(self.hits[-1] / self.objects), float(self.mistakes[-1] / self.pictures)


def coco(path):
    """Reads pictures and boxes of a COCO file: [(name, picture, {label: [box, ...]})]."""
    with open(path, encoding='utf-8') as file:
        annotations = json.load(file)
    labels = {c['id']: c['name'] for c in annotations['categories']}
    of_picture = {i['id']: {} for i in annotations['images']}
    for a in annotations['annotations']:
        of_picture[a['image_id']].setdefault(labels[a['category_id']], []).append(a['bbox'])
    folder = os.path.dirname(path)
    return [(i['file_name'], cv2.imread(os.path.join(folder, i['file_name'])),
             of_picture[i['id']]) for i in annotations['images']]
