#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares local derivative patterns with NumPy's, and their retrieval of textures with that of
skimage's local binary patterns.

usage: textures.py TEXTURES

The textures are skimage's brick, grass and gravel.
"""
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import skimage
from skimage.feature import local_binary_pattern

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'check'))
from checks import check, failures

STEPS = ((0, 1), (-1, 1), (-1, 0), (-1, -1))  # down, right
NEIGHBOURS = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1),
              (0, -1))
FOLDER = os.path.join(os.path.dirname(skimage.__file__), 'data')


def write(path, picture):
    height, width = picture.shape
    with open(path, 'wb') as file:
        file.write(b'P5 %d %d 255\n' % (width, height) + picture.tobytes())
    return path


# ---- the definition, by array slices ----

def derivative(picture, step, order, far):
    """Returns the derivative of a picture that has `far` extra pixels on each side."""
    values = np.pad(picture, far, mode='edge').astype(int)
    for _ in range(order):
        values = values - np.roll(values, (-step[0], -step[1]), (0, 1))
    return values


def codes_of(picture, order):
    far = 2 * order + 2
    height, width = picture.shape
    codes = []
    for step in STEPS:
        values = derivative(picture, step, order - 1, far)
        code = np.zeros((height, width), int)
        here = values[far:far + height, far:far + width]
        for down, right in NEIGHBOURS:
            other = values[far + down:far + down + height,
                           far + right:far + right + width]
            code = code * 2 + (here * other <= 0)
        codes.append(code)
    return codes


def histograms(picture, order, block, grid, directions, merged, border, bins):
    height, width = picture.shape
    x, y = np.arange(width), np.arange(height)
    columns = x // block if block else x * grid // width
    rows = y // block if block else y * grid // height
    place = rows[:, None] * (columns[-1] + 1) + columns[None, :]
    n_blocks = (rows[-1] + 1) * (columns[-1] + 1)
    counts = np.zeros((height, width), bool)
    margin = order if border == 'valid' else 0
    counts[margin:height - margin, margin:width - margin] = True
    table = bins_of_codes(bins)
    parts = [np.stack([np.bincount(table[code[counts & (place == i)]],
                                   minlength=table.max() + 1)
                       for i in range(n_blocks)])
             for d, code in enumerate(codes_of(picture, order))
             if directions >> d & 1]
    return (sum(parts) if merged else np.stack(parts, 1)).ravel()


def bins_of_codes(bins):
    codes = np.arange(256)
    if bins == '256':
        return codes
    if bins != 'uniform':
        return codes * int(bins) // 256
    table, n = np.full(256, 58), 0
    for code in codes:
        bits = [code >> i & 1 for i in range(8)]
        if sum(bits[i] != bits[i - 1] for i in range(8)) <= 2:
            table[code] = n
            n += 1
    return table


def test_definition(program, folder):
    noise = np.random.default_rng(1)
    brick = cv2.imread(os.path.join(FOLDER, 'brick.png'), 0)
    cases = [(2, 0, 1, 15, 'apart', 'valid', '256'),
             (3, 16, 0, 15, 'apart', 'valid', '256'),
             (3, 0, 3, 15, 'merged', 'replicate', 'uniform'),
             (4, 7, 0, 9, 'apart', 'replicate', '32'),
             (5, 20, 0, 4, 'merged', 'valid', '256'),
             (9, 0, 2, 15, 'apart', 'replicate', 'uniform')]
    for picture in (brick[40:111, 70:163].copy(),
                    noise.integers(0, 256, (37, 53), np.uint8),
                    np.full((25, 40), 9, np.uint8)):
        height, width = picture.shape
        path = write(os.path.join(folder, 'picture.pgm'), picture)
        for case in cases:
            out = subprocess.run(
                [program, 'describe'] + [str(a) for a in case]
                + [str(width), str(height), path], check=True,
                stdout=subprocess.PIPE).stdout
            order, block, grid, directions, merged, border, bins = case
            wanted = histograms(picture, order, block, grid, directions,
                                merged == 'merged', border, bins)
            check(np.array_equal(np.frombuffer(out, np.uint32), wanted),
                  '%dx%d %s' % (width, height, case))


# ---- reduced pictures ----

def test_reduced(program, folder):
    """Reducing by integer factors equals OpenCV's INTER_AREA, except for rounding of
    halves."""
    brick = cv2.imread(os.path.join(FOLDER, 'brick.png'), 0)
    path = write(os.path.join(folder, 'brick.pgm'), brick)
    mean = brick.reshape(128, 4, 128, 4).astype(int).sum((1, 3))
    small = ((mean + 8) // 16).astype(np.uint8)
    check(abs(small.astype(int) - cv2.resize(
        brick, (128, 128), interpolation=cv2.INTER_AREA)).max() <= 1, 'area')
    made = [subprocess.run(
        [program, 'describe', '2', '0', '1', '15', 'apart', 'valid', '256',
         '128', '128', file], check=True, stdout=subprocess.PIPE).stdout
        for file in (path, write(os.path.join(folder, 'small.pgm'), small))]
    check(made[0] == made[1], 'reduced picture')


# ---- textures ----

def crops(seed):
    """Returns twenty patches of each texture with noise, every second one rotated."""
    random = np.random.default_rng(seed)
    for name in ('brick', 'grass', 'gravel'):
        texture = cv2.imread(os.path.join(FOLDER, name + '.png'), 0)
        for i in range(20):
            y, x = random.integers(0, 512 - 80, 2)
            crop = texture[y:y + 80, x:x + 80]
            if i % 2:
                turn = cv2.getRotationMatrix2D((40, 40),
                                               random.uniform(-8, 8), 1)
                crop = cv2.warpAffine(crop, turn, (80, 80))
            crop = crop[8:72, 8:72] + random.normal(0, 8, (64, 64))
            yield name, np.clip(np.rint(crop), 0, 255).astype(np.uint8)


def precision(similarity, names):
    """Returns the fraction of patches whose most similar patch has the same texture."""
    similarity = similarity - 2 * np.eye(len(names))
    return np.mean([names[i] == names[np.argmax(row)]
                    for i, row in enumerate(similarity)])


def binary_patterns(pictures):
    found = [np.bincount(local_binary_pattern(p, 8, 1).astype(int).ravel(),
                         minlength=256) / p.size for p in pictures]
    return np.array([[np.minimum(a, b).sum() for a in found] for b in found])


def test_textures(program, folder):
    print('precision@1   LBP   order 2  3  4')
    for seed in range(4):
        names, pictures = zip(*crops(seed))
        files = [write(os.path.join(folder, '%d.pgm' % i), p)
                 for i, p in enumerate(pictures)]
        lbp = precision(binary_patterns(pictures), names)
        found = []
        for order in (2, 3, 4):
            out = subprocess.run([program, 'similarity', str(order), '1'] + files,
                                 check=True, stdout=subprocess.PIPE).stdout
            similarity = np.array(out.split(), float).reshape(60, 60)
            check(abs(np.diag(similarity) - 1).max() < 1e-6, 'similarity of a patch to itself')
            found.append(precision(similarity, names))
        print('set %d        %.3f  %s' % (
            seed, lbp, ' '.join('%.3f' % f for f in found)))
        check(max(found) >= lbp, 'set %d' % seed)


with tempfile.TemporaryDirectory() as temporary:
    test_definition(sys.argv[1], temporary)
    test_reduced(sys.argv[1], temporary)
    test_textures(sys.argv[1], temporary)
sys.exit(failures() > 0)
