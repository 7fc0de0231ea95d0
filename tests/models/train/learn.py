#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Learns faces and checks that the detector rejects as much as the learner reports.

usage: learn.py LEARN DETECT

The faces are skimage's, the pictures without faces opencv-doc's.
"""

import math
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np
from skimage import data

PICTURES = ['Blender_Suzanne1.jpg', 'HappyFish.jpg', 'aloeL.jpg', 'apple.jpg',
            'baboon.jpg', 'building.jpg', 'butterfly.jpg', 'fruits.jpg',
            'home.jpg', 'licenseplate_motion.jpg', 'orange.jpg', 'squirrel_cls.jpg']
FOLDER = '/usr/share/doc/opencv-doc/examples/data'
N_WEAK = 24
WINDOW = 25
SIGMAS = 5


def write_faces(path):
    faces = (data.lfw_subset() * 255).round().astype(np.uint8)[:100]
    faces = np.concatenate([faces, faces[:, :, ::-1]])
    with open(path, 'wb') as out:
        out.write(faces.tobytes())


def write_pictures(folder):
    paths = []
    for name in PICTURES:
        picture = cv2.imread(os.path.join(FOLDER, name), cv2.IMREAD_GRAYSCALE)
        if picture is None:
            sys.exit(f'{name} cannot be read')
        scale = 240 / max(picture.shape)
        small = cv2.resize(picture, None, fx=scale, fy=scale,
                           interpolation=cv2.INTER_AREA)
        paths.append(os.path.join(folder, f'{len(paths)}.pgm'))
        cv2.imwrite(paths[-1], small)
    return paths


def learn(program, model, kind, n_features, faces, pictures):
    output = subprocess.run(
        [program, model, kind, str(WINDOW), str(WINDOW), str(N_WEAK), '600',
         str(n_features), faces, *pictures],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = output.splitlines()
    words = lines[N_WEAK - 1].split()
    return {'alive': int(words[4].split('+')[1]), 'rate': float(words[6]),
            'recall': float(words[8]), 'tests': int(words[10]), 'state': lines[-1]}


def count_cascade(program, model, pictures, n_stages):
    """Returns the number of windows of OpenCV's scan, and of those that pass the first stages. The
    last stage of the file may have the final threshold."""
    n_passed = n_windows = 0
    for picture in pictures:
        output = subprocess.run([program, 'hits', model, picture],
                                stdout=subprocess.PIPE, text=True, check=True).stdout
        lines = [line.split() for line in output.splitlines()]
        n_windows += sum(int(line[5]) * int(line[6]) for line in lines
                         if line[0] == 'level')
        survivors, = [line[1:] for line in lines if line[0] == 'survivors']
        n_passed += int(survivors[n_stages - 1])
    return n_passed, n_windows


def count(program, model, pictures):
    """Returns the number of the detector's windows, and of those that it does not reject."""
    n_hits = n_windows = 0
    for picture in pictures:
        output = subprocess.run(
            [program, 'hits', model, picture, 'octaves=16',
             'final-threshold=-100000'],
            stdout=subprocess.PIPE, text=True, check=True).stdout
        n_hits += output.count('hit ')
        n_windows += int(output.split('windows ')[1].split()[0])
    return n_hits, n_windows


def calibration_of(pictures):
    """Returns the pictures that learn.c uses for calibration; the first picture is its tenth
    argument."""
    return [p for i, p in enumerate(pictures, 9) if i % 4 == 0]


def check(learner, detector, folder, kind, n_features):
    faces = os.path.join(folder, 'faces')
    pictures = write_pictures(folder)
    write_faces(faces)
    models = [os.path.join(folder, f'{i}.xml') for i in range(2)]
    result, other = [learn(learner, m, kind, n_features, faces, pictures)
                     for m in models]
    if kind == 'opencv':
        hits, windows = count_cascade(
            detector, models[0], calibration_of(pictures), result['tests'])
    else:
        hits, windows = count(detector, models[0], calibration_of(pictures))
    rate, said = hits / windows, result['rate']
    bound = SIGMAS * said * math.sqrt(1 / result['alive'])
    print(f'{kind}: {said:.4f} said, {rate:.4f} measured, recall '
          f'{result["recall"]:.3f}, {result["state"]}')
    with open(models[0], 'rb') as a, open(models[1], 'rb') as b:
        same = a.read() == b.read() and result == other
    if not same:
        print('the second run differs')
    return same and abs(rate - said) < bound and said < 0.5 \
        and result['recall'] > 0.9 and result['state'] == 'state 1'


def main():
    learner, detector = sys.argv[1:]
    ok = True
    for kind, n_features in (('lbp', 400), ('lrd', 1000), ('lrp', 400),
                             ('opencv', 400)):
        with tempfile.TemporaryDirectory() as folder:
            ok = check(learner, detector, folder, kind, n_features) and ok
    return not ok


if __name__ == '__main__':
    sys.exit(main())
