#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which changed copies of Debian's pictures cuvision-index and ldpretrieve find with
their defaults: index-copies.py PROGRAM."""
import glob
import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np
import skimage

PROGRAM = os.path.abspath(sys.argv[1])
FOLDERS = ['/usr/share/doc/opencv-doc/examples/data',
           os.path.join(os.path.dirname(skimage.__file__), 'data')]
# drawings, text, and further views of a scene
LEFT_OUT = ('Blender_Suzanne2', 'HappyFish', 'LinuxLogo', 'WindowsLogo', 'aero3', 'aloeGT',
            'aloeR', 'basketball2', 'block', 'blox', 'box', 'bw_text', 'checker',
            'chessboard', 'clock', 'color', 'detect_blob', 'digits', 'ela_modified',
            'ellipses', 'foo3x5x4', 'gradient', 'graf3', 'green', 'horse', 'imageText',
            'left', 'leuvenB', 'logo', 'mask', 'ml', 'motorcycle_right', 'notes',
            'opencv-logo', 'page', 'palette', 'phantom', 'pic', 'right', 'rubberwhale2',
            'sudoku', 'templ', 'text', 'tmpl')
SIZE = 480  # of the longer side, to save time
failures = 0


def check(ok, what):
    global failures
    if not ok:
        failures += 1
        print('FAILED:', what)


def read_pictures():
    paths = [path for folder in FOLDERS for path in sorted(glob.glob(f'{folder}/*.[jp][pn]g'))
             if not os.path.basename(path).startswith(LEFT_OUT)]
    pictures = [cv2.imread(path) for path in paths]
    return [resize(p, min(SIZE / max(p.shape[:2]), 1)) for p in pictures
            if p is not None and min(p.shape[:2]) >= 150]


def resize(picture, factor):
    return cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)


def crop(picture, area):
    height, width = picture.shape[:2]
    y, x = (int(n * (1 - area ** 0.5) / 2) for n in (height, width))
    return picture[y:height - y, x:width - x]


def compress(picture, quality):
    data = cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


def add_noise(picture):
    noise = np.random.default_rng(1).normal(0, 20, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


ASKED = {
    '64 pixels wide': lambda p: resize(p, 64 / p.shape[1]),
    'blurred': lambda p: cv2.GaussianBlur(p, (0, 0), 3),
    'noise': add_noise,
    'half the area': lambda p: crop(p, 0.5),
    'negative': lambda p: 255 - p,
    'mirrored': lambda p: p[:, ::-1],
}
COPIES = {
    'compressed': lambda p: compress(p, 30),
    'smaller': lambda p: resize(p, 0.5),
    'cropped': lambda p: crop(p, 0.8),
    'grey': lambda p: cv2.cvtColor(cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR),
    'darker': lambda p: (255 * (p / 255) ** 2).astype(np.uint8),
}


def write(name, picture):
    cv2.imwrite(name, picture, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return name


def index(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=120)
    return done.stdout.splitlines()


def names_of_matches(pictures, settings=''):
    for i, picture in enumerate(pictures):
        write(f'asked-{i:03d}.png', picture)
    line = ('gst-launch-1.0 -q multifilesrc location=asked-%03d.png '
            f'stop-index={len(pictures) - 1} caps=image/png,framerate=1/1 ! pngdec '
            f'! videoconvert ! ldpretrieve index=known.ldp k=1 {settings} '
            '! visionpublish add-empty-results=true ! fakesink')
    done = subprocess.run(line.split(), stdout=subprocess.PIPE, text=True, check=True,
                          timeout=120)
    return [json.loads(line)['matches'][0]['name'] for line in done.stdout.splitlines()]


def share_found(pictures, change, settings=''):
    asked = [change(p) for p in pictures[::2]]
    found = names_of_matches(asked, settings)
    right = [name == f'{2 * i:03d}.png' for i, name in enumerate(found)]
    return sum(right) / len(asked)


def test_retrieval(pictures):
    index('add', 'known.ldp', *[write(f'{i:03d}.png', p) for i, p in enumerate(pictures)])
    for name, change in ASKED.items():
        share = share_found(pictures, change)
        check(share >= 0.9, f'{name}: {share:.2f} of the pictures are found')
    for settings, least, most in ('orientations=all', 0.9, 1), ('', 0, 0.7):
        share = share_found(pictures, lambda p: cv2.rotate(p, cv2.ROTATE_90_CLOCKWISE), settings)
        check(least <= share <= most, f'turned, {settings}: {share:.2f}')


def test_duplicates(pictures):
    """Of each picture's copies, and of no other pair."""
    index('add', 'copies.ldp', *[write(f'{i:03d}.png', p) for i, p in enumerate(pictures)])
    names = []
    for kind, change in COPIES.items():
        names += [write(f'{i:03d}-{kind}.png', change(p))
                  for i, p in enumerate(pictures) if i % 3 == 0]
    index('add', 'copies.ldp', *names)
    found = [line.split('\t') for line in index('duplicates', 'copies.ldp')]
    wrong = [row for row in found if row[1][:3] != row[3][:3]]
    check(not wrong, f'not of the same picture: {wrong}')
    share = len(found) / len(names)
    check(share >= 0.9, f'{share:.2f} of the copies are found')
    check(index('duplicates', '--similarity=1', 'known.ldp') == [], 'none is equal')


def main():
    pictures = read_pictures()
    check(len(pictures) >= 25, f'only {len(pictures)} pictures')
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_retrieval(pictures)
        test_duplicates(pictures)
        os.chdir('/')
    print(f'{len(pictures)} pictures, {failures} failed')
    sys.exit(1 if failures else 0)


main()
