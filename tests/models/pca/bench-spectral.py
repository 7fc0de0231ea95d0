#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times our sums for principal components and NumPy's, and prints the times as JSON.

usage: bench-spectral.py PCA [THREADS]

PCA is the program of pca.c. The work is that of a covariance: second moments and
means of 1920x1080x31. NumPy's product is in single precision, with its BLAS.
Times are milliseconds of CPU time of all threads, the minimum of 15 runs.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

THREADS = sys.argv[2] if len(sys.argv) > 2 else '1'
for name in ('OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS'):
    os.environ[name] = THREADS
os.environ.pop('OPENBLAS_CORETYPE', None)  # it may select code for another CPU

import numpy as np  # noqa: E402

try:
    import cv2
except ImportError:
    cv2 = None

WIDTH, HEIGHT, BANDS = 1920, 1080, 31
TYPES = {'u8': np.uint8, 'u16': np.uint16, 'f32': np.float32}


def milliseconds(work, rounds=15):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * 1000


def report(name, ms):
    print(json.dumps({'name': name, 'threads': int(THREADS),
                      'ms': round(ms, 1)}), flush=True)


def time_numpy(cube):
    pixels = cube.astype(np.float32)
    bands = np.ascontiguousarray(pixels.T)
    ones = np.ones(len(pixels), np.float32)
    report('numpy f32 bip, a.T @ a', milliseconds(lambda: pixels.T @ pixels))
    report('numpy f32 bip, a.T @ a and ones @ a', milliseconds(
        lambda: (pixels.T @ pixels, ones @ pixels)))
    report('numpy f32 bsq, a @ a.T', milliseconds(lambda: bands @ bands.T))


def time_opencv(cube):
    pixels = cube.astype(np.float32)
    cv2.setNumThreads(int(THREADS))
    report('cv2.calcCovarMatrix f32 bip', milliseconds(
        lambda: cv2.calcCovarMatrix(pixels, None, cv2.COVAR_NORMAL
                                    | cv2.COVAR_ROWS, ctype=cv2.CV_32F), 3))


def time_ours(program, cube, kind, interleave):
    axes = {'bip': (0, 1), 'bsq': (1, 0)}[interleave]
    with tempfile.NamedTemporaryFile() as file:
        np.ascontiguousarray(cube.transpose(axes)).tofile(file.name)
        done = subprocess.run(
            [program, kind, interleave, str(WIDTH), str(HEIGHT), str(BANDS),
             'covariance', file.name, '--time', THREADS],
            capture_output=True, text=True, check=True)
    times = json.loads(done.stdout)
    report(f'ours {kind} {interleave}, sums and components', times['learn_ms'])
    report(f'ours {kind} {interleave}, picture', times['picture_ms'])
    report(f'ours {kind} {interleave}, basis=lagged', times['lagged_ms'])


def main():
    rng = np.random.default_rng(1)
    cube = rng.integers(0, 256, (WIDTH * HEIGHT, BANDS), np.uint8)
    time_numpy(cube)
    if cv2 is not None:
        time_opencv(cube)
    for kind, dtype in TYPES.items():
        for interleave in ('bip', 'bsq'):
            time_ours(sys.argv[1], cube.astype(dtype), kind, interleave)


if __name__ == '__main__':
    sys.exit(main())
