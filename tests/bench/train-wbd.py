#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains OpenCV's WBDetector and cuvision-train with the same pictures and compares
time and rates.

usage: train-wbd.py TRAIN ORACLE DETECT [OPTION OF CUVISION-TRAIN...]

One digit is learnt from the handwritten ones in opencv-doc's digits.png: the first 80 % of its
samples, painted on photographs. Negatives are photographs with the other digits. Rates are measured
with the other 20 %, on other photographs, with our detector at every position of a pyramid. Prints
a JSON line for each trainer: elapsed seconds, processor seconds (cpu_s), number of weak
classifiers, recall at some numbers of false positives a picture, and the mean recall at up to one.

WBDetector learns five classifiers, of 64 to 1024 weak classifiers, and keeps the last one. It has
no options."""
import glob
import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                                'models', 'waldboost'))
from boxes import overlap
from wbd import cut_infinite

DATA = '/usr/share/doc/opencv-doc/examples/data'
PHOTOGRAPHS = ['aloeL', 'apple', 'baboon', 'board', 'building', 'butterfly', 'fruits',
               'home', 'leuvenA', 'messi5', 'orange', 'squirrel_cls', 'starry_night',
               'stuff', 'rubberwhale1', 'graf1', 'basketball1', 'smarties']
DIGIT = 3
SIDE, MARGIN = 24, 4
COPIES = 2
WIDTH, HEIGHT = 320, 240
SHOWN = 0.1, 0.3, 1, 3  # false positives a picture
LEAST_OVERLAP = 0.5


def read_digits():
    """Returns masks of 20 x 20 pixels for training and test, by digit."""
    sheet = cv2.imread(f'{DATA}/digits.png', cv2.IMREAD_GRAYSCALE)
    if sheet is None:
        sys.exit('install the package opencv-doc')
    cells = sheet.reshape(50, 20, 100, 20).transpose(0, 2, 1, 3).reshape(10, 500, 20, 20)
    return cells[:, :400], cells[:, 400:]


def read_photographs():
    """Returns the photographs for training and for test."""
    found = []
    for name in PHOTOGRAPHS:
        path, = glob.glob(f'{DATA}/{name}.*')
        picture = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
        scale = 1.25 * max(WIDTH / picture.shape[1], HEIGHT / picture.shape[0])
        found.append(cv2.resize(picture, None, fx=scale, fy=scale,
                                interpolation=cv2.INTER_AREA))
    return found[::2], found[1::2]


class Painter:
    """Paints digits on parts of photographs."""

    def __init__(self, seed, photographs):
        self.rng, self.photographs = np.random.default_rng(seed), photographs

    def cut(self, width, height):
        picture = self.photographs[self.rng.integers(len(self.photographs))]
        y = self.rng.integers(picture.shape[0] - height + 1)
        x = self.rng.integers(picture.shape[1] - width + 1)
        return picture[y:y + height, x:x + width].astype(np.float32) * 0.6

    def paint(self, picture, x, y, side, mask):
        mask = cv2.resize(mask, (side, side), interpolation=cv2.INTER_LINEAR) / 255
        ink = self.rng.uniform(160, 250)
        part = picture[y:y + side, x:x + side]
        part += mask * (ink - part)

    def finish(self, picture):
        noise = self.rng.normal(0, 6, picture.shape)
        return np.clip(picture + noise, 0, 255).astype(np.uint8)

    def positive(self, mask):
        """Returns a picture with the digit, moved and scaled a little."""
        side = int(self.rng.integers(SIDE - 2, SIDE + 3))
        x, y = (int(n) for n in
                MARGIN + (SIDE - side) // 2 + self.rng.integers(-1, 2, 2))
        picture = self.cut(SIDE + 2 * MARGIN, SIDE + 2 * MARGIN)
        self.paint(picture, x, y, side, mask)
        return self.finish(picture[MARGIN:-MARGIN, MARGIN:-MARGIN])

    def scene(self, digits, n_targets, n_others):
        """Returns a picture and the boxes of the targets."""
        picture, boxes, taken = self.cut(WIDTH, HEIGHT), [], []
        while len(taken) < n_targets + n_others:
            side = int(self.rng.integers(SIDE, 2 * SIDE))
            x = int(self.rng.integers(WIDTH - side))
            y = int(self.rng.integers(HEIGHT - side))
            if any(x < a + s and a < x + side and y < b + s and b < y + side
                   for a, b, s in taken):
                continue
            digit = DIGIT
            if len(taken) < n_targets:
                boxes.append((x, y, side))
            else:
                digit = (DIGIT + int(self.rng.integers(1, 10))) % 10
            self.paint(picture, x, y, side,
                       digits[digit][self.rng.integers(len(digits[digit]))])
            taken.append((x, y, side))
        return self.finish(picture), boxes


def write_data(folder):
    """Writes all pictures. Returns the boxes of the test pictures."""
    (train, test), (near, far) = read_digits(), read_photographs()
    painter = Painter(1, near)
    for name in ('positives', 'negatives', 'test'):
        os.makedirs(f'{folder}/{name}', exist_ok=True)
    with open(f'{folder}/info.dat', 'w', encoding='ascii') as out:
        for i, mask in enumerate([*train[DIGIT]] * COPIES):
            cv2.imwrite(f'{folder}/positives/{i:03}.png', painter.positive(mask))
            out.write(f'positives/{i:03}.png 1 0 0 {SIDE} {SIDE}\n')
    for i in range(60):
        cv2.imwrite(f'{folder}/negatives/{i:02}.png', painter.scene(train, 0, 14)[0])
    painter, boxes = Painter(2, far), []
    for i in range(60):
        picture, found = painter.scene(test, 5, 9)
        cv2.imwrite(f'{folder}/test/{i:02}.pgm', picture)
        boxes.append(found)
    return boxes


def timed(words):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        sys.exit(f'{words}: {run.stderr[-500:]}')
    return {'s': round(time.monotonic() - start, 1),
            'cpu_s': round(after.ru_utime + after.ru_stime - before.ru_utime
                           - before.ru_stime, 1)}


# ---- rates ----


def find(detect, model, path):
    """Returns boxes in descending order of their scores."""
    out = subprocess.run([detect, 'run', model, path, '1.1', '0', '0', '0', '0', '0',
                          'scan=dense', 'octaves=2', 'grouping=nms', 'nms-iou=0.3'],
                         check=True, capture_output=True, text=True).stdout
    found = [line.split() for line in out.splitlines()]
    return sorted(((float(word[5]), *map(int, word[:4])) for word in found),
                  reverse=True)


def judge(detect, model, folder, boxes):
    """Returns pairs of a score and whether the box is right."""
    judged = []
    for i, objects in enumerate(boxes):
        left = [(x, y, side, side) for x, y, side in objects]
        for score, *box in find(detect, model, f'{folder}/test/{i:02}.pgm'):
            best = max(left, key=lambda o: overlap(o, box), default=None)
            right = best is not None and overlap(best, box) >= LEAST_OVERLAP
            if right:
                left.remove(best)
            judged.append((score, right))
    return sorted(judged, reverse=True)


def rates(judged, n_objects, n_pictures):
    """Returns the recall at the numbers of false positives a picture, and the mean recall at up to
    one."""
    recalls, right, wrong, area = {n: 0 for n in SHOWN}, 0, 0, 0
    for _, equal in itertools.groupby(judged, key=lambda pair: pair[0]):
        goods = [good for _, good in equal]
        before, seen = right / n_objects, wrong
        right, wrong = right + sum(goods), wrong + len(goods) - sum(goods)
        area += before * max(0, min(wrong, n_pictures) - seen)
        for n in SHOWN:
            if wrong <= n * n_pictures:
                recalls[n] = round(right / n_objects, 3)
    area += right / n_objects * max(0, n_pictures - wrong)
    return {'recall': recalls, 'area_to_1': round(area / n_pictures, 3)}


def count_weak(model):
    with open(model, encoding='ascii') as file:
        text = file.read()
    found = re.search(r'<weak_count>\s*(\d+)', text)
    return int(found[1]) if found else len(re.findall('<stage ', text))


def train_wbd(oracle, folder, model):
    spent = timed([oracle, 'train', f'{folder}/positives', f'{folder}/negatives', model])
    cut_infinite(model)
    return spent


def train_ours(program, folder, model, options):
    return timed([program, '--positives', f'{folder}/info.dat', '--negatives',
                  f'{folder}/negatives', '--output', model, '--copies', '1',
                  '--features', 'lbp', '--margin', '0', '--false-positives', 'inf',
                  *options])


def main():
    program, oracle, detect, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        boxes = write_data(folder)
        for name in ('WBDetector', 'cuvision-train'):
            model = f'{folder}/{name}.xml'
            spent = train_wbd(oracle, folder, model) if name == 'WBDetector' \
                else train_ours(program, folder, model, options)
            print(json.dumps({'trainer': name, **spent, 'weak': count_weak(model),
                              **rates(judge(detect, model, folder, boxes),
                                      sum(map(len, boxes)), len(boxes))}), flush=True)


if __name__ == '__main__':
    main()
