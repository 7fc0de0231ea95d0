#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains trees on channels on drawn pictures, in which only colour and outline distinguish
the objects, and finds those of new pictures with the reader of the examples.

usage: channels.py CHANNELS EXAMPLE.py"""
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(sys.argv[2]))
sys.path += [os.path.join(os.path.dirname(__file__), '..', folder)
             for folder in ('../check', 'waldboost')]
from boxes import overlap
from channels import Model
from checks import check, failures

WIDTH, HEIGHT = 160, 120
random = np.random.default_rng(20261129)


def draw_disc(picture, x, y, r, colour):
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    inside = (columns - x) ** 2 + (rows - y) ** 2 < r * r
    picture[inside] = np.clip(colour + random.normal(0, 12, (inside.sum(), 3)), 0, 255)


def draw():
    """Returns a picture and its objects, which are red discs, but not squares or discs of other
    colours. In some pictures the edge cuts the first object off."""
    picture = random.integers(60, 200, 3) + random.normal(0, 15, (HEIGHT, WIDTH, 3))
    picture = np.clip(picture, 0, 255)
    boxes = []
    for i in range(9):
        r = random.uniform(11, 18)
        x = random.uniform(r, WIDTH - r)
        y = random.uniform(r, HEIGHT - r)
        if i == 0 and random.random() < 0.3:
            x = 0.7 * r
        if any(abs(x - a) < r + q and abs(y - b) < r + q for a, b, q, _ in boxes):
            continue
        boxes.append((x, y, r, i % 3 == 0))
        if i % 3 == 0:
            draw_disc(picture, x, y, r, (200, 40, 50))
        elif i % 3 == 1:
            draw_disc(picture, x, y, r, ((40, 170, 60), (50, 60, 200))[i % 2])
        else:
            picture[max(int(y - r), 0):int(y + r), max(int(x - r), 0):int(x + r)] = 200, 40, 50
    objects = []
    for x, y, r, is_object in boxes:
        if is_object:
            left, right = max(x - r, 0), min(x + r, WIDTH)
            objects.append((left, y - r, right - left, 2 * r))
    return picture.astype(np.uint8), objects


def write(path, pictures):
    with open(path, 'wb') as file:
        file.write(struct.pack('<i', len(pictures)))
        for picture, objects in pictures:
            file.write(struct.pack('<3i', WIDTH, HEIGHT, len(objects)))
            for box in objects:
                file.write(struct.pack('<4fi', *box, 1))
            file.write(picture.tobytes())


def best_boxes(model, picture):
    """Returns the windows that no better window overlaps."""
    kept = []
    for *box, _ in sorted(model.boxes(picture.transpose(2, 0, 1)), key=lambda b: -b[4]):
        if all(overlap(box, other) < 0.3 for other in kept):
            kept.append(box)
    return kept


def train(folder, threads):
    path = os.path.join(folder, f'{threads}.xml')
    subprocess.run([sys.argv[1], os.path.join(folder, 'pictures'), '24', '24', '2', '64',
                    str(threads), path], check=True)
    return path


with tempfile.TemporaryDirectory() as temporary:
    write(os.path.join(temporary, 'pictures'), [draw() for _ in range(40)])
    trained = [train(temporary, threads) for threads in (1, 3)]
    texts = [open(path, encoding='ascii').read() for path in trained]
    check(texts[0] == texts[1], 'another number of threads makes another model')
    detector = Model(trained[0])

found = mistakes = n_objects = 0
for _ in range(12):
    image, truth = draw()
    boxes = best_boxes(detector, image)
    hits = sum(any(overlap(box, obj) >= 0.5 for box in boxes) for obj in truth)
    found += hits
    n_objects += len(truth)
    mistakes += len(boxes) - hits
print(f'{found} of {n_objects} objects found, {mistakes} mistakes')
check(n_objects >= 12, 'too few objects were drawn')
check(found >= 0.9 * n_objects, f'only {found} of {n_objects} objects are found')
check(mistakes <= 6, f'{mistakes} mistakes')
sys.exit(failures() > 0)
