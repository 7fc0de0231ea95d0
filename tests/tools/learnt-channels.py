#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains models of trees on channels, and compares them with NumPy: channels of all windows,
scores and boxes, in C and with the reader of the examples.

usage: learnt-channels.py TRAIN TRAIN-CHANNELS CHANNELS EXAMPLE

TRAIN, cuvision-train, learns trees of depth 2 for windows of several shapes,
TRAIN-CHANNELS those of other depths. Objects are rings on photographs.
"""
import os
import struct
import subprocess
import sys
import tempfile

import cv2
import numpy as np

from crosses import write_coco

sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'models', 'waldboost'))
from channels import PICTURES, channels_of, check, compare_windows, failures, write_picture

SIDE = 100      # side of pictures to find objects in
TRAINED = 200   # side of pictures to learn from
N_PICTURES = 12  # to find objects in
N_TREES = '32'
SHAPES = [('24x24', 'disc'), ('16x16', 'disc'), ('32x28', 'disc'), ('36x10', 'bar'),
          ('12x22', 'disc')]
DEPTHS = '1', '3', '4'


def draw(rng, picture, kind, side):
    """Draws three rings or bars on the picture; returns their boxes."""
    boxes = []
    for i in range(3):
        width = int(rng.integers(side // 6, side // 4))
        height = width // 3 if kind == 'bar' else width
        x = int(rng.integers(0, side - width))
        y = int(rng.integers(i * side // 3, (i + 1) * side // 3 - height))
        centre, axes = (x + width // 2, y + height // 2), (width // 2, height // 2)
        cv2.ellipse(picture, centre, axes, 0, 0, 360, (60, 200, 230), -1)
        cv2.ellipse(picture, centre, (axes[0] // 2, axes[1] // 2), 0, 0, 360, (150, 40, 90), -1)
        boxes.append((x, y, width, height))
    return boxes


def cut(rng, number, side):
    """Returns a square part of a photograph."""
    picture = cv2.imread(PICTURES[number % len(PICTURES)])
    height, width = (max(size, side + 1) for size in picture.shape[:2])
    picture = cv2.resize(picture, (width, height))
    x, y = (int(rng.integers(0, size - side)) for size in (width, height))
    return picture[y:y + side, x:x + side].copy()


def training_set(rng, folder, kind):
    """Writes pictures in both formats."""
    os.makedirs(folder)
    pictures = []
    with open(os.path.join(folder, 'pictures'), 'wb') as file:
        file.write(struct.pack('<i', 24))
        for i in range(24):
            picture = cut(rng, i, TRAINED)
            boxes = draw(rng, picture, kind, TRAINED)
            cv2.imwrite(os.path.join(folder, f'{i}.png'), picture)
            pictures.append((f'{i}.png', boxes))
            file.write(struct.pack('<3i', TRAINED, TRAINED, len(boxes)))
            for box in boxes:
                file.write(struct.pack('<4fi', *box, 1))
            file.write(picture[..., ::-1].tobytes())
    return write_coco(folder, pictures)


def learn(rng, folder, train, train_channels):
    """Trains the models and returns their paths."""
    sets = {kind: training_set(rng, os.path.join(folder, kind), kind)
            for kind in ('disc', 'bar')}
    models = []
    for shape, kind in SHAPES:
        models.append(os.path.join(folder, f'{shape}.xml'))
        subprocess.run([train, '--positives', sets[kind], '--features', 'channels',
                        '--window', shape, '--weak', N_TREES, '--negative-samples', '2000',
                        '--copies', '4', '--output', models[-1]],
                       check=True, capture_output=True)
    for depth in DEPTHS:
        models.append(os.path.join(folder, f'depth-{depth}.xml'))
        subprocess.run([train_channels, os.path.join(folder, 'disc', 'pictures'), '20', '24',
                        depth, N_TREES, '2', models[-1]], check=True)
    return models


def main(train, train_channels, program, example):
    rng = np.random.default_rng(46)
    with tempfile.TemporaryDirectory() as folder:
        models = learn(rng, folder, train, train_channels)
        accepted = dict.fromkeys(models, 0)
        for i in range(N_PICTURES):
            picture = cut(rng, i, SIDE)
            draw(rng, picture, ('disc', 'bar')[i % 2], SIDE)
            picture = np.ascontiguousarray(picture[..., ::-1])
            file = write_picture(folder, picture)
            planes = {shrink: channels_of(picture, shrink) for shrink in (2, 4)}
            for model in models:
                with open(model, encoding='ascii') as text:
                    shrink = 2 if 'shrink="2"' in text.read() else 4
                accepted[model] += compare_windows(
                    program, example, file, picture, planes[shrink], model, f'picture {i}')
    for model, n in accepted.items():
        check(n > 0, f'{os.path.basename(model)} accepts no window')
    print('failed' if failures() else f'passed, {list(accepted.values())} windows accepted')
    return failures() > 0


sys.exit(main(*sys.argv[1:]))
