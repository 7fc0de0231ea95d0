#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares edges, votes and lines with OpenCV's on real pictures, and votes with NumPy's, cell
by cell.

usage: lines.py LINES
"""
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'check'))
from checks import check, failures

DATA = '/usr/share/doc/opencv-doc/examples/data/'
PICTURES = {'sudoku.png': 150, 'building.jpg': 120, 'pic1.png': 60,
            'board.jpg': 120, 'home.jpg': 90}
# Lines of sudoku.png, annotated by eye: rows of horizontal lines at column 279, columns of
# vertical lines at row 281.
ACROSS = (85, 128, 171, 214, 262, 310, 359, 410, 463, 514)
DOWN = (56, 105, 154, 205, 253, 303, 353, 401, 451, 506)


class Program:
    def __init__(self, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory()

    def run(self, command, picture, *args):
        file = os.path.join(self.folder.name, 'picture.pgm')
        height, width = picture.shape
        with open(file, 'wb') as to:
            to.write(b'P5 %d %d 255\n' % (width, height) + picture.tobytes())
        return subprocess.run(
            [self.path, command, file] + [str(a) for a in args], check=True,
            stdout=subprocess.PIPE).stdout

    def edges(self, picture, *args):
        return np.frombuffer(self.run('edges', picture, *args),
                             np.uint8).reshape(picture.shape)

    def votes(self, edges, thetas):
        out = np.frombuffer(self.run('votes', edges, thetas), np.int32)
        return out[2:].reshape(out[0], out[1])

    def peaks(self, edges, *args):
        lines = self.run('peaks', edges, *args).decode().splitlines()
        return [tuple(int(v) for v in line.split()) for line in lines]

    def lines(self, edges, *args):
        out = self.run('lines', edges, *args).decode().splitlines()
        return np.array([[float(v) for v in line.split()] for line in out]
                        ).reshape(-1, 3)


# ---- ours in NumPy ----

def our_bins(x, y, k):
    """Returns rho of pixels in row k of 180."""
    theta = np.float64(k) * np.pi / 180 - np.pi / 2
    cosine = int(np.rint(np.cos(theta) * 65536))
    sine = int(np.rint(np.sin(theta) * 65536))
    return (x * cosine + y * sine + 32768) >> 16


def our_votes(edges, diagonal):
    y, x = (a.astype(np.int64) for a in np.nonzero(edges))
    return np.array([np.bincount(our_bins(x, y, k) + diagonal,
                                 minlength=2 * diagonal + 1)
                     for k in range(180)])


# ---- OpenCV's HoughLines in NumPy ----

# theta is accumulated in single precision, as in OpenCV
ANGLES = np.cumsum(np.full(180, np.pi / 180, np.float32), dtype=np.float32)
ANGLES = np.concatenate([[0], ANGLES[:-1]]).astype(np.float64)


def opencv_bins(x, y, n):
    """Returns bins for theta = n degrees in single precision, rounded with ties to even."""
    cosine = np.float32(np.cos(ANGLES[n]))
    sine = np.float32(np.sin(ANGLES[n]))
    rho = x.astype(np.float32) * cosine + y.astype(np.float32) * sine
    return np.rint(rho).astype(np.int64)


def opencv_lines(edges, threshold):
    """Returns (theta, rho, votes) in OpenCV's order."""
    height, width = edges.shape
    n_rho = 2 * (width + height) + 1
    y, x = np.nonzero(edges)
    cells = np.zeros((182, n_rho + 2), np.int64)
    for n in range(180):
        cells[n + 1, 1:-1] = np.bincount(
            opencv_bins(x, y, n) + (n_rho - 1) // 2, minlength=n_rho)
    middle = cells[1:-1, 1:-1]
    peaks = ((middle > threshold) & (middle > cells[1:-1, :-2])
             & (middle >= cells[1:-1, 2:]) & (middle > cells[:-2, 1:-1])
             & (middle >= cells[2:, 1:-1]))
    found = [(-middle[n, r], n, r) for n, r in zip(*np.nonzero(peaks))]
    return [(n, r - (n_rho - 1) // 2, -v) for v, n, r in sorted(found)]


# ---- comparisons ----

def to_opencv(k, r):
    """Returns OpenCV's theta in degrees and rho for our row and rho."""
    return (k - 90, r) if k >= 90 else (k + 90, -r)


def is_near(line, lines):
    """Returns whether one of the lines is at most a cell away."""
    for n in range(line[0] - 1, line[0] + 2):
        for r in range(line[1] - 1, line[1] + 2):
            # at 180 degrees theta wraps and rho changes its sign
            if (n % 180, r if 0 <= n < 180 else -r) in lines:
                return True
    return False


def compare_lines(name, program, edges, threshold):
    theirs = opencv_lines(edges, threshold)
    real = cv2.HoughLines(edges, 1, np.pi / 180, threshold)
    real = np.zeros((0, 2)) if real is None else real.reshape(-1, 2)
    check(len(real) == len(theirs)
          and all(abs(rho - r) < .01 and abs(theta - n * np.pi / 180) < 1e-4
                  for (rho, theta), (n, r, _) in zip(real, theirs)),
          f'{name}: the NumPy version of HoughLines has {len(theirs)} lines, '
          f'OpenCV {len(real)}')
    ours = {to_opencv(k, r) for k, r, _ in
            program.peaks(edges, 180, threshold, 'cross', 3)}
    lost = [t for t in theirs if not is_near(t, ours)]
    share = 1 - len(lost) / max(1, len(theirs))
    check(share >= .97, f'{name}: only {share:.3f} of OpenCV\'s lines are found')
    check(not any(t[2] > 3 * threshold for t in lost),
          f'{name}: one of OpenCV\'s strongest lines is not found')
    print(f'{name}: {np.count_nonzero(edges)} edges, {len(theirs)} lines of '
          f'OpenCV, {len(ours)} of ours, {100 * share:.1f} % found')


def compare_bins(name, edges):
    y, x = (a.astype(np.int64) for a in np.nonzero(edges))
    most = 0
    for k in range(180):
        n = to_opencv(k, 0)[0]
        sign = 1 if k >= 90 else -1
        most = max(most, np.abs(
            our_bins(x, y, k) - sign * opencv_bins(x, y, n)).max(initial=0))
    check(most <= 1, f'{name}: a vote is {most} cells from OpenCV\'s')


def compare_edges(name, program, picture):
    """Compares edges. We have no edges at the border, and keep the first of equal neighbours across
    a diagonal edge, of which OpenCV keeps none."""
    for norm in ('l1', 'l2'):
        ours = program.edges(picture, 'sharp', norm, 50, 100)
        theirs = cv2.Canny(picture, 50, 100, L2gradient=norm == 'l2')
        inside = np.s_[1:-1, 1:-1]
        other = np.count_nonzero(ours[inside] != theirs[inside])
        n = np.count_nonzero(theirs[inside])
        print(f'{name}: Canny {norm}: {n} edges, {other} pixels differ')
        check(other <= .02 * n, f'{name}: {other} of {n} edges differ')


def relative_to_centre(line, shape):
    """Returns theta, and rho relative to the frame's centre."""
    rho, theta, _ = line
    height, width = shape
    return theta, (rho - (width - 1) / 2 * np.cos(theta)
                   - (height - 1) / 2 * np.sin(theta))


def distance_of_lines(a, b):
    """Returns the distance in rho of lines that are less than 1 degree + 2 / D apart in theta."""
    off = abs(a[0] - b[0])
    rho = -b[1] if off > np.pi / 2 else b[1]
    near = min(off, np.pi - off) <= np.radians(1) + 2 / 128
    return abs(a[1] - rho) if near else np.inf


def compare_pclines(name, program, edges, threshold):
    """Checks that PClines also finds the strongest lines of rho and theta, within the resolutions
    of both methods: a pixel, and up to 1.42 * 1.42 / 2 pixels."""
    ours = program.lines(edges, 'rho-theta', 180, threshold, 9)[:40]
    others = [relative_to_centre(line, edges.shape) for line in
              program.lines(edges, 'pclines', 256, threshold * 2 // 3, 3)]
    off = [min(distance_of_lines(relative_to_centre(line, edges.shape), other)
               for other in others) for line in ours]
    lost = np.count_nonzero(np.array(off) > 2.1)
    check(len(ours) > 3 and lost <= .05 * len(ours),
          f'{name}: PClines misses {lost} of {len(ours)} lines')
    check(np.median(off) < .6, f'{name}: PClines is {np.median(off)} pixels off')
    print(f'{name}: PClines: {len(ours) - lost} of {len(ours)} lines, '
          f'{np.median(off):.2f} pixels off')


def check_sudoku(program):
    """Checks where the twenty lines cross the centre lines of the picture."""
    picture = cv2.imread(DATA + 'sudoku.png', cv2.IMREAD_GRAYSCALE)
    height, width = picture.shape
    edges = program.edges(picture, 'sharp', 'l1', 50, 100)
    across, down = [], []
    for k, r, _ in program.peaks(edges, 180, 100, 'square', 9):
        cosine, sine = np.cos(np.radians(k - 90)), np.sin(np.radians(k - 90))
        if abs(sine) > .9:
            across.append((r - width / 2 * cosine) / sine)
        elif abs(cosine) > .9:
            down.append((r - height / 2 * sine) / cosine)
    for what, found, expected in (('across', across, ACROSS),
                                  ('down', down, DOWN)):
        lost = [e for e in expected if min(abs(f - e) for f in found) > 6]
        check(not lost, f'sudoku.png: lines {what} at {lost} are not found')


def main():
    program = Program(sys.argv[1])
    for name, threshold in PICTURES.items():
        picture = cv2.imread(DATA + name, cv2.IMREAD_GRAYSCALE)
        check(picture is not None, f'{name} is missing: install opencv-doc')
        if picture is None:
            continue
        edges = cv2.Canny(picture, 50, 100)
        diagonal = int(np.ceil(np.hypot(*(np.array(edges.shape) - 1)))) + 1
        check(np.array_equal(program.votes(edges, 180),
                             our_votes(edges, diagonal)), f'{name}: votes')
        compare_edges(name, program, picture)
        compare_bins(name, edges)
        compare_lines(name, program, edges, threshold)
        compare_pclines(name, program, edges, threshold)
    check_sudoku(program)
    print(f'{failures()} failures')
    return failures() > 0


sys.exit(main())
