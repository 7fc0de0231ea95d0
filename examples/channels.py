#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds objects in a picture with a model of trees on channels; needs only NumPy.

usage: channels.py MODEL.xml PICTURE.ppm

Prints x, y, width, height, score and confidence of all accepted windows, best
first; docs/definitions/channels.md has the definition.
"""
import re
import sys
import xml.etree.ElementTree

import numpy as np


def moved(planes, x, y):
    """Returns for each pixel the one at offset (x, y) from it; edges are repeated."""
    rows = np.clip(np.arange(planes.shape[-2]) + y, 0, planes.shape[-2] - 1)
    columns = np.clip(np.arange(planes.shape[-1]) + x, 0, planes.shape[-1] - 1)
    return planes[..., rows[:, None], columns]


def channels(rgb, s):
    r, g, b = rgb = rgb.astype(int)
    dx, dy = moved(rgb, 1, 0) - moved(rgb, -1, 0), moved(rgb, 0, 1) - moved(rgb, 0, -1)
    first = np.argmax(dx * dx + dy * dy, 0)[None]
    dx, dy = (np.take_along_axis(d, first, 0)[0] for d in (dx, dy))
    m = np.sqrt(dx * dx + dy * dy).astype(int)
    rows = sum(moved(m, x, 0) for x in range(-5, 6))
    mean = sum(moved(rows, 0, y) for y in range(-5, 6)) // 121
    m = np.minimum(255, 128 * m // (mean + 6))
    across, down = abs(dx), abs(dy)
    k = (209 * down > 56 * across) * (1 + (down > across) * (1 + (56 * down >= 209 * across)))
    k = np.where((dx < 0) != (dy < 0), -k, k) % 6
    planes = np.array([(r + 2 * g + b + 2) // 4, (r - b + 256) // 2,
                       (2 * g - r - b + 512) // 4, m] + [m * (k == i) for i in range(6)])
    rows, columns = m.shape[0] // s, m.shape[1] // s
    sums = planes[:, :rows * s, :columns * s].reshape(10, rows, s, columns, s).sum((2, 4))
    sums = moved(sums, -1, 0) + 2 * sums + moved(sums, 1, 0)
    return (moved(sums, 0, -1) + 2 * sums + moved(sums, 0, 1)) // (16 * s * s)


def resized(planes, width, height):
    def taps(n_in, n_out):
        step = (65536 * n_in + n_out // 2) // n_out
        at = np.clip(np.arange(n_out) * step + step // 2 - 32768, 0, 65536 * (n_in - 1))
        return at // 65536, np.minimum(at // 65536 + 1, n_in - 1), at // 256 % 256
    planes = planes.astype(int)
    left, right, f = taps(planes.shape[2], width)
    planes = planes[..., left] * (256 - f) + planes[..., right] * f
    top, bottom, f = taps(planes.shape[1], height)
    f = f[:, None]
    return (planes[:, top] * (256 - f) + planes[:, bottom] * f + 32768) // 65536


def halved(p):
    p = p[:, :p.shape[1] // 2 * 2, :p.shape[2] // 2 * 2].astype(int)
    return (p[:, ::2, ::2] + p[:, 1::2, ::2] + p[:, ::2, 1::2] + p[:, 1::2, 1::2] + 2) // 4


class Model:
    def __init__(self, path):
        root = xml.etree.ElementTree.parse(path).getroot()
        if root.tag != 'CuvisionChannels' or root.get('version') != '1':
            sys.exit(f'{path}: not a model of version 1')
        names = 'width', 'height', 'shrink', 'levels', 'overhang', 'depth', 'threshold'
        self.width, self.height, self.shrink, self.levels, self.overhang, depth, \
            self.threshold = (int(root.get(name)) for name in names)
        self.object = [int(word) for word in root.get('object').split()]
        even, spread = root.get('confidence', f'{self.threshold} 256').split()
        self.even, self.spread = int(even), int(spread)
        words = [tree.text.split() for tree in root.findall('tree')]
        n = 2 ** depth - 1
        self.trees = [(-2 ** 31 if w[0] == 'none' else int(w[0]),
                       np.array(w[1:1 + 4 * n], int).reshape(n, 4),
                       np.array(w[1 + 4 * n:], int)) for w in words]

    def scores(self, planes):
        """Returns the sum of each window minus the threshold, or 0 where the window is rejected."""
        o, s = self.overhang, self.shrink
        planes = np.pad(planes, ((0, 0), (o, o), (o, o)), 'edge')
        down = planes.shape[1] - self.height // s + 1
        across = planes.shape[2] - self.width // s + 1
        y, x = (a.ravel() for a in np.indices((down, across)))
        total, alive = np.zeros(x.size, int), np.arange(x.size)
        for rejection, nodes, leaves in self.trees:
            at = np.zeros(alive.size, int)
            while at.size and at[0] < len(nodes):
                c, column, row, threshold = nodes[at].T
                right = planes[c, y[alive] + row, x[alive] + column] >= threshold
                at = 2 * at + 1 + right
            total[alive] += leaves[at - len(nodes)]
            alive = alive[total[alive] >= rejection]
        alive = alive[total[alive] > self.threshold]
        return x[alive] - o, y[alive] - o, total[alive] - self.threshold

    def confidence(self, score):
        odds = (score + self.threshold - self.even) / self.spread
        return 1 / (1 + np.exp(-odds))

    def boxes(self, rgb):
        h, w = rgb.shape[1:]
        base, n = rgb, 0
        while n < 16 * self.levels:
            height, width = (int(side / 2 ** (n / self.levels) + 1e-9) for side in (h, w))
            margin = 2 * self.overhang * self.shrink
            if width < self.width - margin or height < self.height - margin:
                return
            if n > 0 and n % self.levels == 0:
                base = halved(base)
            level = resized(base, width, height) if n % self.levels else base
            x, y, scores = self.scores(channels(level, self.shrink))
            ox, oy, ow, oh = self.object
            x = ((x * self.shrink + ox) * w + width // 2) // width
            y = ((y * self.shrink + oy) * h + height // 2) // height
            right = np.minimum(w, x + (ow * w + width // 2) // width)
            bottom = np.minimum(h, y + (oh * h + height // 2) // height)
            x, y = np.maximum(x, 0), np.maximum(y, 0)
            yield from np.stack([x, y, right - x, bottom - y, scores], -1)
            n += 1


def read_picture(path):
    """Reads the planes of a binary 8-bit PPM file without comments."""
    with open(path, 'rb') as file:
        data = file.read()
    header = re.match(rb'P6\s+(\d+)\s+(\d+)\s+255\s', data)
    if header is None:
        sys.exit(f'{path}: not an 8-bit PPM file')
    width, height = (int(side) for side in header.groups())
    return np.frombuffer(data, np.uint8, 3 * width * height, header.end()).reshape(
        height, width, 3).transpose(2, 0, 1)


if __name__ == '__main__':
    model = Model(sys.argv[1])
    found = model.boxes(read_picture(sys.argv[2]))
    for *box, score in sorted(found, key=lambda b: -b[4]):
        print(*box, f'{score / 256:.3f} {model.confidence(score):.3f}')
