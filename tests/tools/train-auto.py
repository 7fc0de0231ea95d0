#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cuvision-train --features auto, the default, on drawn pictures. It takes channels where
only colour distinguishes the objects, and patterns where channels are no better; the model is the
one that --features with that kind gives, and the report has both kinds. Some options and pictures
leave only one kind.

usage: train-auto.py TRAIN
"""

import importlib
import json
import os
import re
import sys
import tempfile

import cv2
import numpy as np

from crosses import (Tests, draw, use_one_processor, write_coco, write_pictures,
                     write_vec)

channels = importlib.import_module('train-channels')

FEW = 'CUV_CHECK_FEW' in os.environ  # sanitizers need not train the same model again
OPTIONS = ['--weak', '48', '--negative-samples', '1500', '--copies', '4', '--device', 'cpu']


class Auto(Tests):
    def make(self, coco, *more, **settings):
        """Trains. Returns the model's bytes, what was printed and the report; None if training
        failed."""
        output, report = (os.path.join(self.folder, name) for name in ('a.xml', 'report'))
        status, out, err = self.train('--positives', coco, '--output', output, '--report',
                                      report, *OPTIONS, *more, **settings)
        if status != 0 or os.path.exists(output + '.state'):
            self.fail(more, status, out, err)
            return None
        with open(output, 'rb') as model, \
                open(os.path.join(report, 'report.json'), encoding='utf-8') as data:
            return model.read(), out, json.load(data)

    def page(self):
        with open(os.path.join(self.folder, 'report', 'index.html'), encoding='utf-8') as file:
            return file.read()

    def expect(self, condition, *what):
        if not condition:
            self.fail(*what)


def recall(rates, most):
    """Returns the best recall with at most `most` false positives."""
    return max((r['recall']['value'] for r in rates
                if r['false_positives_per_picture'] <= most), default=0)


def kinds_of(report):
    return [kind['features'] for kind in report['choice']['kinds']]


def check_both(tests, took, other, coco, *more):
    """Checks that both kinds are measured, and that the model is the one of --features TOOK.
    Returns the model, and the recalls of the chosen kind and of the other one at 0 to 1 false
    positives per picture."""
    model, out, report = tests.make(coco, *more)
    page = tests.page()
    choice = report['choice']
    kinds = {kind['features']: kind for kind in choice['kinds']}
    if kinds_of(report) != [took, other] or choice['took'] != took:
        tests.fail(took, choice['why'], out)
        return model, [0], [0]
    tests.expect(report['options']['features'] == took, report['options'])
    tests.expect(choice['why'].startswith(f'took {took}: ') and choice['why'] in out, out)
    tests.expect(choice['why'] in page and f'test, {other}' in page, 'the page')
    tests.expect(kinds[took]['roc'] == report['roc'], 'another curve')
    for name, kind in kinds.items():
        best = recall(kind['roc'], 1)
        tests.expect(abs(kind['recall']['value'] - best) < 1e-9, kind['recall'], best)
        shown = re.search(rf'^{name}: recall ([\d.]+) .* at 1 false', out, re.MULTILINE)
        tests.expect(shown and abs(float(shown[1]) - best) < 0.001, name, out)
    if not FEW:
        named, _, alone = tests.make(coco, *more, '--features', took)
        tests.expect(named == model, '--features', took, 'makes another model')
        tests.expect('choice' not in alone and alone['roc'] == report['roc'], 'named:', took)
        alone = tests.make(coco, *more, '--features', other)[2]
        tests.expect(alone['roc'] == kinds[other]['roc'], 'named:', other)
    return model, *([recall(rates, most) for most in (0, 0.1, 0.3, 1)]
                    for rates in (report['roc'], kinds[other]['roc']))


def check_colours(tests, rng):
    os.makedirs(os.path.join(tests.folder, 'discs'))
    coco = channels.write_pictures(os.path.join(tests.folder, 'discs'), rng, 48)
    model, took, other = check_both(tests, 'channels', 'lbp', coco, '--window', '24x24')
    tests.expect(took[-1] >= 0.7 and took[-1] >= other[-1] and sum(took) > sum(other),
                 'discs: recall', took, other)
    if not FEW:
        alone = tests.make(coco, '--window', '24x24', preexec_fn=use_one_processor)[0]
        tests.expect(model == alone, 'one processor makes another model')
    if tests.has_cuda():
        alone = tests.make(coco, '--window', '24x24', '--device', 'cuda')[0]
        tests.expect(model == alone, 'the GPU makes another model')


def check_patterns(tests):
    folder = os.path.join(tests.folder, 'crosses')
    os.makedirs(folder)
    pictures = write_pictures(folder)
    coco = write_coco(folder, pictures)
    _, took, other = check_both(tests, 'lbp', 'channels', coco, '--window', '16x16', '--margin',
                                '0', '--negatives', os.path.join(folder, 'negatives'))
    tests.expect(took[-1] >= 0.9 and took[-1] >= other[-1], 'crosses: recall', took, other)
    return folder, pictures


def check_options(tests, rng):
    """Checks options that only patterns have."""
    folder = os.path.join(tests.folder, 'few')
    os.makedirs(folder)
    coco = channels.write_pictures(folder, rng, 12)
    for reason, *options in (
            ('channels do not support --margin', '--margin', '0.1'),
            ('channels do not support --rate', '--rate', '0.001'),
            ('--format opencv needs it', '--format', 'opencv')):
        model, out, report = tests.make(coco, '--features', 'auto', *options)
        tests.expect(out.startswith(f'took lbp: {reason}\n'), options, out)
        tests.expect(report['choice']['why'] == f'took lbp: {reason}', options)
        tests.expect(kinds_of(report) == ['lbp'], options)
        tests.expect(b'CuvisionChannels' not in model and b'LBP' in model, model[:300])
    tests.expect_error('is not auto, lbp, lrd, lrp or channels', '--positives', coco,
                       '--output', os.path.join(tests.folder, 'x.xml'), '--features', 'any')


def check_vec(tests, folder, pictures):
    path = write_vec(folder, pictures, 16)
    _, out, report = tests.make(path, '--window', '16x16', '--negatives',
                                os.path.join(folder, 'negatives'))
    tests.expect('took lbp: the samples of a .vec have no colour' in out, out)
    tests.expect(kinds_of(report) == ['lbp'], '.vec')


def write_fixed(tests, name, rng, width, box):
    """Writes pictures of this width, each with a cross in the box."""
    folder = os.path.join(tests.folder, name)
    os.makedirs(folder)
    pictures = []
    for i in range(16):
        picture, boxes = draw(rng)
        x, y, side, _ = boxes[0]
        cross = cv2.resize(picture[y:y + side, x:x + side], box[2:])
        left = max(0, -box[0])
        picture = rng.integers(60, 200, (160, width), np.uint8)
        part = cross[:, left:left + width]
        picture[box[1]:box[1] + box[3], max(0, box[0]):][:, :part.shape[1]] = part
        cv2.imwrite(os.path.join(folder, f'{i}.png'), picture)
        pictures.append((f'{i}.png', [box]))
    return write_coco(folder, pictures)


def check_one_kind(tests, rng):
    """Checks objects that only one kind can learn."""
    small = write_fixed(tests, 'small', rng, 160, (40, 40, 28, 28))
    model, out, report = tests.make(small)
    tests.expect('took lbp: channels cannot be learnt, as all objects are smaller than the '
                 'window of 32 x 32' in out, out)
    tests.expect(b'CuvisionChannels' not in model, model[:300])
    tests.expect(kinds_of(report) == ['lbp'], 'small')
    narrow = write_fixed(tests, 'narrow', rng, 22, (-1, 60, 24, 24))
    model, out, report = tests.make(narrow, '--window', '24x24')
    tests.expect('took channels: lbp cannot be learnt, as there is nothing to learn' in out, out)
    tests.expect(b'<CuvisionChannels' in model, model[:300])
    tests.expect(kinds_of(report) == ['channels'], 'narrow')
    tests.expect_error('all objects are smaller than the window of 64 x 64', '--positives',
                       small, '--window', '64x64', '--output',
                       os.path.join(tests.folder, 'x.xml'))


def main():
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        tests = Auto(sys.argv[1], folder)
        check_colours(tests, rng)
        check_options(tests, rng)
        check_vec(tests, *check_patterns(tests))
        check_one_kind(tests, rng)
    return tests.failed > 0


sys.exit(main())
