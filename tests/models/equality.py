#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our boxes against OpenCV's, box for box.   equality.py DETECT [--all]

Pictures of opencv-doc, the LBP cascades of opencv-data and random ones. OpenCV
gets its own grey of the decoded picture, ours the picture. Without --all every
picture is looked at with some of the settings only."""
import glob
import itertools
import os
import random
import subprocess
import sys
import tempfile

import cv2
import numpy as np

from cascade import KINDS, write_cascade

DATA = '/usr/share/doc/opencv-doc/examples/data'
CASCADES = '/usr/share/opencv4/lbpcascades'
# Where no scale lies between the limits, the nearest one is used.
LIMITS = [((0, 0), (0, 0)), ((40, 40), (120, 160)), ((95, 95), (96, 96))]
SETTINGS = list(itertools.product((1.1, 1.25), (0, 3), LIMITS))


def need(paths, package):
    if not paths:
        sys.exit(f'no files: install the package {package}')
    return sorted(paths)


def pictures():
    names = [name for kind in ('jpg', 'png')
             for name in glob.glob(f'{DATA}/*.{kind}')]
    return need(names, 'opencv-doc')


class Comparison:
    """Runs both and counts."""

    def __init__(self, detect, folder):
        self.detect = detect
        self.path = os.path.join(folder, 'picture.ppm')
        self.cases = self.boxes = self.failures = self.single_scale = 0

    def take(self, picture):
        """Writes the picture with its bytes as they are, B G R."""
        self.grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        cv2.imwrite(self.path, picture[:, :, ::-1])

    def ours(self, model, factor, neighbours, low, high, mask):
        words = [self.detect, 'run', model, self.path, str(factor),
                 str(neighbours), *map(str, low + high)]
        out = subprocess.run(words, check=True, capture_output=True, text=True,
                             env=dict(os.environ, CUV_CPU_MASK=mask)).stdout
        return sorted(tuple(map(int, line.split()[:4]))
                      for line in out.splitlines())

    def compare(self, name, model, setting, mask='0xffffffff'):
        factor, neighbours, (low, high) = setting
        cascade = cv2.CascadeClassifier(model)
        theirs = sorted(tuple(map(int, box)) for box in
                        cascade.detectMultiScale(self.grey, factor, neighbours,
                                                 0, low, high))
        ours = self.ours(model, factor, neighbours, low, high, mask)
        self.cases += 1
        self.boxes += len(theirs)
        self.single_scale += low == (95, 95) and len(theirs) > 0
        if ours != theirs:
            self.failures += 1
            print(f'{name}, {os.path.basename(model)}, {setting}: '
                  f'{len(theirs)} boxes of OpenCV, {len(ours)} of ours, '
                  f'{len(set(ours) ^ set(theirs))} differ')


def compare_shipped(comparison, everything):
    models = need(glob.glob(f'{CASCADES}/*.xml'), 'opencv-data')
    assert len(models) == 5, models
    for i, path in enumerate(pictures()):
        picture = cv2.imread(path, cv2.IMREAD_COLOR)
        if picture is None:
            sys.exit(f'{path} cannot be read')
        comparison.take(picture)
        cases = list(itertools.product(models, SETTINGS))
        if not everything:  # of 60 cases 3, others for each picture
            cases = cases[i % 19::19]
        for model, setting in cases:
            comparison.compare(os.path.basename(path), model, setting)


def noise(width, height):
    octaves = [cv2.resize(np.random.RandomState(k).randint(
        0, 256, (height >> k, width >> k, 3)).astype(np.float32),
        (width, height)) for k in range(5)]
    return np.clip(sum(octaves) / 5, 0, 255).astype(np.uint8)


def compare_random(comparison, everything):
    """Models of other shapes than those that are shipped; and plain C."""
    rng = random.Random(4)
    # From 257 to 256 pixels each weight of a resize lies between two integers.
    ties = 257 / 256, 0, ((0, 0), (15, 12))
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for seed in range(40 if everything else 8):
                path = os.path.join(folder, f'{kind}-{seed}.xml')
                with open(path, 'w', encoding='ascii') as file:
                    file.write(write_cascade(seed, kind))
                mask = rng.choice(('0', '0xffffffff'))
                comparison.take(noise(241, 200))
                comparison.compare('noise', path, rng.choice(SETTINGS), mask)
                if kind == 'stumps':
                    comparison.take(noise(257, 40))
                    comparison.compare('noise', path, ties, mask)


def compare_groups(comparison, everything):
    """Lists of rectangles, grouped by both."""
    rng = np.random.RandomState(5)
    for neighbours in (1, 2, 3, 5):
        lists = []
        for _ in range(1000 if everything else 250):
            n, spread = rng.randint(1, 200), rng.choice((10, 40, 300))
            sizes = rng.randint(1, rng.choice((20, 100, 400)), (n, 2))
            boxes = np.hstack([rng.randint(0, spread, (n, 2)), sizes])
            if rng.randint(2): # alike, as a detector's are
                boxes = np.maximum(
                    boxes[rng.randint(0, 1 + n // 10, n)]
                    + rng.randint(-4, 5, (n, 4)), [0, 0, 1, 1])
            lists.append(boxes)
        text = '\n'.join(' '.join(map(str, [len(boxes), *boxes.ravel()]))
                         for boxes in lists)
        out = subprocess.run([comparison.detect, 'group', str(neighbours)],
                             input=text, check=True, capture_output=True,
                             text=True).stdout.splitlines()
        assert len(out) == len(lists)
        for line, boxes in zip(out, lists):
            ours = sorted(zip(*[iter(map(int, line.split()[1:]))] * 5))
            found, counts = cv2.groupRectangles(boxes.tolist(), neighbours, 0.2)
            theirs = sorted((*map(int, box), int(n))
                            for box, n in zip(found, np.ravel(counts)))
            comparison.cases += 1
            comparison.boxes += len(theirs)
            if ours != theirs:
                comparison.failures += 1
                print(f'{len(boxes)} boxes, more than {neighbours}: '
                      f'{theirs} of OpenCV, {ours} of ours')


def main():
    everything = '--all' in sys.argv
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for compare in (compare_shipped, compare_random, compare_groups):
            comparison = Comparison(sys.argv[1], folder)
            compare(comparison, everything)
            failures += comparison.failures
            print(f'{compare.__name__}: {comparison.cases} cases, '
                  f'{comparison.boxes} boxes, {comparison.failures} differ',
                  flush=True)
            if comparison.boxes == 0:
                sys.exit('no boxes: nothing was compared')
            if compare is compare_shipped and comparison.single_scale == 0:
                sys.exit('no box where no scale fits: not compared')
    sys.exit(failures > 0)


main()
