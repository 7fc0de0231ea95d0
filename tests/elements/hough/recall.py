#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks recall and precision of houghlines with default settings on known lines.

Each scene has eight edges at random angles across the frame, and noise. A line is found if it is
within half a degree, and within a pixel in the middle of its part inside the frame.
"""
import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

WIDTH, HEIGHT, LINES, SCENES = 640, 480, 8, 10
FINER = 2  # oversampling


def draw_lines(dice):
    """Draws random lines, no two of which are similar. Returns rho and theta of each."""
    lines = []
    while len(lines) < LINES:
        x, y = dice.uniform(0.15, 0.85, 2) * (WIDTH, HEIGHT)
        theta = dice.uniform(-np.pi / 2, np.pi / 2)
        rho = x * np.cos(theta) + y * np.sin(theta)
        if all(difference(theta, t) > np.radians(12)
               or abs(abs(rho) - abs(r)) > 25 for r, t in lines):
            lines.append((rho, theta))
    return lines


def difference(a, b):
    return min(abs(a - b), np.pi - abs(a - b))


def picture(lines, dice):
    """Returns a picture in which each line is an edge along its whole length."""
    shape = HEIGHT * FINER, WIDTH * FINER
    y, x = ((np.indices(shape) + 0.5) / FINER - 0.5).astype(np.float32)
    grey = np.zeros(shape, np.float32)
    for rho, theta in lines:
        grey = np.abs(grey - (x * np.cos(theta) + y * np.sin(theta) > rho))
    grey = grey.reshape(HEIGHT, FINER, WIDTH, FINER).mean((1, 3))
    noisy = 60 + 130 * grey + dice.normal(0, 8, grey.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def middle(line):
    rho, theta = line
    cosine, sine = np.cos(theta), np.sin(theta)
    along = np.arange(-WIDTH - HEIGHT, WIDTH + HEIGHT)
    x, y = rho * cosine - along * sine, rho * sine + along * cosine
    inside = (x >= 0) & (x < WIDTH) & (y >= 0) & (y < HEIGHT)
    return x[inside].mean(), y[inside].mean(), inside.sum()


def is_found(line, other):
    x, y, _ = middle(line)
    rho, theta = other
    return abs(x * np.cos(theta) + y * np.sin(theta) - rho) <= 1 \
        and difference(line[1], theta) <= np.radians(0.5) + 1e-6


def detect(folder):
    line = (f'multifilesrc location={folder}/%d.png caps=image/png,framerate=1/1 '
            '! pngdec ! videoconvert ! houghlines skip-late=false '
            '! visionpublish add-empty-results=true ! fakesink')
    out = subprocess.run(['gst-launch-1.0', '-q', *line.split()], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [[(row['rho'], row['theta']) for row in json.loads(record)['lines']]
            for record in out.splitlines()]


def main():
    scenes = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(SCENES):
            dice = np.random.default_rng(seed)
            scenes.append(draw_lines(dice))
            cv2.imwrite(os.path.join(folder, f'{seed}.png'),
                        picture(scenes[-1], dice))
        found = detect(folder)
    assert len(found) == SCENES, len(found)
    long = [[line for line in lines if middle(line)[2] > 200] for lines in scenes]
    hits = sum(any(is_found(line, other) for other in others)
               for lines, others in zip(long, found) for line in lines)
    true = sum(any(is_found(line, other) for line in lines)
               for lines, others in zip(scenes, found) for other in others)
    recall = hits / sum(map(len, long))
    precision = true / sum(map(len, found))
    print(f'recall {recall:.3f} precision {precision:.3f}')
    return 0 if recall >= 0.99 and precision >= 0.99 else 1


sys.exit(main())
