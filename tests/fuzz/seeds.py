#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small models of each format to begin with.   seeds.py FOLDER"""
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
