# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generates videos with known boxes, by kind and number: a part of a picture moves over
another picture, and is occluded, changes size and light, is blurred or rotates.

Pictures are those of opencv-doc and skimage. All runs give the same videos.
"""
from dataclasses import dataclass

import cv2
import numpy as np

from synthetic_film import DATA, SKIMAGE, picture

WIDTH, HEIGHT = 480, 360
FRAMES = 100
TURN = 6.28  # radians; need not be exact, because periods are drawn at random
KINDS = {'hides': 1, 'scale and light': 2, 'blur and noise': 3, 'turns': 4}
# file: the part that moves (x, y, width, height), None = anywhere
OBJECTS = [('baboon.jpg', (100, 90, 330, 400)),
           ('astronaut.png', (150, 10, 150, 190)),
           ('fruits.jpg', (180, 130, 170, 170)),
           ('messi5.jpg', (185, 105, 100, 150)),
           ('chelsea.png', (110, 40, 200, 180)),
           ('basketball1.png', (430, 100, 90, 230)),
           ('squirrel_cls.jpg', None), ('stuff.jpg', None),
           ('rocket.jpg', None), ('starry_night.jpg', None),
           ('coffee.png', (150, 60, 280, 260)), ('butterfly.jpg', None)]
GROUNDS = ['building.jpg', 'home.jpg', 'graf1.png', 'leuvenA.jpg', 'board.jpg',
           'rocket.jpg', 'rubberwhale1.png', 'aero3.jpg', 'aloeL.jpg',
           'motorcycle_left.png']
PILLARS = ['brick.png', 'grass.png', 'gravel.png', 'board.jpg',
           'starry_night.jpg', 'building.jpg']
OF_SKIMAGE = {'astronaut.png', 'chelsea.png', 'rocket.jpg', 'coffee.png',
              'motorcycle_left.png', 'brick.png', 'grass.png', 'gravel.png'}


def read(name):
    if name in OF_SKIMAGE:
        return picture(SKIMAGE, name, 'python3-skimage')
    return picture(DATA, name, 'opencv-doc')


def part(random, name, crop):
    """Returns a part of a picture at twice the size, and its size in the video."""
    image = read(name)
    if crop is None:
        side, ratio = min(image.shape[:2]) * 0.45, random.uniform(0.7, 1.3)
        width, height = int(side * min(1, ratio)), int(side / max(1, ratio))
        crop = (int((image.shape[1] - width) * random.uniform(0.2, 0.8)),
                int((image.shape[0] - height) * random.uniform(0.2, 0.8)),
                width, height)
    x, y, width, height = crop
    image = image[y:y + height, x:x + width]
    zoom = random.uniform(50, 85) / (image.shape[0] * image.shape[1]) ** 0.5
    size = [max(24, round(side * zoom)) for side in image.shape[1::-1]]
    return cv2.resize(image, (2 * size[0], 2 * size[1]),
                      interpolation=cv2.INTER_AREA), size


def ellipse(shape):
    y, x = np.mgrid[:shape[0], :shape[1]]
    return np.float32(((x + 0.5) / shape[1] * 2 - 1) ** 2
                      + ((y + 0.5) / shape[0] * 2 - 1) ** 2 < 1)


@dataclass
class Look:
    """Appearance parameters of a frame."""
    scale: float = 1.0
    angle: float = 0.0
    gain: float = 1.0
    offset: float = 0.0
    blur: float = 0.0
    noise: float = 3.0


def wave(seed, number, low, high, frame):
    return TURN * frame / np.random.default_rng(
        seed * 31 + number).uniform(low, high)


def look(kind, seed, frame):
    if kind == 'scale and light':
        return Look(scale=np.exp(0.4 * np.sin(wave(seed, 1, 70, 120, frame))),
                    gain=1 + 0.4 * np.sin(wave(seed, 2, 50, 110, frame)),
                    offset=25 * np.sin(wave(seed, 3, 40, 90, frame)))
    if kind == 'blur and noise':
        return Look(
            blur=2.2 * max(0, np.sin(wave(seed, 1, 60, 100, frame))),
            noise=11 - 7 * np.cos(wave(seed, 2, 50, 100, frame)))
    if kind == 'turns':
        return Look(angle=wave(seed, 1, 50, 90, frame) * (-1) ** (seed + 1))
    return Look()


class Film:
    def __init__(self, kind, seed):
        random = np.random.default_rng(1000 * seed + KINDS[kind])
        self.kind, self.seed, self.name = kind, seed, f'{kind} {seed}'
        self.ground = cv2.resize(
            read(GROUNDS[random.integers(len(GROUNDS))]), (WIDTH, HEIGHT),
            interpolation=cv2.INTER_AREA).astype(float)
        self.patch, self.size = part(
            random, *OBJECTS[random.integers(len(OBJECTS))])
        is_round = kind == 'turns' or random.random() < 0.4
        self.mask = ellipse(self.patch.shape) if is_round \
            else np.ones(self.patch.shape[:2], np.float32)
        side = max(self.size)
        self.reach = ((WIDTH / 2 - side * 0.8) * random.uniform(0.7, 1),
                      (HEIGHT / 2 - side * 0.8) * random.uniform(0.4, 1))
        self.periods = random.uniform(70, 150), random.uniform(60, 140)
        self.phases = random.uniform(0, 6.28, 2)
        self.pillar = None
        if kind == 'hides':
            self.add_pillar(random, side)

    def add_pillar(self, random, side):
        width = int(side * random.uniform(1.3, 1.9))
        image = read(PILLARS[random.integers(len(PILLARS))])
        left = int(WIDTH / 2 - width / 2 + random.uniform(-30, 30))
        front = cv2.resize(image, (width, HEIGHT),
                           interpolation=cv2.INTER_AREA)
        self.pillar = left, left + width, front * random.uniform(0.7, 1, 3)
        self.periods = random.uniform(150, 200), self.periods[1]
        self.phases[0] = -np.pi / 2 * random.choice([-1, 1])
        self.reach = WIDTH / 2 - side * 0.64, self.reach[1]

    def centre(self, frame):
        return [middle + reach * np.sin(TURN * frame / period + phase)
                for middle, reach, period, phase in zip(
                    (WIDTH / 2, HEIGHT / 2), self.reach, self.periods,
                    self.phases)]

    def place(self, frame):
        """Returns the true box, and the fraction of it that the pillar does not occlude."""
        now = look(self.kind, self.seed, frame)
        cos, sin = abs(np.cos(now.angle)), abs(np.sin(now.angle))
        w, h = (side * now.scale for side in self.size)
        width, height = np.hypot(w * cos, h * sin), np.hypot(w * sin, h * cos)
        x, y = self.centre(frame)
        box = x - width / 2, y - height / 2, width, height
        if self.pillar is None:
            return box, 1.0
        seen = max(0.0, self.pillar[0] - box[0]) \
            + max(0.0, box[0] + width - self.pillar[1])
        return box, min(1.0, seen / width)

    def picture(self, frame):
        now = look(self.kind, self.seed, frame)
        image = self.blend(frame, now)
        if self.pillar is not None:
            image[:, self.pillar[0]:self.pillar[1]] = self.pillar[2]
        image = now.gain * image + now.offset
        if now.blur > 0.05:
            image = cv2.GaussianBlur(image, (0, 0), now.blur)
        random = np.random.default_rng(self.seed * 7919 + frame)
        image = image + random.normal(0, now.noise, image.shape)
        return np.uint8(np.clip(np.rint(image), 0, 255))

    def blend(self, frame, now):
        cos, sin = np.cos(now.angle), np.sin(now.angle)
        zoom = [side * now.scale / pixels for side, pixels
                in zip(self.size, self.patch.shape[1::-1])]
        turn = np.array([[zoom[0] * cos, -zoom[1] * sin],
                         [zoom[0] * sin, zoom[1] * cos]])
        middle = (np.array(self.patch.shape[1::-1]) - 1) / 2
        # Pixel centres have half coordinates in boxes, integer ones in warps.
        at = np.array(self.centre(frame)) - 0.5 - turn @ middle
        matrix = np.column_stack([turn, at])
        share = cv2.warpAffine(self.mask, matrix, (WIDTH, HEIGHT))[..., None]
        colours = cv2.warpAffine(np.float32(self.patch), matrix,
                                 (WIDTH, HEIGHT),
                                 borderMode=cv2.BORDER_REPLICATE)
        return self.ground * (1 - share) + colours * share

    def frames(self):
        return (self.picture(frame) for frame in range(FRAMES))
