#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that our boxes equal OpenCV's.

usage: equality.py DETECT [--all]

Pictures are those of opencv-doc; cascades are those of opencv-data and random ones, LBP
and Haar. We get the decoded picture, OpenCV gets it converted to grey by OpenCV itself.
Without --all only some models and settings are used for each picture, and at
most 640 x 480 pixels."""
import glob
import itertools
import math
import os
import random
import subprocess
import sys
import tempfile

import cv2
import numpy as np

import brute
import storage
from cascade import KINDS, write_cascade

DATA = '/usr/share/doc/opencv-doc/examples/data'
CASCADES = '/usr/share/opencv4'
# If no scale is within the limits, the nearest one is used.
LIMITS = [((0, 0), (0, 0)), ((40, 40), (120, 160)), ((95, 95), (96, 96))]
SETTINGS = list(itertools.product((1.1, 1.25), (0, 3), LIMITS))


def need(paths, package):
    if not paths:
        sys.exit(f'files are missing: install the package {package}')
    return sorted(paths)


def pictures():
    names = [name for kind in ('jpg', 'png')
             for name in glob.glob(f'{DATA}/*.{kind}')]
    return need(names, 'opencv-doc')


def last_threshold(model):
    """Returns the threshold of OpenCV's last stage."""
    source = cv2.FileStorage(model, cv2.FileStorage_READ)
    stages = source.getFirstTopLevelNode().getNode('stages')
    last = stages.at(stages.size() - 1)
    node = last.getNode('stageThreshold')
    if node.empty():  # a file in the old format
        node = last.getNode('stage_threshold')
    return float(np.float32(node.real()) - np.float32(1e-5))


class Comparison:
    """Runs both detectors and counts differences."""

    def __init__(self, detect, folder):
        self.detect = detect
        self.folder = folder
        self.path = os.path.join(folder, 'picture.ppm')
        self.cases = self.boxes = self.failures = self.single_scale = 0

    def take(self, picture):
        """Writes the picture with its bytes unchanged, in BGR order."""
        self.grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        cv2.imwrite(self.path, picture[:, :, ::-1])

    def theirs(self, model, factor, neighbours, low, high):
        cascade = cv2.CascadeClassifier(model)
        if neighbours > 0:  # groups have no score
            boxes = cascade.detectMultiScale(self.grey, factor, neighbours, 0,
                                             low, high)
            return sorted((*map(int, box), 0.) for box in boxes)
        boxes, _, sums = cascade.detectMultiScale3(self.grey, factor, 0, 0, low,
                                                   high, True)
        least = last_threshold(model)
        return sorted((*map(int, box), float(total) - least)
                      for box, total in zip(boxes, np.ravel(sums)))

    def ours(self, model, factor, neighbours, low, high, mask):
        words = [self.detect, 'run', model, self.path, str(factor),
                 str(neighbours), *map(str, low + high)]
        out = subprocess.run(words, check=True, capture_output=True, text=True,
                             env=dict(os.environ, CUV_CPU_MASK=mask)).stdout
        lines = (line.split() for line in out.splitlines())
        return sorted((*map(int, line[:4]),
                       0. if neighbours > 0 else float(line[5]))
                      for line in lines)

    def compare(self, name, model, setting, mask='0xffffffff'):
        factor, neighbours, (low, high) = setting
        theirs = self.theirs(model, factor, neighbours, low, high)
        ours = self.ours(model, factor, neighbours, low, high, mask)
        self.cases += 1
        self.boxes += len(theirs)
        self.single_scale += low == (95, 95) and len(theirs) > 0
        if [box[:4] for box in ours] != [box[:4] for box in theirs]:
            self.failures += 1
            print(f'{name}, {os.path.basename(model)}, {setting}: '
                  f'{len(theirs)} boxes of OpenCV, {len(ours)} of ours, '
                  f'{len(set(ours) ^ set(theirs))} differ', flush=True)
        else:
            self.compare_scores(f'{name}, {os.path.basename(model)}, {setting}',
                                [box[4] for box in theirs],
                                [box[4] for box in ours])

    def compare_scores(self, name, theirs, ours):
        """Compares scores: OpenCV's are doubles, ours are rounded to float."""
        wrong = [(a, b) for a, b in zip(theirs, ours)
                 if not math.isclose(a, b, rel_tol=2e-7, abs_tol=2e-7)]
        if wrong:
            self.failures += 1
            print(f'{name}: scores {wrong[:5]}', flush=True)


def shipped_models():
    models = need(glob.glob(f'{CASCADES}/*cascades/*.xml'), 'opencv-data')
    kinds = [os.path.basename(model)[:3] for model in models]
    assert kinds.count('haa') == 17 and kinds.count('lbp') == 5, models
    return models


def compare_shipped(comparison, everything):
    cases = list(itertools.product(SETTINGS, shipped_models()))
    for i, path in enumerate(pictures()):
        picture = cv2.imread(path, cv2.IMREAD_COLOR)
        if picture is None:
            sys.exit(f'{path} cannot be read')
        chosen = cases
        if not everything:  # two of 264 combinations, different ones for each picture
            picture = picture[:480, :640]
            chosen = cases[i * 25 % 132::132]
        comparison.take(picture)
        for setting, model in chosen:
            comparison.compare(os.path.basename(path), model, setting,
                               '0' if i % 5 == 0 else '0xffffffff')


def noise(width, height):
    octaves = [cv2.resize(np.random.RandomState(k).randint(
        0, 256, (height >> k, width >> k, 3)).astype(np.float32),
        (width, height)) for k in range(5)]
    return np.clip(sum(octaves) / 5, 0, 255).astype(np.uint8)


def compare_random(comparison, everything):
    """Compares models of other kinds than those of opencv-data, and plain C."""
    rng = random.Random(4)
    # Resizing from 257 to 256 pixels has no integer weights.
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


def compare_storage(comparison, everything):
    """Compares models in other forms of cv::FileStorage, and in the format of OpenCV 1."""
    ends = ('yml', 'json', 'xml.gz', 'yml.gz')
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, 'new.xml')
        for kind, seed in itertools.product(KINDS, range(20 if everything else 2)):
            with open(model, 'w', encoding='ascii') as file:
                file.write(write_cascade(seed, kind))
            models = [model]
            if 'haar' in kind:
                models.append(os.path.join(folder, 'old.xml'))
                storage.write_old(*models)
            copies = [(one, f'{one[:-4]}.{end}') for one in models for end in ends]
            for one, path in copies:
                storage.write_copy(one, path)
            comparison.take(noise(120, 100))
            for path in models[1:] + [path for _, path in copies]:
                comparison.compare(kind, path, (1.2, 0, LIMITS[0]))


def window_scores(model, picture, width, height):
    """Detects in each window as a separate picture. Returns {(x, y): score} of the hits."""
    cascade, least, found = cv2.CascadeClassifier(model), last_threshold(
        model), {}
    for y in range(picture.shape[0] - height + 1):
        for x in range(picture.shape[1] - width + 1):
            window = picture[y:y + height, x:x + width].copy()
            _, _, sums = cascade.detectMultiScale3(window, 2, 0, 0, (0, 0),
                                                   (0, 0), True)
            if len(sums) > 0:
                found[x, y] = float(np.ravel(sums)[0]) - least
    return found


def dense_hits(comparison, path):
    out = subprocess.run(
        [comparison.detect, 'hits', path, comparison.path, 'scan=dense',
         'octaves=2', 'levels-per-octave=3'], check=True, capture_output=True,
        text=True).stdout
    lines = (line.split() for line in out.splitlines()
             if line.startswith('hit '))
    return {tuple(map(int, line[1:4])): float.fromhex(line[4])
            for line in lines}


def compare_dense(comparison, everything):
    """Compares cascades at every position of a pyramid of octaves."""
    path = os.path.join(comparison.folder, 'dense.xml')
    for kind, seed in itertools.product(KINDS, range(10 if everything else 1)):
        with open(path, 'w', encoding='ascii') as file:
            file.write(write_cascade(seed, kind))
        width, height = KINDS[kind]['window']
        comparison.take(noise(2 * width + 9, height + 20))
        levels = brute.dense_levels(brute.Model(kind, width, height, 0, []),
                                    comparison.grey, 2, 3)
        theirs = {(i, *place): score for i, level in enumerate(levels)
                  for place, score in window_scores(
                      path, level.grey, width, height).items()}
        ours = dense_hits(comparison, path)
        comparison.cases += 1
        comparison.boxes += len(theirs)
        if set(ours) == set(theirs):
            comparison.compare_scores(f'{kind} {seed}, dense', theirs.values(),
                                      [ours[place] for place in theirs])
        else:
            comparison.failures += 1
            print(f'{kind} {seed}, dense: {len(theirs)} windows of OpenCV, '
                  f'{len(ours)} of ours')


def compare_groups(comparison, everything):
    """Groups random lists of rectangles with our code and with cv::groupRectangles."""
    rng = np.random.RandomState(5)
    for neighbours, (name, eps) in itertools.product(
            (1, 2, 3, 5), (('neighbors', .2), ('wbd', .7))):
        lists = []
        for _ in range(1000 if everything else 120):
            n, spread = rng.randint(1, 200), rng.choice((10, 40, 300))
            sizes = rng.randint(1, rng.choice((20, 100, 400)), (n, 2))
            boxes = np.hstack([rng.randint(0, spread, (n, 2)), sizes])
            if rng.randint(2): # similar rectangles, like those of a detector
                boxes = np.maximum(
                    boxes[rng.randint(0, 1 + n // 10, n)]
                    + rng.randint(-4, 5, (n, 4)), [0, 0, 1, 1])
            lists.append(boxes)
        text = '\n'.join(' '.join(map(str, [len(boxes), *boxes.ravel()]))
                         for boxes in lists)
        out = subprocess.run([comparison.detect, 'group', str(neighbours),
                              f'grouping={name}'],
                             input=text, check=True, capture_output=True,
                             text=True).stdout.splitlines()
        assert len(out) == len(lists)
        for line, boxes in zip(out, lists):
            ours = sorted(zip(*[iter(map(int, line.split()[1:]))] * 5))
            found, counts = cv2.groupRectangles(boxes.tolist(), neighbours, eps)
            theirs = sorted((*map(int, box), int(n))
                            for box, n in zip(found, np.ravel(counts)))
            comparison.cases += 1
            comparison.boxes += len(theirs)
            if ours != theirs:
                comparison.failures += 1
                print(f'{len(boxes)} boxes, {name}, more than {neighbours}: '
                      f'{theirs} of OpenCV, {ours} of ours')


def main():
    everything = '--all' in sys.argv
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for compare in (compare_shipped, compare_random, compare_storage,
                        compare_dense, compare_groups):
            comparison = Comparison(sys.argv[1], folder)
            compare(comparison, everything)
            failures += comparison.failures
            print(f'{compare.__name__}: {comparison.cases} cases, '
                  f'{comparison.boxes} boxes, {comparison.failures} differ',
                  flush=True)
            if comparison.boxes == 0:
                sys.exit('no boxes: nothing was compared')
            if compare is compare_shipped and comparison.single_scale == 0:
                sys.exit('no boxes in the cases where no scale fits: not compared')
    sys.exit(failures > 0)


if __name__ == '__main__':
    main()
