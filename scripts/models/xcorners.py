#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws chessboards with the positions of their inner corners.

usage: xcorners.py FOLDER BOARDS NEGATIVES SEED
"""

import math
import sys

import numpy as np

from scenes import HEIGHT, WIDTH, Annotations, Scene, is_inside

WINDOW = 16
LARGEST_LEARNT = 45  # pixels; larger corners look the same


def rotation(axis, angle):
    """Returns a rotation matrix, by Rodrigues' formula."""
    x, y, z = np.asarray(axis) / math.hypot(*axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (np.eye(3) + math.sin(angle) * cross
            + (1 - math.cos(angle)) * cross @ cross)


class Board:
    """A chessboard somewhere in front of a camera."""

    def __init__(self, rng):
        self.columns = int(rng.integers(4, 12))
        self.rows = int(rng.integers(4, 10))
        square = math.exp(rng.uniform(math.log(9), math.log(60)))
        turn = (rng.uniform(0, 2 * math.pi) if rng.random() < 0.3
                else 0.25 * rng.uniform(-2, 2))
        tilt, direction = rng.uniform(0, 1.05), rng.uniform(0, 2 * math.pi)
        focal = rng.uniform(0.8, 3) * WIDTH
        turned = (rotation([math.cos(direction), math.sin(direction), 0], tilt)
                  @ rotation([0, 0, 1], turn))
        centre = np.array([rng.uniform(-0.3, 0.3) * WIDTH / square,
                           rng.uniform(-0.3, 0.3) * HEIGHT / square,
                           focal / square])
        corner = (centre - turned[:, 0] * self.columns / 2
                  - turned[:, 1] * self.rows / 2)
        camera = np.array([[focal, 0, WIDTH / 2], [0, focal, HEIGHT / 2],
                           [0, 0, 1]])
        self.homography = camera @ np.stack(
            [turned[:, 0], turned[:, 1], corner], 1)

    def project(self, points):
        """Converts board coordinates, in squares, to pixels; also returns the
        depths."""
        at = np.c_[np.asarray(points, float), np.ones(len(points))] @ self.homography.T
        return at[:, :2] / at[:, 2:], at[:, 2]

    def rectangle(self, left, top, right, bottom):
        return self.project([[left, top], [right, top], [right, bottom],
                             [left, bottom]])


def draw_board(scene):
    """Returns corners with the length of the shortest side that meets there."""
    rng = scene.rng
    while True:
        board = Board(rng)
        margin = rng.uniform(0, 1.2)
        sheet, depths = board.rectangle(-margin, -margin, board.columns + margin,
                                        board.rows + margin)
        if depths.min() > 0.2 * depths.max():
            break
    white = rng.uniform(120, 255)
    black = max(white - rng.uniform(50, white * 0.98), 0)
    first = int(rng.integers(2))
    scene.polygon(sheet, white)
    for column in range(board.columns):
        for row in range(board.rows):
            if (column + row) % 2 == first:
                scene.polygon(board.rectangle(column, row, column + 1, row + 1)[0],
                              black)
    corners = []
    for column in range(1, board.columns):
        for row in range(1, board.rows):
            at, _ = board.project([[column, row], [column + 1, row],
                                   [column, row + 1], [column - 1, row],
                                   [column, row - 1]])
            side = min(math.hypot(*(end - at[0])) for end in at[1:])
            corners.append((at[0], side))
    return corners


def boxes_of(rng, corner, side):
    """Returns boxes around a corner: two to learn, if they do not reach far
    beyond its squares, and others that keep windows of any size out of the
    negatives."""
    largest = min(2 * side, LARGEST_LEARNT)
    learnt = [WINDOW, rng.uniform(WINDOW, max(largest, WINDOW))]
    for i, size in enumerate(learnt + [WINDOW << k for k in range(4)]):
        box = [corner[0] - size / 2, corner[1] - size / 2, size, size]
        fits = i < 2 and size <= largest and is_inside(box)
        yield box, bool(fits)


def main():
    folder, n_boards, n_negatives, seed = sys.argv[1], *map(int, sys.argv[2:])
    rng = np.random.default_rng(seed)
    annotations = Annotations(folder, 'xcorner')
    for _ in range(n_boards):
        scene = Scene(rng)
        scene.clutter(int(rng.integers(8)))
        corners = [(corner + 0.5, side) for corner, side in draw_board(scene)
                   if 2 <= corner[0] < WIDTH - 2 and 2 <= corner[1] < HEIGHT - 2]
        annotations.add(scene.finish(), [
            box for corner, side in corners
            for box in boxes_of(rng, corner, side)])
    for number in range(n_negatives):
        scene = Scene(rng)
        scene.clutter(int(rng.integers(40)))
        annotations.add_negative(scene.finish(), number)
    annotations.write()


if __name__ == '__main__':
    main()
