#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the accuracy programs on a few generated pictures whose truth is known.

usage: check.py FOLDER-OF-PROGRAMS   cuvision-train and cuvision-index
"""

import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURES = '/usr/share/doc/opencv-doc/examples/data/'
FACE = '/usr/lib/python3/dist-packages/skimage/data/astronaut.png'
failed = False


def run(program, folder, *arguments):
    """Returns the lines that a program prints, as dictionaries."""
    result = subprocess.run([sys.executable, f'{HERE}/{program}', '--json', folder, *arguments],
                            capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f'{program}: {result.stderr[-2000:]}')
    return [json.loads(line) for line in result.stdout.splitlines()]


def check(what, value, least, most=1.0):
    global failed
    right = least <= value <= most
    failed |= not right
    print(f'{"ok" if right else "FAILED"}: {what} is {value:.3f}, expected {least} to {most}')


def coco(path, names, boxes):
    """Writes a COCO file with the boxes of each picture, labelled `object`."""
    with open(path, 'w', encoding='utf-8') as file:
        json.dump({
            'images': [{'id': i, 'file_name': name} for i, name in enumerate(names)],
            'annotations': [{'id': 10 * i + k, 'image_id': i, 'category_id': 1, 'bbox': box}
                            for i, of_picture in enumerate(boxes)
                            for k, box in enumerate(of_picture)],
            'categories': [{'id': 1, 'name': 'object'}]}, file)


def check_tracks(folder):
    """Tracks a part of a photograph that moves over another one."""
    os.makedirs(folder + '/video')
    ground = cv2.resize(cv2.imread(PICTURES + 'home.jpg'), (320, 240))
    patch = cv2.resize(cv2.imread(PICTURES + 'fruits.jpg')[60:360, 60:460], (64, 48))
    rows = ['frame,x,y,width,height']
    for i in range(12):
        x, y = 60 + 4 * i, 80 + 2 * i
        frame = ground.copy()
        frame[y:y + 48, x:x + 64] = patch
        cv2.imwrite(f'{folder}/video/{i:03d}.jpg', frame)
        rows.append(f'{i},{x},{y},64,48')
    with open(folder + '/video/truth.csv', 'w', encoding='utf-8') as file:
        file.write('\n'.join(rows) + '\n')
    row = run('tracks.py', folder)[0]
    check('IoU of a track', row['iou'], 0.6)
    check('fraction of lost frames', row['lost'], 0.0, 0.0)


def check_lines(folder):
    """Finds the sides of a grey rectangle and of a rotated one."""
    picture = np.full((240, 320, 3), 60, np.uint8)
    corners = np.array([[(30, 40), (140, 40), (140, 200), (30, 200)],
                        [(180, 60), (290, 90), (260, 200), (150, 170)]], np.int32)
    rows = ['x1,y1,x2,y2']
    for of_one in corners:
        cv2.fillPoly(picture, [of_one], (190, 190, 190))
        rows += [f'{a[0]},{a[1]},{b[0]},{b[1]}'
                 for a, b in zip(of_one, np.roll(of_one, -1, axis=0))]
    cv2.imwrite(folder + '/a.jpg', picture)
    with open(folder + '/a-all.csv', 'w', encoding='utf-8') as file:
        file.write('\n'.join(rows) + '\n')
    for row in run('lines.py', folder)[:2]:
        check(f'recall of {row["what"]}', row['recall'], 0.8)


def check_motion(_):
    row = run('motion.py', PICTURES, '--scenes', '1', '--only', 'light')[0]
    check('F measure of masks of what moves', row['masks'], 0.7)
    check('F measure of boxes of what moves', row['boxes'], 0.7)
    check('scene changes', row['scene changes'], 1.0)


def check_detection(folder):
    cv2.imwrite(folder + '/a.png', cv2.imread(FACE))
    cv2.imwrite(folder + '/b.png', cv2.imread(PICTURES + 'home.jpg'))
    coco(folder + '/f.json', ['a.png', 'b.png'], [[[170, 64, 112, 112]], []])
    row = run('detection.py', folder, '--label', 'object')[0]
    check('recall of a face', row['recall at 0.1'], 1.0)


def disc_pictures(folder, n, noise):
    """Draws grey discs of 24 pixels on noise."""
    os.makedirs(folder)
    boxes = []
    for i in range(n):
        picture = noise.integers(60, 120, (120, 160)).astype(np.uint8)
        x, y = (int(v) for v in noise.integers((0, 0), (136, 96)))
        cv2.circle(picture, (x + 12, y + 12), 11, 200, -1)
        cv2.imwrite(f'{folder}/{i}.png', picture)
        boxes.append([[x, y, 24, 24]])
    coco(folder + '/t.json', [f'{i}.png' for i in range(n)], boxes)


def check_training(folder, programs):
    noise = np.random.default_rng(1)
    disc_pictures(folder + '/train', 24, noise)
    disc_pictures(folder + '/test', 8, noise)
    row = run('training.py', folder, '--train', programs + '/train/cuvision-train',
              '--label', 'object', '--window', '24x24')[0]
    check('recall of discs', row['recall'], 0.9)
    check('false positives of discs', row['false positives'], 0.0, 1.0)


def check_retrieval(folder, programs):
    names = ('home', 'board', 'building', 'fruits', 'messi5', 'aero1', 'butterfly', 'baboon')
    for name in names:
        picture = cv2.imread(f'{PICTURES}{name}.jpg')
        cv2.imwrite(f'{folder}/{name}.jpg', cv2.resize(picture, (256, 192)))
    row = run('retrieval.py', folder, '--index', programs + '/cuvision-index')[-1]
    check('P@1', row['ldp'], 0.7)


for function, arguments in ((check_tracks, ()), (check_lines, ()), (check_motion, ()),
                            (check_detection, ()), (check_training, sys.argv[1:2]),
                            (check_retrieval, sys.argv[1:2])):
    with tempfile.TemporaryDirectory() as temporary:
        function(temporary, *arguments)
sys.exit(failed)
