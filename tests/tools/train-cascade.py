#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains with cuvision-train on drawn pictures: plain C and a single thread give the
same models, and OpenCV finds the same boxes with its cascade as our detector.

usage: train-cascade.py TRAIN DETECT
"""

import importlib
import os
import sys
import tempfile

import cv2

from crosses import Tests, write_coco, write_pictures

REAL_PICTURES = 'home.jpg', 'building.jpg', 'board.jpg', 'left01.jpg', 'sudoku.png'


def use_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def check_versions(tests, coco, model, *more):
    """Plain C and a single thread give the same bytes."""
    if tests.learn(coco, *more, env=dict(os.environ, CUV_CPU_MASK='0'))[0] != model:
        tests.fail(more, 'plain C gives another model')
    if tests.learn(coco, *more, preexec_fn=use_one_processor)[0] != model:
        tests.fail(more, 'one thread gives another model')


def check_opencv(tests, coco, detect):
    """OpenCV finds the same boxes as our detector."""
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


def main():
    program, detect = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(program, folder)
        coco = write_coco(folder, write_pictures(folder))
        check_versions(tests, coco, tests.learn(coco)[0])
        check_opencv(tests, coco, detect)
    return tests.failed > 0


if __name__ == '__main__':
    sys.exit(main())
