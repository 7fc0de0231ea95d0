#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Benchmark: cuvision.CascadeClassifier and OpenCV's in turn, on all of its cascades."""

import glob
import json
import statistics
import time

import cv2

import cuvision

PICTURE = cv2.imread("/usr/share/doc/opencv-doc/examples/data/messi5.jpg")
RUNS = 8


def seconds(classifier):
    start = time.perf_counter()
    classifier.detectMultiScale(PICTURE)
    return time.perf_counter() - start


best = []
for name in sorted(glob.glob("/usr/share/opencv4/*cascades/*.xml")):
    both = cuvision.CascadeClassifier(name), cv2.CascadeClassifier(name)
    runs = [[seconds(classifier) for classifier in both] for _ in range(RUNS)]
    best.append([min(times) for times in zip(*runs)])
ratios = [theirs / ours for ours, theirs in best]
print(json.dumps({
    "name": f"{len(best)} cascades", "cuvision_ms": round(1e3 * sum(b[0] for b in best)),
    "opencv_ms": round(1e3 * sum(b[1] for b in best)),
    "times_as_fast": [round(f(ratios), 1) for f in (min, statistics.median, max)]}))
