# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generates videos with an object that moves behind a pillar and appears on the other side.

Pictures are those of opencv-doc and skimage. All runs give the same videos.
"""
from dataclasses import dataclass

import cv2
import numpy as np

from synthetic_film import DATA, SKIMAGE, blend, picture

WIDTH, HEIGHT = 480, 360
FRAMES = 100
SEED = 1
NOISE = 3.0      # standard deviation, grey levels
MARGIN = 50      # pixels from the object's centre to the frame's borders
PILLAR = 1.6     # width relative to the object's larger side


@dataclass
class Film:
    name: str
    ground: tuple  # folder, file, package
    object: tuple
    crop: tuple    # x, y, width, height in the object's picture
    size: tuple    # size of the object in the video
    pillar: tuple

    def place(self, frame):
        """Returns the true box, and the fraction of it that the pillar does not occlude."""
        width, height = self.size
        x = MARGIN + (WIDTH - 2 * MARGIN) * frame / (FRAMES - 1) - width / 2
        y = HEIGHT / 2 + 80 * np.sin(2 * np.pi * frame / 90) - height / 2
        left, right = self.edges()
        seen = max(0.0, left - x) + max(0.0, x + width - right)
        return (x, y, width, height), min(1.0, seen / width)

    def edges(self):
        half = round(PILLAR * max(self.size) / 2)
        return WIDTH // 2 - half, WIDTH // 2 + half

    def frames(self):
        random = np.random.default_rng(SEED)
        scene = cv2.resize(picture(*self.ground), (WIDTH, HEIGHT),
                           interpolation=cv2.INTER_AREA)
        left, right = self.edges()
        front = cv2.resize(picture(*self.pillar), (right - left, HEIGHT),
                           interpolation=cv2.INTER_AREA)
        x, y, width, height = self.crop
        patch = cv2.resize(picture(*self.object)[y:y + height, x:x + width],
                           (2 * self.size[0], 2 * self.size[1]),
                           interpolation=cv2.INTER_AREA)
        for frame in range(FRAMES):
            image = blend(scene, patch, self.place(frame)[0])
            image[:, left:right] = front
            image += random.normal(0, NOISE, image.shape)
            yield np.uint8(np.clip(np.rint(image), 0, 255))


def opencv(name):
    return DATA, name, 'opencv-doc'


def skimage(name):
    return SKIMAGE, name, 'python3-skimage'


FILMS = [
    Film('squirrel', opencv('board.jpg'), opencv('squirrel_cls.jpg'),
         (90, 60, 160, 125), (69, 54), skimage('gravel.png')),
    Film('baboon', skimage('motorcycle_left.png'), opencv('baboon.jpg'),
         (100, 90, 330, 400), (63, 77), skimage('brick.png')),
    Film('fruits', opencv('home.jpg'), opencv('fruits.jpg'),
         (180, 130, 170, 170), (77, 77), skimage('grass.png')),
    Film('basketball', opencv('building.jpg'), opencv('basketball1.png'),
         (430, 100, 90, 230), (36, 91), skimage('brick.png')),
]
