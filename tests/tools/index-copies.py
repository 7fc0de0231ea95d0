#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests which changed copies of Debian's pictures cuvision-index and ldpretrieve find with their
defaults.

usage: index-copies.py PROGRAM"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import cv2
import skimage

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'accuracy'))
from changes import CHANGES, COPIES, scaled

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'check'))
from checks import check, failures

PROGRAM = os.path.abspath(sys.argv[1])
FOLDERS = ['/usr/share/doc/opencv-doc/examples/data',
           os.path.join(os.path.dirname(skimage.__file__), 'data')]
# not used: drawings, text, and further views of a scene
LEFT_OUT = ('Blender_Suzanne2', 'HappyFish', 'LinuxLogo', 'WindowsLogo', 'aero3', 'aloeGT',
            'aloeR', 'basketball2', 'block', 'blox', 'box', 'bw_text', 'checker',
            'chessboard', 'clock', 'color', 'detect_blob', 'digits', 'ela_modified',
            'ellipses', 'foo3x5x4', 'gradient', 'graf3', 'green', 'horse', 'imageText',
            'left', 'leuvenB', 'logo', 'mask', 'ml', 'motorcycle_right', 'notes',
            'opencv-logo', 'page', 'palette', 'phantom', 'pic', 'right', 'rubberwhale2',
            'sudoku', 'templ', 'text', 'tmpl')
SIZE = 480  # pixels of the longer side, to save time
ASKED = ('64 pixels wide', 'blurred, sigma 3', 'noise, sigma 20', 'crop to 50 %', 'negative',
         'mirrored')
KINDS = ('jpeg-30', 'half-the-size', 'crop-to-80', 'grey', 'gamma-2')


def read_pictures():
    paths = [path for folder in FOLDERS for path in sorted(glob.glob(f'{folder}/*.[jp][pn]g'))
             if not os.path.basename(path).startswith(LEFT_OUT)]
    pictures = [cv2.imread(path) for path in paths]
    return [scaled(p, min(SIZE / max(p.shape[:2]), 1)) for p in pictures
            if p is not None and min(p.shape[:2]) >= 150]


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
    for name in ASKED:
        share = share_found(pictures, CHANGES[name])
        check(share >= 0.9, f'{name}: {share:.2f} of the pictures are found')
    for settings, least, most in ('orientations=all', 0.9, 1), ('', 0, 0.7):
        share = share_found(pictures, CHANGES['turned by 90 degrees'], settings)
        check(least <= share <= most, f'turned, {settings}: {share:.2f}')


def test_duplicates(pictures):
    """The copies of each picture are found as duplicates, and no other pairs."""
    index('add', 'copies.ldp', *[write(f'{i:03d}.png', p) for i, p in enumerate(pictures)])
    names = []
    for kind in KINDS:
        names += [write(f'{i:03d}-{kind}.png', COPIES[kind](p))
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
    print(f'{len(pictures)} pictures, {failures()} failed')
    sys.exit(failures() > 0)


main()
