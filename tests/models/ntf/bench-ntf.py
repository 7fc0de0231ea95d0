#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the factorisation with TensorLy's on NumPy: wall and CPU time of an iteration, in our
layout and with the bands first, which is faster for TensorLy; and errors after 100 iterations from
the same initial factors.

usage: bench-ntf.py FACTORISE

Without tensorly for this python3 only ours is timed.
"""

import json
import os
import sys
import time

import numpy as np

from factors import HALS, MU, Run, start

try:
    import tensorly
    from tensorly.datasets import load_indian_pines
    from tensorly.decomposition import (non_negative_parafac,
                                        non_negative_parafac_hals)
except ImportError:
    tensorly = None


def scene(shape, rank):
    rng = np.random.default_rng(11)
    x = [rng.random((n, rank)) for n in shape]
    g = np.einsum('ik,jk,tk->ijt', *x, optimize=True)
    g += 0.2 * rng.random(shape) * g.mean()
    return np.round(255 * g / g.max()).astype(np.float32)


def time_tensorly(g, rank, algorithm, iterations):
    """Returns the time per iteration: that of a long run minus that of a short one, to exclude
    initialisation."""
    function = non_negative_parafac_hals if algorithm else non_negative_parafac
    clocks = []
    for n in (2, 2 + iterations):
        begin, work = time.perf_counter(), time.process_time()
        function(tensorly.tensor(g), rank, n_iter_max=n, tol=0, init='random',
                 random_state=1)
        clocks.append((time.perf_counter() - begin,
                       time.process_time() - work))
    (a, b), (c, d) = clocks
    return (c - a) / iterations, (d - b) / iterations


def time_ours(program, g, rank, algorithm, iterations):
    runs = [Run(program, g, rank, algorithm, iterations=n)
            for n in (10, 10 + iterations)]
    return ((runs[1].seconds - runs[0].seconds) / iterations,
            (runs[1].cpu_seconds - runs[0].cpu_seconds) / iterations)


def report(name, seconds, cpu_seconds, **more):
    print(json.dumps({'name': name, 'ms': round(seconds * 1e3, 3),
                      'cpu_ms': round(cpu_seconds * 1e3, 3), **more}),
          flush=True)


def bench(program, name, g, rank, algorithm):
    name = f'{name}, K={rank}, {("mu", "hals")[algorithm]}'
    report(f'ntf {name}', *time_ours(program, g, rank, algorithm, 100))
    if tensorly is None:
        return
    report(f'tensorly {name}', *time_tensorly(g, rank, algorithm, 5))
    g = np.ascontiguousarray(g.transpose(2, 0, 1))
    report(f'tensorly {name}, bands first',
           *time_tensorly(g, rank, algorithm, 5))


def tensorly_error(g, rank, algorithm, seed):
    """Returns the error from our initial factors, which are for G divided by a power of two."""
    scale = 2.0**(np.floor(np.log2(g.max())) + 1)
    function = non_negative_parafac_hals if algorithm else non_negative_parafac
    return float(function(
        tensorly.tensor(np.float64(g) / scale), rank, n_iter_max=100, tol=1e-30,
        init=(None, start(g.shape, rank, seed)), return_errors=True)[1][-1])


def compare_errors(program, name, g, rank):
    for algorithm in (MU, HALS):
        seeds = range(1, 6)
        ours = [Run(program, g, rank, algorithm, seed=s, iterations=100)
                .errors[-1] for s in seeds]
        line = {'name': f'error after 100, {name}, {("mu", "hals")[algorithm]}',
                'ours': np.round(ours, 5).tolist()}
        if tensorly is not None:
            line['tensorly'] = np.round(
                [tensorly_error(g, rank, algorithm, s) for s in seeds], 5).tolist()
        print(json.dumps(line), flush=True)


def main():
    program = sys.argv[1]
    os.environ.setdefault('TENSORLY_BACKEND', 'numpy')
    cubes = [(f'{"x".join(map(str, shape))}', scene(shape, 16), 16)
             for shape in ((512, 512, 31), (256, 256, 64))]
    planted = scene((40, 36, 31), 6)
    if tensorly is None:
        print(json.dumps({'name': 'no tensorly for this python3: only ours is timed'}))
    else:
        pines = np.float32(load_indian_pines().tensor)
        cubes.append(('Indian Pines', pines, 12))
        compare_errors(program, 'Indian Pines, K=12', pines, 12)
    compare_errors(program, 'planted, K=6', planted, 6)
    for name, g, rank in cubes:
        for algorithm in (MU, HALS):
            bench(program, name, g, rank, algorithm)


if __name__ == '__main__':
    main()
