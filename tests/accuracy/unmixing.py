#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares spectral unmixing by spectralntf with N-FINDR and fully constrained least
squares, and with scikit-learn's NMF.

usage: unmixing.py [--settings PROPERTIES] [--json] FOLDER

FOLDER has spectra.sli, spectra.sli.hdr and spectra.csv of the Python package earthlib
(earthlib/data), and three cubes are mixed from these measured spectra; or it has cubes as
MATLAB files of version 5, as Samson and Jasper Ridge are distributed: NAME.mat with V
(bands x pixels, the pixels column by column), nRow and nCol, and NAME_GT.mat with M
(bands x materials) and A (materials x pixels).

Prints the root mean square error of abundances, which are scaled to a sum of 1, the mean
angle between spectra in radians, and the root mean square residual. Terms are matched to
materials by the angles between spectra.
"""
import argparse
import csv
import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np
from scipy.io import loadmat
from scipy.optimize import linear_sum_assignment, nnls

SETTINGS = ('factorisation=matrix sum-to-one=true init=nfindr iterations=3')
MIXTURES = {  # of each cube: classes of the library, and a seed
    'field': (('soil', 'canopy', 'litter'), 1),
    'town': (('road', 'canopy', 'soil', 'tile'), 2),
    'coast': (('water', 'sand', 'canopy'), 3),
}
SIZE, NEAR, SNR, SHADE, SMOOTH, SHARP = 96, 20, 30, 0.08, 6, 3


# ---- cubes: height x width x bands, abundances, spectra ----


def smooth(random, sigma):
    """Returns a smooth random field with a variance of 1."""
    spectrum = np.fft.fft2(random.standard_normal((SIZE, SIZE)))
    f = np.fft.fftfreq(SIZE)
    spectrum *= np.exp(-2 * (np.pi * sigma)**2 * (f[:, None]**2 + f**2))
    field = np.fft.ifft2(spectrum).real
    return field / field.std()


def read_library(folder):
    header = (folder / 'spectra.sli.hdr').read_text()
    n, bands = (int(re.search(rf'{key} = (\d+)', header)[1])
                for key in ('lines', 'samples'))
    spectra = np.fromfile(folder / 'spectra.sli', '<f4').reshape(n, bands)
    with open(folder / 'spectra.csv', newline='') as file:
        return spectra, [row['LEVEL_3'] for row in csv.DictReader(file)]


def choose_spectra(random, library, classes, name):
    """Returns a random spectrum of a class and those nearest to it, which vary as one material
    does."""
    if name == 'water':  # the library has none
        w = np.linspace(0.4, 2.45, library.shape[1])
        water = 0.06 * np.exp(-((w - 0.45) / 0.22)**2) + 0.008
        return water * random.uniform(0.8, 1.2, (NEAR, 1))
    spectra = library[[i for i, c in enumerate(classes) if c == name
                       and np.isfinite(library[i]).all()
                       and library[i].min() > 0 and library[i].max() < 1]]
    one = spectra[random.integers(len(spectra))]
    return spectra[np.argsort(np.linalg.norm(spectra - one, axis=1))[:NEAR]]


def mix(folder, names, seed):
    library, classes = read_library(folder)
    random = np.random.default_rng(seed)
    pools = [choose_spectra(random, library, classes, n) for n in names]
    a = np.exp(SHARP * np.stack([smooth(random, SMOOTH) for _ in names], -1))
    a /= a.sum(2, keepdims=True)
    picks = [random.integers(len(p), size=(SIZE, SIZE)) for p in pools]
    g = sum(a[..., k, None] * p[i] for k, (p, i) in enumerate(zip(pools, picks)))
    g *= 1 + SHADE * smooth(random, 2)[..., None]
    g += random.standard_normal(g.shape) * np.sqrt(
        (g**2).mean() / 10**(SNR / 10))
    return (np.float32(np.maximum(g, 0)), a.reshape(-1, len(names)),
            np.stack([p.mean(0) for p in pools]))


def read_cube(path):
    cube, truth = loadmat(path), loadmat(path.with_name(path.stem + '_GT.mat'))
    height, width = int(cube['nRow'].item()), int(cube['nCol'].item())

    def turn(rows):  # rows x pixels, the pixels column by column
        return rows.reshape(len(rows), width, height).transpose(2, 1, 0)

    a = turn(truth['A'])
    return (np.float32(turn(cube['V'])), a.reshape(-1, a.shape[2]),
            truth['M'].T)


def cubes(folder):
    if (folder / 'spectra.sli').exists():
        for name, (classes, seed) in MIXTURES.items():
            yield name, *mix(folder, classes, seed)
    for path in sorted(folder.glob('*.mat')):
        if not path.stem.endswith('_GT'):
            yield path.stem, *read_cube(path)


# ---- methods: cube, rank -> abundances, spectra ----


def ours(cube, rank, settings):
    with tempfile.TemporaryDirectory() as folder:
        height, width, bands = cube.shape
        stem = pathlib.Path(folder) / 'cube'
        cube.astype('<f4').tofile(stem.with_suffix('.img'))
        stem.with_suffix('.hdr').write_text(
            f'ENVI\nsamples = {width}\nlines = {height}\nbands = {bands}\n'
            'data type = 4\ninterleave = bip\nbyte order = 0\n')
        out = subprocess.run(
            ['gst-launch-1.0', '-q', 'envisrc', f'location={stem}.hdr', '!',
             'spectralntf', f'rank={rank}', *settings.split(), '!',
             'visionpublish', '!', 'fakesink'],
            check=True, stdout=subprocess.PIPE).stdout
    record = json.loads(out)
    return [np.array([list(row.values()) for row in record[key]], float).T
            for key in ('ntf_a', 'ntf_w')]


def nfindr(pixels, rank):
    """Finds the first simplex as VCA does, but along the axes; then replaces one point at
    a time."""
    scores = pixels - pixels.mean(0)
    scores = scores @ np.linalg.eigh(scores.T @ scores)[1][:, ::-1][:, :rank - 1]
    points = np.insert(scores, 0, 1, axis=1)
    chosen = []
    for k in range(rank):
        probe = np.eye(rank)[max(k, 1) % rank]
        if chosen:
            q = np.linalg.qr(points[chosen].T)[0]
            probe = probe - q @ (q.T @ probe)
        chosen.append(int(np.abs(points @ probe).argmax()))
    for _ in range(10):
        before = list(chosen)
        for k in range(rank):
            ratio = np.abs(points @ np.linalg.inv(points[chosen].T)[k])
            if ratio.max() > 1 + 1e-6:
                chosen[k] = int(ratio.argmax())
        if chosen == before:
            break
    return pixels[chosen]


def fcls(pixels, spectra):
    weight = 100 * spectra.max()  # weight of the sum-to-one constraint (Heinz, Chang 2001)
    m = np.vstack([spectra.T, np.full(len(spectra), weight)])
    return np.array([nnls(m, np.append(p, weight))[0] for p in pixels])


def nfindr_fcls(cube, rank):
    pixels = cube.reshape(-1, cube.shape[2]).astype(float)
    spectra = nfindr(pixels, rank)
    return fcls(pixels, spectra).T, spectra


def sklearn_nmf(cube, rank, **arguments):
    from sklearn.decomposition import NMF
    nmf = NMF(rank, random_state=0, **arguments)
    a = nmf.fit_transform(cube.reshape(-1, cube.shape[2]))
    return a.T, nmf.components_


# ---- scores ----


def score(cube, found, spectra, true_a, true_spectra):
    pixels = cube.reshape(-1, cube.shape[2])
    residual = np.sqrt(((pixels - found.T @ spectra)**2).mean())
    unit = [x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-30)
            for x in (spectra, true_spectra)]
    angles = np.arccos(np.clip(unit[0] @ unit[1].T, -1, 1))
    i, j = linear_sum_assignment(angles)
    shares = found.T / np.maximum(found.sum(0)[:, None], 1e-30)
    error = np.sqrt(((shares[:, i] - true_a[:, j])**2).mean())
    return {'rmse': round(float(error), 4),
            'angle': round(float(angles[i, j].mean()), 3),
            'residual': round(float(residual), 6)}


def methods(settings):
    plain = 'factorisation=matrix algorithm=hals init=nfindr iterations=200'
    return {
        settings: lambda g, k: ours(g, k, settings),
        plain: lambda g, k: ours(g, k, plain),
        'N-FINDR, FCLS': nfindr_fcls,
        'sklearn NMF': sklearn_nmf,
        'sklearn NMF, random': lambda g, k: sklearn_nmf(g, k, init='random'),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--settings', default=SETTINGS)
    parser.add_argument('--json', action='store_true')
    args = parser.parse_args()
    for name, cube, a, spectra in cubes(args.folder):
        for method, function in methods(args.settings).items():
            try:
                result = score(cube, *function(cube, len(spectra)), a, spectra)
            except ImportError as error:
                result = {'skipped': str(error)}
            line = {'cube': name, 'method': method, **result}
            print(json.dumps(line) if args.json else
                  f'{name:8} {method:70} '
                  + ' '.join(f'{k} {v}' for k, v in result.items()), flush=True)


if __name__ == '__main__':
    main()
