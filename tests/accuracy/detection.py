#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores waldboostdetect on pictures with boxes (DATA/NAME.json in COCO format).

Prints the recall at 0.1, 0.3 and 1 false positives per picture, for all boxes of at least one
window, ranked by number of windows and score; then recall and false positives with default
settings. DATA/alternatives.json, if it exists, has further boxes for the same objects.
--marked-only is for data in which pictures with marked objects also have unmarked ones: false
positives are counted only in pictures without marked objects. --turned turns the pictures. --peers
adds OpenCV's HOG for people.
"""

import glob
import json
import os

import cv2
import numpy as np

from common import Curve, arguments, boxes, coco, iou, milliseconds, parse, records, show


def turned(picture, objects, degrees):
    """Turns the whole picture about its centre; boxes keep their size."""
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    c, s = abs(matrix[0, 0]), abs(matrix[0, 1])
    size = int(height * s + width * c), int(height * c + width * s)
    matrix[:, 2] += (size[0] / 2 - width / 2, size[1] / 2 - height / 2)

    def move(box):
        half = np.array(box[2:]) / 2
        return [*(matrix @ [box[0] + half[0], box[1] + half[1], 1] - half), *box[2:]]

    return (cv2.warpAffine(picture, matrix, size, borderValue=(110, 110, 110)),
            [[move(box) for box in alternatives] for alternatives in objects])


def load(options):
    """Loads the pictures, each with its objects as lists of boxes."""
    path, = set(glob.glob(options.data + '/*.json')) - {options.data + '/alternatives.json'}
    rows = coco(path)
    others = options.data + '/alternatives.json'
    if os.path.exists(others):
        with open(others, encoding='utf-8') as file:
            alternatives = json.load(file)
        truth = [alternatives.get(name, []) for name, _, _ in rows]
    else:
        truth = [[[box] for box in labels.get(options.label, [])] for _, _, labels in rows]
    pictures = [picture for _, picture, _ in rows]
    if options.turned:
        both = [turned(p, t, options.turned) for p, t in zip(pictures, truth) if t]
        pictures, truth = [p for p, _ in both], [t for _, t in both]
    return pictures, truth


def marked_recalls(found, truth, threshold):
    """Returns recalls, with false positives counted only in pictures without objects."""
    empty = [f for f, t in zip(found, truth) if not t]
    mistakes = sorted((box[4] for f in empty for box in f), reverse=True)
    best = np.array([max([box[4] for box in f if iou(box, t[0]) >= threshold],
                         default=-np.inf)
                     for f, of_picture in zip(found, truth) for t in of_picture])

    def recall(rate):
        n = int(rate * len(empty))
        return float((best > (mistakes[n] if n < len(mistakes) else -1e8)).mean())

    return {f'recall at {rate}': recall(rate) for rate in (0.1, 0.3, 1)}


def hog_people(picture):
    """Returns the people that OpenCV finds, as boxes of their visible parts."""
    hog = cv2.HOGDescriptor()
    hog.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    found, scores = hog.detectMultiScale(picture, hitThreshold=-0.3, winStride=(8, 8),
                                         padding=(16, 16), scale=1.05, groupThreshold=0)
    if len(found) == 0:
        return []
    scores = np.ravel(scores)
    kept = cv2.dnn.NMSBoxes(found.tolist(), (scores + 10).tolist(), 0.0, 0.4)
    return [[*(found[i][:2] + found[i][2:] * (0.17, 0.08)), *(found[i][2:] * (0.66, 0.84)),
             scores[i]] for i in np.ravel(kept)]


def main():
    parser = arguments(__doc__)
    parser.add_argument('--model', default='haarcascade_frontalface_alt2.xml')
    parser.add_argument('--label', default='person', help='label of the objects in the COCO file')
    parser.add_argument('--iou', type=float, default=0.4, help='minimum IoU of a correct box')
    parser.add_argument('--turned', type=float, default=0,
                        help='turn the pictures by this angle in degrees')
    parser.add_argument('--marked-only', action='store_true')
    options = parse(parser)
    pictures, truth = load(options)
    element = f'waldboostdetect n-threads=1 message=none model={options.model}'

    def detect(more):
        return [boxes(r) for r in records(pictures, f'{element} {more} {options.settings}')]

    found = detect('min-neighbors=1')
    row = {'method': f'{options.model} {options.settings}'.strip()}
    if options.marked_only:
        row.update(marked_recalls(found, truth, options.iou))
    else:
        row.update(Curve(found, truth, options.iou).recalls())
        recall, mistakes = Curve(detect(''), truth, options.iou).total()
        row.update({'recall': recall, 'false positives': mistakes})
    row['ms at 640x480'] = milliseconds(
        cv2.resize(pictures[0], (640, 480)), f'{element} {options.settings}')
    show(options, **row)
    if options.peers:
        people = list(map(hog_people, pictures))
        show(options, method='OpenCV HOG', **(
            marked_recalls(people, truth, options.iou) if options.marked_only
            else Curve(people, truth, options.iou).recalls()))


main()
