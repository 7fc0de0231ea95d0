#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that masks and boxes of visionmotion equal OpenCV's.

usage: compare.py MASKS [--all]

MASKS is the program of masks.c. Masks are compared with cv2.createBackgroundSubtractorMOG2, the
parts of cleaned masks with cv2.morphologyEx and cv2.connectedComponentsWithStats, pixel by pixel
and part by part, for the reference, C and SIMD. Films are those of opencv-doc, drawn ones and
noise. OpenCV 4.6, 4.10 and 5.0 give the same. Without --all, a part of each frame and fewer frames are compared."""
import os
import subprocess
import sys

import cv2
import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'check'))
from checks import check, failures

DATA = '/usr/share/doc/opencv-doc/examples/data/'
VERSIONS = (('reference', 'reference', '0'), ('C', 'cpu', '0'), ('SIMD', 'cpu', '0xffffffff'))


# ---- films ----

def read_film(name, n, part):
    reader, frames = cv2.VideoCapture(DATA + name), []
    while len(frames) < n and (frame := reader.read()[1]) is not None:
        frames.append(np.ascontiguousarray(frame[part]))
    if not frames:
        sys.exit(f'{DATA}{name} cannot be read: install the package opencv-doc')
    return frames


def draw_film(random, n):
    """Draws squares and their shadows, which move over a photograph, and noise."""
    ground = cv2.resize(cv2.imread(DATA + 'home.jpg'), (251, 163)).astype(float)
    frames = []
    for i in range(n):
        frame = ground + random.normal(0, 6, ground.shape)
        for k in range(8):
            x, y = (i * (k + 1) + 40 * k) % 250, (i * k // 2 + 25 * k) % 160
            frame[y + 9:y + 30, x + 9:x + 30] *= 0.5 + 0.06 * k
            frame[y:y + 20, x:x + 20] = random.integers(0, 256, 3)
        frames.append(frame.clip(0, 255).astype(np.uint8))
    return frames


def noise_film(random, n):
    """Pixels with several Gaussians of all sizes, which their values leave now and then."""
    levels = random.integers(0, 256, (6, 97, 131, 3))
    spread = random.integers(1, 40, (97, 131, 1))
    frames = []
    for _ in range(n):
        which = random.integers(0, 6, (1, 97, 131, 1)) * (random.random((1, 97, 131, 1)) < 0.3)
        frame = np.take_along_axis(levels, which, 0)[0] + random.normal(0, 1, spread.shape) * spread
        frames.append(frame.clip(0, 255).astype(np.uint8))
    return frames


# ---- OpenCV ----

def parts_of(mask, opening, closing):
    """Returns left, top, right, bottom and area of each part."""
    moving = (mask == 255).astype(np.uint8)
    moving = cv2.morphologyEx(moving, cv2.MORPH_OPEN, np.ones((opening, opening), np.uint8))
    moving = cv2.morphologyEx(moving, cv2.MORPH_CLOSE, np.ones((closing, closing), np.uint8))
    left, top, width, height, area = cv2.connectedComponentsWithStats(moving)[2][1:].T
    return sorted(zip(left, top, left + width, top + height, area))


def theirs(frames, history, threshold, shadows, opening, closing):
    subtractor = cv2.createBackgroundSubtractorMOG2(history, threshold, bool(shadows))
    for frame in frames:
        mask = subtractor.apply(frame)
        yield mask, parts_of(mask, opening, closing)


# ---- ours ----

def ours(program, frames, version, mask, settings):
    height, width = frames[0].shape[:2]
    channels = 3 if frames[0].ndim == 3 else 1
    output = subprocess.run(
        [program, version, *map(str, (width, height, channels, *settings))],
        input=b''.join(map(bytes, frames)), stdout=subprocess.PIPE, check=True,
        env=dict(os.environ, CUV_CPU_MASK=mask)).stdout
    at, size = 0, width * height
    for _ in frames:
        mask = np.frombuffer(output, np.uint8, size, at).reshape(height, width)
        n, = np.frombuffer(output, np.int32, 1, at + size)
        parts = np.frombuffer(output, np.int32, 5 * n, at + size + 4).reshape(n, 5)
        at += size + 4 + 20 * n
        yield mask, sorted(map(tuple, parts))


# ---- comparisons ----

def compare(program, name, frames, settings):
    expected = list(theirs(frames, *settings))
    n_moving = sum((mask == 255).sum() for mask, _ in expected)
    n_shadow = sum((mask == 127).sum() for mask, _ in expected)
    n_parts = sum(len(parts) for _, parts in expected)
    check(n_moving > 0, f'{name}: nothing moves')
    check((n_shadow > 0) == bool(settings[2]), f'{name}: {n_shadow} pixels of shadows')
    for version, argument, mask in VERSIONS:
        found = list(ours(program, frames, argument, mask, settings))
        pixels = sum((a != b).sum() for (a, _), (b, _) in zip(found, expected))
        wrong = sum(a != b for (_, a), (_, b) in zip(found, expected))
        check(pixels == 0, f'{name}, {settings}, {version}: {pixels} pixels differ')
        check(wrong == 0, f'{name}, {settings}, {version}: parts of {wrong} frames differ')
    print(f'{name}, {settings}: {len(frames)} frames, {n_moving} moving pixels, '
          f'{n_shadow} of shadows, {n_parts} parts', flush=True)


def films(everything):
    random = np.random.default_rng(1)
    part = np.s_[:, :] if everything else np.s_[200:309, 300:447]
    n = 500 if everything else 24
    for name in ('vtest.avi', 'Megamind.avi', 'tree.avi'):
        yield name, read_film(name, n, part)
    yield 'drawn film', draw_film(random, n)
    yield 'noise', noise_film(random, n)


def main():
    program, everything = sys.argv[1], '--all' in sys.argv[2:]
    cv2.setNumThreads(1)
    for name, frames in films(everything):
        grey = [cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY) for frame in frames]
        for shadows in (0, 1):
            compare(program, f'{name}, grey', grey, (500, 16, shadows, 3, 5))
            compare(program, f'{name}, colour', frames, (500, 16, shadows, 3, 5))
        # the rate is constant from frame 10 on
        compare(program, f'{name}, grey', grey, (20, 9, 1, 1, 9))
    sys.exit(failures() > 0)


if __name__ == '__main__':
    main()
