#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains with cuvision-train on pictures drawn here, annotated in each format.

usage: train-tool.py TRAIN
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

N_PICTURES = 24
SIZE = 160
OPTIONS = ['--window', '16x16', '--weak', '12', '--negative-samples', '800',
           '--copies', '4', '--margin', '0']


def draw(rng):
    """A picture of noise with two crosses; their boxes."""
    small = rng.integers(60, 200, (SIZE // 8, SIZE // 8), np.uint8)
    picture = cv2.resize(small, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    boxes = []
    for left in (8, 88):
        side = int(rng.integers(18, 40))
        x, y = left + int(rng.integers(0, 30)), int(rng.integers(4, SIZE - 44))
        third = side // 3
        picture[y:y + side, x:x + side] = 230
        picture[y + third:y + side - third, x:x + side] = 20
        picture[y:y + side, x + third:x + side - third] = 20
        boxes.append((x, y, side, side))
    noise = rng.integers(-8, 9, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8), boxes


def write_pictures(folder):
    rng = np.random.default_rng(7)
    pictures = []
    os.makedirs(os.path.join(folder, 'negatives'))
    for i in range(N_PICTURES):
        picture, boxes = draw(rng)
        name = f'{i:02}.png'
        cv2.imwrite(os.path.join(folder, name), picture)
        pictures.append((name, boxes))
    for i in range(8):
        small = rng.integers(0, 256, (SIZE // (4 + i), SIZE // (4 + i)), np.uint8)
        cv2.imwrite(os.path.join(folder, 'negatives', f'{i}.png'),
                    cv2.resize(small, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC))
    return pictures


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as out:
        out.write(text)
    return path


def write_coco(folder, pictures):
    images = [{'id': i, 'file_name': name} for i, (name, _) in enumerate(pictures)]
    annotations = [{'image_id': i, 'category_id': 5, 'bbox': box}
                   for i, (_, boxes) in enumerate(pictures) for box in boxes]
    return write(os.path.join(folder, 'coco.json'), json.dumps(
        {'images': images, 'annotations': annotations,
         'categories': [{'id': 5, 'name': 'cross'}]}))


def write_info(folder, pictures):
    lines = [f'{name} {len(boxes)} ' + ' '.join(str(n) for box in boxes for n in box)
             for name, boxes in pictures]
    return write(os.path.join(folder, 'info.dat'), '\n'.join(lines) + '\n')


def write_dlib(folder, pictures):
    images = ''.join(
        f"<image file='{name}'>" + ''.join(
            f"<box left='{x}' top='{y}' width='{w}' height='{h}'/>"
            for x, y, w, h in boxes) + '</image>' for name, boxes in pictures)
    return write(os.path.join(folder, 'dlib.xml'),
                 f'<dataset><images>{images}</images></dataset>')


def write_voc(folder, pictures):
    for name, boxes in pictures:
        objects = ''.join(
            '<object><name>cross</name><bndbox>'
            f'<xmin>{x + 1}</xmin><ymin>{y + 1}</ymin>'
            f'<xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>'
            for x, y, w, h in boxes)
        write(os.path.join(folder, 'voc', name.replace('png', 'xml')),
              f'<annotation><filename>{name}</filename>{objects}</annotation>')
    return os.path.join(folder, 'voc')


def write_yolo(folder, pictures):
    for name, boxes in pictures:
        lines = [f'0 {(x + w / 2) / SIZE} {(y + h / 2) / SIZE} {w / SIZE} {h / SIZE}'
                 for x, y, w, h in boxes]
        write(os.path.join(folder, 'yolo', name.replace('png', 'txt')),
              '\n'.join(lines) + '\n')
    return os.path.join(folder, 'yolo')


class Tests:
    def __init__(self, program, folder):
        self.program, self.folder, self.failed = program, folder, 0

    def fail(self, *what):
        print('FAILED:', *what)
        self.failed += 1

    def train(self, *arguments):
        run = subprocess.run([self.program, *arguments], capture_output=True,
                             text=True, timeout=600, check=False)
        return run.returncode, run.stdout, run.stderr

    def learn(self, annotations, *more):
        """The model's bytes and the recall at most one false positive a picture."""
        output = os.path.join(self.folder, 'model.xml')
        status, out, err = self.train(
            '--positives', annotations, '--negatives',
            os.path.join(self.folder, 'negatives'), '--output', output,
            *OPTIONS, *more)
        found = re.search(r'at most 1 false positives a picture: recall ([\d.]+)', out)
        if status != 0 or not found:
            self.fail(annotations, status, out, err)
            return b'', 0
        with open(output, 'rb') as model:
            return model.read(), float(found[1])

    def expect_error(self, text, *arguments):
        status, _, err = self.train(*arguments)
        if status == 0 or text not in err:
            self.fail(arguments, status, err, 'instead of', text)


def check_report(tests, pictures):
    """A report of pictures with names that HTML would misunderstand."""
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
        tests.fail('report.json has not 12 weak classifiers')
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
            tests.fail('a thumbnail is no picture')
    if len(pngs) < n_test or page.count('<svg') != 3:
        tests.fail(len(pngs), 'thumbnails,', page.count('<svg'), 'plots')


def check_places(tests, coco):
    """What cannot be written is refused before pictures are read."""
    missing = os.path.join(tests.folder, 'no-such-folder', 'model.xml')
    tests.expect_error("cannot write to", '--positives', 'not-read', '--output', missing)
    tests.expect_error('instead of a file', '--positives', 'not-read',
                       '--output', tests.folder)
    tests.expect_error('cannot make the folder', '--positives', 'not-read', '--output',
                       os.path.join(tests.folder, 'x.xml'), '--report',
                       os.path.join(coco, 'report'))


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(program, folder)
        pictures = write_pictures(folder)
        coco = write_coco(folder, pictures)
        model, recall = tests.learn(coco)
        print(f'recall {recall}')
        if recall < 0.8:
            tests.fail('recall', recall)
        # one order of the pictures, so one model
        for path in (write_info(folder, pictures), write_dlib(folder, pictures),
                     write_voc(folder, pictures), write_yolo(folder, pictures)):
            if tests.learn(path)[0] != model:
                tests.fail(path, 'gives another model')
        if tests.learn(coco, '--seed', '2')[0] == model:
            tests.fail('another seed gives the same model')
        output = os.path.join(folder, 'x.xml')
        tests.expect_error('--positives is missing', '--output', output)
        tests.expect_error('--output is missing', '--positives', coco)
        tests.expect_error('no size like 24x24', '--window', '7x24')
        tests.expect_error('no-such-file', '--positives', 'no-such-file',
                           '--output', output)
        tests.expect_error('line 1', '--positives',
                           write(os.path.join(folder, 'bad.txt'), '0 1 2 3 x\n'),
                           '--output', output)
        tests.expect_error("no object is called 'dog'; there are 'cross'",
                           '--positives', coco, '--label', 'dog', '--output', output)
        tests.expect_error('4 pictures have objects, but at least 7 are needed',
                           '--positives', write_info(folder, pictures[:4]),
                           '--output', output)
        check_report(tests, pictures)
        check_places(tests, coco)
        if os.path.exists(output):
            tests.fail('a model was written after an error')
    return tests.failed > 0


if __name__ == '__main__':
    sys.exit(main())
