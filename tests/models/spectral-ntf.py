#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The factorisation against einsum in double.

usage: spectral-ntf.py FACTORISE
"""

import sys

import numpy as np

from factors import GS, HALS, JACOBI, MU, NNDSVD, Run

SWEEPS = 5  # of HALS, for each product with G

failures = []


def check(ok, text):
    print('ok' if ok else 'FAILED', text)
    if not ok:
        failures.append(text)


# ---- the oracle ----


def philox(seed, mode, n):
    """Salmon, Moraes, Dror, Shaw 2011: n values of 32 bits, four a counter."""
    at = np.arange((n + 3) // 4, dtype=np.uint64)
    mask, zero = np.uint64(0xffffffff), np.zeros_like(at)
    c, key = [at, zero + np.uint64(mode), zero, zero], [seed, 0]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xd2511f53), c[2] * np.uint64(0xcd9e8d57)
        c = [b >> np.uint64(32) ^ c[1] ^ np.uint64(key[0]), b & mask,
             a >> np.uint64(32) ^ c[3] ^ np.uint64(key[1]), a & mask]
        key = [(key[0] + 0x9e3779b9) & 0xffffffff,
               (key[1] + 0xbb67ae85) & 0xffffffff]
    return np.stack(c, 1).reshape(-1)[:n]


def start(shape, rank, seed):
    return [np.float64(0.1 + ((philox(seed, m, n * rank) >> np.uint64(8))
                              .reshape(n, rank) + 1) * 2.0**-24)
            for m, n in enumerate(shape)]


def numerators(g, x, m):
    a, b = [i for i in range(3) if i != m]
    axes = 'ijt'
    n = np.einsum(f'ijt,{axes[a]}k,{axes[b]}k->{axes[m]}k', g, x[a], x[b],
                  optimize=True)
    return n, (x[a].T @ x[a]) * (x[b].T @ x[b])


def factorise(g, rank, algorithm, schedule, seed, iterations):
    return iterate(g, start(g.shape, rank, seed), rank, algorithm, schedule,
                   iterations)


def vanished(x):
    """Columns that are divided by almost nothing."""
    return (x**2).sum(0) < 1e-20 * len(x)


def solve(x, m, n, p):
    """HALS as TensorLy's non_negative_parafac_hals has it."""
    waits = np.logical_or(*(vanished(x[i]) for i in range(3) if i != m))
    for k in SWEEPS * np.flatnonzero(~waits).tolist():
        x[m][:, k] += (n[:, k] - x[m] @ p[:, k]) / p[k, k]
        x[m][:, k] = np.maximum(x[m][:, k], 1e-12)


def iterate(g, x, rank, algorithm, schedule, iterations):
    for _ in range(iterations):
        old = [v.copy() for v in x]
        for m in range(3):
            n, p = numerators(g, x if schedule == GS else old, m)
            if algorithm == HALS:
                solve(x, m, n, p)
            else:
                ratio = n / np.maximum(x[m] @ p, 1e-20)
                x[m] = np.maximum(
                    x[m] * (np.cbrt(ratio) if schedule else ratio), 1e-12)
    return x


# ---- tensors ----


def terms(x):
    return np.einsum('ik,jk,tk->ijt', *x)


def error(g, x):
    return np.linalg.norm(g - terms(x)) / np.linalg.norm(g)


def planted(rng, shape, rank, noise):
    g = terms([rng.random((n, rank)) for n in shape])
    return np.float32(g + noise * rng.random(shape))


# ---- tests ----


def difference(found, wanted, algorithm):
    """HALS, in which roundings grow, by what the terms add up to."""
    if algorithm == HALS:
        found, wanted = [terms(found)], [terms(wanted)]
    return max(np.abs(a - b).max() / b.max() for a, b in zip(found, wanted))


def check_oracle(program, rng, shape, rank, algorithm, schedule):
    g = planted(rng, shape, rank, 0.05)
    # what is above 1 is divided by a power of two: the start is in proportion
    scale = 2.0**(np.floor(np.log2(g.max())) + 1)
    for iterations in (1, 2, 10):
        wanted = factorise(np.float64(g) / scale, rank, algorithm, schedule, 7,
                           iterations)
        wanted[2] *= scale
        run = Run(program, g, rank, algorithm, schedule, seed=7,
                  iterations=iterations)
        worst = difference(run.factors, wanted, algorithm)
        check(worst < 1e-4 and abs(run.errors[-1] - error(g, wanted)) < 1e-5,
              f'{shape} rank {rank} algorithm {algorithm} schedule {schedule} '
              f'after {iterations}: {worst:.1e}')


def nndsvd(g, rank):
    """By an exact SVD: what is above 0 of vectors and of their maps."""
    vectors = np.linalg.svd(g.reshape(-1, g.shape[2]), full_matrices=False)[2]
    x = [np.zeros((n, rank)) for n in g.shape]
    for k in range(rank):
        q = vectors[k]
        y = g @ q
        if (y[y < 0]**2).sum() * (q[q < 0]**2).sum() \
                > (y[y > 0]**2).sum() * (q[q > 0]**2).sum():
            q, y = -q, -y
        u, s, v = np.linalg.svd(np.maximum(y, 0))
        x[0][:, k], x[1][:, k] = s[0] * np.abs(u[:, 0]), np.abs(v[0])
        x[2][:, k] = np.maximum(q, 0)
    return [np.maximum(m, 0.01 * m.max(0)) for m in x]


def check_nndsvd(program, rng):
    """Terms of strengths far apart: ten steps find their vectors."""
    shape, rank = (23, 19, 11), 4
    g = np.float64(planted(rng, shape, 1, 0))
    for k in range(1, 6):
        g += 0.3**k * planted(rng, shape, 1, 0) * rng.random(shape[2])
    g /= 1.01 * g.max()  # in 0.5 .. 1: not scaled
    wanted = iterate(g, nndsvd(g, rank), rank, MU, GS, 1)
    run = Run(program, g, rank, init=NNDSVD, iterations=1)
    worst = np.abs(terms(run.factors) - terms(wanted)).max() / g.max()
    check(worst < 1e-3, f'nndsvd: {worst:.1e}')


def check_curve(program, rng):
    g = planted(rng, (40, 36, 31), 6, 0.3)
    g /= 1.01 * g.max()  # in 0.5 .. 1: not scaled
    for algorithm in (MU, HALS):
        run = Run(program, g, 6, algorithm, seed=3, iterations=100)
        wanted = [error(g, factorise(np.float64(g), 6, algorithm, GS, 3, n))
                  for n in (10, 50, 100)]
        worst = np.abs(run.errors[[0, 4, 9]] - wanted).max()
        check(worst < 1e-4, f'error curve, algorithm {algorithm}: {worst:.1e}')


def main():
    program = sys.argv[1]
    rng = np.random.default_rng(5)
    for shape, rank in (((17, 33, 5), 3), ((24, 20, 31), 8), ((9, 8, 1), 2),
                        ((5, 4, 3), 7)):
        for algorithm, schedule in ((MU, GS), (MU, JACOBI), (HALS, GS)):
            if rank < max(shape) or algorithm == MU:
                check_oracle(program, rng, shape, rank, algorithm, schedule)
    check_curve(program, rng)
    check_nndsvd(program, rng)
    if failures:
        sys.exit(f'{len(failures)} failed')


if __name__ == '__main__':
    main()
