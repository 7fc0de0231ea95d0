#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares visiontrack's tracker with ByteTrack in NumPy, and its assignment with SciPy's.
usage: compare.py MOT [--scenes N] [--real FOLDER]
MOT: the program of mot.c; FOLDER: sequences with a truth.csv, one object in each."""
import argparse
import csv
import importlib.util
import os
import subprocess
import sys

# threads for 8x8 matrices only cost time
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

for package in ('numpy', 'scipy'):
    if importlib.util.find_spec(package) is None:
        print(f'skipped: install python3-{package}')
        sys.exit(77)

import numpy as np
from scipy.optimize import linear_sum_assignment

import bytetrack
import scenes

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'check'))
from checks import check, failures

ALLOWED = 0.5  # points of MOTA and IDF1
OVERLAP = 0.5  # IoU from which a box is the true one


# ---- measures ----

def match_frame(truth, tracked, last):
    """Returns {true id: id}. A true object keeps its id of before where it still overlaps."""
    ids, boxes = truth
    found, found_boxes = tracked
    similar = bytetrack.overlaps(boxes, found_boxes)
    costs = np.where(similar >= OVERLAP, 1 - similar, 1e3)
    for row, identity in enumerate(ids):
        for column, track in enumerate(found):
            if last.get(identity) == track and similar[row, column] >= OVERLAP:
                costs[row, column] = -1e3
    pairs = zip(*linear_sum_assignment(costs)) if costs.size else []
    return {ids[r]: found[c] for r, c in pairs if costs[r, c] < 1e3}


def measure(frames, tracked):
    """Returns MOTA (Bernardin, Stiefelhagen 2008) and IDF1 (Ristani and others 2016) in
    percent."""
    last, together, wrong, n_true, n_found = {}, {}, 0, 0, 0
    for (ids, boxes, _, _), (found, found_boxes) in zip(frames, tracked):
        matched = match_frame((ids, boxes), (found, found_boxes), last)
        wrong += len(ids) - len(matched) + len(found) - len(matched)
        wrong += sum(last.get(i, t) != t for i, t in matched.items())
        last.update(matched)
        n_true += len(ids)
        n_found += len(found)
        for r, c in zip(*np.nonzero(bytetrack.overlaps(boxes, found_boxes) >= OVERLAP)):
            pair = ids[r], found[c]
            together[pair] = together.get(pair, 0) + 1
    rows = {i: n for n, i in enumerate(sorted({i for i, _ in together}))}
    columns = {t: n for n, t in enumerate(sorted({t for _, t in together}))}
    counts = np.zeros((len(rows), len(columns)))
    for (i, t), n in together.items():
        counts[rows[i], columns[t]] = n
    right = counts[linear_sum_assignment(-counts)].sum()
    return 100 * (1 - wrong / n_true), 100 * 2 * right / (n_true + n_found)


# ---- trackers ----

def run_ours(program, frames):
    lines = []
    for _, _, boxes, scores in frames:
        lines.append(str(len(boxes)))
        lines += [' '.join(f'{16 * x:.0f}' for x in box) + f' {score}'
                  for box, score in zip(boxes, scores)]
    output = subprocess.run([program, 'track'], input='\n'.join(lines), text=True,
                            capture_output=True, check=True).stdout.split('\n')
    tracked = []
    for (_, _, boxes, _), line in zip(frames, output):
        ids = [int(i) for i in line.split()]
        tracked.append(([i for i in ids if i], [b for b, i in zip(boxes, ids) if i]))
    return tracked


def run_reference(frames, **options):
    """Gives ids to the detected boxes, as visiontrack does."""
    tracker, tracked = bytetrack.ByteTrack(**options), []
    for _, _, boxes, scores in frames:
        found = tracker.step(boxes, scores)
        tracked.append(([t.id for t in found], [boxes[t.detection] for t in found]))
    return tracked


REFERENCES = {'ByteTrack': {}, 'with fused scores': {'fuse': True},
              'with duplicates': {'duplicates': True}}


def compare(program, name, list_of_frames):
    """visiontrack keeps lost tracks on the place of others, which ByteTrack drops; apart from
    that it is the same method."""
    ours = np.array([measure(f, run_ours(program, f)) for f in list_of_frames])
    print(f'{name}: visiontrack: MOTA %.2f, IDF1 %.2f' % tuple(ours.mean(axis=0)))
    each = {}
    for kind, options in REFERENCES.items():
        each[kind] = np.array([measure(f, run_reference(f, **options)) for f in list_of_frames])
        print(f'{name}: {kind}: MOTA %.2f, IDF1 %.2f' % tuple(each[kind].mean(axis=0)))
    check((ours.mean(axis=0) >= each['ByteTrack'].mean(axis=0) - ALLOWED).all(),
          f'{name}: more than {ALLOWED} points below ByteTrack')
    difference = np.abs(ours - each['with duplicates']).mean(axis=0)
    check((difference <= 0.1).all(), f'{name}: {difference} points from the same method')
    return ours


def check_measures():
    """The measures themselves, where the result is known."""
    box, far = np.array([0, 0, 10, 10]), np.array([50, 0, 60, 10])
    frames = [([1], [box], [], [])] * 10
    check(measure(frames, [([5], [box])] * 10) == (100, 100), 'perfect tracks')
    check(measure(frames, [([5], [box])] * 5 + [([6], [box])] * 5) == (90, 50), 'a switch')
    check(measure(frames, [([5, 9], [box, far])] * 10) == (0, 100 * 20 / 30), 'false boxes')
    check(measure(frames, [([5], [box])] * 8 + [([], [])] * 2)[0] == 80, 'misses')


# ---- assignment ----

def graph(random, n, m, density, limit):
    costs = random.integers(0, limit + 1, (n, m))
    allowed = random.random((n, m)) < density
    pairs = [f'{r} {c} {costs[r, c]}' for r, c in zip(*np.nonzero(allowed))]
    text = f'{n} {m} {limit} {len(pairs)}\n' + '\n'.join(pairs)
    extended = np.full((n, m + n), 10 ** 9)
    extended[:, :m][allowed] = costs[allowed]
    extended[range(n), range(m, m + n)] = limit
    return text, extended


def check_assignment(program):
    random = np.random.default_rng(1)
    sizes = [(1, 1, 1), (30, 50, 1), (200, 200, 0.03), (300, 200, 0.3), (500, 500, 0.01),
             (400, 500, 1)]
    for n, m, density in sizes:
        for limit in (3, 838860):
            text, extended = graph(random, n, m, density, limit)
            line = subprocess.run([program, 'assign'], input=text, text=True,
                                  capture_output=True, check=True).stdout
            columns = [int(c) for c in line.split()]
            columns = [c if c >= 0 else m + r for r, c in enumerate(columns)]
            name = f'{n} x {m}, density {density}, limit {limit}'
            check(len(columns) == n and len(set(columns)) == n, f'{name}: a column twice')
            check(extended[range(n), columns].sum()
                  == extended[linear_sum_assignment(extended)].sum(), f'{name}: the cost')


# ---- real sequences ----

def real_frames(folder, seed):
    """Returns a sequence whose boxes are the truth as a detector might find it."""
    random = np.random.default_rng(seed)
    frames = []
    with open(os.path.join(folder, 'truth.csv'), encoding='utf-8') as file:
        for row in csv.DictReader(file):
            present = [v for k, v in row.items() if k != 'frame' and v not in (None, '')]
            if len(present) < 4:
                boxes = []
            else:
                x, y, w, h = (float(row[k]) for k in ('x', 'y', 'width', 'height'))
                boxes = [np.array([x, y, x + w, y + h])]
            found, scores = scenes.detect(random, boxes)
            frames.append(([1] * len(boxes), boxes, found, scores))
    return frames


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('program')
    parser.add_argument('--scenes', type=int, default=20)
    parser.add_argument('--real')
    args = parser.parse_args()
    check_measures()
    check_assignment(args.program)
    drawn = [scenes.scene(seed) for seed in range(args.scenes)]
    ours = compare(args.program, 'drawn scenes', drawn)
    check(ours.mean() > 50, 'the scenes are too hard to tell anything')
    check(ours.mean() < 99, 'the scenes are too easy to tell anything')
    if args.real is not None:
        folders = sorted(f.path for f in os.scandir(args.real) if f.is_dir())
        compare(args.program, 'real sequences',
                [real_frames(folder, seed) for seed, folder in enumerate(folders)])
    sys.exit(failures())


if __name__ == '__main__':
    main()
