# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the program factorise finds."""

import subprocess

import numpy as np

MU, HALS = 0, 1
GS, JACOBI = 0, 1
RANDOM, NNDSVD = 0, 1


class Run:
    """G is height x width x depth, in float32."""

    def __init__(self, program, g, rank, algorithm=MU, schedule=GS,
                 init=RANDOM, seed=1, iterations=10, tolerance=0,
                 normalise=False, n_threads=0):
        words = [*g.shape, rank, algorithm, schedule, init, seed, iterations,
                 tolerance, int(normalise), n_threads]
        out = subprocess.run([program, *map(str, words)], check=True,
                             input=np.ascontiguousarray(g, '<f4').tobytes(),
                             stdout=subprocess.PIPE).stdout
        values = np.frombuffer(out, '<f8')
        self.seconds, self.cpu_seconds = values[:2]
        self.iterations, self.effective_rank, n = values[2:5].astype(int)
        self.errors = values[5:5 + n]
        self.factors, at = [], 5 + n
        for size in g.shape:
            end = at + size * rank
            self.factors.append(values[at:end].reshape(size, rank))
            at = end
        assert at == len(values)
