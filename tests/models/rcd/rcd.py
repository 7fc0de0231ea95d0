#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares distances of regions with NumPy's on real pictures. NumPy's features are computed by
OpenCV, and the pixels of each window are summed directly.

usage: rcd.py REGIONS
"""
import os
import random
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'check'))
from checks import check, failures

DATA = '/usr/share/doc/opencv-doc/examples/data/'
PICTURES = ('fruits.jpg', 'home.jpg', 'baboon.jpg')
N_WINDOWS = 80


# ---- ours ----

def find_regions(program, picture, features, metric, cell, refine, box):
    """Returns all windows and their distances, and the best window and its distance after
    refinement."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'picture.ppm')
        height, width, _ = picture.shape
        with open(file, 'wb') as to:
            to.write(b'P6 %d %d 255\n' % (width, height) + picture.tobytes())
        args = [features, metric, cell, refine, *box]
        out = subprocess.run([program, file] + [str(a) for a in args],
                             check=True, stdout=subprocess.PIPE).stdout
    lines = [line.split() for line in out.decode().splitlines()]
    found = [(tuple(int(v) for v in line[:4]), float(line[4]))
             for line in lines]
    return found[:-1], found[-1]


# ---- NumPy ----

def planes_of(picture, features):
    """Returns planes of features, int64, n x height x width."""
    colours = [picture[..., i].astype(np.int64) for i in range(3)]
    r, g, b = colours
    grey = ((17216 * r + 44434 * g + 3886 * b + 32768) >> 16).astype(np.int16)
    border = cv2.BORDER_REPLICATE

    def filtered(kernel):
        return cv2.filter2D(grey.astype(np.float64), -1, np.array(kernel),
                            borderType=border).astype(np.int64)

    ix = cv2.Sobel(grey, cv2.CV_16S, 1, 0, ksize=3, borderType=border)
    iy = cv2.Sobel(grey, cv2.CV_16S, 0, 1, ksize=3, borderType=border)
    ix, iy, grey = (a.astype(np.int64) for a in (ix, iy, grey))
    if features == 'grey-grad':
        return np.array([grey, ix, iy])
    if features == 'rgb-grad':
        return np.array(colours + [ix, iy])
    y, x = np.indices(grey.shape)
    return np.array([x, y] + colours + [np.abs(a) for a in (
        ix, iy, filtered([[1., -2., 1.]]), filtered([[1.], [-2.], [1.]]))])


def covariance(planes, box, place):
    """Returns the covariance of a window; x and y are scaled to the size of place."""
    x, y, w, h = box
    z = planes[:, y:y + h, x:x + w].reshape(len(planes), -1)
    n, sums, products = z.shape[1], z.sum(axis=1), z @ z.T
    c = (n * products - np.outer(sums, sums)) / (n * (n - 1.))
    if len(planes) == 9:
        scale = np.ones(9)
        scale[:2] = place[2] / w, place[3] / h
        c = c * np.outer(scale, scale)
    return c + np.eye(len(c)) / 12


def distance_of(a, b, metric):
    if metric == 'jbld':
        return (np.linalg.slogdet((a + b) / 2)[1]
                - (np.linalg.slogdet(a)[1] + np.linalg.slogdet(b)[1]) / 2)
    inverse = np.linalg.inv(np.linalg.cholesky(a))
    values = np.linalg.eigvalsh(inverse @ b @ inverse.T)
    return np.sqrt((np.log(values) ** 2).sum())


# ---- comparisons ----

def is_near(a, b):
    return abs(a - b) < 1e-9 * max(1, b)


def compare(name, program, picture, features, metric, cell, rng):
    planes = planes_of(picture, features)
    height, width = planes.shape[1:]
    w, h = (cell * rng.randint(4, 12) for _ in range(2))
    box = (cell * rng.randint(0, (width - w) // cell),
           cell * rng.randint(0, (height - h) // cell), w, h)
    name = f'{name}, {features}, {metric}, cell {cell}, box {box}'
    target = covariance(planes, box, box)
    windows, best = find_regions(
        program, picture, features, metric, cell, 0, box)
    check(len(windows) > N_WINDOWS, f'{name}: {len(windows)} windows')
    worst = 0
    for window, distance in rng.sample(windows, N_WINDOWS) + [best]:
        expected = distance_of(
            target, covariance(planes, window, box), metric)
        worst = max(worst, abs(distance - expected))
        check(is_near(distance, expected),
              f'{name}: {window}: {distance}, not {expected}')
    check(best[0] == box and best[1] < 1e-9,
          f'{name}: the target is at {best}')
    print(f'{name}: {worst:.2g} off')


def compare_refined(name, program, picture, rng):
    """Searches for a target that is off the grid of cells. The refined window must have the stated
    distance, and no window before refinement may be nearer."""
    planes = planes_of(picture, 'rgb-grad')
    height, width = planes.shape[1:]
    box = (rng.randint(8, width - 60), rng.randint(8, height - 50), 48, 32)
    target = covariance(planes, box, box)
    windows, best = find_regions(
        program, picture, 'rgb-grad', 'jbld', 16, 8, box)
    expected = distance_of(target, covariance(planes, best[0], box), 'jbld')
    check(is_near(best[1], expected), f'{name}: refined, {best}')
    check(best[1] <= min(d for _, d in windows),
          f'{name}: refinement lost the best window')
    print(f'{name}: {box} is found at {best[0]}, {best[1]:.4f}')


def main():
    seed = int(os.environ.get('CUV_TEST_SEED', int(time.time())))
    rng = random.Random(seed)
    print('seed', seed)
    for name in PICTURES:
        picture = cv2.imread(DATA + name)
        check(picture is not None, f'{name} is missing: install opencv-doc')
        if picture is None:
            continue
        # rows of odd length, in RGB order
        picture = np.ascontiguousarray(picture[:240, :319, ::-1])
        for features in ('rgb-grad', 'tuzel9', 'grey-grad'):
            for metric in ('jbld', 'forstner'):
                compare(name, sys.argv[1], picture, features, metric,
                        rng.choice((5, 8, 10)), rng)
        compare_refined(name, sys.argv[1], picture, rng)
    print(f'{failures()} failures')
    return failures() > 0


sys.exit(main())
