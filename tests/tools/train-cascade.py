#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains with cuvision-train on drawn pictures: plain C and a single thread give the
same models, and OpenCV finds the same boxes with its cascade as our detector, with few
mistakes in new pictures.

usage: train-cascade.py TRAIN DETECT
"""

import importlib
import json
import os
import sys
import tempfile

import cv2
import numpy as np

from crosses import Tests, draw, use_one_processor, write_coco, write_pictures

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                                'models', 'waldboost'))
from boxes import overlap

N_NEW = 40
REAL_PICTURES = 'home.jpg', 'building.jpg', 'board.jpg', 'left01.jpg', 'sudoku.png'


def check_versions(tests, coco, model, *more):
    """Checks that plain C and a single thread give the same bytes."""
    if tests.learn(coco, *more, env=dict(os.environ, CUV_CPU_MASK='0'))[0] != model:
        tests.fail(more, 'plain C gives another model')
    if tests.learn(coco, *more, preexec_fn=use_one_processor)[0] != model:
        tests.fail(more, 'one thread gives another model')


def check_opencv(tests, coco, detect):
    """Checks that OpenCV finds the same boxes as our detector."""
    options = '--format', 'opencv', '--weak', '24'
    model, recall = tests.learn(coco, *options)
    print(f'OpenCV cascade: recall {recall}')
    if recall < 0.6:
        tests.fail('recall', recall)
    check_versions(tests, coco, model, *options)
    with open(os.path.join(tests.folder, 'opencv.xml'), 'wb') as out:
        out.write(model)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    '..', 'models', 'waldboost'))
    equality = importlib.import_module('equality')
    comparison = equality.Comparison(detect, tests.folder)
    names = [os.path.join(equality.DATA, name) for name in REAL_PICTURES]
    for path in [os.path.join(tests.folder, '00.png'), *names]:
        comparison.take(cv2.imread(path, cv2.IMREAD_COLOR))
        for neighbours in (0, 3):
            comparison.compare(path, out.name, (1.1, neighbours, ((0, 0), (0, 0))))
    print(f'{comparison.cases} cases, {comparison.boxes} boxes, '
          f'{comparison.failures} differ')
    if comparison.failures or comparison.boxes < 100:
        tests.fail('OpenCV and the detector differ, or find too few boxes')


def count_boxes(cascade, rng):
    """Returns how many objects OpenCV finds in new pictures with its usual grouping, how many there
    are, and how many mistakes it makes."""
    n_found = n_objects = n_mistakes = 0
    for _ in range(N_NEW):
        picture, objects = draw(rng)
        found = cascade.detectMultiScale(picture, 1.1, 3)
        n_found += sum(any(overlap(box, object_) >= 0.5 for box in found)
                       for object_ in objects)
        n_objects += len(objects)
        n_mistakes += sum(all(overlap(box, object_) < 0.5 for object_ in objects)
                          for box in found)
    return n_found / n_objects, n_mistakes / N_NEW


def check_threshold(tests, coco):
    """Checks that the cascade with its own threshold makes about one mistake per picture."""
    mistakes = {}
    for n in ('inf', '1'):
        report = os.path.join(tests.folder, 'report')
        model, _ = tests.learn(coco, '--format', 'opencv', '--weak', '12',
                               '--report', report, '--false-positives', n)
        with open(os.path.join(report, 'report.json'), encoding='utf-8') as file:
            written = json.load(file)['as_written']
        path = os.path.join(tests.folder, f'cascade-{n}.xml')
        with open(path, 'wb') as out:
            out.write(model)
        recall, mistakes[n] = count_boxes(cv2.CascadeClassifier(path),
                                          np.random.default_rng(11))
        print(f'--false-positives {n}: {mistakes[n]} in new pictures, recall {recall};',
              written)
    if mistakes['1'] > 2 or mistakes['inf'] < 10 or recall < 0.8 \
            or written['calibration']['false_positives_per_picture'] > 1:
        tests.fail('the threshold of a cascade', mistakes, recall, written)


def main():
    program, detect = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(program, folder)
        coco = write_coco(folder, write_pictures(folder))
        check_versions(tests, coco, tests.learn(coco)[0])
        check_opencv(tests, coco, detect)
        check_threshold(tests, coco)
    return tests.failed > 0


if __name__ == '__main__':
    sys.exit(main())
