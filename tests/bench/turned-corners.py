#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well a model of chessboard corners finds them in photographs that are turned
or made smaller.

usage: turned-corners.py DETECT MODEL

DETECT is tests/models/waldboost/detect of the build. The photographs are the 13 of opencv-doc's
right camera. A corner is found if the centre of a box is within 5 pixels; further boxes there do
not count, all others are false positives. Prints the recall at up to one false positive a picture.
"""

import glob
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                                'elements', 'waldboost'))
from models import DATA, corners_of, recall_at


def turn(picture, corners, degrees):
    """Returns the whole picture, turned, on a larger canvas that repeats its edge pixels."""
    height, width = picture.shape
    matrix = cv2.getRotationMatrix2D((width / 2 - 0.5, height / 2 - 0.5), degrees, 1)
    size = np.ceil(np.abs(matrix[:, :2]) @ (width, height) - 1e-6).astype(int)
    matrix[:, 2] += (size - (width, height)) / 2
    return (cv2.warpAffine(picture, matrix, size.tolist(), borderMode=cv2.BORDER_REPLICATE),
            corners @ matrix[:, :2].T + matrix[:, 2])


def halve(picture, corners):
    return (cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA),
            (corners + 0.5) / 2 - 0.5)


def find(detect, model, picture):
    """Returns the centres of boxes, in descending order of their scores."""
    with tempfile.NamedTemporaryFile(suffix='.pgm') as file:
        cv2.imwrite(file.name, picture)
        out = subprocess.run([detect, 'run', model, file.name, '1.1', '0', '0', '0', '0',
                              '0', 'octaves=16', 'grouping=nms', 'nms-iou=0.3',
                              'final-threshold=-1000'],
                             check=True, capture_output=True, text=True).stdout
    boxes = [list(map(float, line.split())) for line in out.splitlines()]
    return sorted(((box[5], box[0] + box[2] / 2 - 0.5, box[1] + box[3] / 2 - 0.5)
                   for box in boxes), reverse=True)


def judge(found, corners):
    """Returns scores, and whether the boxes are right."""
    taken = set()
    for score, x, y in found:
        distances = np.hypot(corners[:, 0] - x, corners[:, 1] - y)
        nearest = int(distances.argmin())
        if distances[nearest] > 5:
            yield score, False
        elif nearest not in taken:
            taken.add(nearest)
            yield score, True


def measure(name, detect, model, pictures):
    judged = sum((list(judge(find(detect, model, picture), corners))
                  for picture, corners in pictures), [])
    judged.sort(key=lambda one: -one[0])
    n_corners = sum(len(corners) for _, corners in pictures)
    print(f'{name}: recall {recall_at(judged, n_corners, len(pictures)):.3f}', flush=True)


def main():
    pictures = [(cv2.imread(path, cv2.IMREAD_GRAYSCALE), corners_of(path))
                for path in sorted(glob.glob(DATA + 'right[01]*.jpg'))]
    for degrees in (0, 10, 20, 30, 45, 90):
        measure(f'turned by {degrees} degrees', *sys.argv[1:],
                [turn(*picture, degrees) for picture in pictures])
    measure('at half the size', *sys.argv[1:], [halve(*picture) for picture in pictures])


if __name__ == '__main__':
    main()
