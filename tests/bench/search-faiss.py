#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares cuvision-search with FAISS's IndexFlat (L1) on the same histograms.

usage: search-faiss.py SEARCH WRITER [THREADS]

SEARCH is cuvision-search, WRITER tests/tools/search-index of a build. Needs FAISS: Debian's
python3-faiss, or faiss-cpu of PyPI, whose kernels are faster. Histograms become float32 that sum to
1, so that their intersection is 1 - L1 / 2. Both are timed in turns on all cores (or THREADS), with
one query at a time and with 16 at once; the medians are printed. Rankings may differ only among
similarities that float32 cannot distinguish. The exit status is 1 if cuvision-search is not twice
as fast as FAISS in both cases."""
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import faiss
import numpy

SEARCH, WRITER = (os.path.abspath(program) for program in sys.argv[1:3])
THREADS = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count()
K, QUERIES, ROUNDS = 10, 16, 3
LEAST_RATIO = 2
TOLERANCE = 1e-4  # for FAISS's sums of up to 65536 floats
# grid, size of pictures, entries
INDEXES = ((1, 128, 100000), (8, 128, 10000))


def read(path):
    """Reads histograms as float32 that sum to 1."""
    data = numpy.memmap(path, numpy.uint8, 'r')
    columns, rows, n, bins = struct.unpack_from('<IIII', data, 52)
    count_size = struct.unpack_from('<I', data, 68)[0]
    size, stride = struct.unpack_from('<QQ', data, 80)
    entries = numpy.lib.stride_tricks.as_strided(
        data[4096:], ((len(data) - 4096) // stride, size), (stride, 1))
    vectors = numpy.empty((len(entries), size // count_size), numpy.float32)
    for first in range(0, len(entries), 1000):
        counts = numpy.ascontiguousarray(entries[first:first + 1000])
        part = counts.view(f'<u{count_size}').reshape(len(counts), -1, bins)
        part = part / part.sum(2, dtype=numpy.float64, keepdims=True)
        vectors[first:first + 1000] = (part / (columns * rows * n)).reshape(
            len(counts), -1)
    return vectors


def memory_of(process='self'):
    """Returns the memory of a process in MiB, without mapped files."""
    with open(f'/proc/{process}/status', encoding='ascii') as file:
        return int(re.search(r'RssAnon:\s+(\d+)', file.read())[1]) >> 10


def time_faiss(index, queries, batch):
    """Returns milliseconds per query, and the results."""
    times, found = [], []
    for first in range(0, len(queries), batch):
        start = time.perf_counter()
        distances, numbers = index.search(queries[first:first + batch], K)
        times += [(time.perf_counter() - start) * 1e3 / batch] * batch
        found += [list(zip(n.tolist(), (1 - d / 2).tolist()))
                  for d, n in zip(distances, numbers)]
    return times, found


def time_search(path, numbers, batch):
    """Returns milliseconds per query, and the results. Queries that arrive together on stdin are
    compared together."""
    with subprocess.Popen([SEARCH, '-d', 'cpu', '--threads', str(THREADS), '-i',
                           path, '-k', str(K), '--repeat', '5', '-n', '-'],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        records = []
        for first in range(0, len(numbers), batch):
            part = numbers[first:first + batch]
            process.stdin.write(''.join(f'{number}\n' for number in part))
            process.stdin.flush()
            records += [json.loads(process.stdout.readline()) for _ in part]
        used = memory_of(process.pid)
        process.communicate()
    return ([record['microseconds']['scan'] / 1e3 for record in records],
            [[(m['entry'], m['similarity']) for m in r['matches']] for r in records],
            used)


def check_ranking(ours, theirs):
    for a, b in zip(ours, theirs):
        for (entry, exact), (other, rounded) in zip(a, b):
            assert abs(exact - rounded) < TOLERANCE, (exact, rounded)
            same = dict(b).get(entry)
            assert entry == other or same is None and abs(exact - a[-1][1]) < TOLERANCE \
                or same is not None and abs(same - rounded) < TOLERANCE, (a, b)


def bench(grid, size, n):
    path = f'{grid}.ldp'
    subprocess.run([WRITER, str(grid), str(size), str(n), '1', path], check=True)
    before = memory_of()
    vectors = read(path)
    numbers = [n * i // QUERIES + 5 for i in range(QUERIES)]
    queries = vectors[numbers].copy()
    index = faiss.IndexFlat(vectors.shape[1], faiss.METRIC_L1)
    index.add(vectors)
    del vectors
    memory = memory_of() - before
    ratios = []
    for batch in 1, QUERIES:
        times, own_times = [], []
        for _ in range(ROUNDS):
            part, theirs = time_faiss(index, queries, batch)
            own_part, ours, used = time_search(path, numbers, batch)
            times += part
            own_times += own_part
            check_ranking(ours, theirs)
        ms, own_ms = statistics.median(times), statistics.median(own_times)
        ratios.append(ms / own_ms)
        print(f'{n} entries of a grid of {grid}, {batch} at once: FAISS {ms:.2f} ms a '
              f'query, {memory} MiB; cuvision-search {own_ms:.2f} ms, {used} '
              f'MiB: ratio {ratios[-1]:.1f}, the same ranking', flush=True)
    return min(ratios)


print(f'FAISS {faiss.__version__}, {THREADS} threads')
faiss.omp_set_num_threads(THREADS)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    ratios = [bench(*sizes) for sizes in INDEXES]
    os.chdir('/')
sys.exit(min(ratios) < LEAST_RATIO)
