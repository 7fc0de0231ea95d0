#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generates a video with known boxes: a baboon's face moves in front of a building, grows and
shrinks, and hides once behind a brick pillar; light and noise change.

usage: synthetic_film.py OUT.avi    writes the video (FFV1, without loss) and
                                    OUT.json: its boxes and visible fractions
Pictures are those of opencv-doc and skimage. In Python: frames().
"""
import json
import os
import sys

import cv2
import numpy as np

DATA = '/usr/share/doc/opencv-doc/examples/data'
SKIMAGE = '/usr/lib/python3/dist-packages/skimage/data'
WIDTH, HEIGHT = 640, 480
FRAMES = 240
RATE = 25
OBJECT = 72, 96       # width and height at scale 1
PILLAR = 232, 408     # left and right edge
SEED = 1
NOISE = 3.0           # standard deviation, grey levels
GROWN = 80            # the frame of the largest scale


def picture(folder, name, package):
    path = os.path.join(folder, name)
    image = cv2.imread(path)
    if image is None:
        raise FileNotFoundError(f'no {path}: install the package {package}')
    return image


def turn(frame, period):
    return 2 * np.pi * frame / period


def scale(frame):
    """Returns the scale: 1.0 at the start, 1.4 at GROWN, 0.8 at the end, smooth in between."""
    low, length = (1.0, GROWN) if frame < GROWN else (0.8, FRAMES - 1 - GROWN)
    share = (1 + np.cos(np.pi * (frame - GROWN) / length)) / 2
    return low + (1.4 - low) * share


def place(frame):
    """Returns the true box, and the fraction of it that the pillar does not occlude."""
    width, height = (side * scale(frame) for side in OBJECT)
    x = WIDTH / 2 + 230 * np.tanh(frame / 46 - 2.6) - width / 2
    y = HEIGHT / 2 + 137 * np.sin(turn(frame, 80)) - height / 2
    seen = max(0.0, PILLAR[0] - x) + max(0.0, x + width - PILLAR[1])
    return (x, y, width, height), min(1.0, seen / width)


def light(frame):
    """Returns a gain of 0.7 to 1.2 and an offset of -15 to 15 for the whole frame."""
    return 0.95 + 0.25 * np.sin(turn(frame, 160)), 15 * np.sin(turn(frame, 97))


def background():
    building = picture(DATA, 'building.jpg', 'opencv-doc')
    return cv2.resize(building, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)


def pillar():
    bricks = picture(SKIMAGE, 'brick.png', 'python3-skimage')
    bricks = cv2.resize(bricks, (PILLAR[1] - PILLAR[0], HEIGHT),
                        interpolation=cv2.INTER_AREA)
    return np.uint8(bricks * np.array([0.6, 0.75, 1.0]))


def face():
    """Returns the face at twice its size, for smooth scaling."""
    baboon = picture(DATA, 'baboon.jpg', 'opencv-doc')[100:500, 106:406]
    return cv2.resize(baboon, (2 * OBJECT[0], 2 * OBJECT[1]),
                      interpolation=cv2.INTER_AREA)


def blend(scene, patch, box):
    """Draws the patch into the box, with subpixel precision."""
    zoom = box[2] / patch.shape[1]
    # Pixel centres have half coordinates in boxes, integer ones in warps.
    matrix = np.array([[zoom, 0, box[0] + (zoom - 1) / 2],
                       [0, zoom, box[1] + (zoom - 1) / 2]])
    size = (scene.shape[1], scene.shape[0])
    share = cv2.warpAffine(np.ones(patch.shape, np.float32), matrix, size)
    colours = cv2.warpAffine(np.float32(patch), matrix, size)
    return scene * (1 - share) + colours


def frames():
    """Yields pictures (BGR), true boxes (x, y, width, height) and the visible fraction of the box,
    0 to 1. All runs give the same video."""
    random = np.random.default_rng(SEED)
    scene, front, patch = background(), pillar(), face()
    for frame in range(FRAMES):
        box, visible = place(frame)
        image = blend(scene, patch, box)
        image[:, PILLAR[0]:PILLAR[1]] = front
        gain, offset = light(frame)
        image = gain * image + offset + random.normal(0, NOISE, image.shape)
        yield np.uint8(np.clip(np.rint(image), 0, 255)), box, visible


def write(path):
    film = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*'FFV1'), RATE,
                           (WIDTH, HEIGHT))
    if not film.isOpened():
        sys.exit(f'{path}: cannot be written, or OpenCV has no FFV1')
    boxes = []
    for frame, (image, box, visible) in enumerate(frames()):
        film.write(image)
        boxes.append(dict(zip(('x', 'y', 'width', 'height'), box),
                          frame=frame, visible=visible))
    film.release()
    with open(os.path.splitext(path)[0] + '.json', 'w',
              encoding='utf-8') as file:
        json.dump({'film': os.path.basename(path), 'size': [WIDTH, HEIGHT],
                   'boxes': boxes}, file, indent=1)


if __name__ == '__main__':
    if len(sys.argv) != 2 or not sys.argv[1].endswith('.avi'):
        sys.exit(__doc__)
    write(sys.argv[1])
