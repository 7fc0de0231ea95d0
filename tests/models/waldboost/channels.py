# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares channels of pictures, and windows of random models, with NumPy's, byte for byte.

usage: channels.py CHANNELS EXAMPLE

EXAMPLE is examples/channels.py, which has to find the same boxes.

NumPy follows docs/definitions/channels.md with whole planes and real angles; it
shares no code with the program.
"""
import contextlib
import io
import os
import runpy
import subprocess
import sys
import tempfile
import unittest.mock
import xml.etree.ElementTree

import cv2
import numpy as np

import brute

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'check'))
from checks import check, failures

OPENCV = '/usr/share/doc/opencv-doc/examples/data/'
SKIMAGE = '/usr/lib/python3/dist-packages/skimage/data/'
PICTURES = [OPENCV + name for name in (
    'aero1.jpg', 'apple.jpg', 'baboon.jpg', 'board.jpg', 'box.png', 'building.jpg',
    'butterfly.jpg', 'cards.png', 'fruits.jpg', 'graf1.png', 'home.jpg',
    'HappyFish.jpg', 'LinuxLogo.jpg', 'messi5.jpg', 'notes.png', 'orange.jpg')]
PICTURES += [SKIMAGE + name for name in (
    'astronaut.png', 'chelsea.png', 'coffee.png', 'coins.png', 'color.png',
    'ihc.png', 'rocket.jpg')]
SIDE = 160  # larger pictures are cropped to this size


# ---- NumPy ----

def shifted(planes, dx, dy):
    """Returns planes whose pixel (x, y) is that at (x + dx, y + dy); edges are repeated."""
    y = np.clip(np.arange(planes.shape[-2]) + dy, 0, planes.shape[-2] - 1)
    x = np.clip(np.arange(planes.shape[-1]) + dx, 0, planes.shape[-1] - 1)
    return planes[..., y[:, None], x]


def strongest_gradient(rgb):
    dx = shifted(rgb, 1, 0) - shifted(rgb, -1, 0)
    dy = shifted(rgb, 0, 1) - shifted(rgb, 0, -1)
    which = np.argmax(dx * dx + dy * dy, axis=0)[None]
    return (np.take_along_axis(dx, which, 0)[0],
            np.take_along_axis(dy, which, 0)[0])


def relative_magnitude(dx, dy):
    magnitude = np.floor(np.sqrt(dx * dx + dy * dy)).astype(np.int64)
    rows = sum(shifted(magnitude, i, 0) for i in range(-5, 6))
    total = sum(shifted(rows, 0, i) for i in range(-5, 6))
    return np.minimum(255, 128 * magnitude // (total // 121 + 6))


def directions(dx, dy):
    """Returns the bin of the nearest multiple of 30 degrees, or for exact diagonals of the one
    nearer to the x axis. No gradient has exactly 15 or 75 degrees."""
    angle = np.degrees(np.arctan2(np.abs(dy), np.abs(dx)))
    steps = np.ceil((angle - 15) / 30 - 1e-9).astype(np.int64)
    falls = (dx < 0) != (dy < 0)
    return np.where(falls, -steps, steps) % 6


def blocks(planes, shrink):
    rows, columns = (n // shrink for n in planes.shape[1:])
    cut = planes[:, :rows * shrink, :columns * shrink]
    sums = cut.reshape(len(planes), rows, shrink, columns, shrink).sum(axis=(2, 4))
    for x, y in (1, 0), (0, 1):
        sums = shifted(sums, -x, -y) + 2 * sums + shifted(sums, x, y)
    return sums


def channels_of(picture, shrink):
    rgb = picture.transpose(2, 0, 1).astype(np.int64)
    red, green, blue = rgb
    dx, dy = strongest_gradient(rgb)
    magnitude, bins = relative_magnitude(dx, dy), directions(dx, dy)
    planes = [(red + 2 * green + blue + 2) // 4, (red - blue + 256) // 2,
              (2 * green - red - blue + 512) // 4, magnitude]
    planes += [np.where(bins == i, magnitude, 0) for i in range(6)]
    return (blocks(np.array(planes), shrink) // (16 * shrink * shrink)).astype(np.uint8)


# ---- models ----

class Model:
    """A model of a file, or a random one, whose window fits even into tiny pictures."""

    @classmethod
    def read(cls, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        self = cls.__new__(cls)
        for name in ('width', 'height', 'shrink', 'levels', 'overhang', 'depth', 'threshold'):
            setattr(self, name, int(root.get(name)))
        self.object = [int(word) for word in root.get('object').split()]
        self.confidence = [int(word) for word in root.get('confidence', '').split()]
        lines = [tree.text.split() for tree in root]
        n = 2 ** self.depth - 1
        self.tested = np.array([words[0] != 'none' for words in lines])
        numbers = np.array([[0] * (words[0] == 'none') + [
            int(word) for word in words if word != 'none'] for words in lines])
        self.rejection = numbers[:, 0]
        self.nodes = numbers[:, 1:1 + 4 * n].reshape(-1, n, 4)
        self.leaves = numbers[:, 1 + 4 * n:]
        return self

    def __init__(self, random, shrink, depth, n_trees, side):
        self.shrink, self.depth = shrink, depth
        self.width = self.height = side
        self.levels = int(random.integers(1, 12))
        self.overhang = int(random.integers(side // shrink // 4 + 1))
        self.threshold = int(random.integers(500, 1500))
        n_nodes, blocks = 2 ** depth - 1, side // shrink
        self.nodes = random.integers(
            (0, 0, 0, 1), (10, blocks, blocks, 256), (n_trees, n_nodes, 4))
        self.nodes[..., 3][self.nodes[..., 0] > 3] //= 6  # planes of directions have smaller values
        self.nodes[..., 3] = np.maximum(1, self.nodes[..., 3])
        self.object = (1, 0, blocks, blocks + 1)
        self.leaves = random.integers(-300, 301, (n_trees, n_nodes + 1))
        self.rejection = random.integers(-700, 0, n_trees)
        self.tested = random.random(n_trees) < 0.8
        self.confidence = [int(random.integers(-5000, 5000)), int(random.integers(1, 900))]
        if random.random() < 0.3:  # without the attribute confidence
            self.confidence = []

    def text(self):
        lines = ['<?xml version="1.0"?>', '<!-- a copy -->',
                 f'<CuvisionChannels version="1" width="{self.width}" height="{self.height}" '
                 f'shrink="{self.shrink}" levels="{self.levels}" overhang="{self.overhang}"',
                 f'  object="{" ".join(map(str, self.object))}" depth="{self.depth}" '
                 f'threshold="{self.threshold}"' + (
                     f' confidence="{self.confidence[0]} {self.confidence[1]}">'
                     if self.confidence else '>')]
        for tree, nodes in enumerate(self.nodes):
            first = self.rejection[tree] if self.tested[tree] else 'none'
            words = [first, *nodes.ravel(), *self.leaves[tree]]
            lines.append(f'<tree>{" ".join(map(str, words))}</tree>')
        return '\n'.join(lines + ['</CuvisionChannels>', ''])

    def confidences(self, scores):
        even, spread = self.confidence or (self.threshold, 256)
        return 1 / (1 + np.exp((even - self.threshold - scores) / spread))

    def windows(self, channels):
        """Returns the number of trees that each window passes and its score, for all windows at
        once."""
        o = self.overhang
        padded = np.pad(channels, ((0, 0), (o, o), (o, o)), 'edge')
        down = padded.shape[1] - self.height // self.shrink + 1
        across = padded.shape[2] - self.width // self.shrink + 1
        if down < 1 or across < 1:
            return np.zeros((0, 4), np.int64)
        total = np.zeros((down, across), np.int64)
        passed = np.zeros_like(total)
        alive = np.ones_like(total, bool)
        for tree, nodes in enumerate(self.nodes):
            at = np.zeros_like(total)
            for _ in range(self.depth):
                values = np.array([padded[c, y:y + down, x:x + across] >= t
                                   for c, x, y, t in nodes])
                right = np.take_along_axis(values, at[None], 0)[0]
                at = 2 * at + 1 + right
            total += self.leaves[tree][at - len(nodes)]
            alive &= (total >= self.rejection[tree]) | ~self.tested[tree]
            if tree == len(self.nodes) - 1:
                alive &= total > self.threshold
            passed += alive
        y, x = np.indices(total.shape) - o
        score = np.where(alive, total - self.threshold, 0)
        return np.stack([x, y, passed, score], -1).reshape(-1, 4)


def levels_of(picture, model):
    """Yields number and planes of each level into which a window fits."""
    overhang = 2 * model.overhang * model.shrink
    base, n = list(picture.transpose(2, 0, 1)), 0
    while base[0].size > 0:
        for i in range(model.levels):
            height, width = (int(side / 2 ** (n / model.levels) + 1e-9)
                             for side in picture.shape[:2])
            if width < model.width - overhang or height < model.height - overhang:
                return
            yield n, np.stack(base if i == 0 else [
                brute.resize_dense(plane, width, height) for plane in base], -1)
            n += 1
        base = [brute.halve(plane) for plane in base]


def detect(picture, model):
    """Returns level, column, row, score and box of accepted windows."""
    found = []
    for n, level in levels_of(picture, model):
        (h, w), (height, width) = level.shape[:2], picture.shape[:2]
        for x, y, _, score in model.windows(channels_of(level, model.shrink)):
            if score == 0:
                continue
            left, top = x * model.shrink + model.object[0], y * model.shrink + model.object[1]
            left, top = (left * width + w // 2) // w, (top * height + h // 2) // h
            right = min(width, left + (model.object[2] * width + w // 2) // w)
            bottom = min(height, top + (model.object[3] * height + h // 2) // h)
            left, top = max(0, left), max(0, top)
            if right > left and bottom > top:
                found.append((n, x, y, score, left, top, right - left, bottom - top))
    return np.array(found, np.int64).reshape(-1, 8)


# ---- ours ----

def run(program, *args):
    return subprocess.run([program, *args], check=True,
                          stdout=subprocess.PIPE).stdout


def run_example(*args):
    """Runs the example in this process: a new one would take longer to load NumPy."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), unittest.mock.patch.object(sys, 'argv', list(args)):
        runpy.run_path(args[0], run_name='__main__')
    return out.getvalue()


def write_picture(folder, picture):
    height, width, _ = picture.shape
    file = os.path.join(folder, 'picture.ppm')
    with open(file, 'wb') as to:
        to.write(b'P6 %d %d 255\n' % (width, height) + picture.tobytes())
    return file


def compare_windows(program, example, picture, pixels, channels, path, what):
    """Compares with the model of a file. Returns the number of windows that it accepts."""
    model = Model.read(path)
    out = run(program, 'windows', path, picture)
    ours = np.array(out.split(), np.int64).reshape(-1, 4)
    expected = model.windows(channels)
    check(np.array_equal(ours, expected), f'{what}: windows of {path} differ')
    boxes = np.array(run(program, 'detect', path, picture).split(), np.int64)
    expected = detect(pixels, model)
    check(np.array_equal(boxes.reshape(-1, 8), expected), f'{what}: boxes of {path} differ')
    out = run_example(example, path, picture).split()
    same = sorted((-float(score), *map(int, box)) for *box, score, _ in zip(*[iter(out)] * 6))
    check(same == sorted((-round(row[3] / 256, 3), *row[4:]) for row in expected.tolist()),
          f'{what}: boxes of the example differ')
    confidences = np.sort(np.array(out[5::6], float))
    check(np.allclose(confidences, np.sort(model.confidences(expected[:, 3])), atol=6e-4),
          f'{what}: confidences of the example differ')
    return len(expected)


def compare_random(program, example, folder, picture, pixels, channels, model, what):
    path = os.path.join(folder, 'model.xml')
    with open(path, 'w') as to:
        to.write(model.text())
    check(run(program, 'copy', path).decode() == model.text(), f'{what}: a copy differs')
    return compare_windows(program, example, picture, pixels, channels, path, what)


def compare(program, example, picture, what, random):
    height, width, _ = picture.shape
    accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        file = write_picture(folder, picture)
        for shrink in (2, 4):
            ours = np.frombuffer(run(program, 'planes', str(shrink), file), np.uint8)
            ours = ours.reshape(10, height // shrink, width // shrink)
            expected = channels_of(picture, shrink)
            wrong = ours != expected
            check(not wrong.any(), f'{what}, shrink {shrink}: {wrong.sum()} bytes of '
                  f'channels {sorted(set(np.nonzero(wrong)[0]))} differ')
            if expected.size > 0:
                depth = int(random.integers(1, 5))
                model = Model(random, shrink, depth, 12, int(random.integers(2, 8)) * 4)
                accepted += compare_random(
                    program, example, folder, file, picture, expected, model, what)
    return accepted


def main(program, example):
    random = np.random.default_rng(46)
    accepted = 0
    for path in PICTURES:
        picture = cv2.imread(path)
        check(picture is not None, path)
        if picture is not None:
            accepted += compare(program, example, np.ascontiguousarray(
                picture[-SIDE:, -SIDE:, ::-1]), os.path.basename(path), random)
    check(accepted > 1000, f'only {accepted} windows were accepted')
    for height, width in ((1, 1), (3, 5), (4, 4), (7, 64), (33, 17), (61, 47)):
        noise = random.integers(0, 256, (height, width, 3), np.uint8)
        for what, picture in (('noise', noise), ('extremes', noise // 128 * 255),
                              ('white', noise | 255)):
            compare(program, example, picture, f'{width}x{height} {what}', random)
    print('failed' if failures() else f'passed, {accepted} windows accepted')
    return failures() > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
