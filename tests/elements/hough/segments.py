#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks segments and lines of houghlines with default settings on drawn scenes.

One kind of scene has noisy rectangles whose sides are as short as 14 pixels; segments
are compared by pixel, within 2 pixels and 5 degrees. The other has bars of 6 pixels,
of which both edges must have a line.
"""
import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

WIDTH, HEIGHT, SCENES = 640, 480, 6
FINER = 4  # oversampling


def smooth(grey, dice):
    grey = cv2.resize(grey, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
    noisy = grey + dice.normal(0, 5, grey.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def corners(x, y, width, height, angle):
    turn = np.array([[np.cos(angle), -np.sin(angle)],
                     [np.sin(angle), np.cos(angle)]])
    box = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (width, height) / 2
    return box @ turn.T + (x, y)


def rectangles(dice):
    """Returns a picture, and the sides of the rectangles in it."""
    grey = np.full((HEIGHT * FINER, WIDTH * FINER), 90, np.uint8)
    sides = []
    for x in range(60, WIDTH, 104):
        for y in range(60, HEIGHT, 90):
            points = corners(x, y, *dice.uniform(14, 60, 2),
                             dice.uniform(0, np.pi))
            inner = (points + .5) * FINER - .5
            cv2.fillPoly(grey, [np.rint(inner * 16).astype(np.int32)],
                         int(dice.choice([60, 125, 160])), shift=4)
            sides += [(*points[i - 1], *points[i]) for i in range(4)]
    return smooth(grey, dice), sides


def bars(dice):
    """Returns a picture, and both edges of the bars in it as rho and theta."""
    y, x = ((np.indices((HEIGHT * FINER, WIDTH * FINER)) + .5) / FINER - .5)
    grey = np.full(x.shape, 90, np.float32)
    lines = []
    for theta in dice.permutation(np.arange(-80, 90, 20))[:4] / 180 * np.pi:
        centre = dice.uniform(0.3, 0.7, 2) * (WIDTH, HEIGHT)
        rho = centre @ (np.cos(theta), np.sin(theta))
        grey[np.abs(x * np.cos(theta) + y * np.sin(theta) - rho) < 3] = 150
        lines += [(rho - 3, theta), (rho + 3, theta)]
    return smooth(grey, dice), lines


def detect(pictures, settings):
    with tempfile.TemporaryDirectory() as folder:
        for i, picture in enumerate(pictures):
            cv2.imwrite(os.path.join(folder, f'{i}.png'), picture)
        line = (f'multifilesrc location={folder}/%d.png '
                'caps=image/png,framerate=1/1 ! pngdec ! videoconvert '
                f'! houghlines skip-late=false {settings} '
                '! visionpublish add-empty-results=true ! fakesink')
        out = subprocess.run(['gst-launch-1.0', '-q', *line.split()],
                             check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(record)['lines'] for record in out.stdout.splitlines()]


def pixels(segments):
    """Returns x, y and angle of points along segments, a pixel apart."""
    rows = [np.zeros((0, 3))]
    for x1, y1, x2, y2 in segments:
        at = np.arange(.5, max(np.hypot(x2 - x1, y2 - y1), 1))
        at = (at / len(at))[:, None]
        angle = np.full(len(at), np.arctan2(y2 - y1, x2 - x1))
        rows.append(np.column_stack(
            [x1 + at * (x2 - x1), y1 + at * (y2 - y1), angle]))
    return np.vstack(rows)


def covered(points, segments):
    """Returns how many points are on a segment of their angle."""
    hit = np.zeros(len(points), bool)
    for x1, y1, x2, y2 in segments:
        length = np.hypot(x2 - x1, y2 - y1)
        u, v = (x2 - x1) / length, (y2 - y1) / length
        x, y = points[:, 0] - x1, points[:, 1] - y1
        turn = points[:, 2] - np.arctan2(v, u) + np.pi / 2
        along = x * u + y * v
        hit |= (abs(y * u - x * v) <= 2) & (along > -2) & (along < length + 2) \
            & (abs(turn % np.pi - np.pi / 2) <= np.radians(5))
    return hit.sum()


def check_segments():
    scenes = [rectangles(np.random.default_rng(s)) for s in range(SCENES)]
    found = detect([picture for picture, _ in scenes], 'segments=true')
    hits = np.zeros(4)
    for (_, sides), rows in zip(scenes, found):
        segments = [[row[k] for k in ('x1', 'y1', 'x2', 'y2')] for row in rows]
        have, want = pixels(segments), pixels(sides)
        hits += (covered(want, segments), len(want), covered(have, sides),
                 len(have))
    return hits[0] / hits[1], hits[2] / max(hits[3], 1)


def same_line(row, rho, theta):
    """Returns whether the lines are within 1.5 pixels where they are nearest to the frame's
    centre."""
    cosine, sine = np.cos(theta), np.sin(theta)
    away = rho - (WIDTH * cosine + HEIGHT * sine) / 2
    x, y = WIDTH / 2 + away * cosine, HEIGHT / 2 + away * sine
    turn = (row['theta'] - theta + np.pi / 2) % np.pi - np.pi / 2
    distance = x * np.cos(row['theta']) + y * np.sin(row['theta']) - row['rho']
    return abs(turn) <= np.radians(1) and abs(distance) <= 1.5


def check_lines():
    scenes = [bars(np.random.default_rng(s)) for s in range(SCENES)]
    found = detect([picture for picture, _ in scenes], '')
    recall = np.mean([any(same_line(row, *line) for row in rows)
                      for (_, lines), rows in zip(scenes, found)
                      for line in lines])
    precision = np.mean([any(same_line(row, *line) for line in lines)
                         for (_, lines), rows in zip(scenes, found)
                         for row in rows])
    return recall, precision


def main():
    good = True
    for name, check in ('segments', check_segments), ('lines', check_lines):
        recall, precision = check()
        print(f'{name}: recall {recall:.3f} precision {precision:.3f}')
        good = good and recall >= 0.9 and precision >= 0.95
    return 0 if good else 1


sys.exit(main())
