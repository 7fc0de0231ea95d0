# SPDX-License-Identifier: LGPL-2.1-or-later
"""Detects with WaldBoostClassifier models by brute force in NumPy: each weak classifier evaluates
all windows of a level. Slow, but independent of the detector."""
import collections
import math
import xml.etree.ElementTree

import cv2
import numpy as np

CLOCKWISE = 0, 1, 2, 5, 8, 7, 6, 3
LENGTHS = {'LBP': 256, 'LRD': 17, 'LRP': 100}
FEATURES = {'LBPFeature': 'LBP', 'LRDFeature': 'LRD', 'LRP': 'LRP',
            'TCont2DiscFeature': 'HAAR'}
# Weights of the blocks, row by row, and the norm by which their sum is divided.
HAAR = {'HaarHorizontalDoubleFeature': ([[-1, 1]], 1),
        'HaarVerticalDoubleFeature': ([[-1], [1]], 1),
        'HaarHorizontalTernalFeature': ([[1, -2, 1]], 2),
        'HaarVerticalTernalFeature': ([[1], [-2], [1]], 2),
        'HaarDiagonalFeature': ([[1, -1], [-1, 1]], 2),
        'HaarSurroundFeature': ([[1, 1, 1], [1, -8, 1], [1, 1, 1]], 8)}

Model = collections.namedtuple('Model', 'kind width height least_sigma weak')
Weak = collections.namedtuple('Weak', 'threshold table feature')
Level = collections.namedtuple(
    'Level', 'width height step across down grey box', defaults=[None])
Result = collections.namedtuple('Result', 'hits windows alive')


# ---- the model ----


def read_table(node):
    table = [float(word) for word in node.get('predictionValues').split()]
    if node.tag == 'DecisionTreeWeakHypothesis':
        table = [table[int(word)] for word in node.get('binMap').split()]
    return np.array(table, np.float32)


def read_model(path):
    top = next(xml.etree.ElementTree.parse(path).iter('WaldBoostClassifier'))
    kinds, weak = set(), []
    for stage in top.findall('stage'):
        node = stage[0]
        feature = node[0]
        kinds.add(FEATURES[feature.tag])
        threshold = float(stage.get('negT'))
        weak.append(Weak(None if threshold <= -5000 else threshold,
                         read_table(node), feature))
    kind, = kinds
    assert top.get('type', kind) == kind
    assert all(len(w.table) == LENGTHS.get(kind, len(w.table)) for w in weak)
    return Model(kind, int(top.get('imageSizeX', top.get('sizeX'))),
                 int(top.get('imageSizeY', top.get('sizeY'))),
                 max(1, float(top.get('minStdDev'))), weak)


# ---- the pyramid ----


def resize_dense(grey, width, height):
    """Resizes by bilinear interpolation between pixel centres, in steps of 1/256."""
    def taps(n_in, n_out):
        step = ((n_in << 16) + n_out // 2) // n_out
        at = np.arange(n_out, dtype=np.int64) * step + (step >> 1) - 32768
        at = np.clip(at, 0, (n_in - 1) << 16)
        first = at >> 16
        return first, np.minimum(first + 1, n_in - 1), at >> 8 & 255
    x0, x1, fx = taps(grey.shape[1], width)
    y0, y1, fy = taps(grey.shape[0], height)
    wide = grey.astype(np.int64)
    rows = wide[:, x0] * (256 - fx) + wide[:, x1] * fx
    fy = fy[:, None]
    both = rows[y0] * (256 - fy) + rows[y1] * fy
    return ((both + 32768) >> 16).astype(np.uint8)


def halve(grey):
    wide = grey[:grey.shape[0] // 2 * 2, :grey.shape[1] // 2 * 2].astype(int)
    return ((wide[::2, ::2] + wide[1::2, ::2] + wide[::2, 1::2]
             + wide[1::2, 1::2] + 2) >> 2).astype(np.uint8)


def within(limits, width, height):
    (min_width, min_height), (max_width, max_height) = limits
    return (width >= min_width and height >= min_height
            and (max_width == 0 or width <= max_width)
            and (max_height == 0 or height <= max_height))


# A level's box(x, y) returns the box of a window in the frame: x, y, width and height.


def dense_box(model, grey, width, height):
    def scale(value, n_in, n_out):
        return (value * n_in + n_out // 2) // n_out

    def box(x, y):
        return (scale(x, grey.shape[1], width), scale(y, grey.shape[0], height),
                scale(model.width, grey.shape[1], width),
                scale(model.height, grey.shape[0], height))
    return box


def opencv_box(model, scale):
    def box(*place):
        return (*(round(float(np.float32(at) * scale)) for at in place),
                round(float(np.float32(model.width) * scale)),
                round(float(np.float32(model.height) * scale)))
    return box


def wbd_box(model, factor):
    def box(*place):
        return tuple(int(np.float32(at) / factor)
                     for at in (*place, model.width, model.height))
    return box


def dense_levels(model, grey, octaves=4, per_octave=8,
                 limits=((0, 0), (0, 0))):
    base, levels = grey, []
    for octave in range(octaves):
        if base.size == 0:
            break
        for i in range(per_octave):
            size = 2 ** (octave + i / per_octave)
            width = math.floor(grey.shape[1] / size + 1e-9)
            height = math.floor(grey.shape[0] / size + 1e-9)
            across, down = width - model.width + 1, height - model.height + 1
            if across < 1 or down < 1:
                continue
            box = dense_box(model, grey, width, height)
            if within(limits, *box(0, 0)[2:]):
                levels.append(Level(width, height, 1, across, down,
                                    base if i == 0 else
                                    resize_dense(base, width, height), box))
        base = halve(base)
    return levels


def opencv_levels(model, grey, factor):
    """Returns OpenCV's levels. Those below twice the window's size have only every second
    position."""
    levels, scale = [], 1.
    height, width = grey.shape
    while (round(model.width * scale) <= width
           and round(model.height * scale) <= height):
        f = np.float32(scale)
        size = [round(float(np.float32(n) / f)) for n in (width, height)]
        level = cv2.resize(grey, size, interpolation=cv2.INTER_LINEAR_EXACT)
        step = 1 if f >= 2 else 2
        across, down = (-(-(n - m + 1) // step) for n, m in
                        zip(size, (model.width, model.height)))
        levels.append(Level(*size, step, across, down, level,
                            opencv_box(model, f)))
        scale *= factor
    return levels


def wbd_levels(model, grey):
    levels, factor = [], np.float32(.2)
    while factor < np.float32(1.2):
        level = cv2.resize(grey, None, fx=float(factor), fy=float(factor),
                           interpolation=cv2.INTER_LINEAR_EXACT)
        height, width = level.shape
        across, down = (-(-(n - m) // 4) for n, m in
                        ((width, model.width), (height, model.height)))
        if across > 0 and down > 0:
            levels.append(Level(width, height, 4, across, down, level,
                                wbd_box(model, factor)))
        factor *= np.float32(1.1)
    return levels


# ---- codes ----


class Windows:
    """All windows of a level, and sums of rectangles in them."""

    def __init__(self, level):
        grey = level.grey.astype(np.int64)
        self.sums, self.squares = (
            np.pad(g.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
            for g in (grey, grey * grey))
        y, x = np.mgrid[:level.down, :level.across] * level.step
        self.x, self.y = x.ravel(), y.ravel()

    def rect(self, alive, x, y, width, height, of=None):
        sums = self.sums if of is None else of
        x, y = self.x[alive] + x, self.y[alive] + y
        return (sums[y + height, x + width] - sums[y + height, x]
                - sums[y, x + width] + sums[y, x])

    def blocks(self, alive, feature, across, down):
        x, y, w, h = (int(feature.get(name)) for name in (
            'positionX', 'positionY', 'blockWidth', 'blockHeight'))
        return np.array([self.rect(alive, x + i * w, y + j * h, w, h)
                         for j in range(down) for i in range(across)]), w * h

    def sigma(self, alive, model):
        n = model.width * model.height
        total = self.rect(alive, 0, 0, model.width, model.height)
        squares = self.rect(alive, 0, 0, model.width, model.height,
                            self.squares)
        sigma = (np.sqrt((n * squares - total * total).astype(np.float64))
                 / n).astype(np.float32)
        return np.maximum(sigma, np.float32(model.least_sigma))


def grid_codes(values, kind, feature, swapped):
    if kind == 'LBP':
        return sum((values[k] > values[4]).astype(int) << i
                   for i, k in enumerate(CLOCKWISE))
    a, b = (np.sum(values[int(feature.get(name))] > values, 0)
            for name in ('blockA', 'blockB'))
    if kind == 'LRD':
        return a - b + 8
    return 10 * a + b if swapped else a + 10 * b


def haar_codes(windows, alive, model, feature):
    child = feature[0]
    weights, norm = HAAR[child.tag]
    blocks, area = windows.blocks(alive, child, len(weights[0]), len(weights))
    total = np.tensordot(np.ravel(weights), blocks, 1).astype(np.float32)
    value = total / np.float32(norm * area) / windows.sigma(alive, model)
    low, high = (np.float32(feature.get(name))
                 for name in ('minValue', 'maxValue'))
    bins = int(feature.get('numberOfBins'))
    at = (value - low) / (high - low) * np.float32(bins - 1) + np.float32(.5)
    return np.clip(at, 0, bins - 1).astype(int)


def codes(windows, alive, model, feature, block_value, swapped):
    if model.kind == 'HAAR':
        return haar_codes(windows, alive, model, feature)
    values, area = windows.blocks(alive, feature, 3, 3)
    if block_value == 'mean-trunc':
        values = values // area
    elif block_value == 'mean-round':
        values = (2 * values + area) // (2 * area)
    return grid_codes(values, model.kind, feature, swapped)


# ---- the decision ----


def fixed_bits(model):
    total = sum(float(np.abs(w.table).max()) for w in model.weak)
    bits = 20
    while total * 2. ** bits >= 2 ** 30:
        bits -= 1
    return bits


def evaluate(model, levels, fixed=True, block_value='sum', swapped=False,
             final_threshold=0.):
    """Returns hits (level, x, y, score), and the number of windows left after each weak
    classifier."""
    bits = fixed_bits(model)

    def number(value):  # ties to even, as lrint()
        value = np.float32(value)
        return np.rint(value.astype(np.float64) * 2. ** bits).astype(
            np.int64) if fixed else value
    hits, windows, left = [], 0, np.zeros(len(model.weak) + 1, np.int64)
    for i, level in enumerate(levels):
        seen = Windows(level)
        alive = np.arange(len(seen.x))
        windows += len(alive)
        sums = np.zeros(len(alive), np.int64 if fixed else np.float32)
        for t, weak in enumerate(model.weak):
            at = codes(seen, alive, model, weak.feature, block_value, swapped)
            sums = sums + number(weak.table)[at]
            if weak.threshold is not None:
                keep = ~(sums < number(weak.threshold))
                alive, sums = alive[keep], sums[keep]
            left[t + 1] += len(alive)
        keep = sums > number(final_threshold)
        scores = sums - number(final_threshold)
        scores = np.float32(scores * 2. ** -bits if fixed else scores)
        hits += [(i, x, y, float(score)) for x, y, score in
                 zip(seen.x[alive[keep]].tolist(), seen.y[alive[keep]].tolist(),
                     scores[keep])]
    left[0] = windows
    return Result(hits, windows, left)
