#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores visionmotion in drawn scenes, and on the annotated people of vtest.avi.

The folder is that of opencv-doc's pictures. Figures walk over its photographs: `plain`, with their
shadows, with much noise of the sensor, among trees that sway, when the light is switched on, and
when the camera is pushed."""

import json
import os
import sys
import tempfile

import cv2
import numpy as np

from common import arguments, iou, parse, run, show

WIDTH, HEIGHT = 320, 240
SCENES = ('plain', 'shadows', 'noise', 'trees', 'light', 'push')
PHOTOGRAPHS = ('home.jpg', 'building.jpg', 'board.jpg', 'fruits.jpg')
EMPTY = 20      # frames before the figures come
SWITCH = 90     # frame at which the light or the camera changes
N_FRAMES = 130
TREES = ((10, 10), (80, 30), (200, 20), (250, 90), (20, 120), (140, 150))
PEOPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../data/vtest-people.json')
OVERLAP = 0.5


# ---- scenes ----

class Figure:
    """Head, trunk and legs, in colours of clothes, walking from one side to the other."""

    def __init__(self, random):
        self.height = int(random.integers(28, 70))
        self.width = width = int(self.height * 0.4)
        right = random.random() < 0.5
        way = float(random.uniform(0, 160))
        self.x = -width - way if right else WIDTH + way
        self.y = int(random.integers(10, HEIGHT - self.height - 4))
        self.speed = random.uniform(0.8, 3) * (1 if right else -1)
        self.mask = np.zeros((self.height, width), np.uint8)
        head = self.height // 6
        cv2.rectangle(self.mask, (width // 4, 3 * head), (width * 3 // 4, self.height - 1), 2, -1)
        cv2.rectangle(self.mask, (width // 8, 2 * head - 2), (width - 1 - width // 8, 3 * head), 1, -1)
        cv2.circle(self.mask, (width // 2, head), head, 3, -1)
        colors = random.uniform(15, 235, (4, 1)) + random.normal(0, 20, (4, 3))
        folds = cv2.GaussianBlur(random.normal(0, 25, (*self.mask.shape, 3)), (0, 0), 1.5)
        self.picture = (colors[self.mask] + 2 * folds).clip(0, 255)

    def left(self, step):
        return round(self.x + self.speed * step)

    def draw(self, frame, truth, step, name):
        x = self.left(step)
        first, last = max(x, 0), min(x + self.width, WIDTH)
        if first >= last:
            return
        rows, columns = slice(self.y, self.y + self.height), slice(first, last)
        mask = self.mask[:, first - x:last - x] > 0
        frame[rows, columns][mask] = self.picture[:, first - x:last - x][mask]
        truth[rows, columns][mask] = name

    def draw_shadow(self, frame, step):
        x, y, length = self.left(step), self.y + self.height, self.height
        corners = [(x, y), (x + self.width, y), (x + self.width + length, y + length // 3),
                   (x + length, y + length // 3)]
        shadow = np.zeros((HEIGHT, WIDTH))
        cv2.fillPoly(shadow, [np.array(corners)], 0.38)
        frame *= 1 - cv2.GaussianBlur(shadow, (0, 0), 1)[..., None]


def shift(picture, x, y):
    return cv2.warpAffine(picture, np.float32([[1, 0, x], [0, 1, y]]), (WIDTH, HEIGHT),
                          flags=cv2.INTER_NEAREST, borderMode=cv2.BORDER_REFLECT)


def sway(frame, ground, step):
    for i, (x, y) in enumerate(TREES):
        moved = shift(ground, 4 * np.sin(step / 3 + 1.3 * i), 1.5 * np.sin(step / 5 + i))
        frame[y:y + 60, x:x + 60] = moved[y:y + 60, x:x + 60]


def draw(scene, step, ground, figures):
    """Returns a frame, and the number of the figure that each pixel shows."""
    frame, truth = ground.copy(), np.zeros((HEIGHT, WIDTH), np.uint8)
    if scene == 'trees':
        sway(frame, ground, step)
    if step >= EMPTY:
        if scene == 'shadows':
            for figure in figures:
                figure.draw_shadow(frame, step - EMPTY)
        for i, figure in enumerate(figures):
            figure.draw(frame, truth, step - EMPTY, i + 1)
    if scene == 'light' and step < SWITCH:
        frame *= 0.6
    if scene == 'push' and step >= SWITCH:
        frame, truth = shift(frame, 5, 3), shift(truth, 5, 3)
    return frame, truth


def draw_scene(folder, scene, seed):
    random = np.random.default_rng(seed)
    photograph = cv2.imread(os.path.join(folder, PHOTOGRAPHS[seed % len(PHOTOGRAPHS)]))
    ground = cv2.resize(photograph, (WIDTH, HEIGHT)) * 0.8 + 25
    figures = [Figure(random) for _ in range(5)]
    frames, truths = [], []
    for step in range(N_FRAMES):
        frame, truth = draw(scene, step, ground, figures)
        frame += random.normal(0, 9 if scene == 'noise' else 2, frame.shape)
        frames.append(frame.clip(0, 255).astype(np.uint8))
        truths.append(truth)
    return frames, truths


def true_boxes(truth):
    """Returns the boxes of the figures of which 60 pixels and more can be seen."""
    numbers, counts = np.unique(truth[truth > 0], return_counts=True)
    return [cv2.boundingRect((truth == n).astype(np.uint8)) for n in numbers[counts >= 60]]


# ---- OpenCV ----

def clean(mask, settings):
    sides = [int(settings.get(name, side)) for name, side in (('opening', 3), ('closing', 5))]
    mask = (mask == 255).astype(np.uint8)
    for kind, side in zip((cv2.MORPH_OPEN, cv2.MORPH_CLOSE), sides):
        mask = cv2.morphologyEx(mask, kind, np.ones((side, side), np.uint8))
    return mask


def subtract(frames, settings, is_ours):
    """Returns cleaned masks. Masks of visionmotion are the same (tests/models/motion), except that
    it forgets the background at a scene change."""
    def new():
        return cv2.createBackgroundSubtractorMOG2(
            500, float(settings.get('threshold', 16)), settings.get('shadows', 'true') == 'true')

    subtractor, limit = new(), float(settings.get('scene-change', 0.5))
    for i, frame in enumerate(frames):
        if settings.get('color', 'true') == 'false':
            frame = cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)
        mask = subtractor.apply(frame)
        if is_ours and i > 0 and (mask == 255).mean() > limit:
            subtractor = new()
            subtractor.apply(frame)
            mask[:] = 0
        yield clean(mask, settings)


def parts(mask):
    """Returns the boxes of the connected parts of at least 100 pixels."""
    return [row[:4] for row in cv2.connectedComponentsWithStats(mask)[2][1:] if row[4] >= 100]


# ---- scores ----

def f_measure(right, n_found, n_true):
    return 2 * right / max(n_found + n_true, 1)


def n_matched(found, truth):
    left, n = list(truth), 0
    for box in found:
        best = max(left, key=lambda other: iou(box, other), default=None)
        if best is not None and iou(box, best) > OVERLAP:
            left.remove(best)
            n += 1
    return n


def score_boxes(found, truth):
    return f_measure(sum(map(n_matched, found, truth)), sum(map(len, found)), sum(map(len, truth)))


def score_masks(masks, truths):
    right = sum(np.count_nonzero(a & (b > 0)) for a, b in zip(masks, truths))
    return f_measure(right, sum(map(np.count_nonzero, masks)), sum(map(np.count_nonzero, truths)))


def boxes_of(record):
    return [(o['x'], o['y'], o['w'], o['h']) for o in record.get('objects', [])]


def run_element(frames, element):
    """Returns the record of each frame."""
    height, width = frames[0].shape[:2]
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + '/video', 'wb') as video:
            for frame in frames:
                video.write(frame.tobytes())
        _, result = run(
            f'gst-launch-1.0 -q filesrc location={folder}/video ! rawvideoparse format=bgr '
            f'width={width} height={height} ! {element} ! visionpublish add-empty-results=true '
            f'file-path={folder}/records.jsonl ! fakesink')
        if result.returncode != 0:
            sys.exit(f'{element}: {result.stderr[-400:]}')
        with open(folder + '/records.jsonl', encoding='utf-8') as lines:
            return list(map(json.loads, lines))


def score_scene(options, element, settings, scene):
    found, truths, masks, their_masks, changes = [], [], [], [], 0
    for seed in range(options.scenes):
        frames, truth = draw_scene(options.data, scene, seed)
        of_frames = run_element(frames, element)[EMPTY:]
        found += map(boxes_of, of_frames)
        changes += sum(record['motion_info']['scene_change'] for record in of_frames)
        truths += truth[EMPTY:]
        masks += list(subtract(frames, settings, True))[EMPTY:]
        their_masks += list(subtract(frames, settings, False))[EMPTY:]
    truth = list(map(true_boxes, truths))
    row = {'masks': score_masks(masks, truths), 'boxes': score_boxes(found, truth)}
    if options.peers:
        row['masks of OpenCV'] = score_masks(their_masks, truths)
        row['boxes of OpenCV'] = score_boxes(list(map(parts, their_masks)), truth)
    show(options, scene=scene, **row, **{'scene changes': changes / options.scenes})


def score_people(options, element):
    """Scores the boxes of three people in some frames of vtest.avi."""
    with open(PEOPLE, encoding='utf-8') as file:
        people = json.load(file)['people']
    truth = {}
    for box in (box for person in people for box in person['boxes']):
        truth.setdefault(box['frame'], []).append(
            [box[key] for key in ('x', 'y', 'width', 'height')])
    reader = cv2.VideoCapture(os.path.join(options.data, 'vtest.avi'))
    of_frames = run_element([reader.read()[1] for _ in range(max(truth) + 1)], element)
    right = sum(n_matched(boxes_of(of_frames[n]), boxes) for n, boxes in truth.items())
    show(options, scene='vtest.avi', recall=right / sum(map(len, truth.values())))


def main():
    parser = arguments(__doc__)
    parser.add_argument('--scenes', type=int, default=4, help='scenes of each kind')
    parser.add_argument('--only', choices=SCENES, help='one kind, without vtest.avi')
    options = parse(parser)
    settings = dict(word.split('=') for word in options.settings.split())
    element = 'visionmotion ' + options.settings
    for scene in [options.only] if options.only else SCENES:
        score_scene(options, element, settings, scene)
    if not options.only:
        score_people(options, element)


if __name__ == '__main__':
    main()
