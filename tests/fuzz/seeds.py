#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small models of each format and headers of cubes to begin with.
seeds.py FOLDER"""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'models'))
from boosted import write_boosted
from cascade import KINDS, write_cascade

os.makedirs(sys.argv[1], exist_ok=True)
for seed in range(3):
    models = {kind: write_cascade(seed, kind) for kind in KINDS}
    for kind in ('LBP', 'LRD', 'LRP', 'HAAR', 'WBD'):
        models[kind] = write_boosted(seed, kind)
    for kind, text in models.items():
        path = os.path.join(sys.argv[1], f'{kind}-{seed}.xml')
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)

HEADER = '''ENVI
description = { A cube }
samples = 5
lines = 4
bands = 3
header offset = 0
data type = {type}
interleave = {interleave}
byte order = {order}
wavelength units = Nanometers
wavelength = { 400, 500.5,
 600 }
bbl = { 1, 0, 1 }
data ignore value = -9999
'''
for number, (kind, interleave) in enumerate(
        (kind, interleave) for kind in (1, 2, 3, 4, 5, 12, 13)
        for interleave in ('bsq', 'bil', 'bip')):
    text = HEADER.replace('{type}', str(kind)) \
        .replace('{interleave}', interleave) \
        .replace('{order}', str(number % 2))
    path = os.path.join(sys.argv[1], f'envi-{kind}-{interleave}.hdr')
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)
