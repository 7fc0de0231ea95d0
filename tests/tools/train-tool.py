#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains with cuvision-train on pictures drawn here, annotated in each format.

usage: train-tool.py TRAIN MAN-PAGE
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import cv2
import numpy as np

from crosses import (OPTIONS, Tests, write, write_coco, write_dlib, write_info,
                     write_pictures, write_vec, write_voc, write_yolo)
from terminal import shown_by


def check_progress(tests, coco):
    """On a terminal each phase rewrites a progress line; a log has no such lines."""
    arguments = ['--positives', coco, '--output', os.path.join(tests.folder, 'x.xml'),
                 '--report', os.path.join(tests.folder, 'progress'), *OPTIONS]
    shown = shown_by([tests.program, *arguments], stdout=subprocess.DEVNULL)
    lines = re.findall(rb'\r(\d+) of 12 weak classifiers, false-positive rate', shown)
    if [int(n) for n in lines] != list(range(1, 13)) or b's left' not in shown:
        tests.fail('on a terminal', shown)
    # of 24 pictures, 17 are for learning, 4 for thresholds, 3 for measuring
    phases = re.findall(rb'\r([a-z ]+), pictures [a-z]+: 0 of (\d+)\x1b', shown)
    if phases != [(b'cropping objects', b'21'), (b'setting the threshold', b'4'),
                  (b'measuring', b'3'), (b'examining mistakes', b'35')] or shown.count(b'\r\x1b[K') < 3:
        tests.fail('phases', phases, shown)
    err = tests.train(*arguments)[2]
    if '\r' in err or 'done after 12 weak classifiers' not in err:
        tests.fail('in a log', err)
    os.remove(os.path.join(tests.folder, 'x.xml'))


def check_vec(tests, pictures):
    """Training with these samples finds the same crosses; only windows are measured."""
    report = os.path.join(tests.folder, 'vec-report')
    path = write_vec(tests.folder, pictures, 16)
    _, recall = tests.learn(path, '--report', report)
    if recall < 0.8:
        tests.fail('.vec: recall', recall)
    with open(os.path.join(report, 'report.json'), encoding='utf-8') as file:
        data = json.load(file)
    # 8 negatives, of which 1 is kept out; 48 samples, the last 15 % kept out
    test = data['data']['test']
    if test['pictures'] != 1 or test['objects'] != 7 \
            or data['windows']['test']['positives'] != 7:
        tests.fail('.vec:', test, data['windows']['test'])
    numbers = sorted(int(o['picture'].split()[-1]) for o in data['objects'])
    if numbers != list(range(41, 48)):
        tests.fail('.vec: samples kept out are', numbers)
    output = os.path.join(tests.folder, 'x.xml')
    tests.expect_error('samples of 256 pixels do not fit the window of 24 x 24',
                       '--positives', path, '--output', output)
    tests.expect_error('have no surroundings', '--positives', path, '--window',
                       '16x16', '--output', output)


def check_report(tests, pictures):
    """Checks a report of pictures whose names must be escaped in HTML."""
    folder = os.path.join(tests.folder, 'renamed')
    report = os.path.join(folder, 'made', 'report')
    os.makedirs(folder)
    renamed = [(f'<b>&"{name}', boxes) for name, boxes in pictures]
    for (old, _), (new, _) in zip(pictures, renamed):
        shutil.copy(os.path.join(tests.folder, old), os.path.join(folder, new))
    tests.learn(write_coco(folder, renamed), '--report', report)
    with open(os.path.join(report, 'report.json'), encoding='utf-8') as file:
        data = json.load(file)
    n_test = data['data']['test']['objects']
    if len(data['objects']) != n_test or not n_test:
        tests.fail(len(data['objects']), 'objects instead of', n_test)
    if len(data['progress']) != 12 or len(data['features']) != 12:
        tests.fail('report.json does not have 12 weak classifiers')
    if len(data['data']['test']['files']) != data['data']['test']['pictures']:
        tests.fail('the names of the test pictures', data['data']['test'])
    with open(os.path.join(report, 'index.html'), encoding='utf-8') as file:
        page = file.read()
    if '<b>' in page or '&lt;b&gt;&amp;&quot;' not in page:
        tests.fail('index.html does not escape names')
    for name in set(re.findall(r'<(\w+)', page)) - {'meta', 'img', 'br', 'polyline',
                                                    'line'}:
        if len(re.findall(f'<{name}[ >]', page)) != page.count(f'</{name}>'):
            tests.fail('index.html: unbalanced', name)
    pngs = re.findall(r'base64,([\w+/=]+)', page)
    for png in pngs:
        picture = cv2.imdecode(np.frombuffer(base64.b64decode(png), np.uint8), 0)
        if picture is None or picture.std() < 5:
            tests.fail('a thumbnail is not a picture')
    if len(pngs) < n_test or page.count('<svg') != 3:
        tests.fail(len(pngs), 'thumbnails,', page.count('<svg'), 'plots')


def check_labels(tests, coco):
    """Crosses with another label are negatives and, because they look alike, mistakes. Crosses
    to be ignored are neither."""
    with open(coco, encoding='utf-8') as file:
        data = json.load(file)
    data['categories'] = [{'id': 5, 'name': 'left'}, {'id': 6, 'name': 'right'}]
    for box in data['annotations']:
        box['category_id'] = 5 if box['bbox'][0] < 80 else 6
    sides = write(os.path.join(tests.folder, 'sides.json'), json.dumps(data))
    n_negatives, n_on = {}, {}
    for more in ((), ('--label', 'left'), ('--label', 'left', '--ignore', 'right')):
        report = os.path.join(tests.folder, f'labels-{len(more)}')
        tests.learn(sides, *more, '--report', report)
        with open(os.path.join(report, 'report.json'), encoding='utf-8') as file:
            found = json.load(file)
        n_negatives[more] = found['windows']['test']['negatives']
        n_on[more] = [box['x'] >= 64 for box in found['mistakes']
                      if box['other'] == 'right']
        with open(os.path.join(report, 'index.html'), encoding='utf-8') as file:
            page = file.read()
        if (', on right<' in page) != (len(more) == 2) \
                or ('on objects of other labels.' in page) != (len(more) == 2):
            tests.fail('labels', more, 'on the page')
    everything, other, ignored = n_negatives.values()
    print('windows of negatives:', n_negatives, 'mistakes:', n_on)
    if not (everything == ignored < other):
        tests.fail('windows of negatives', n_negatives)
    on_all, on_other, on_ignored = n_on.values()
    if on_all or on_ignored or len(on_other) < 2 or not all(on_other):
        tests.fail('mistakes on objects of other labels', n_on)
    output = os.path.join(tests.folder, 'x.xml')
    tests.expect_error("no object has the label 'rihgt'; labels are 'left', 'right'",
                       '--positives', sides, '--label', 'left', '--ignore', 'rihgt',
                       '--output', output)
    tests.expect_error('--ignore and --label select the same objects', '--positives',
                       sides, '--label', 'left', '--ignore', 'left', '--output', output)


def check_alike(tests, pictures):
    """Trains with boxes on the background: a message says what many weak classifiers mean."""
    rng = np.random.default_rng(3)
    path = write_info(tests.folder, [
        (name, [(*(int(n) for n in rng.integers(0, 120, 2)), 32, 32) for _ in range(2)])
        for name, _ in pictures])
    status, out, err = tests.train(
        '--positives', path, '--output', os.path.join(tests.folder, 'x.xml'), *OPTIONS,
        '--weak', '24')
    n = float((re.findall('weak classifiers per window: ([0-9.]+)', out) or [0])[0])
    print(f'{n} weak classifiers a window for random boxes')
    if status or n <= 10 or 'the features do not separate the objects' not in err:
        tests.fail('random boxes', status, out, err)
    if 'the threshold accepts only' not in err \
            or float(re.search(r'\), (\S+) false positives', out)[1]) > 2:
        tests.fail('the threshold for random boxes', out, err)
    os.remove(os.path.join(tests.folder, 'x.xml'))


def written_with(tests, coco, n, *options):
    """Trains for this number of false positives. Returns what report.json says about the model's
    own threshold, and what was printed to the user."""
    report = os.path.join(tests.folder, 'at-most-' + n)
    output = os.path.join(tests.folder, 'at-most.xml')
    status, out, err = tests.train(
        '--positives', coco, '--output', output, *OPTIONS, '--weak', '5',
        '--false-positives', n, '--report', report, *options)
    if status != 0:
        tests.fail('--false-positives', n, err)
    with open(os.path.join(report, 'report.json'), encoding='utf-8') as file:
        data = json.load(file)
    last = [rate for rate in data['roc'] if rate['score'] > 0][-1:]
    test = data['as_written']['test']
    if last and (last[0]['recall'] != test['recall']
                 or last[0]['false_positives_per_picture']
                 != test['false_positives_per_picture']):
        tests.fail('as written', test, 'but the ROC has', last)
    if f"with the model's own threshold: recall {test['recall']['value']:.3f}" not in out:
        tests.fail('as written', test, out)
    with open(os.path.join(report, 'index.html'), encoding='utf-8') as file:
        page = file.read()
    if f'set for at most {n} false' not in page and n != 'inf' \
            or "threshold</text>" not in page:
        tests.fail('the threshold is not on the page', n)
    return data, err


def check_false_positives(tests, coco):
    """A higher final threshold leaves fewer mistakes; scores fall by as much."""
    written = {n: written_with(tests, coco, n) for n in ('inf', '3', '1', '0')}
    every = written['inf'][0]
    if every['as_written']['threshold_raised'] != 0 \
            or every['options']['false_positives'] is not None:
        tests.fail('inf', every['as_written'], every['options'])
    for n, (data, err) in list(written.items())[1:]:
        at = data['as_written']
        mistakes = at['calibration']['false_positives_per_picture']
        print(f'{n}: recall', at['calibration']['recall']['value'], 'false positives',
              mistakes, 'new', at['test']['false_positives_per_picture'])
        if mistakes > float(n) or at['threshold_raised'] <= 0:
            tests.fail('--false-positives', n, at)
        few = at['calibration']['recall']['value'] < 0.5
        if few != ('of the calibration pictures: more --false-positives' in err):
            tests.fail('--false-positives', n, err)
        for name in ('roc', 'calibration_roc'):
            differences = {round(a['score'] - b['score'], 3)
                           for a, b in zip(every[name], data[name])}
            if differences != {round(at['threshold_raised'], 3)}:
                tests.fail(n, name, 'scores differ by', differences, at)
    if every['as_written']['calibration']['false_positives_per_picture'] < 15:
        tests.fail('too few mistakes to leave out', every['as_written'])


def check_loose_boxes(tests, pictures):
    """Boxes that are found right count as right although a third of the given ones are off."""
    loose = [(name, [(x + side * 0.3 * (i % 3 == 0), y + side * 0.3 * (i % 3 == 0), side, side)
                     for x, y, side, _ in boxes]) for i, (name, boxes) in enumerate(pictures)]
    coco = write_coco(tests.folder, loose)
    strict, loose = (written_with(tests, coco, '0.1', *options)[0]
                     for options in ((), ('--loose-boxes',)))
    recalls = [data['as_written']['test']['recall']['value'] for data in (strict, loose)]
    print('boxes that are off: recall', recalls)
    if strict['options']['loose_boxes'] or not loose['options']['loose_boxes'] \
            or recalls[0] > 0.8 or recalls[1] < recalls[0] + 0.2:
        tests.fail('--loose-boxes', recalls)
    with open(os.path.join(tests.folder, 'at-most-0.1', 'index.html'), encoding='utf-8') as file:
        if 'intersection over union is at least 0.2.' not in file.read():
            tests.fail('the page of --loose-boxes')


def check_places(tests, coco):
    """Outputs that cannot be written are refused before pictures are read."""
    missing = os.path.join(tests.folder, 'no-such-folder', 'model.xml')
    tests.expect_error("cannot write to", '--positives', 'not-read', '--output', missing)
    tests.expect_error('is not a regular file', '--positives', 'not-read',
                       '--output', tests.folder)
    tests.expect_error('cannot create the folder', '--positives', 'not-read', '--output',
                       os.path.join(tests.folder, 'x.xml'), '--report',
                       os.path.join(coco, 'report'))


def check_devices(tests, coco, model):
    """All devices write the same model; without a GPU the device cuda is refused."""
    tests.expect_error('is not auto, cpu or cuda', '--device', 'gpu')
    if tests.learn(coco, '--device', 'cpu')[0] != model:
        tests.fail('--device=cpu gives another model')
    if tests.has_cuda() and tests.learn(coco, '--device', 'cuda')[0] != model:
        tests.fail('--device=cuda gives another model')


def check_help(tests, page):
    """Checks that the man page names the options that --help lists, and no others."""
    _, out, _ = tests.train('--help')
    with open(page, encoding='utf-8') as file:
        text = file.read().replace('\\-', '-')
    listed = set(re.findall(r'--[a-z][a-z-]+', out.split('Annotations may be')[0]))
    described = set(re.findall(r'--[a-z][a-z-]+',
                               text[text.index('.SH OPTIONS'):text.index('.SH ENV')]))
    if listed != described:
        tests.fail('the man page and --help differ in', listed ^ described)


def check_comment(tests, model, pictures):
    """A comment in the model says what it was trained on."""
    comment = re.match(rb'<!-- (.*?) -->', model, re.S)
    words = comment[1].decode() if comment else ''
    for expected in (f'from {len(pictures) + 8} pictures, {len(pictures)} of them with',
                     'seed 1', 'alpha 0.02', 'recall 1.000 (', 'pictures kept out'):
        if expected not in words:
            tests.fail(f"'{expected}' is not in '{words}'")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(program, folder)
        pictures = write_pictures(folder, 24)
        coco = write_coco(folder, pictures)
        model, recall = tests.learn(coco)
        print(f'recall {recall}')
        if recall < 0.8:
            tests.fail('recall', recall)
        # the pictures have the same order, so the model is the same
        for path in (write_info(folder, pictures), write_dlib(folder, pictures),
                     write_voc(folder, pictures), write_yolo(folder, pictures)):
            if tests.learn(path)[0] != model:
                tests.fail(path, 'gives another model')
        if tests.learn(coco, '--seed', '2')[0] == model:
            tests.fail('another seed gives the same model')
        output = os.path.join(folder, 'x.xml')
        tests.expect_error('--positives is missing', '--output', output)
        tests.expect_error('--output is missing', '--positives', coco)
        tests.expect_error('is not a size such as 24x24', '--window', '7x24')
        tests.expect_error('is not butfit or opencv', '--format', 'xml')
        tests.expect_error('supports only --features lbp', '--positives', coco,
                           '--output', output, '--format', 'opencv', '--features', 'lrd')
        tests.expect_error('does not support --loose-boxes', '--positives', coco,
                           '--output', output, '--format', 'opencv', '--loose-boxes')
        tests.expect_error('no-such-file', '--positives', 'no-such-file',
                           '--output', output)
        tests.expect_error('line 1', '--positives',
                           write(os.path.join(folder, 'bad.txt'), '0 1 2 3 x\n'),
                           '--output', output)
        tests.expect_error("no object has the label 'dog'; labels are 'cross'",
                           '--positives', coco, '--label', 'dog', '--output', output)
        tests.expect_error('4 pictures have objects, but at least 7 are needed',
                           '--positives', write_info(folder, pictures[:4]),
                           '--output', output)
        tests.expect_error('--false-positives must be 0 or more', '--positives', coco,
                           '--output', output, '--false-positives', '-1')
        tests.expect_error('--false-positives must be 0 or more', '--positives', coco,
                           '--output', output, '--false-positives', 'nan')
        check_help(tests, sys.argv[2])
        check_comment(tests, model, pictures)
        check_report(tests, pictures)
        check_labels(tests, coco)
        check_alike(tests, pictures)
        check_vec(tests, pictures)
        check_places(tests, coco)
        check_progress(tests, coco)
        check_false_positives(tests, coco)
        check_devices(tests, coco, model)
        check_loose_boxes(tests, pictures)
        if os.path.exists(output):
            tests.fail('a model was written after an error')
    return tests.failed > 0


if __name__ == '__main__':
    sys.exit(main())
