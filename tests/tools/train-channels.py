#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cuvision-train --features channels on drawn pictures, in which only colour distinguishes the
objects. Checks the model and its report, that one processor gives the same bytes, what
waldboostdetect finds with the model, and options that are refused.

usage: train-channels.py TRAIN
"""

import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

from crosses import SIZE, Tests, use_one_processor, write_coco

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                             'models', 'waldboost'))
from boxes import overlap

OPTIONS = ['--features', 'channels', '--window', '24x24', '--weak', '64',
           '--negative-samples', '2000', '--copies', '4', '--device', 'cpu']
COLOURS = (50, 40, 200), (60, 170, 40), (200, 60, 50)  # blue, green, red


def draw(rng):
    """Returns a picture with three discs, and the box of the red one."""
    small = rng.integers(90, 170, (SIZE // 16, SIZE // 16, 3), np.uint8)
    picture = cv2.resize(small, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    places = [(40, 40), (120, 40), (40, 120), (120, 120)]
    rng.shuffle(places)
    for (x, y), colour in zip(places, COLOURS):
        x, y = x + int(rng.integers(-8, 9)), y + int(rng.integers(-8, 9))
        radius = int(rng.integers(14, 26))
        cv2.circle(picture, (x, y), radius, colour, -1)
        box = x - radius, y - radius, 2 * radius, 2 * radius
    noise = rng.integers(-10, 11, picture.shape)
    picture = np.clip(picture + noise, 0, 255).astype(np.uint8)
    return picture, [box]


def write_pictures(folder, rng, n):
    pictures = []
    for i in range(n):
        picture, boxes = draw(rng)
        # channels of a file are blue, green, red: the last colour is the object's
        cv2.imwrite(os.path.join(folder, f'{i}.png'), picture)
        pictures.append((f'{i}.png', boxes))
    return write_coco(folder, pictures)


def train(tests, coco, *more, **settings):
    """Trains. Returns the model's bytes and the report."""
    report = os.path.join(tests.folder, 'report')
    output = os.path.join(tests.folder, 'disc.xml')
    status, out, err = tests.train('--positives', coco, '--output', output, '--report',
                                   report, *OPTIONS, *more, **settings)
    if status != 0 or not os.path.exists(os.path.join(report, 'index.html')):
        tests.fail(status, out, err)
        sys.exit(1)
    with open(output, 'rb') as model, open(os.path.join(report, 'report.json'),
                                           encoding='utf-8') as file:
        return model.read(), json.load(file)


def check_report(tests, model, report):
    if b'<CuvisionChannels version="1" width="24" height="24"' not in model \
            or model.count(b'<tree>') != 64:
        tests.fail('model', model[:500])
    if report['options']['features'] != 'channels' or report['options']['alpha'] != 0.005:
        tests.fail('options', report['options'])
    if 'features' in report or not 1 <= report['weak_per_window'] < 20:
        tests.fail(report['weak_per_window'], 'trees per window')
    windows = report['windows']['test']
    if windows['recall']['value'] < 0.8 or windows['false_positive_rate']['value'] > 0.01:
        tests.fail('rates of windows', windows)
    if report['as_written']['test']['recall']['value'] < 0.7:
        tests.fail('rates', report['as_written'])


def find(folder, picture):
    """Returns the boxes that waldboostdetect finds in NV12."""
    path = os.path.join(folder, 'new.png')
    cv2.imwrite(path, picture)
    run = subprocess.run(
        ['gst-launch-1.0', '-q', 'filesrc', f'location={path}', '!', 'pngdec', '!',
         'videoconvert', '!', 'video/x-raw,format=NV12', '!', 'waldboostdetect',
         f'model={folder}/disc.xml', '!', 'visionpublish', '!', 'fakesink'],
        capture_output=True, text=True, check=True, timeout=100)
    return [(o['x'], o['y'], o['w'], o['h'], o['detection']['confidence'])
            for line in run.stdout.splitlines() for o in json.loads(line)['objects']]


def check_new_pictures(tests, rng):
    found = mistakes = 0
    right, wrong = [], []
    for _ in range(8):
        picture, boxes = draw(rng)
        objects = find(tests.folder, picture)
        hits = sum(overlap(o, boxes[0]) >= 0.5 for o in objects)
        for o in objects:
            (right if overlap(o, boxes[0]) >= 0.5 else wrong).append(o[4])
        found += hits > 0
        mistakes += len(objects) - hits
    print(f'{found} of 8 found, {mistakes} mistakes')
    if found < 7 or mistakes > 8:
        tests.fail('new pictures')
    if not 0.7 < np.mean(right) < 0.999 or any(w > np.mean(right) for w in wrong):
        tests.fail('confidences', right, wrong)


def check_refused(tests, coco):
    for text, *options in (
            ('does not support --margin', '--margin', '0.1'),
            ('does not support --rate', '--rate', '0.1'),
            ('supports only --features lbp', '--format', 'opencv')):
        tests.expect_error(text, '--positives', coco, '--output',
                           os.path.join(tests.folder, 'no.xml'), *OPTIONS, *options)


def main():
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(sys.argv[1], folder)
        coco = write_pictures(folder, rng, 24)
        model, report = train(tests, coco)
        check_report(tests, model, report)
        check_new_pictures(tests, rng)
        if train(tests, coco, preexec_fn=use_one_processor)[0] != model:
            tests.fail('one processor makes another model')
        if tests.has_cuda() and train(tests, coco, '--device', 'cuda')[0] != model:
            tests.fail('the GPU makes another model')
        check_refused(tests, coco)
    return tests.failed > 0


if __name__ == '__main__':
    sys.exit(main())
