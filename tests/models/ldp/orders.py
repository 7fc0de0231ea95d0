#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares orders of local derivative patterns, and skimage's local binary patterns, for
retrieval.

usage: orders.py TEXTURES [TEXTURES.zip]

TEXTURES is the program of textures.c. There are three kinds of classes, with noise of
0 to 16 grey values: patches of surfaces (of skimage, and of pictures in the zip file),
LFW's faces and other parts of photographs, and five views each of every second picture
of OpenCV: blurred, compressed, darkened, cropped. Prints precision at 1 and mean average
precision.
"""
import os
import subprocess
import sys
import tempfile
import zipfile

import cv2
import numpy as np
import skimage
from skimage.feature import local_binary_pattern

SKIMAGE = os.path.join(os.path.dirname(skimage.__file__), 'data')
OPENCV = '/usr/share/doc/opencv-doc/examples/data'
FOLDERS = ('floor', 'wall', 'terrain', 'metals', 'mat', 'base', 'desert',
           'stralen', 'morphed', 'rusty')
NOT_SURFACES = ('_norm', '_gloss', '_glow', '_bump', '_n.', '_g.', '_local',
                '_s.', '_blend', 'trim', 'light', 'sign')


# ---- pictures ----

def is_surface(path):
    folder, name = os.path.split(path.lower())
    return (name.endswith(('.jpg', '.png', '.tga'))
            and any(part in os.path.basename(folder) for part in FOLDERS)
            and not any(part in name for part in NOT_SURFACES))


def surfaces(archive):
    for name in ('brick', 'grass', 'gravel'):
        yield cv2.imread(os.path.join(SKIMAGE, name + '.png'), 0)
    if archive is None:
        return
    taken = {}
    with zipfile.ZipFile(archive) as file:
        for path in sorted(filter(is_surface, file.namelist())):
            picture = cv2.imdecode(np.frombuffer(file.read(path), np.uint8), 0)
            folder = os.path.dirname(path)
            if (picture is None or min(picture.shape) < 512
                    or picture.std() < 8 or taken.get(folder, 0) >= 6):
                continue
            taken[folder] = taken.get(folder, 0) + 1
            yield picture[:512, :512]


def pieces(archive):
    random = np.random.default_rng(1)
    for i, surface in enumerate(surfaces(archive)):
        for _ in range(12):
            y, x = random.integers(0, 512 - 128, 2)
            yield i, surface[y:y + 128, x:x + 128]


def faces():
    for i, picture in enumerate(np.load(os.path.join(SKIMAGE,
                                                     'lfw_subset.npy'))):
        picture = (picture * 255).round().astype(np.uint8)
        yield int(i >= 100), picture


def views():
    for i, name in enumerate(sorted(os.listdir(OPENCV))):
        picture = cv2.imread(os.path.join(OPENCV, name), 0)
        if i % 2 or picture is None or min(picture.shape) < 200:
            continue
        picture = cv2.resize(picture, (256, 256), interpolation=cv2.INTER_AREA)
        jpeg = cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, 30])[1]
        yield i, picture
        yield i, cv2.GaussianBlur(picture, (0, 0), 1)
        yield i, cv2.imdecode(jpeg, 0)
        yield i, np.clip(picture * 0.6 + 20, 0, 255).astype(np.uint8)
        yield i, cv2.resize(picture[8:-8, 8:-8], (256, 256))


def noisy(picture, strength, random):
    if strength == 0:
        return picture
    noise = random.normal(0, strength, picture.shape)
    return np.clip(np.rint(picture + noise), 0, 255).astype(np.uint8)


# ---- similarity ----

def by_derivatives(program, order, grid, files):
    out = subprocess.run([program, 'similarity', str(order), str(grid)] + files,
                         check=True, stdout=subprocess.PIPE).stdout
    return np.array(out.split(), float).reshape(len(files), len(files))


def by_binary(radius, grid, pictures):
    found = []
    for picture in pictures:
        codes = local_binary_pattern(picture, 8, radius).astype(int)
        blocks = [block for row in np.array_split(codes, grid)
                  for block in np.array_split(row, grid, 1)]
        found.append(np.concatenate(
            [np.bincount(b.ravel(), minlength=256) / b.size for b in blocks]))
    found = np.array(found, np.float32) / grid ** 2
    return np.array([np.minimum(found, one).sum(1) for one in found])


def scores(similarity, classes):
    first, average = [], []
    for i, row in enumerate(similarity):
        others = np.argsort(-row, kind='stable')
        same = classes[others[others != i]] == classes[i]
        places = np.flatnonzero(same)
        first.append(same[0])
        average.append(np.mean((np.arange(len(places)) + 1) / (places + 1)))
    return np.mean(first), np.mean(average)


def compare(program, title, grid, size, kind):
    classes, clean = zip(*kind)
    total = []
    for strength in (0, 4, 8, 16):
        random = np.random.default_rng(2)
        pictures = [cv2.resize(noisy(p, strength, random), (size, size))
                    for p in clean]
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, f'{i}.pgm')
                     for i in range(len(pictures))]
            for file, picture in zip(files, pictures):
                cv2.imwrite(file, picture)
            row = [by_derivatives(program, order, grid, files)
                   for order in (2, 3, 4)]
        row += [by_binary(radius, grid, pictures) for radius in (1, 2)]
        row = [scores(similarity, np.array(classes)) for similarity in row]
        total.append(row)
        report(f'{title}, noise {strength}', row)
    report(f'{title}, mean', np.mean(total, 0))


def report(title, row):
    print(f'{title:28}', '  '.join(f'{a:.3f} {b:.3f}' for a, b in row),
          flush=True)


def main():
    program, archive = sys.argv[1], (sys.argv[2:] + [None])[0]
    print('precision at 1, mean average precision: order 2, 3, 4, '
          'LBP 8,1 and 8,2')
    compare(program, 'surfaces', 1, 128, pieces(archive))
    compare(program, 'faces', 8, 64, faces())
    compare(program, 'views', 8, 128, views())


main()
