#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores houghlines on pictures (NAME.jpg) with true segments (NAME-all.csv: x1, y1, x2, y2).

Segments: precision is the fraction of the found length that lies within 2 pixels and 5 degrees of a
true segment, recall the fraction of the true length that found segments cover, F their harmonic
mean. Infinite lines: a line is correct if it passes within 2 pixels of both ends of a true segment
that is at least 40 pixels long. --peers adds HoughLinesP, HoughLines, LSD, and FastLineDetector and
EDLines of opencv-contrib. """

import glob

import cv2
import numpy as np

from common import arguments, milliseconds, parse, records, show

ENDS = ('x1', 'y1', 'x2', 'y2')
NEAR, ALIKE, LONG = 2, np.radians(5), 40


def points(segments):
    """Returns a point (x, y, direction) for each pixel of the segments' length."""
    found = [np.zeros((0, 3))]
    for x1, y1, x2, y2 in segments:
        n = int(max(2, np.hypot(x2 - x1, y2 - y1)))
        t = (np.arange(n) + 0.5) / n
        found.append(np.stack([x1 + t * (x2 - x1), y1 + t * (y2 - y1),
                               np.full(n, np.arctan2(y2 - y1, x2 - x1))], 1))
    return np.vstack(found)


def n_covered(at, segments):
    """Returns how many points lie on a segment."""
    covered = np.zeros(len(at), bool)
    for x1, y1, x2, y2 in segments:
        length = np.hypot(x2 - x1, y2 - y1)
        if length < 1:
            continue
        u, v = (x2 - x1) / length, (y2 - y1) / length
        dx, dy = at[:, 0] - x1, at[:, 1] - y1
        along, across = dx * u + dy * v, np.abs(dy * u - dx * v)
        turned = (at[:, 2] - np.arctan2(v, u) + np.pi / 2) % np.pi - np.pi / 2
        covered |= ((along >= -NEAR) & (along <= length + NEAR) & (across <= NEAR)
                    & (np.abs(turned) <= ALIKE))
    return covered.sum()


def report(options, what, method, sums, numbers):
    """Prints a method's results. sums: correct and all found points, then found and all true
    points."""
    right, found, hit, true = sums
    precision, recall = right / max(found, 1), hit / true
    show(options, what=what, method=method, precision=float(precision), recall=float(recall),
         f=float(2 * precision * recall / max(precision + recall, 1e-9)),
         number=float(np.mean(numbers)))


def score_segments(options, method, found, truth):
    sums = np.zeros(4)
    for segments, true in zip(found, truth):
        ours, theirs = points(segments), points(true)
        sums += (n_covered(ours, true), len(ours), n_covered(theirs, segments), len(theirs))
    report(options, 'segments', method, sums, list(map(len, found)))


def score_lines(options, method, found, truth):
    sums = np.zeros(4)
    for lines, true in zip(found, truth):
        length = np.hypot(true[:, 2] - true[:, 0], true[:, 3] - true[:, 1])
        true, length = true[length >= LONG], length[length >= LONG]
        hit = np.zeros(len(true), bool)
        for rho, theta in lines:
            c, s = np.cos(theta), np.sin(theta)
            on = ((np.abs(true[:, 0] * c + true[:, 1] * s - rho) <= NEAR)
                  & (np.abs(true[:, 2] * c + true[:, 3] * s - rho) <= NEAR))
            hit |= on
            sums[0] += on.any()
        sums += (0, len(lines), (hit * length).sum(), length.sum())
    report(options, 'lines', method, sums, list(map(len, found)))


def as_segments(found):
    return [] if found is None else np.reshape(found, (-1, 4)).tolist()


def edlines(grey):
    drawing = cv2.ximgproc.createEdgeDrawing()
    drawing.detectEdges(grey)
    return as_segments(drawing.detectLines())


def score_peers(options, pictures, truth):
    greys = [cv2.cvtColor(p, cv2.COLOR_BGR2GRAY) for p in pictures]
    edges = [cv2.Canny(cv2.GaussianBlur(g, (5, 5), 0), 50, 100) for g in greys]
    score_segments(options, 'HoughLinesP 50 30 5', [as_segments(
        cv2.HoughLinesP(e, 1, np.pi / 180, 50, minLineLength=30, maxLineGap=5))
        for e in edges], truth)
    score_segments(options, 'LSD', [as_segments(
        cv2.createLineSegmentDetector().detect(g)[0]) for g in greys], truth)
    if hasattr(cv2, 'ximgproc'):
        score_segments(options, 'FastLineDetector', [as_segments(
            cv2.ximgproc.createFastLineDetector().detect(g)) for g in greys], truth)
        score_segments(options, 'EDLines', list(map(edlines, greys)), truth)
    for threshold in (100, 150):
        score_lines(options, f'HoughLines 1 degree {threshold}', [
            np.reshape(cv2.HoughLines(e, 1, np.pi / 180, threshold), (-1, 2)) for e in edges],
            truth)


def main():
    options = parse(arguments(__doc__))
    names = sorted(glob.glob(options.data + '/*.jpg'))
    pictures = [cv2.imread(name) for name in names]
    truth = [np.loadtxt(name[:-4] + '-all.csv', delimiter=',', skiprows=1) for name in names]

    def ours(more):
        element = f'houghlines n-threads=1 message=none {more} {options.settings}'
        return [r.get('lines', []) for r in records(pictures, element)]

    score_segments(options, 'houghlines', [[[line[k] for k in ENDS] for line in lines]
                                           for lines in ours('segments=true')], truth)
    score_lines(options, 'houghlines', [[(line['rho'], line['theta']) for line in lines]
                                        for lines in ours('')], truth)
    show(options, what='ms a picture', method='houghlines segments=true', ms=milliseconds(
        pictures[0], f'houghlines n-threads=1 message=none segments=true {options.settings}'))
    if options.peers:
        score_peers(options, pictures, truth)


main()
