#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws printed digits with their boxes.

usage: digits.py FOLDER PICTURES NEGATIVES SEED FONT...
"""

import sys

import numpy as np

from scenes import HEIGHT, WIDTH, Annotations, Scene, is_inside, load_font

ASPECT = 2 / 3  # width of a box, divided by its height
MARGIN = 0.1  # above and below a digit, as a fraction of its height
SMALLEST, LARGEST = 20, 64  # height of a digit, pixels
# Letters that do not look like a digit in any font.
LETTERS = 'AEFHKMNPRTUVWXYaefhkmnrtuvwxy#%&@?!+*=<>/'


def box_around(ink):
    left, top, right, bottom = ink
    height = (bottom - top) * (1 + 2 * MARGIN)
    width = height * ASPECT
    return [(left + right - width) / 2, (top + bottom - height) / 2, width,
            height]


def overlap(a, b):
    return (a[0] < b[0] + b[2] and b[0] < a[0] + a[2]
            and a[1] < b[1] + b[3] and b[1] < a[1] + a[3])


class Page:
    """Text in a scene; nothing covers anything else."""

    def __init__(self, rng, fonts):
        self.rng = rng
        self.fonts = fonts
        self.scene = Scene(rng)
        self.taken = []

    def contrast(self):
        """Returns the greys of paper and ink."""
        paper = ink = int(self.rng.integers(256))
        while abs(paper - ink) < 50:
            ink = int(self.rng.integers(256))
        return paper, ink

    def put(self, characters):
        """Draws a line of characters on paper; returns the ink of each."""
        rng = self.rng
        font_size = rng.uniform(1.4 * SMALLEST,
                                1.3 * LARGEST / 2 ** rng.integers(2))
        font = load_font(self.fonts[rng.integers(len(self.fonts))], font_size)
        step = font_size * rng.uniform(0.62, 1.3)
        width, height = step * len(characters), font_size * 1.4
        box = [rng.uniform(0, max(WIDTH - width, 1)),
               rng.uniform(0, max(HEIGHT - height, 1)), width, height]
        if not is_inside(box) or any(overlap(box, other) for other in self.taken):
            return []
        self.taken.append(box)
        paper, ink = self.contrast()
        x, y = box[:2]
        self.scene.polygon([(x, y), (x + width, y), (x + width, y + height),
                            (x, y + height)], paper)
        if rng.random() < 0.3:  # cells of a table
            for i in range(len(characters)):
                self.scene.polygon([(x + i * step, y), (x + i * step + 1, y),
                                    (x + i * step + 1, y + height),
                                    (x + i * step, y + height)], ink)
        turn = rng.uniform(-6, 6) if rng.random() < 0.5 else 0
        return [self.scene.text((x + (i + 0.5) * step, y + height / 2), character,
                                font, ink, turn)
                for i, character in enumerate(characters)]

    def fill(self, n_lines, alphabet):
        """Returns the ink of all characters."""
        inks = []
        for _ in range(n_lines):
            n = int(self.rng.integers(1, 8))
            inks += self.put(''.join(self.rng.choice(list(alphabet), n)))
        return [ink for ink in inks if ink is not None]


def is_learnt(ink):
    return SMALLEST <= ink[3] - ink[1] <= LARGEST and is_inside(box_around(ink))


def main():
    folder, n_pictures, n_negatives, seed = sys.argv[1], *map(int, sys.argv[2:5])
    rng = np.random.default_rng(seed)
    annotations = Annotations(folder, 'digit')
    for _ in range(n_pictures):
        page = Page(rng, sys.argv[5:])
        page.scene.clutter(int(rng.integers(20)))
        inks = page.fill(12, '0123456789')
        page.fill(6, LETTERS)
        annotations.add(page.scene.finish(),
                        [(box_around(ink), is_learnt(ink)) for ink in inks])
    for number in range(n_negatives):
        page = Page(rng, sys.argv[5:])
        page.scene.clutter(int(rng.integers(40)))
        page.fill(int(rng.integers(16)), LETTERS)
        annotations.add_negative(page.scene.finish(), number)
    annotations.write()


if __name__ == '__main__':
    main()
