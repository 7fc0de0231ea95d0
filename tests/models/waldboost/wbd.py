#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares our boxes and scores with those of OpenCV's WBDetector, for models that it has
trained and for random ones.

usage: wbd.py DETECT ORACLE [--all]"""
import math
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import cv2
import numpy as np

import boosted

DATA = '/usr/share/doc/opencv-doc/examples/data'
CASCADE = '/usr/share/opencv4/lbpcascades/lbpcascade_frontalface_improved.xml'
MIN_NEIGHBOURS = 3  # fixed in WBDetector
TOLERANCE = 2e-6  # relative; for floats that are rounded once each


def read_grey(name):
    picture = cv2.imread(os.path.join(DATA, name), cv2.IMREAD_COLOR)
    if picture is None:
        sys.exit(f'no {name}: install the package opencv-doc')
    return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)


def video_frames(step):
    video = cv2.VideoCapture(os.path.join(DATA, 'Megamind.avi'))
    for i in range(270):
        ok, frame = video.read()
        if not ok:
            sys.exit('Megamind.avi cannot be read')
        if i % step == 0:
            yield cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)


# ---- training ----


def collect_faces(n):
    cascade, faces = cv2.CascadeClassifier(CASCADE), []
    for frame in video_frames(4):
        for x, y, width, height in cascade.detectMultiScale(frame, 1.2, 2):
            face = frame[y:y + height, x:x + width]
            faces.append(cv2.resize(face, (24, 24),
                                    interpolation=cv2.INTER_AREA))
    assert len(faces) >= n, len(faces)
    return faces[:n]


def noisy(random_state, picture, amount):
    return np.clip(picture + random_state.normal(0, amount, picture.shape),
                   0, 255).astype(np.uint8)


def write_samples(folder, seed, n):
    """Writes faces, and backgrounds with some faces, so that training needs many weak
    classifiers."""
    rng = np.random.RandomState(seed)
    faces = collect_faces(n)
    places = [os.path.join(folder, name) for name in ('faces', 'backgrounds')]
    for place in places:
        os.makedirs(place)
    for i, face in enumerate(faces):
        cv2.imwrite(f'{places[0]}/{i:03}.png', noisy(rng, face, 30))
    for name in ('building.jpg', 'fruits.jpg', 'home.jpg', 'graf1.png'):
        picture = cv2.resize(read_grey(name), (320, 240))
        for y in range(0, 216, 40):
            for x in range(0, 296, 40):
                picture[y:y + 24, x:x + 24] = noisy(
                    rng, faces[rng.randint(n)], 30)
        cv2.imwrite(f'{places[1]}/{name}.png', picture)
    return places


def read_texts(model, name):
    node = next(xml.etree.ElementTree.parse(model).iter(name))
    return node.text.split()


def read_float(text):
    return float(text.replace('.Inf', 'inf').replace('.Nan', 'nan'))


def is_special(model):
    return any('f' in text or 'N' in text for name in ('alphas', 'cascade_thresholds')
               for text in read_texts(model, name))


def cut_infinite(model):
    """Returns a copy of a model without the weak classifier that separated the last samples, which
    no window passes."""
    cut = model.replace('.xml', '-cut.xml')
    arrays = [read_texts(model, name) for name in boosted.WBD_ARRAYS]
    n = sum('f' not in alpha.lower() and 'n' not in alpha.lower()
            for alpha in arrays[1])
    with open(cut, 'w', encoding='ascii') as file:
        file.write(boosted.write_wbd([array[:n] for array in arrays]))
    return cut


def train(oracle, folder, seeds, n):
    models, running = [], []
    for seed in seeds:
        models.append(os.path.join(folder, f'trained-{seed}.xml'))
        places = write_samples(os.path.join(folder, str(seed)), seed, n)
        running.append(subprocess.Popen(
            [oracle, 'train', *places, models[-1]],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for process, model in zip(running, list(models)):
        if process.wait() != 0:
            sys.exit('training with WBDetector failed')
        models.append(cut_infinite(model))
        print(f'{os.path.basename(model)}: '
              f'{len(read_texts(models[-1], "alphas"))} weak classifiers')
    return models


# ---- random models ----


FEATURES = [(x, y, w, h) for x in range(24) for y in range(24)
            for w in range(1, 9) for h in range(1, 9)
            if x + 3 * w <= 24 and y + 3 * h <= 24]
CLOCKWISE = 0, 1, 2, 5, 8, 7, 6, 3


def all_codes(grey, feature):
    """Returns the codes of a feature in all windows of a picture."""
    x, y, w, h = feature
    sums = cv2.integral(grey)
    blocks = sums[h:, w:] - sums[h:, :-w] - sums[:-h, w:] + sums[:-h, :-w]
    down, across = (n - 23 for n in grey.shape)
    values = [blocks[y + k // 3 * h:, x + k % 3 * w:][:down, :across].ravel()
              for k in range(9)]
    return sum((values[k] >= values[4]).astype(int) << 7 - i
               for i, k in enumerate(CLOCKWISE))


def make_random(seed, grey):
    """Returns a random model. Thresholds are sums that occur, so that some windows survive. In
    every second model most responses are -alpha, so that sums are negative."""
    rng = random.Random(seed)
    weak, sums = [], 0
    for _ in range(rng.randint(4, 14)):
        feature, alpha = rng.randrange(len(FEATURES)), rng.uniform(.1, 1)
        codes = all_codes(grey, FEATURES[feature])
        sums = sums if weak else np.zeros(codes.shape, np.float32)
        polarity = rng.choice((1, -1))
        rare = rng.uniform(.8, .95) if seed % 2 else rng.uniform(.2, .8)
        middle = np.quantile(codes * polarity, rare, method='lower')
        threshold = int(middle) * polarity + polarity * .5
        label = np.where(polarity * (codes - threshold) > 0, 1, -1)
        sums = sums + np.float32(alpha) * label.astype(np.float32)
        least = np.quantile(sums[sums > -1e30],
                            rng.choice((0, .1, .3)), method='lower')
        sums[sums < least] = -1e35
        weak.append((threshold, alpha, polarity, least, feature))
    least = np.quantile(sums, rng.choice((.98, .998)), method='lower')
    weak[-1] = (*weak[-1][:3], least, weak[-1][4])
    return [[f'{value:.9g}' for value in column] for column in zip(*weak)]


def make_special(seed, grey):
    """Returns a random model in which up to three numbers are not finite."""
    rng = random.Random(seed)
    columns = make_random(seed, grey)
    for _ in range(rng.randint(1, 3)):
        name = rng.choice((0, 1, 1, 1, 3, 3))
        at = rng.choice((-1, rng.randrange(len(columns[0]))))
        columns[name][at] = rng.choice(('.Inf', '-.Inf', '.Inf', '-.Inf', '.Nan'))
    return columns


def write_random(folder, seed, grey, make=make_random):
    path = os.path.join(folder, f'{make.__name__}-{seed}.xml')
    with open(path, 'w', encoding='ascii') as file:
        file.write(boosted.write_wbd(make(seed, grey)))
    return path


# ---- comparing ----


def lines_of(*words, mask='0xffffffff'):
    out = subprocess.run(words, check=True, capture_output=True, text=True,
                         env=dict(os.environ, CUV_CPU_MASK=mask)).stdout
    return [line.split() for line in out.splitlines()]


def opencv_boxes(oracle, picture, models):
    lines = iter(lines_of(oracle, 'detect', picture, *models))
    for _ in models:
        n, = next(lines)
        boxes = [next(lines) for _ in range(int(n))]
        yield [(*map(int, box[:4]), float(box[4])) for box in boxes]


def our_boxes(detect, picture, model, mask):
    """Returns boxes with OpenCV's confidence: the largest sum of a group, or a tiny number if
    that is not positive."""
    lines = lines_of(detect, 'run', model, picture, '1.1', str(MIN_NEIGHBOURS),
                     '0', '0', '0', '0', mask=mask)
    last = read_float(read_texts(model, 'cascade_thresholds')[-1])
    last = float(np.float32(last)) if math.isfinite(last) else 0.
    return [(*map(int, line[:4]),
             max(float(line[5]) + last, sys.float_info.min))
            for line in lines]


class Comparison:
    def __init__(self, detect, oracle, folder):
        self.detect, self.oracle = detect, oracle
        self.path = os.path.join(folder, 'picture.pgm')
        self.cases = self.boxes = self.positive = self.failures = 0
        self.infinite = 0

    def compare(self, name, grey, models):
        cv2.imwrite(self.path, grey)
        for i, theirs in enumerate(
                opencv_boxes(self.oracle, self.path, models)):
            ours = our_boxes(self.detect, self.path, models[i],
                             '0' if i % 3 == 0 else '0xffffffff')
            self.cases += 1
            self.boxes += len(theirs)
            self.positive += sum(box[4] > 1e-9 for box in theirs)
            self.infinite += sum(box[4] == math.inf for box in theirs)
            # OpenCV does not clip boxes to the picture
            theirs = [clip(box, grey) for box in theirs]
            if [box[:4] for box in ours] != [box[:4] for box in theirs]:
                self.fail(name, models[i], len(theirs), len(ours), 'boxes',
                          [(a, b) for a, b in zip(theirs, ours) if a != b][:3])
            elif not all(same_score(a[4], b[4], models[i])
                         for a, b in zip(theirs, ours)):
                self.fail(name, models[i], 'scores', [
                    (a, b) for a, b in zip(theirs, ours)
                    if not same_score(a[4], b[4], models[i])][:3])

    def fail(self, name, model, *what):
        self.failures += 1
        print(name, os.path.basename(model), *what, flush=True)


def clip(box, grey):
    x, y, width, height, score = box
    return (x, y, min(x + width, grey.shape[1]) - x,
            min(y + height, grey.shape[0]) - y, score)


def same_score(theirs, ours, model):
    if is_special(model):  # our sums are large where OpenCV's are infinite
        return theirs < math.inf or ours > 5e4 or math.isnan(ours)
    if theirs < 1e-9:  # OpenCV's value for sums that are not positive
        return ours < 1e-5
    total = sum(abs(float(text)) for text in read_texts(model, 'alphas'))
    return abs(theirs - ours) <= TOLERANCE * total


def noise(seed, width, height):
    octaves = [cv2.resize(np.random.RandomState(seed + k).randint(
        0, 256, (1 + (height >> k), 1 + (width >> k))).astype(np.float32),
        (width, height)) for k in range(5)]
    return np.clip(sum(octaves) / 5, 0, 255).astype(np.uint8)


def main():
    detect, oracle = sys.argv[1:3]
    everything = '--all' in sys.argv
    if not oracle:
        print('built without OpenCV\'s xobjdetect: install the package '
              'libopencv-dev')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(detect, oracle, folder)
        models = train(oracle, folder, range(8 if everything else 2), 40)
        for step, frame in enumerate(video_frames(30 if everything else 90)):
            comparison.compare(f'video {step}', frame, models)
        picture = read_grey('messi5.jpg')
        models += [write_random(folder, seed, picture)
                   for seed in range(100 if everything else 24)]
        special = [write_random(folder, seed, picture, make_special)
                   for seed in range(200 if everything else 12)]
        comparison.compare('messi5.jpg', picture, models + special)
        comparison.compare('home.jpg', read_grey('home.jpg'), models)
        for seed in range(20 if everything else 3):
            rng = random.Random(seed)
            # the last level but one of (41, 44) has the size of the window
            size = (rng.randint(24, 300), rng.randint(24, 200)) if seed \
                else (41, 44)
            comparison.compare(f'noise {size}', noise(seed, *size), models)
        print(f'{comparison.cases} cases, {comparison.boxes} boxes, '
              f'{comparison.positive} with a positive score, '
              f'{comparison.infinite} with an infinite one, '
              f'{comparison.failures} failures')
        if (comparison.positive == 0 or comparison.infinite == 0
                or comparison.positive == comparison.boxes):
            sys.exit('too few boxes, or of one kind only: not compared')
    sys.exit(comparison.failures > 0)


if __name__ == '__main__':
    main()
