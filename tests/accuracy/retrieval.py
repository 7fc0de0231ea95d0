#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores cuvision-index and ldpretrieve on a folder of photographs: all are indexed, and 18 changed
copies of every fourth are the queries. Prints the fraction of first matches that are correct (P@1)
for each change, and their mean. --settings adds options of `cuvision-index add`, --query properties
of ldpretrieve. --peers adds pHash and a thumbnail of 16x16 pixels. --copies also indexes nine
copies of each photograph and scores `cuvision-index duplicates`.
"""

import glob
import os
import sys
import tempfile

import cv2
import numpy as np

from changes import CHANGES, COPIES, grey
from common import arguments, parse, records, run, show


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
    """Returns the names of the first matches, without extensions."""
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
    if os.sep in options.index:  # the program runs in another folder
        options.index = os.path.abspath(options.index)
    pictures = [cv2.imread(p) for p in sorted(glob.glob(options.data + '/*.jpg'))]
    queried = range(0, len(pictures), 4)
    peers = PEERS if options.peers else {}
    known = {name: np.array([f(p) for p in pictures]) for name, f in peers.items()}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        add(options, pictures, folder)
        for change, function in CHANGES.items():
            queries = [function(pictures[i]) for i in queried]
            names = first_names(queries, folder, options.query)
            row = {'ldp': float(np.mean([n == f'{i:04d}' for n, i in zip(names, queried)]))}
            for name, f in peers.items():
                nearest = [np.argmin(np.abs(known[name] - f(q)).sum(1)) for q in queries]
                row[name] = float(np.mean(np.array(nearest) == np.array(queried)))
            show(options, change=change, **row)
            rows.append(row)
        show(options, change='mean',
             **{k: float(np.mean([r[k] for r in rows])) for k in rows[0]})
        if options.copies:
            score_duplicates(options, pictures, folder)


main()
