#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that boxes in enlarged and turned pictures equal OpenCV's.

usage: pictures.py DETECT

OpenCV detects in pictures that were transformed by cv2.resize or cv2.rotate, or by NumPy according
to the definition of a turned picture."""
import math
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

DATA = '/usr/share/doc/opencv-doc/examples/data/'
LBP = '/usr/share/opencv4/lbpcascades/lbpcascade_'
HAAR = '/usr/share/opencv4/haarcascades/haarcascade_'
FACES = HAAR + 'frontalface_alt2.xml'
QUARTERS = {90: cv2.ROTATE_90_COUNTERCLOCKWISE, 180: cv2.ROTATE_180,
            -90: cv2.ROTATE_90_CLOCKWISE}


def photo(width, height, name='messi5.jpg'):
    return cv2.resize(cv2.imread(DATA + name, cv2.IMREAD_GRAYSCALE),
                      (width, height), interpolation=cv2.INTER_AREA)


class Detect:
    def __init__(self, program, folder):
        self.program, self.path = program, os.path.join(folder, 'picture.pgm')
        self.compared = self.failures = 0

    def run(self, picture, model, neighbours, *options, least=(0, 0)):
        """Returns sorted boxes (x, y, width, height, rotation)."""
        cv2.imwrite(self.path, picture)
        out = subprocess.run(
            [self.program, 'run', model, self.path, '1.1', str(neighbours),
             *map(str, least), '0', '0', *options], check=True,
            capture_output=True, text=True).stdout
        lines = (line.split() for line in out.splitlines())
        return sorted((*map(int, line[:4]), int(line[6])) for line in lines)

    def compare(self, what, theirs, ours):
        self.compared += len(theirs)
        if not theirs or sorted(theirs) != ours:
            self.failures += 1
            print(f'{what}: {len(theirs)} boxes of OpenCV, {len(ours)} of ours, '
                  f'{len(set(theirs) ^ set(ours))} differ')


def detect(picture, model, neighbours, least=(0, 0)):
    found = cv2.CascadeClassifier(model).detectMultiScale(
        picture, 1.1, neighbours, 0, least)
    return [tuple(map(int, box)) for box in found]


# ---- enlarged ----

def shrink(box, enlarged, picture):
    """Converts a box of the enlarged picture to one of the picture, and clips it."""
    ratio = picture.shape[1] / enlarged.shape[1], picture.shape[0] / enlarged.shape[0]
    x, y, w, h = (math.floor(v * ratio[i % 2] + .5) for i, v in enumerate(box))
    x, y = max(x, 0), max(y, 0)
    return x, y, min(w, picture.shape[1] - x), min(h, picture.shape[0] - y), 0


def check_enlarged(test):
    for model, size, upscale, neighbours, least in (
            (LBP + 'frontalface_improved.xml', (300, 187), 2, 0, 0),
            (LBP + 'frontalface.xml', (209, 131), 1.7, 0, 0),
            (FACES, (200, 125), 2.35, 0, 0), (FACES, (133, 83), 8, 3, 5),
            (HAAR + 'eye_tree_eyeglasses.xml', (322, 199), 3, 1, 10)):
        picture = photo(*size)
        enlarged = cv2.resize(picture, [round(n * upscale) for n in size],
                              interpolation=cv2.INTER_LINEAR_EXACT)
        theirs = detect(enlarged, model, neighbours, [round(least * upscale)] * 2)
        test.compare(f'{os.path.basename(model)}, {size}, upscale {upscale}',
                     [shrink(box, enlarged, picture) for box in theirs],
                     test.run(picture, model, neighbours, f'upscale={upscale}',
                              least=[least] * 2))


# ---- turned ----

class Turn:
    """A picture turned counter-clockwise, by the definition in turn.h."""

    def __init__(self, picture, degrees):
        angle = math.radians(degrees)
        self.degrees = degrees
        self.cos, self.sin = (round(f(angle) * 65536) for f in (math.cos, math.sin))
        self.size = np.array(picture.shape[::-1])
        c, s = abs(self.cos), abs(self.sin)
        w, h = self.turned = [-(-(a @ self.size) // 65536)
                              for a in (np.array([c, s]), np.array([s, c]))]
        place = self.back(2 * np.arange(w)[None] + 1 - w,
                          2 * np.arange(h)[:, None] + 1 - h)
        place = [p + (n - 1) * 65536 for p, n in zip(place, self.size)]
        inside = np.ones((h, w), bool)
        for p, n in zip(place, self.size):
            inside &= (p >= 0) & (p <= (n - 1) << 17)
        (x, y), (u, v) = [[np.where(inside, p, 0) >> shift for p in place]
                          for shift in (17, 9)]
        u, v = u & 255, v & 255
        right, below = np.minimum(x + 1, self.size[0] - 1), np.minimum(
            y + 1, self.size[1] - 1)
        grey = picture.astype(int)
        mixed = ((256 - v) * ((256 - u) * grey[y, x] + u * grey[y, right])
                 + v * ((256 - u) * grey[below, x] + u * grey[below, right]))
        self.picture = np.where(inside, (mixed + 32768) >> 16, 128).astype(np.uint8)

    def back(self, x, y):
        return x * self.cos - y * self.sin, x * self.sin + y * self.cos

    def box(self, box):
        """Returns the box in the picture, or None if it reaches beyond the picture."""
        x, y, w, h = box
        place = self.back(2 * x + w - self.turned[0], 2 * y + h - self.turned[1])
        if abs(self.sin) > abs(self.cos):
            w, h = h, w
        left, top = ((p + (n - side) * 65536 + 65536) >> 17
                     for p, n, side in zip(place, self.size, (w, h)))
        return int(left), int(top), w, h, self.degrees

    def leaves(self, box):
        """Returns by how many pixels the box leaves the picture."""
        x, y, w, h, _ = self.box(box)
        return max(-x, -y, x + w - self.size[0], y + h - self.size[1])


def check_definition():
    """Checks that the turned picture equals that of cv2, except for rounding."""
    picture = photo(131, 90, 'fruits.jpg')
    for degrees, code in QUARTERS.items():
        assert (Turn(picture, degrees).picture == cv2.rotate(picture, code)).all()
    for degrees in (20, -33, 118):
        turn = Turn(picture, degrees)
        matrix = cv2.getRotationMatrix2D((65, 44.5), degrees, 1)
        matrix[:, 2] += [(n - 1) / 2 - c for n, c in zip(turn.turned, (65, 44.5))]
        theirs = cv2.warpAffine(picture, matrix, [int(n) for n in turn.turned],
                                flags=cv2.INTER_LINEAR, borderValue=128)
        difference = cv2.absdiff(theirs, turn.picture)
        assert difference.mean() < 1, (degrees, difference.mean())


def near_edge(turn, boxes, margin):
    """Returns the boxes of windows near the edge of the picture, where rounding decides whether a
    window is left out."""
    return {turn.box(box) for box in boxes if abs(turn.leaves(box)) <= margin}


def check_turned(test):
    """Compares all windows of LBP cascades, and of Haar cascades in quarter turns."""
    for model, degrees in ((LBP + 'frontalface.xml', 20),
                           (LBP + 'frontalcatface.xml', -47),
                           (LBP + 'frontalface.xml', 154), (FACES, 90),
                           (LBP + 'frontalface.xml', 180),
                           (HAAR + 'eye.xml', -90)):
        picture = photo(301, 187)
        turn = Turn(picture, degrees)
        found = detect(turn.picture, model, 0)
        ours = set(test.run(picture, model, 0, f'rotations={degrees}'))
        if degrees % 90 == 0:
            theirs, either = {turn.box(box) for box in found}, set()
        else:
            theirs = {turn.box(box) for box in found if turn.leaves(box) <= 0}
            either = near_edge(turn, found, 3)
        test.compare(f'{os.path.basename(model)}, turned by {degrees}',
                     sorted(theirs - either), sorted(ours - either))


def check_both(test):
    """Checks pictures that are turned and then enlarged."""
    picture = photo(141, 87)
    turn = Turn(picture, 90)
    enlarged = cv2.resize(turn.picture, None, fx=2, fy=2,
                          interpolation=cv2.INTER_LINEAR_EXACT)
    turn.turned, turn.size = [2 * n for n in turn.turned], 2 * turn.size
    theirs = [turn.box(box) for box in detect(enlarged, FACES, 0)]
    test.compare('turned and enlarged', [
        (*(math.floor(v / 2 + .5) for v in box[:4]), 90) for box in theirs],
        test.run(picture, FACES, 0, 'rotations=90', 'upscale=2'))


def check_faces(test):
    """Checks that a turned face is found once among all rotations, with its rotation."""
    picture = photo(548, 342)
    x, y, w, h, rotation = test.run(picture, FACES, 3)[0]
    assert abs(x - 227) + abs(y - 94) + abs(w - 39) < 6 and rotation == 0, (x, y, w)
    at = [x + w / 2, y + h / 2, 1]
    for degrees in (-20, 20, 90):
        matrix = cv2.getRotationMatrix2D((274, 171), -degrees, 1)
        turned = cv2.warpAffine(picture, matrix, (548, 342), borderValue=128)
        if degrees == 90:
            turned = cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE)
            matrix = np.array([[0, -1, 342], [1, 0, 0]])
        found = test.run(turned, FACES, 3, 'rotations=0,-20,20,90')
        close = [box for box in found if np.abs(
            [box[0] + box[2] / 2, box[1] + box[3] / 2] - matrix @ at).sum() < 12]
        assert len(close) == 1 and close[0][4] == degrees, (degrees, found)


def main():
    check_definition()
    with tempfile.TemporaryDirectory() as folder:
        test = Detect(sys.argv[1], folder)
        for check in (check_enlarged, check_turned, check_both, check_faces):
            check(test)
    print(f'{test.compared} boxes, {test.failures} cases differ')
    sys.exit(test.failures > 0)


if __name__ == '__main__':
    main()
