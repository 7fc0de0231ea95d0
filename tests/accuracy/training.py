#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains a detector with cuvision-train on DATA/train/t.json and scores it on DATA/test/t.json.

Prints the recall at 0.1, 0.3 and 1 false positives per picture, with boxes ranked by score; recall
and false positives at the model's own threshold; processor seconds of the training; and
milliseconds per picture. --settings adds options of cuvision-train. --peers adds dlib's detector.
"""

import os
import sys
import tempfile
import time

import cv2
import numpy as np

from common import Curve, arguments, boxes, coco, milliseconds, parse, records, run, show

IOU = 0.5


def train(options, folder):
    """Trains a model; returns its path and processor seconds."""
    negatives = options.data + '/negatives'
    more = f'--negatives {negatives} ' if os.path.isdir(negatives) else ''
    seconds, result = run(
        f'{options.train} --device cpu --positives {options.data}/train/t.json '
        f'--label {options.label} {more}--window {options.window} {options.settings} '
        f'--output {folder}/model.xml')
    if result.returncode != 0:
        sys.exit(result.stdout[-400:] + result.stderr[-400:])
    return folder + '/model.xml', seconds


class Dlib:
    """dlib's detector of HOG features. It needs boxes of one shape, none smaller than its window.
    So pictures are enlarged `scale` times, and the window is the largest of three that dlib
    accepts."""

    def __init__(self, options):
        import dlib  # needed by --peers only
        self.dlib, self.scale = dlib, options.dlib_scale
        rows = [(self.enlarged(picture), labels.get(options.label, []))
                for _, picture, labels in coco(options.data + '/train/t.json')]
        shape = np.median([box[2] / box[3] for _, objects in rows for box in objects])
        start = time.process_time()
        for area in np.array((1, 2 / 3, 1 / 2)) * options.dlib_area:
            if self.fits(rows, shape, int(area)):
                break
        else:
            sys.exit('dlib rejects these boxes')
        self.seconds = time.process_time() - start

    def enlarged(self, picture):
        rgb = cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
        return cv2.resize(rgb, None, fx=self.scale, fy=self.scale)

    def rectangle(self, box, shape):
        """Returns a box of the same centre and area, with width / height = shape."""
        width = (box[2] * box[3] * shape) ** 0.5
        x, y = box[0] + box[2] / 2, box[1] + box[3] / 2
        ends = (x - width / 2, y - width / shape / 2, x + width / 2, y + width / shape / 2)
        return self.dlib.rectangle(*[int(round(v * self.scale)) for v in ends])

    def fits(self, rows, shape, area):
        smallest = 1.05 * area / self.scale ** 2
        used = [(p, objects) for p, objects in rows
                if objects and min(box[2] * box[3] for box in objects) >= smallest]
        settings = self.dlib.simple_object_detector_training_options()
        settings.C, settings.num_threads, settings.epsilon = 5, 1, 0.02
        settings.detection_window_size, settings.max_runtime_seconds = area, 90
        try:
            detector = self.dlib.train_simple_object_detector(
                [p for p, _ in used],
                [[self.rectangle(box, shape) for box in objects] for _, objects in used],
                settings)
        except RuntimeError:
            return False
        with tempfile.TemporaryDirectory() as folder:
            detector.save(folder + '/model.svm')
            self.detector = self.dlib.fhog_object_detector(folder + '/model.svm')
        return True

    def boxes(self, picture):
        found, scores, _ = self.detector.run(self.enlarged(picture), 0, -0.9)
        return [[*(v / self.scale for v in (f.left(), f.top(), f.width(), f.height())), score]
                for f, score in zip(found, scores)]


def main():
    parser = arguments(__doc__)
    parser.add_argument('--train', default='cuvision-train', help='the program')
    parser.add_argument('--label', required=True)
    parser.add_argument('--window', required=True, help='WIDTHxHEIGHT')
    parser.add_argument('--dlib-scale', type=int, default=2)
    parser.add_argument('--dlib-area', type=int, default=4000, help="area of dlib's window")
    options = parse(parser)
    test = coco(options.data + '/test/t.json')
    pictures = [picture for _, picture, _ in test]
    truth = [[[box] for box in labels.get(options.label, [])] for _, _, labels in test]
    with tempfile.TemporaryDirectory() as folder:
        model, seconds = train(options, folder)
        element = f'waldboostdetect n-threads=1 message=none model={model}'
        found = [boxes(r, False) for r in records(pictures, element)]
        ms = milliseconds(pictures[0], element, 4)
    curve = Curve(found, truth, IOU)
    recall, mistakes = curve.total()
    show(options, method='cuvision-train', **curve.recalls(), recall=recall,
         **{'false positives': mistakes}, seconds=seconds, ms=ms)
    if options.peers:
        dlib = Dlib(options)
        show(options, method='dlib', seconds=dlib.seconds,
             **Curve(list(map(dlib.boxes, pictures)), truth, IOU).recalls())


main()
