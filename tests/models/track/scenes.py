# SPDX-License-Identifier: LGPL-2.1-or-later
"""Drawn scenes: people who walk through a frame of 1280x720 and hide each other, with the
boxes that a detector would find. A scene is a list of frames: ids and boxes of the truth,
detected boxes and their scores."""
import numpy as np

WIDTH, HEIGHT, FRAMES = 1280, 720, 200


class Walker:
    """Comes from one side and leaves at the other."""
    def __init__(self, random, identity, anywhere):
        self.identity = identity
        self.height = random.uniform(60, 200)
        self.width = self.height * random.uniform(0.35, 0.5)
        way = random.choice([-1, 1])
        self.velocity = np.array([way * random.uniform(2, 7), random.normal(0, 0.4)])
        edge = -self.width if way > 0 else WIDTH
        self.place = np.array([random.uniform(0, WIDTH - self.width) if anywhere else edge,
                               random.uniform(20, HEIGHT - 20 - self.height)])
        self.stops = random.integers(20, FRAMES) if random.random() < 0.3 else FRAMES + 50

    def step(self, random, frame):
        if not self.stops <= frame < self.stops + 40:
            self.place = self.place + self.velocity + random.normal(0, 0.5, 2)

    def box(self):
        return np.r_[self.place, self.place + (self.width, self.height)]


def visible(box):
    """Returns the part of the box in the frame, or None if less than half of it is."""
    part = np.r_[np.maximum(box[:2], 0), np.minimum(box[2:], (WIDTH, HEIGHT))]
    if np.any(part[2:] - part[:2] < (box[2:] - box[:2]) / 2):
        return None
    return part


def covered(box, nearer):
    """Returns the largest part of the box that a nearer one covers."""
    most = 0
    for other in nearer:
        sides = np.minimum(box[2:], other[2:]) - np.maximum(box[:2], other[:2])
        if np.all(sides > 0):
            most = max(most, np.prod(sides) / np.prod(box[2:] - box[:2]))
    return most


def detect(random, boxes):
    """Nearer people are those whose feet are lower."""
    found, scores = [], []
    for box in boxes:
        hidden = covered(box, [b for b in boxes if b[3] > box[3]])
        score = np.clip(random.normal(0.85, 0.08) - 0.8 * hidden, 0, 1)
        if hidden > 0.8 or random.random() < 0.05 or score < 0.05:
            continue
        size = np.tile(box[2:] - box[:2], 2)
        found.append(np.rint(box + random.normal(0, 0.025, 4) * size))
        scores.append(score)
    for _ in range(random.poisson(0.4)):
        size = random.uniform(30, 160)
        place = random.uniform((0, 0), (WIDTH - size, HEIGHT - 2 * size))
        found.append(np.rint(np.r_[place, place + (size * 0.45, size)]))
        scores.append(random.uniform(0.1, 0.7))
    order = random.permutation(len(found))
    return [found[i] for i in order], [round(float(scores[i]), 4) for i in order]


def scene(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(5, 25))
    walkers = [Walker(random, i + 1, True) for i in range(n)]
    identity, frames = n, []
    for frame in range(FRAMES):
        for walker in walkers:
            walker.step(random, frame)
        walkers = [w for w in walkers if -w.width <= w.place[0] <= WIDTH]
        while len(walkers) < n and random.random() < 0.2:
            identity += 1
            walkers.append(Walker(random, identity, False))
        truth = [(w.identity, visible(w.box())) for w in walkers]
        truth = [(i, box) for i, box in truth if box is not None]
        boxes, scores = detect(random, [box for _, box in truth])
        frames.append(([i for i, _ in truth], [box for _, box in truth], boxes, scores))
    return frames
