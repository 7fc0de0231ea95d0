#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the factorisation with NumPy's einsum in double precision.

usage: spectral-ntf.py FACTORISE
"""

import itertools
import sys

import cv2
import numpy as np
import skimage.data

from factors import (GS, HALS, JACOBI, MATRIX, MU, NFINDR, NNDSVD, Run,
                     start)

SWEEPS = 5  # sweeps of HALS per product with G

failures = []


def check(ok, text):
    print('ok' if ok else 'FAILED', text)
    if not ok:
        failures.append(text)


# ---- the oracle ----


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
    """Returns whether columns have a norm too small to divide by."""
    return (x**2).sum(0) < 1e-20 * len(x)


def solve(x, m, n, p):
    """Does sweeps of HALS as TensorLy's non_negative_parafac_hals does."""
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
    """Compares factors or, for HALS, in which rounding errors grow, sums of terms."""
    if algorithm == HALS:
        found, wanted = [terms(found)], [terms(wanted)]
    return max(np.abs(a - b).max() / b.max() for a, b in zip(found, wanted))


def check_oracle(program, rng, shape, rank, algorithm, schedule):
    g = planted(rng, shape, rank, 0.05)
    # samples above 1 are divided by a power of two, so the start is scaled
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
    """Returns NNDSVD by an exact SVD: the positive parts of vectors and of their maps."""
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
    return [np.maximum(m, 0.5 * m.max(0)) for m in x]


def check_nndsvd(program, rng):
    """Checks terms of very different strength, whose vectors are found in ten steps."""
    shape, rank = (23, 19, 11), 4
    g = np.float64(planted(rng, shape, 1, 0))
    for k in range(1, 6):
        g += 0.3**k * planted(rng, shape, 1, 0) * rng.random(shape[2])
    g /= 1.01 * g.max()  # in 0.5 .. 1: not scaled
    wanted = iterate(g, nndsvd(g, rank), rank, MU, GS, 1)
    run = Run(program, g, rank, init=NNDSVD, iterations=1)
    worst = np.abs(terms(run.factors) - terms(wanted)).max() / g.max()
    check(worst < 1e-3, f'nndsvd: {worst:.1e}')


def small(picture):
    return cv2.resize(picture, (64, 48), interpolation=cv2.INTER_AREA)


def video(name):
    """Returns a video as a cube: every fifth frame is a band."""
    path = f'/usr/share/doc/opencv-doc/examples/data/{name}'
    reader = cv2.VideoCapture(path)
    frames = [reader.read() for _ in range(80)][::5]
    assert all(ok for ok, _ in frames), f'{path}: install opencv-doc'
    return np.float32(np.stack(
        [small(cv2.cvtColor(f, cv2.COLOR_BGR2GRAY)) for _, f in frames], 2))


def check_starts(program):
    """Checks that nndsvd converges to the errors of random starts, with multiplicative updates."""
    cubes = [video('vtest.avi'), video('Megamind.avi')]
    cubes += [np.float32(small(picture())) for picture in (
        skimage.data.coffee, skimage.data.astronaut, skimage.data.chelsea,
        skimage.data.rocket)]
    ratios = []
    for g in cubes:
        for rank in (4, 8):
            svd = Run(program, g, rank, init=NNDSVD, iterations=400)
            random = [Run(program, g, rank, seed=s, iterations=400).errors[-1]
                      for s in (1, 2, 3)]
            ratios.append(svd.errors[-1] / np.mean(random))
    check(np.mean(ratios) < 1.01,
          f'nndsvd after 400: {np.round(ratios, 3)} of the error of random starts')


def check_curve(program, rng):
    g = planted(rng, (40, 36, 31), 6, 0.3)
    g /= 1.01 * g.max()  # in 0.5 .. 1: not scaled
    for algorithm in (MU, HALS):
        run = Run(program, g, 6, algorithm, seed=3, iterations=100)
        wanted = [error(g, factorise(np.float64(g), 6, algorithm, GS, 3, n))
                  for n in (10, 50, 100)]
        worst = np.abs(run.errors[[0, 4, 9]] - wanted).max()
        check(worst < 1e-4, f'error curve, algorithm {algorithm}: {worst:.1e}')


# ---- pixels by bands ----


def check_matrix(program, rng, algorithm):
    """Compares matrix factorisation with a plain loop: abundances, then spectra."""
    g = planted(rng, (12, 10, 31), 4, 0.05)
    g /= 1.01 * g.max()  # in 0.5 .. 1: not scaled
    pixels = np.float64(g).reshape(-1, g.shape[2])
    _, a, w = start((1, *pixels.shape), 4, 7)
    for _ in range(3):
        for x, n, m in ((a, pixels, w), (w, pixels.T, a)):
            n, p = n @ m, m.T @ m
            if algorithm == HALS:
                solve([x, m, m], 0, n, p)
            else:
                x *= n / (x @ p)
    run = Run(program, g, 4, algorithm, seed=7, iterations=3,
              factorisation=MATRIX)
    worst = np.abs(run.factors[1] @ run.factors[2].T - a @ w.T).max()
    check(worst < 1e-4, f'matrix, algorithm {algorithm}: {worst:.1e}')


def mixtures(rng, shape, rank, noise):
    """Returns abundances with a sum of 1, some almost pure, and smooth, similar spectra."""
    bands = np.linspace(0, 1, shape[2])
    spectra = np.stack([0.2 + 0.4 * bands + 0.4 * np.exp(
        -(bands - (k + 0.5) / rank)**2 / 0.02) for k in range(rank)])
    a = rng.dirichlet(np.full(rank, 0.7), shape[0] * shape[1])
    g = a @ spectra
    g += noise * rng.standard_normal(g.shape)
    return a, spectra, np.float32(np.maximum(g, 0)).reshape(shape)


def volume(pixels, rank):
    """Returns a function that computes the volume of the simplex of chosen pixels, up to a factor,
    from principal component scores."""
    scores = pixels - pixels.mean(0)
    scores = scores @ np.linalg.svd(scores, full_matrices=False)[2][:rank - 1].T
    scores = np.insert(scores, 0, 1, axis=1)
    return lambda chosen: abs(np.linalg.det(scores[list(chosen)]))


def shares(pixels, spectra):
    """Returns the least-squares abundances with a sum of 1, found by trying all subsets of
    spectra."""
    rank = len(spectra)
    best = np.full(len(pixels), np.inf)
    found = np.zeros((len(pixels), rank))
    for size in range(1, rank + 1):
        for support in itertools.combinations(range(rank), size):
            s = spectra[list(support)]
            m = np.block([[s @ s.T, np.ones((size, 1))],
                          [np.ones((1, size)), np.zeros((1, 1))]])
            n = np.vstack([s @ pixels.T, np.ones((1, len(pixels)))])
            x = np.linalg.solve(m, n)[:size].T
            cost = ((pixels - x @ s)**2).sum(1)
            better = (x >= 0).all(1) & (cost < best)
            best[better] = cost[better]
            found[better] = 0
            found[np.ix_(better, support)] = x[better]
    return found


def rms(a, b):
    return np.sqrt(((a - b)**2).mean())


def match(found, spectra, wanted):
    """Returns the order of the found spectra with the smallest angles to the true ones."""
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True)
            for x in (spectra, wanted)]
    cosines = unit[0] @ unit[1].T
    order = max(itertools.permutations(range(len(wanted))),
                key=lambda p: np.arccos(np.minimum(
                    cosines[list(p), range(len(p))], 1)).sum() * -1)
    return found[:, order]


def plain_nmf(rng, pixels, rank, iterations):
    """Factorises by multiplicative updates (Lee, Seung 2001); abundances are scaled to sum to 1."""
    a, w = rng.random((len(pixels), rank)), rng.random((rank, pixels.shape[1]))
    for _ in range(iterations):
        a *= pixels @ w.T / (a @ (w @ w.T))
        w *= a.T @ pixels / (a.T @ a @ w)
    return a / a.sum(1, keepdims=True), w


def check_unmixing(program, rng):
    shape, rank = (16, 15, 40), 3
    a, spectra, g = mixtures(rng, shape, rank, 0.01)
    pixels = np.float64(g).reshape(-1, shape[2])
    first = Run(program, g, rank, init=NFINDR, iterations=1,
                factorisation=MATRIX, sum_to_one=True).factors[1]
    chosen = first.argmax(0)  # each extreme pixel consists of its own spectrum only
    size = volume(pixels, rank)
    largest = max(map(size, itertools.combinations(
        np.flatnonzero(a.max(1) > 0.6), rank)))
    check(size(chosen) > 0.999 * largest,
          f'nfindr: {size(chosen) / largest:.4f} of the largest simplex')
    exact = shares(pixels, pixels[chosen])
    worst = np.abs(first - exact).max()
    check(worst < 1e-4, f'least squares with a sum of 1: {worst:.1e}')
    run = Run(program, g, rank, init=NFINDR, iterations=3,
              factorisation=MATRIX, sum_to_one=True)
    ours = rms(match(run.factors[1], run.factors[2].T, spectra), a)
    steps = rms(match(exact, pixels[chosen], spectra), a)
    plain = rms(match(*plain_nmf(rng, pixels, rank, 200), spectra), a)
    check(ours < 1.3 * steps and ours < plain,
          f'abundances: off by {ours:.3f}, N-FINDR and least squares '
          f'{steps:.3f}, plain NMF {plain:.3f}')


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
    check_starts(program)
    for algorithm in (MU, HALS):
        check_matrix(program, rng, algorithm)
    for seed in (2, 3):
        check_unmixing(program, np.random.default_rng(seed))
    if failures:
        sys.exit(f'{len(failures)} failed')


if __name__ == '__main__':
    main()
