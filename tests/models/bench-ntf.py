#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The factorisation beside TensorLy's on NumPy: seconds of an iteration, on the
clock and of all cores, and errors after 100.

usage: bench-ntf.py FACTORISE

Runs with a python3 that has tensorly; says so, and times ours alone, without.
"""

import json
import os
import sys
import time

import numpy as np

from factors import HALS, MU, Run

try:
    import tensorly
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


def time_theirs(g, rank, algorithm, iterations):
    """Of an iteration: a long run less a short one, for the start counts."""
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


def bench(program, shape, rank, algorithm):
    g = scene(shape, rank)
    name = f'{"x".join(map(str, shape))}, K={rank}, {("mu", "hals")[algorithm]}'
    report(f'ntf {name}', *time_ours(program, g, rank, algorithm, 100))
    if tensorly is not None:
        report(f'tensorly {name}', *time_theirs(g, rank, algorithm, 5))


def compare_errors(program):
    g = scene((40, 36, 31), 6)
    for algorithm in (MU, HALS):
        ours = [Run(program, g, 6, algorithm, seed=s, iterations=100).errors[-1]
                for s in range(5)]
        line = {'name': f'error after 100, {("mu", "hals")[algorithm]}',
                'ours': round(float(np.median(ours)), 5)}
        if tensorly is not None:
            function = (non_negative_parafac_hals if algorithm
                        else non_negative_parafac)
            theirs = [float(function(tensorly.tensor(g), 6, n_iter_max=100,
                                     tol=1e-30, init='random', random_state=s,
                                     return_errors=True)[1][-1])
                      for s in range(5)]
            line['tensorly'] = round(float(np.median(theirs)), 5)
        print(json.dumps(line), flush=True)


def main():
    os.environ.setdefault('TENSORLY_BACKEND', 'numpy')
    if tensorly is None:
        print(json.dumps({'name': 'no tensorly for this python3: ours alone'}))
    for shape, rank in (((512, 512, 31), 16), ((256, 256, 64), 16)):
        for algorithm in (MU, HALS):
            bench(sys.argv[1], shape, rank, algorithm)
    compare_errors(sys.argv[1])


if __name__ == '__main__':
    main()
