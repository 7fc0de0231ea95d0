# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random pictures to train models from.

They consist of shapes, noise and fonts only, and Pillow draws with integers: the same
seed gives the same bytes.
"""

import io
import json
import math
import os

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

WIDTH, HEIGHT = 320, 240
SCALE = 4  # pictures are drawn larger by this factor, for smooth edges


def is_inside(box):
    x, y, width, height = box
    return x >= 0 and y >= 0 and x + width <= WIDTH and y + height <= HEIGHT


class Scene:
    """A picture that is being drawn. Coordinates are those of the finished picture."""

    def __init__(self, rng):
        self.rng = rng
        self.image = self.texture()
        self.draw = ImageDraw.Draw(self.image)

    def texture(self):
        """Returns noise of up to five octaves."""
        rng = self.rng
        grey = np.full((HEIGHT, WIDTH), rng.uniform(40, 220))
        for octave in range(int(rng.integers(1, 6))):
            size = (WIDTH * 2 ** octave // 64, HEIGHT * 2 ** octave // 64)
            small = rng.integers(0, 256, size[::-1], np.uint8)
            noise = Image.fromarray(small).resize((WIDTH, HEIGHT), Image.BICUBIC)
            grey += ((np.asarray(noise, float) - 127.5) / 64
                     * rng.uniform(0, 30) * 0.8 ** octave)
        return as_image(grey).resize((WIDTH * SCALE, HEIGHT * SCALE),
                                     Image.BILINEAR)

    # ---- shapes ----

    def polygon(self, points, grey):
        self.draw.polygon([(round((x + 0.5) * SCALE - 0.5),
                            round((y + 0.5) * SCALE - 0.5)) for x, y in points],
                          fill=int(grey))

    def anywhere(self):
        return (self.rng.uniform(-10, WIDTH + 10),
                self.rng.uniform(-10, HEIGHT + 10))

    def line(self, grey):
        (x, y), (to_x, to_y) = self.anywhere(), self.anywhere()
        self.draw.line([x * SCALE, y * SCALE, to_x * SCALE, to_y * SCALE],
                       fill=grey, width=int(self.rng.integers(2, 24)))

    def patch(self, grey):
        x, y = self.anywhere()
        angles = np.sort(self.rng.uniform(0, 2 * math.pi,
                                          int(self.rng.integers(3, 7))))
        self.polygon([(x + radius * math.cos(angle), y + radius * math.sin(angle))
                      for angle, radius in
                      zip(angles, self.rng.uniform(3, 60, len(angles)))], grey)

    def ellipse(self, grey):
        x, y = self.anywhere()
        width, height = self.rng.uniform(1.5, 45, 2)
        box = [(x - width) * SCALE, (y - height) * SCALE,
               (x + width) * SCALE, (y + height) * SCALE]
        if self.rng.random() < 0.6:
            self.draw.ellipse(box, fill=grey)
        else:
            self.draw.ellipse(box, outline=grey,
                              width=int(self.rng.integers(2, 16)))

    def stripes(self, grey):
        x, y = self.anywhere()
        angle, length = self.rng.uniform(0, math.pi), self.rng.uniform(10, 75)
        width = self.rng.uniform(2, 15)
        across = math.cos(angle), math.sin(angle)
        down = -across[1], across[0]
        for i in range(int(self.rng.integers(3, 10))):
            left = x + down[0] * i * 2 * width, y + down[1] * i * 2 * width
            right = left[0] + across[0] * length, left[1] + across[1] * length
            self.polygon([left, right,
                          (right[0] + down[0] * width, right[1] + down[1] * width),
                          (left[0] + down[0] * width, left[1] + down[1] * width)],
                         grey)

    def dots(self, grey):
        x, y = self.anywhere()
        step, n = self.rng.uniform(3, 15), int(self.rng.integers(2, 8))
        size = self.rng.uniform(0.5, step / 2)
        shape = self.draw.ellipse if n % 2 else self.draw.rectangle
        for i in range(n * n):
            left, top = x + i % n * step, y + i // n * step
            shape([left * SCALE, top * SCALE, (left + size) * SCALE,
                   (top + size) * SCALE], fill=grey)

    def clutter(self, n):
        shapes = [self.line, self.patch, self.ellipse, self.stripes, self.dots]
        for _ in range(n):
            shapes[self.rng.integers(len(shapes))](int(self.rng.integers(256)))

    # ---- text ----

    def text(self, position, characters, font, grey, turn=0):
        """Draws around a position; returns the ink's left, top, right and
        bottom."""
        left, top, right, bottom = font.getbbox(characters)
        mask = Image.new('L', (right - left + 8, bottom - top + 8))
        ImageDraw.Draw(mask).text((4 - left, 4 - top), characters, font=font,
                                  fill=255)
        mask = mask.rotate(turn, Image.BICUBIC, expand=True)
        at = (round(position[0] * SCALE - mask.width / 2),
              round(position[1] * SCALE - mask.height / 2))
        self.image.paste(grey, at, mask)
        ink = mask.point(lambda value: value > 96 and 255).getbbox()
        if ink is None:
            return None
        return [(at[i % 2] + ink[i]) / SCALE for i in range(4)]

    # ---- the camera ----

    def finish(self):
        """Adds light, blur, contrast and noise, and returns the picture."""
        rng = self.rng
        grey = np.asarray(self.image.reduce(SCALE), float)
        if rng.random() < 0.7:
            across, down = rng.uniform(-0.5, 0.5, 2)
            grey = grey * (1 + across * (np.arange(WIDTH) / WIDTH - 0.5)
                           + down * (np.arange(HEIGHT)[:, None] / HEIGHT - 0.5))
        image = as_image(grey).filter(
            ImageFilter.GaussianBlur(rng.uniform(0.2, 1.4)))
        if rng.random() < 0.2:
            image = image.filter(ImageFilter.UnsharpMask(
                1.5, int(rng.integers(30, 120)), 0))
        noise = rng.integers(-128, 128, (4, HEIGHT, WIDTH)).sum(0) / 148
        image = as_image(np.asarray(image) * rng.uniform(0.5, 1.1)
                         + rng.uniform(-20, 30) + noise * rng.uniform(0, 5))
        if rng.random() < 0.5:
            image = compress(image, int(rng.integers(50, 95)))
        return image


def as_image(grey):
    return Image.fromarray(np.clip(np.rint(grey), 0, 255).astype(np.uint8))


def compress(image, quality):
    data = io.BytesIO()
    image.save(data, 'JPEG', quality=quality)
    return Image.open(data)


class Annotations:
    """Writes pictures, and a COCO file of their objects."""

    def __init__(self, folder, label):
        self.folder = folder
        self.coco = {'images': [], 'annotations': [],
                     'categories': [{'id': 1, 'name': label}]}
        os.makedirs(os.path.join(folder, 'negatives'), exist_ok=True)

    def add(self, image, boxes):
        """boxes: (box, whether to learn it)."""
        number = len(self.coco['images'])
        name = f'{number:05}.png'
        image.save(os.path.join(self.folder, name))
        self.coco['images'].append({'id': number, 'file_name': name})
        for box, learn in boxes:
            self.coco['annotations'].append(
                {'image_id': number, 'category_id': 1, 'bbox': box,
                 'iscrowd': int(not learn)})

    def add_negative(self, image, number):
        image.save(os.path.join(self.folder, 'negatives', f'{number:05}.png'))

    def write(self):
        path = os.path.join(self.folder, 'annotations.json')
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(self.coco, file)


def load_font(path, size):
    """Returns a font. size: that of the letters, in pixels of the finished
    picture."""
    return ImageFont.truetype(path, round(size * SCALE))
