#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores cuvision-index and ldpretrieve on a folder of photographs: all are indexed, and 18
changed copies of every fourth are asked for. Prints the share of first matches that are right
(P@1) for each change, and their mean. --settings adds options of `cuvision-index add`, --query
properties of ldpretrieve. --peers adds pHash and a thumbnail of 16x16 pixels. --copies also
indexes nine copies of each photograph and scores `cuvision-index duplicates`.
"""

import glob
import os
import sys
import tempfile

import cv2
import numpy as np

from common import arguments, parse, records, run, show


def jpeg(picture, quality):
    return cv2.imdecode(cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1],
                        cv2.IMREAD_COLOR)


def scaled(picture, scale):
    return cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)


def cropped(picture, share):
    """The middle, a share of the area."""
    height, width = picture.shape[:2]
    y, x = (int(size * (1 - share ** 0.5) / 2) for size in (height, width))
    return picture[y:height - y, x:width - x]


def turned(picture, degrees):
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    return cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


def noisy(picture):
    noise = np.random.default_rng(1).normal(0, 20, picture.shape)
    return np.clip(picture + noise, 0, 255).astype(np.uint8)


def other_hue(picture):
    hsv = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)
    hsv[..., 0] = (hsv[..., 0].astype(int) + 15) % 180
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)


def captioned(picture):
    picture = picture.copy()
    height = picture.shape[0]
    picture[int(height * 0.8):] = 255
    cv2.putText(picture, 'Caption of the day', (10, int(height * 0.93)), 0, 0.8, (0, 0, 0), 2)
    return picture


def grey(picture):
    return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)


CHANGES = {
    'JPEG 10': lambda p: jpeg(p, 10),
    'half the size': lambda p: scaled(p, 0.5),
    '64 pixels wide': lambda p: scaled(p, 64 / p.shape[1]),
    'blurred, sigma 3': lambda p: cv2.GaussianBlur(p, (0, 0), 3),
    'noise, sigma 20': noisy,
    'crop to 80 %, half, JPEG 20': lambda p: jpeg(scaled(cropped(p, 0.8), 0.5), 20),
    'crop to 90 %': lambda p: cropped(p, 0.9),
    'crop to 70 %': lambda p: cropped(p, 0.7),
    'crop to 50 %': lambda p: cropped(p, 0.5),
    'turned by 2 degrees': lambda p: turned(p, 2),
    'turned by 5 degrees': lambda p: turned(p, 5),
    'turned by 90 degrees': lambda p: cv2.rotate(p, cv2.ROTATE_90_CLOCKWISE),
    'mirrored': lambda p: p[:, ::-1].copy(),
    'negative': lambda p: 255 - p,
    'caption': captioned,
    'gamma 2': lambda p: (255 * (p / 255.0) ** 2).astype(np.uint8),
    'grey': lambda p: cv2.cvtColor(grey(p), cv2.COLOR_GRAY2BGR),
    'other hue': other_hue,
}


COPIES = {
    'jpeg-10': lambda p: jpeg(p, 10),
    'jpeg-30': lambda p: jpeg(p, 30),
    'half-the-size': lambda p: scaled(p, 0.5),
    'quarter-of-the-size': lambda p: scaled(p, 0.25),
    'crop-to-80': lambda p: cropped(p, 0.8),
    'crop-to-70': lambda p: cropped(p, 0.7),
    'grey': CHANGES['grey'],
    'gamma-2': CHANGES['gamma 2'],
    'gamma-0.5': lambda p: (255 * (p / 255.0) ** 0.5).astype(np.uint8),
}


def phash(picture):
    small = cv2.resize(grey(picture), (32, 32), interpolation=cv2.INTER_AREA)
    low = cv2.dct(small.astype(np.float32))[:8, :8].ravel()
    return (low > np.median(low)).astype(float)


def thumbnail(picture):
    small = cv2.resize(grey(picture), (16, 16), interpolation=cv2.INTER_AREA)
    values = small.astype(float).ravel() - small.mean()
    return values / (np.linalg.norm(values) + 1e-9)


PEERS = {'pHash': phash, 'thumbnail': thumbnail}


def add(options, pictures, folder, suffix=''):
    names = [f'{i:04d}{suffix}.png' for i in range(len(pictures))]
    for name, picture in zip(names, pictures):
        cv2.imwrite(f'{folder}/{name}', picture)
    _, result = run(f'{options.index} add {options.settings} x.ldp {" ".join(names)}',
                    cwd=folder)
    if result.returncode != 0:
        sys.exit(result.stderr[-400:])


def first_names(pictures, folder, query):
    """The names of the first matches, without extensions."""
    found = records(pictures, f'ldpretrieve index={folder}/x.ldp {query}')
    matches = [record.get('matches') or [{'name': ''}] for record in found]
    return [of_picture[0]['name'].split('.')[0] for of_picture in matches]


def score_duplicates(options, pictures, folder):
    for name, copy in COPIES.items():
        add(options, [copy(p) for p in pictures], folder, '-' + name)
    seconds, result = run(f'{options.index} duplicates x.ldp', cwd=folder)
    rows = [line.split('\t') for line in result.stdout.splitlines()]
    right = [name for _, name, _, other in rows if name[:4] == other[:4]]
    show(options, method='cuvision-index duplicates',
         precision=len(right) / max(len(rows), 1),
         recall=len(right) / (len(pictures) * len(COPIES)), seconds=seconds,
         **{name: sum(r[4:] == f'-{name}.png' for r in right) / len(pictures)
            for name in COPIES})


def main():
    parser = arguments(__doc__)
    parser.add_argument('--index', default='cuvision-index', help='the program')
    parser.add_argument('--query', default='', help='properties of ldpretrieve')
    parser.add_argument('--copies', action='store_true')
    options = parse(parser)
    if os.sep in options.index:  # it runs in another folder
        options.index = os.path.abspath(options.index)
    pictures = [cv2.imread(p) for p in sorted(glob.glob(options.data + '/*.jpg'))]
    asked = range(0, len(pictures), 4)
    peers = PEERS if options.peers else {}
    known = {name: np.array([f(p) for p in pictures]) for name, f in peers.items()}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        add(options, pictures, folder)
        for change, function in CHANGES.items():
            queries = [function(pictures[i]) for i in asked]
            names = first_names(queries, folder, options.query)
            row = {'ldp': float(np.mean([n == f'{i:04d}' for n, i in zip(names, asked)]))}
            for name, f in peers.items():
                nearest = [np.argmin(np.abs(known[name] - f(q)).sum(1)) for q in queries]
                row[name] = float(np.mean(np.array(nearest) == np.array(asked)))
            show(options, change=change, **row)
            rows.append(row)
        show(options, change='mean',
             **{k: float(np.mean([r[k] for r in rows])) for k in rows[0]})
        if options.copies:
            score_duplicates(options, pictures, folder)


main()
