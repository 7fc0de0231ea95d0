# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws pictures of crosses, annotates them in each format, and runs cuvision-train."""

import json
import os
import re
import struct
import subprocess

import cv2
import numpy as np

SIZE = 160
OPTIONS = ['--features', 'lbp', '--window', '16x16', '--weak', '12',
           '--negative-samples', '800', '--copies', '4', '--margin', '0']


def draw(rng):
    """Returns a picture of noise with two crosses, and their boxes."""
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


def write_pictures(folder, n=12):
    rng = np.random.default_rng(7)
    pictures = []
    os.makedirs(os.path.join(folder, 'negatives'))
    for i in range(n):
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


def write_vec(folder, pictures, side):
    """Writes the crosses as samples without pictures."""
    path = os.path.join(folder, 'crosses.vec')
    samples = []
    for name, boxes in pictures:
        picture = cv2.imread(os.path.join(folder, name), cv2.IMREAD_GRAYSCALE)
        samples += [cv2.resize(picture[y:y + h, x:x + w], (side, side),
                               interpolation=cv2.INTER_AREA) for x, y, w, h in boxes]
    with open(path, 'wb') as out:
        out.write(struct.pack('<iihh', len(samples), side * side, 0, 0))
        for sample in samples:
            out.write(b'\0' + sample.astype('<i2').tobytes())
    return path


def use_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class Tests:
    def __init__(self, program, folder):
        self.program, self.folder, self.failed = program, folder, 0

    def fail(self, *what):
        print('FAILED:', *what)
        self.failed += 1

    def train(self, *arguments, **settings):
        run = subprocess.run([self.program, *arguments], capture_output=True,
                             text=True, timeout=600, check=False, **settings)
        return run.returncode, run.stdout, run.stderr

    def learn(self, annotations, *more, **settings):
        """Trains. Returns the model's bytes and the recall at up to one false positive a
        picture."""
        output = os.path.join(self.folder, 'model.xml')
        status, out, err = self.train(
            '--positives', annotations, '--negatives',
            os.path.join(self.folder, 'negatives'), '--output', output,
            *OPTIONS, *more, **settings)
        found = re.search(r'at most 1 false positives per picture: recall ([\d.]+)', out)
        if status != 0 or not found:
            self.fail(annotations, status, out, err)
            return b'', 0
        with open(output, 'rb') as model:
            return model.read(), float(found[1])

    def has_cuda(self):
        """Whether it trains on a GPU; prints why not."""
        err = self.train('--positives', 'not-read', '--output',
                         os.path.join(self.folder, 'x.xml'), '--device', 'cuda')[2]
        if '--device=cuda: ' in err:
            print(err.strip())
        return '--device=cuda: ' not in err

    def expect_error(self, text, *arguments):
        status, _, err = self.train(*arguments)
        if status == 0 or text not in err:
            self.fail(arguments, status, err, 'instead of', text)
