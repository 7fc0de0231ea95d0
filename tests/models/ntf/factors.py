# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads results of the program factorise, and computes its initial factors."""

import subprocess

import numpy as np

MU, HALS = 0, 1
GS, JACOBI = 0, 1
RANDOM, NNDSVD, PREVIOUS, NFINDR = 0, 1, 2, 3
TENSOR, MATRIX = 0, 1


class Run:
    """A run of factorise on g, an array of height x width x depth, float32."""

    def __init__(self, program, g, rank, algorithm=MU, schedule=GS,
                 init=RANDOM, seed=1, iterations=10, tolerance=0,
                 normalise=False, n_threads=0, factorisation=TENSOR,
                 sum_to_one=False):
        words = [*g.shape, rank, algorithm, schedule, init, seed, iterations,
                 tolerance, int(normalise), n_threads, factorisation,
                 int(sum_to_one)]
        out = subprocess.run([program, *map(str, words)], check=True,
                             input=np.ascontiguousarray(g, '<f4').tobytes(),
                             stdout=subprocess.PIPE).stdout
        values = np.frombuffer(out, '<f8')
        self.seconds, self.cpu_seconds = values[:2]
        self.iterations, self.effective_rank, n = values[2:5].astype(int)
        self.errors = values[5:5 + n]
        self.factors, at = [], 5 + n
        shape = g.shape if factorisation == TENSOR \
            else (1, g.shape[0] * g.shape[1], g.shape[2])
        for size in shape:
            end = at + size * rank
            self.factors.append(values[at:end].reshape(size, rank))
            at = end
        assert at == len(values)


def philox(seed, mode, n):
    """Returns n values of 32 bits, four per counter (Salmon, Moraes, Dror, Shaw 2011)."""
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
