#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Learns from skimage's faces with NumPy and compares with the program of train.c.

usage: train.py TRAIN
"""

import itertools
import math
import subprocess
import sys

import numpy as np
from skimage import data

ROUNDS = 10
LEAF_BITS = 12
ALPHA = 0.1
ALIVE = 0.75  # fraction of the negatives that are not rejected yet
MASK = (1 << 64) - 1
CLOCKWISE = (0, 1, 2, 5, 8, 7, 6, 3)
CODES = {'lbp': 256, 'lrd': 17, 'lrp': 100, 'stumps': 256}


def random_numbers(state):
    """Yields the random numbers of SplitMix64."""
    while True:
        state = state + 0x9e3779b97f4a7c15 & MASK
        z = state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK
        yield z ^ z >> 31


def all_features(kind, width, height):
    pairs = [(0, 0)] if CODES[kind] == 256 else itertools.combinations(range(9), 2)
    pairs = list(pairs)
    return [(x, y, w, h, *pair)
            for x in range(width) for y in range(height)
            for w in range(1, (width - x) // 3 + 1)
            for h in range(1, (height - y) // 3 + 1) for pair in pairs]


def some_features(kind, width, height, n, seed):
    features = all_features(kind, width, height)
    n = min(n, len(features))
    chosen = []
    for i, number in zip(range(len(features)), random_numbers(seed)):
        if number % (len(features) - i) < n - len(chosen):
            chosen.append(features[i])
    return chosen


def codes_of(kind, samples, feature):
    x, y, w, h, a, b = feature
    grid = samples[:, y:y + 3 * h, x:x + 3 * w].astype(np.int64)
    sums = grid.reshape(-1, 3, h, 3, w).sum(axis=(2, 4)).reshape(-1, 9)
    ranks = (sums[:, :, None] > sums[:, None, :]).sum(axis=2)
    if kind == 'lrd':
        return ranks[:, a] - ranks[:, b] + 8
    if kind == 'lrp':
        return ranks[:, a] + 10 * ranks[:, b]
    if kind == 'stumps':
        bits = sums[:, CLOCKWISE] >= sums[:, 4:5]
    else:
        bits = sums[:, CLOCKWISE] > sums[:, 4:5]
    return bits @ (1 << np.arange(7, -1, -1))


def histograms(kind, codes, weights, n_positives):
    """Returns histograms of weights, which are exact because sums are below 2^53."""
    n = CODES[kind]
    return (np.bincount(codes[:n_positives], weights[:n_positives], n),
            np.bincount(codes[n_positives:], weights[n_positives:], n))


def split(positives, negatives):
    """Returns the smallest loss of a division into two parts, and the codes in the high part."""
    shares = np.divide(positives, positives + negatives,
                       out=np.zeros(len(positives)), where=positives > 0)
    order = np.argsort(shares, kind='stable')
    low = [np.cumsum(sums[order])[:-1] for sums in (positives, negatives)]
    losses = np.sqrt(low[0] * low[1]) + np.sqrt(
        (positives.sum() - low[0]) * (negatives.sum() - low[1]))
    best = int(np.argmin(losses))
    high = np.zeros(len(positives), int)
    high[order[best + 1:]] = 1
    return losses[best], high


def loss(kind, positives, negatives):
    if kind == 'stumps':
        return split(positives, negatives)[0]
    return np.cumsum(np.sqrt(positives * negatives))[-1]


def merge(positives, negatives):
    """Gives each code the weights of its part."""
    _, high = split(positives, negatives)
    return (np.bincount(high, positives, 2)[high],
            np.bincount(high, negatives, 2)[high])


def threshold(sums, n_positives):
    positives = np.sort(sums[:n_positives])
    negatives = sums[n_positives:]
    found = -2 ** 31
    for candidate in np.unique(positives):
        below = int((negatives < candidate).sum())
        p = int((positives < candidate).sum()) / n_positives
        n = 1 - ALIVE + ALIVE * below / len(negatives)
        if below > 0 and n * ALPHA > p:
            found = int(candidate)
    return found


def learn(kind, samples, n_positives, features):
    n = len(samples)
    codes = [codes_of(kind, samples, f) for f in features]
    masses = [0.5 / n_positives] * n_positives
    masses += [0.5 / (n - n_positives)] * (n - n_positives)
    sums = np.zeros(n, np.int64)
    for _ in range(ROUNDS):
        exponent = math.frexp(max(masses))[1]
        weights = np.array([int(math.ldexp(m, 32 - exponent)) for m in masses])
        losses = [loss(kind, *histograms(kind, c, weights, n_positives))
                  for c in codes]
        best = int(np.argmin(losses))
        positives, negatives = histograms(kind, codes[best], weights, n_positives)
        if kind == 'stumps':
            positives, negatives = merge(positives, negatives)
        total = weights.sum()
        e = 0.5 / n
        leaves = [round(math.ldexp(0.5 * math.log(
            (p / total + e) / (q / total + e)), LEAF_BITS))
            for p, q in zip(positives, negatives)]
        added = [leaves[c] for c in codes[best]]
        sums += added
        for i, leaf in enumerate(added):
            margin = math.ldexp(leaf, -LEAF_BITS)
            masses[i] *= math.exp(-margin if i < n_positives else margin)
        yield [*features[best], threshold(sums, n_positives), *leaves]


def main():
    program = sys.argv[1]
    faces = (data.lfw_subset() * 255).round().astype(np.uint8)
    n_positives, failed, n = 100, 0, 0
    for kind, n_features, seed in (('lbp', 400, 1), ('lbp', 8464, 2),
                                   ('lrd', 300, 3), ('lrp', 300, 4),
                                   ('stumps', 400, 5)):
        samples = faces[:, :24, :20] if seed != 2 else faces[:, :12, :15]
        samples = np.ascontiguousarray(samples)
        height, width = samples.shape[1:]
        features = some_features(kind, width, height, n_features, seed)
        output = subprocess.run(
            [program, kind, str(width), str(height), str(n_positives),
             str(len(samples)), str(ROUNDS), str(n_features), str(seed), str(ALPHA)],
            input=samples.tobytes(), stdout=subprocess.PIPE, check=True).stdout
        learnt = [[int(word) for word in line.split()]
                  for line in output.decode().splitlines()]
        expected = learn(kind, samples, n_positives, features)
        for i, (weak, other) in enumerate(zip(learnt, expected, strict=True)):
            n += 1
            if weak != other:
                failed += 1
                print(f'{kind}, seed {seed}, weak classifier {i + 1}: {weak[:7]} '
                      f'instead of {other[:7]}')
    print(f'{n} weak classifiers, {failed} differ')
    return failed > 0 or n != 5 * ROUNDS


if __name__ == '__main__':
    sys.exit(main())
