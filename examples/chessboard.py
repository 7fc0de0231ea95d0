#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Marks the corners of chessboards in photographs, to train a detector with.

usage: chessboard.py FOLDER PICTURE...

Writes FOLDER/corners.json (COCO) and, for YOLO, FOLDER/names.txt and in FOLDER/yolo a copy
of each picture with a text file beside it. Needs Debian's python3-opencv.
"""

import json
import os
import shutil
import sys

import cv2

HALF = 10  # pixels on each side of a corner


def find_corners(path):
    """Returns the corners, and the size of the picture."""
    grey = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
    found, corners = cv2.findChessboardCorners(grey, (9, 6))
    if not found:
        return [], grey.shape
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_COUNT, 30, 0.01)
    corners = cv2.cornerSubPix(grey, corners, (5, 5), (-1, -1), stop)
    return corners.reshape(-1, 2).tolist(), grey.shape


def write(path, text):
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)


def write_yolo(folder, path, corners, height, width):
    shutil.copy(path, folder)
    name = os.path.splitext(os.path.basename(path))[0] + '.txt'
    write(os.path.join(folder, name), ''.join(
        f'0 {x / width} {y / height} {2 * HALF / width} {2 * HALF / height}\n'
        for x, y in corners))


def main():
    folder, *paths = sys.argv[1:]
    yolo = os.path.join(folder, 'yolo')
    os.makedirs(yolo, exist_ok=True)
    images, annotations = [], []
    for number, path in enumerate(paths):
        corners, (height, width) = find_corners(path)
        images.append({'id': number, 'file_name': os.path.abspath(path)})
        annotations += [{'image_id': number, 'category_id': 1,
                         'bbox': [x - HALF, y - HALF, 2 * HALF, 2 * HALF]}
                        for x, y in corners]
        write_yolo(yolo, path, corners, height, width)
    write(os.path.join(folder, 'names.txt'), 'corner\n')
    write(os.path.join(folder, 'corners.json'), json.dumps(
        {'images': images, 'annotations': annotations,
         'categories': [{'id': 1, 'name': 'corner'}]}))
    print(len(annotations), 'corners in', len(images), 'pictures')


if __name__ == '__main__':
    main()
