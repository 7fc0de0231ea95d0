#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times OpenCV's Canny and HoughLines and ours with the same picture, limits,
directions and threads.

usage: bench-hough.py LINES [PICTURE]

Without PICTURE: 1920x1080, a frame of opencv-doc's vtest.avi with faces of skimage's astronaut.
Prints JSON lines: milliseconds, the medians of 21 rounds in which the programs alternate, and how
much longer OpenCV takes. Our time for edges includes listing them, our time for votes sorting them
by direction if there is an orientation window.

Then it times the methods on the picture's edges, on maps with increasing numbers of
edges, and in the worst cases."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

ROUNDS = 21
THRESHOLD = 200
METHODS = ('global', 'shared', 'gather', 'ring')


def make_picture():
    """Returns the picture of bench-opencv.py."""
    spec = importlib.util.spec_from_file_location(
        'opencv', os.path.join(
            os.path.dirname(__file__), '..', 'waldboost', 'bench-opencv.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make_picture()


def milliseconds(func):
    start = time.perf_counter()
    func()
    return (time.perf_counter() - start) * 1e3


class Ours:
    def __init__(self, program, folder):
        self.program = program
        self.path = os.path.join(folder, 'picture.pgm')

    def show(self, picture):
        cv2.imwrite(self.path, picture)

    def times(self, source, method, window, threads, rounds,
              mask='0xffffffff'):
        """Returns the times of each round for edges, votes and peaks; then the numbers of edges and
        lines, and the method."""
        lines = subprocess.run(
            [self.program, 'time', self.path, source, method, '180',
             str(window), str(threads), str(rounds)], check=True, text=True,
            capture_output=True, env=dict(os.environ, CUV_CPU_MASK=mask)
        ).stdout.splitlines()
        times = [[float(v) / 1e3 for v in line.split()] for line in lines[:-1]]
        return times, lines[-1].split()

    def median(self, *args):
        """Returns the medians over all rounds but the first."""
        times, counts = self.times(*args)
        return np.median(np.array(times[1:]), axis=0), counts


def compare(ours, picture, threads):
    """Alternates rounds of a few runs, so that load affects both equally."""
    cv2.setNumThreads(threads)
    edges = cv2.Canny(picture, 50, 100)
    canny, hough = [], []
    runs = {('auto', 90): [], ('ring', 90): [], ('ring', 10): []}
    for _ in range(ROUNDS):
        canny.append(milliseconds(lambda: cv2.Canny(picture, 50, 100)))
        hough.append(milliseconds(
            lambda: cv2.HoughLines(edges, 1, np.pi / 180, THRESHOLD)))
        for (method, window), times in runs.items():
            times.append(
                ours.times('canny', method, window, threads, 3)[0][-1])
    canny, hough = np.median(canny), np.median(hough)
    for (method, window), times in runs.items():
        e, v, p = np.median(np.array(times), axis=0)
        total = np.median(np.sum(times, axis=1))
        lines = np.median(np.sum(np.array(times)[:, 1:], axis=1))
        show(what='against OpenCV', threads=threads, method=method,
             window=window, edges_ms=e, votes_ms=v, peaks_ms=p, total_ms=total,
             opencv_canny_ms=canny, opencv_hough_ms=hough,
             total_ratio=(canny + hough) / total, lines_ratio=hough / lines)


def show(**values):
    print(json.dumps({k: round(float(v), 3) if isinstance(v, float) else v
                      for k, v in values.items()}), flush=True)


def report(ours, name, source, method, window, threads, rounds=ROUNDS,
           mask='0xffffffff'):
    (e, v, p), counts = ours.median(
        source, method, window, threads, rounds, mask)
    show(what=name, source=source, method=counts[2], window=window,
         threads=threads, avx2=mask != '0', edges=int(counts[0]),
         edges_ms=e, votes_ms=v, peaks_ms=p)


def main():
    if len(sys.argv) > 2:
        picture = cv2.imread(sys.argv[2], cv2.IMREAD_GRAYSCALE)
    else:
        picture = make_picture()
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(sys.argv[1], folder)
        ours.show(picture)
        for threads in (1, 2):
            compare(ours, picture, threads)
        for threads in (1, 2):
            for method in METHODS:
                report(ours, 'picture', 'canny', method, 90, threads)
            for method in ('shared', 'ring'):
                report(ours, 'picture', 'canny', method, 10, threads)
        for method in ('shared', 'gather'):
            report(ours, 'picture', 'canny', method, 90, 2, 7, '0')
        random = np.random.RandomState(1).rand(*picture.shape)
        for share in (0, 0.05, 0.1, 0.2, 0.3, 0.5, 1):
            ours.show((random < share).astype(np.uint8) * 255)
            for method in METHODS[1:]:
                report(ours, f'{100 * share:g} % edges', 'input', method, 90,
                       2, 7)
        ours.show(np.full((1080, 1), 255, np.uint8))
        report(ours, '1 x 1080', 'input', 'auto', 90, 2)
        for size in ((3840, 2160), (7680, 4320)):
            ours.show(cv2.resize(picture, size,
                                 interpolation=cv2.INTER_CUBIC))
            report(ours, '%d x %d' % size, 'canny', 'auto', 90, 2, 7)


main()
