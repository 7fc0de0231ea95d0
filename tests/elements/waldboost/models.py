#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the models of this project with waldboostdetect on pictures that were not used to train
them.

usage: models.py MODELS                 the test: photographs of opencv-doc
       models.py MODELS FOLDER          digits in pictures of
                                        scripts/models/digits.py
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..',
                                'models', 'waldboost'))
from boxes import overlap

DATA = '/usr/share/doc/opencv-doc/examples/data/'
XCORNER = 'cuvision-xcorner.xml max-size-width=36 nms-iou=0.1'
DIGIT = 'cuvision-digit.xml nms-iou=0.2'
SHOWN = (0.1, 0.3, 1, 3)  # false positives per picture
# The centres of the digits' cells in sudoku.png, row by row.
SUDOKU = [(234, 107), (327, 108), (374, 105), (92, 150), (187, 151), (472, 142),
          (328, 194), (426, 192), (134, 238), (280, 238), (427, 238), (477, 234),
          (81, 285), (481, 283), (77, 336), (128, 335), (278, 337), (430, 335),
          (124, 383), (227, 384), (68, 438), (383, 440), (489, 438), (171, 493),
          (224, 493), (329, 495)]

problems = 0


def check(holds, what):
    global problems
    problems += not holds
    print('ok    ' if holds else 'FAILED', what)


def detect(models, model, paths):
    """Returns the boxes of each picture with their scores, and the mean number of weak classifiers
    per window."""
    results, weak = [], []
    for path in paths:
        out = subprocess.run(
            ['gst-launch-1.0', '-m', *(
                f'filesrc location={path} ! decodebin ! videoconvert'
                f' ! video/x-raw,format=GRAY8 ! waldboostdetect'
                f' model={models}/{model} stats-interval=1'
                ' ! visionpublish add-empty-results=true file-path=found.jsonl'
                ' ! fakesink').split()],
            check=True, stdout=subprocess.PIPE, text=True).stdout
        with open('found.jsonl', encoding='utf-8') as file:
            objects = json.loads(file.readline()).get('objects', [])
        os.remove('found.jsonl')
        results.append([((o['x'], o['y'], o['w'], o['h']),
                         o['detection']['confidence']) for o in objects])
        weak.append(float(re.search(r'weak-per-window=\(double\)([\d.]+)',
                                    out)[1]))
    return results, float(np.mean(weak))


def judge(results, truths, match):
    """Returns for each box, in descending order of confidence, whether it finds an object. truths
    are the objects of each picture; match returns the object nearest to a box."""
    judged = []
    for boxes, truth in zip(results, truths):
        taken = set()
        for box, confidence in sorted(boxes, key=lambda box: -box[1]):
            nearest = match(box, truth, taken)
            if nearest is not None:
                taken.add(nearest)
            judged.append((confidence, nearest is not None))
    return sorted(judged, key=lambda one: -one[0])


def recall_at(judged, n_objects, n_mistakes):
    found = mistakes = best = 0
    for _, right in judged:
        found += right
        mistakes += not right
        if mistakes > n_mistakes:
            break
        best = found
    return best / n_objects


def report(name, judged, n_objects, n_pictures, weak):
    print(f'{name}: {n_objects} objects in {n_pictures} pictures; '
          + ', '.join(f'recall {recall_at(judged, n_objects, s * n_pictures):.3f}'
                      f' at {s}' for s in SHOWN)
          + f' false positives per picture; all boxes: recall'
          f' {recall_at(judged, n_objects, len(judged)):.3f} at'
          f' {sum(not right for _, right in judged) / n_pictures:.2f};'
          f' {weak:.2f} weak classifiers per window')


# ---- corners of chessboards ----


def corners_of(path):
    picture = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    found, corners = cv2.findChessboardCorners(picture, (9, 6))
    assert found, path
    return cv2.cornerSubPix(picture, corners, (5, 5), (-1, -1),
                            (3, 30, 0.01)).reshape(-1, 2)


def match_point(box, points, taken):
    """Returns the corner within three pixels of the box's centre."""
    x, y, width, height = box
    distances = np.hypot(points[:, 0] - (x + width / 2 - 0.5),
                         points[:, 1] - (y + height / 2 - 0.5))
    distances[list(taken)] = np.inf
    return int(distances.argmin()) if distances.min() <= 3 else None


def measure_corners(models):
    paths = sorted(glob.glob(DATA + 'left[01]*.jpg')
                   + glob.glob(DATA + 'right[01]*.jpg'))
    truths = [corners_of(path) for path in paths]
    results, weak = detect(models, XCORNER, paths)
    judged = judge(results, truths, match_point)
    n_objects = sum(map(len, truths))
    report('corners of chessboards', judged, n_objects, len(paths), weak)
    check(len(paths) == 26 and n_objects == 1404, '26 photographs')
    check(recall_at(judged, n_objects, len(paths)) >= 0.95,
          'recall of 0.95 at one false positive per picture')
    check(weak <= 6, 'at most 6 weak classifiers per window')


# ---- nothing ----


def measure_nothing(models):
    paths = [DATA + 'left01.jpg', DATA + 'sudoku.png']
    results, weak = detect(models, 'cuvision-empty.xml final-threshold=-1000', paths)
    check(results == [[], []] and weak == 1, 'the empty model rejects all windows at once')
    cascade = cv2.CascadeClassifier(f'{models}/cuvision-empty.xml')
    found = cascade.detectMultiScale(cv2.imread(paths[0], cv2.IMREAD_GRAYSCALE), 1.1, 0)
    check(len(found) == 0, 'OpenCV finds nothing with it either')


# ---- digits ----


def match_cell(box, cells, taken):
    x, y, width, height = box
    for i, (cell_x, cell_y) in enumerate(cells):
        if i not in taken and abs(x + width / 2 - cell_x) < 8 \
                and abs(y + height / 2 - cell_y) < 8:
            return i
    return None


def measure_sudoku(models):
    results, weak = detect(models, DIGIT, [DATA + 'sudoku.png'])
    judged = judge(results, [SUDOKU], match_cell)
    report('sudoku.png', judged, len(SUDOKU), 1, weak)
    found = sum(right for _, right in judged)
    check(found >= 24, f'{found} of 26 digits of sudoku.png')
    check(len(judged) - found <= 3,
          f'{len(judged) - found} boxes elsewhere in sudoku.png')


def match_box(box, truth, taken):
    shares = [0 if i in taken else overlap(box, other)
              for i, other in enumerate(truth)]
    best = int(np.argmax(shares)) if shares else 0
    return best if shares and shares[best] >= 0.5 else None


def measure_digits(models, folder):
    with open(os.path.join(folder, 'annotations.json'), encoding='utf-8') as file:
        coco = json.load(file)
    paths = [os.path.join(folder, image['file_name']) for image in coco['images']]
    boxes = [[b for b in coco['annotations'] if b['image_id'] == image['id']]
             for image in coco['images']]
    truths = [[b['bbox'] for b in of if not b['iscrowd']] for of in boxes]
    results, weak = detect(models, DIGIT, paths)
    results = [[one for one in found
                if all(overlap(one[0], b['bbox']) < 0.5
                       for b in of if b['iscrowd'])]
               for found, of in zip(results, boxes)]
    judged = judge(results, truths, match_box)
    n_objects = sum(map(len, truths))
    report('digits', judged, n_objects, len(paths), weak)
    check(recall_at(judged, n_objects, len(paths)) >= 0.9,
          'recall of 0.9 at one false positive per picture')


def main():
    models = os.path.realpath(sys.argv[1])
    folder = os.path.realpath(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        if folder is not None:
            measure_digits(models, folder)
        else:
            measure_corners(models)
            measure_sudoku(models)
            measure_nothing(models)
        os.chdir('/')
    return problems > 0


if __name__ == '__main__':
    sys.exit(main())
