#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares principal components of cubes with NumPy's in double precision.

usage: spectral-pca.py PCA

PCA is the program of pca.c. Tolerances: eigenvalues 1e-9 of the largest; where an
eigenvalue is 1 % of the largest away from its neighbours, eigenvectors 1e-6 radians
and pictures one level of 255.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {'u8': np.uint8, 'u16': np.dtype('<u2'), 'f32': np.dtype('<f4')}
MOST = {'u8': 255, 'u16': 65535, 'f32': 1.0}
MODES = ['correlation', 'covariance', 'pearson']
AXES = {'bip': (0, 1, 2), 'bil': (0, 2, 1), 'bsq': (2, 0, 1)}
failed = 0
checks = 0


def check(ok, text):
    global failed, checks
    checks += 1
    if not ok:
        failed += 1
        print(f'failed: {text}')


def make_cube(rng, kind, height, width, bands):
    """Returns mixtures of four spectra in varying proportions, with noise."""
    spectra = rng.random((4, bands)) ** 2
    y, x = np.mgrid[0:height, 0:width]
    shares = np.stack([0.5 + 0.5 * np.sin((0.3 + 0.2 * i) * x + 0.21 * i * y)
                       for i in range(4)], axis=-1)
    shares *= [1.0, 0.6, 0.35, 0.2]
    cube = shares @ spectra / 2.15 + 0.01 * rng.random((height, width, bands))
    cube = np.clip(cube, 0, 1) * MOST[kind]
    return (cube if kind == 'f32' else np.round(cube)).astype(TYPES[kind])


def far_from_zero(rng, height, width, bands):
    """Returns a cube of values 1e6 +- 1, except for a band around 0 and two pixels."""
    cube = 1e6 + 2 * make_cube(rng, 'f32', height, width, bands) - 1
    cube[:, :, bands // 3] -= 1e6
    cube[0, 0], cube[-1, -1] = 0, 3e6
    cube[1, 1:3] = np.nan
    return cube.astype(TYPES['f32'])


def run(program, kind, interleave, mode, cube, folder):
    height, width, bands = cube.shape
    path, picture = f'{folder}/cube', f'{folder}/picture'
    np.ascontiguousarray(cube.transpose(AXES[interleave])).tofile(path)
    done = subprocess.run(
        [program, kind, interleave, str(width), str(height), str(bands), mode,
         path, picture], capture_output=True, text=True, check=True)
    pixels = np.fromfile(picture, np.uint8).reshape(height * width, 4)
    return json.loads(done.stdout), pixels


def decompose(pixels, mode):
    mean = pixels.mean(axis=0)
    centred = pixels - mean
    matrix = centred.T @ centred / len(pixels)
    scale = np.ones(len(mean))
    if mode == 'correlation':
        matrix = pixels.T @ pixels / len(pixels)
        centred = pixels
    elif mode == 'pearson':
        scale = np.sqrt(np.diag(matrix))
        inverse = np.divide(1, scale, where=scale > 0, out=np.zeros_like(scale))
        matrix = matrix * np.outer(inverse, inverse)
        centred = centred * inverse
    values, vectors = np.linalg.eigh(matrix)
    values, vectors = values[::-1], vectors[:, ::-1].T
    for v in vectors:
        size = np.abs(v)
        v *= np.sign(v[np.argmax(size > size.max() * (1 - 1e-9))])
    return mean, values, vectors, centred


def shown(y, k, mode, largest):
    sigma, mean = y.std(), y.mean()
    if sigma ** 2 <= 1e-12 * largest:
        return np.full(y.shape, 128)
    if mode == 'correlation' and k == 0:
        wanted = 255 * y / (mean + 3 * sigma)
    else:
        wanted = 128 + 127 * (y - mean) / (3 * sigma)
    return np.floor(np.clip(wanted, 0, 255) + 0.5)


def is_apart(values, k):
    gaps = np.abs(np.delete(values, k) - values[k])
    return gaps.size == 0 or gaps.min() > 0.01 * values[0]


def compare(name, result, picture, cube, mode):
    bands = cube.shape[2]
    pixels = cube.reshape(-1, bands).astype(np.float64)
    counts = np.isfinite(pixels).all(axis=1)
    mean, values, vectors, centred = decompose(pixels[counts], mode)
    ours = np.array(result['values'])
    theirs = np.array(result['vectors']).reshape(bands, bands)
    check(result['left_out'] == (~counts).sum(), f'{name}: number of excluded pixels')
    check(np.allclose(result['mean'], mean, rtol=1e-12), f'{name}: mean')
    error = np.abs(ours - np.maximum(values, 0)).max() / values[0]
    check(error <= 1e-9, f'{name}: eigenvalues {error:g}')
    check(not picture[~counts, :3].any(), f'{name}: excluded pixels are not black')
    for k in range(3):
        channel = picture[counts, k].astype(int)
        if k >= bands:
            check((channel == 128).all(), f'{name}: no component {k + 1}')
        elif is_apart(values, k):
            angle = np.linalg.norm(theirs[k] - vectors[k])
            check(angle < 1e-6, f'{name}: vector {k + 1} {angle:g}')
            wanted = shown(centred @ vectors[k], k, mode, values[0])
            step = np.abs(channel - wanted).max()
            check(step <= 1, f'{name}: component {k + 1} is {step} off')


def main():
    program = sys.argv[1]
    seed = int(os.environ.get('CUV_TEST_SEED', np.random.SeedSequence().entropy
                              % 2 ** 32))
    print(f'seed {seed}')
    rng = np.random.default_rng(seed)
    cases = [(31, 47, 61), (1, 9, 5), (2, 3, 3), (3, 33, 17), (8, 1, 130),
             (25, 4, 4), (81, 40, 30), (256, 12, 11), (50, 64, 48),
             (285, 30, 21), (425, 20, 31)]
    with tempfile.TemporaryDirectory() as folder:
        for number, (bands, height, width) in enumerate(cases * 3):
            kind = list(TYPES)[number % 3]
            interleave = list(AXES)[(number // 3 + number) % 3]
            cube = make_cube(rng, kind, height, width, bands)
            if number % 4 == 0 and bands > 2:
                cube[:, :, bands // 2] = 7 if kind != 'f32' else 0.5
            if kind == 'f32' and number % 2:
                cube[rng.random(cube.shape) > 1 - 0.1 / bands] = np.nan
            mode = MODES[number // len(cases)]
            name = f'{kind} {interleave} {mode} {width}x{height}x{bands}'
            result, picture = run(program, kind, interleave, mode, cube, folder)
            compare(name, result, picture, cube, mode)
        for mode in MODES[1:]:
            for outliers in (False, True):
                cube = far_from_zero(rng, 40, 61, 31)
                if not outliers:
                    cube[0, 0], cube[-1, -1] = cube[2, 2], cube[3, 3]
                name = f'1e6 +- 1, {mode}, outliers {outliers}'
                result, picture = run(program, 'f32', 'bip', mode, cube, folder)
                compare(name, result, picture, cube, mode)
    print(f'{checks - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
