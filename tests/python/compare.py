#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares cuvision.CascadeClassifier with the class of any cv2 that has it: all cascades of
Debian's opencv-data, six settings, pictures that are drawn or cut from Debian's own.

Prints a line for each difference, and a summary as JSON. Exit status 1: there are differences.
Picture number i of a seed is always the same, also with another --pictures."""

import argparse
import collections
import glob
import json
import os
import random
import sys
import time

import cv2
import numpy

import cuvision

CASCADES = "/usr/share/opencv4/*cascades/*.xml"
PHOTOGRAPHS = ("/usr/share/doc/opencv-doc/examples/data/*.*g",
               "/usr/lib/python3/dist-packages/skimage/data/*.*g")
SETTINGS = (
    {},
    {"scaleFactor": 1.05, "minNeighbors": 1},
    {"scaleFactor": 1.3, "minNeighbors": 0},
    {"minNeighbors": 2, "minSize": (30, 30)},
    {"scaleFactor": 1.2, "minNeighbors": 0, "maxSize": (90, 90)},
    {"scaleFactor": 1.15, "minNeighbors": 5, "minSize": (25, 20), "maxSize": (160, 200)},
)


def drawn(chance, width, height):
    """Draws ellipses, bars and eyes on a gradient, with noise."""
    noise = numpy.random.default_rng(chance.randrange(2**32))
    ramp = numpy.linspace(chance.randrange(256), chance.randrange(256), width)
    picture = numpy.broadcast_to(ramp[None, :, None], (height, width, 3)).astype(
        numpy.uint8, order="C")
    for _ in range(chance.randrange(2, 12)):
        x, y = chance.randrange(width), chance.randrange(height)
        w = chance.randrange(6, 90)
        colour = [chance.randrange(256) for _ in range(3)]
        if chance.random() < 0.3:
            cv2.rectangle(picture, (x, y), (x + w, y + chance.randrange(3, 60)), colour, -1)
            continue
        cv2.ellipse(picture, (x, y), (w // 2 + 1, w * 2 // 3 + 1), chance.randrange(-20, 21), 0,
                    360, colour, -1)
        for side in -1, 1:
            cv2.circle(picture, (x + side * w // 5, y - w // 6), w // 12 + 1, (20, 20, 20), -1)
        cv2.line(picture, (x - w // 6, y + w // 3), (x + w // 6, y + w // 3), (40, 40, 90), 2)
    picture = cv2.GaussianBlur(picture, (5, 5), chance.choice((0.5, 1, 2)))
    spread = chance.choice((1, 4, 15))
    return numpy.clip(picture + noise.normal(0, spread, picture.shape), 0, 255).astype(numpy.uint8)


def cut(chance, width, height, photographs):
    """Cuts out a part of a photograph at some scale."""
    while True:
        photograph = cv2.imread(chance.choice(photographs))
        if photograph is not None:
            break
    rows, columns = photograph.shape[:2]
    scale = chance.uniform(0.3, 1) * min(columns / width, rows / height)
    w, h = max(1, int(width * scale)), max(1, int(height * scale))
    x, y = chance.randrange(columns - w + 1), chance.randrange(rows - h + 1)
    return cv2.resize(photograph[y:y + h, x:x + w], (width, height), interpolation=cv2.INTER_AREA)


def picture_number(seed, i, photographs):
    """Makes a picture, grey or BGR."""
    chance = random.Random(f"{seed} {i}")
    width, height = chance.randrange(30, 321), chance.randrange(30, 241)
    picture = drawn(chance, width, height) if i % 2 else cut(chance, width, height, photographs)
    return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) if chance.random() < 0.5 else picture


def equal(ours, theirs):
    return type(ours) is type(theirs) and numpy.array_equal(ours, theirs) \
        and getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)


def difference(both, picture, options, levels):
    """Returns the number of boxes, and which of the results differ."""
    method, names = ("detectMultiScale3", ("boxes", "levels", "weights")) if levels \
        else ("detectMultiScale2", ("boxes", "neighbors"))
    if levels:
        options = {**options, "outputRejectLevels": True}
    found, wanted = (getattr(classifier, method)(picture, **options) for classifier in both)
    return len(wanted[0]), [name for name, ours, theirs in zip(names, found, wanted)
                            if not equal(ours, theirs)]


def compare(arguments, photographs):
    """Returns a summary."""
    cascades = {
        os.path.basename(name): (cuvision.CascadeClassifier(name), cv2.CascadeClassifier(name))
        for name in sorted(glob.glob(CASCADES))}
    counts, differences = collections.Counter(), collections.Counter()
    for i in range(arguments.first, arguments.first + arguments.pictures):
        picture = picture_number(arguments.seed, i, photographs)
        for number, (name, both) in enumerate(cascades.items()):
            for setting, options in enumerate(SETTINGS):
                boxes, which = difference(both, picture, options, (i + number + setting) % 2)
                counts["searches"] += 1
                counts["boxes"] += boxes
                if which:
                    differences[name] += 1
                    print(f"picture {i}, {name}, {options}: {', '.join(which)} differ")
        if i % 50 == 49:
            print(f"picture {i}: {counts['boxes']} boxes", file=sys.stderr)
    return {"opencv": cv2.__version__, "seed": arguments.seed, "first": arguments.first,
            "pictures": arguments.pictures, "cascades": len(cascades), **counts,
            "different": differences.total(), "different_by_cascade": dict(differences)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="CUV_TEST_SEED by default, else a random one",
                        default=os.environ.get("CUV_TEST_SEED") or random.randrange(2**32))
    parser.add_argument("--pictures", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first picture")
    arguments = parser.parse_args()
    photographs = sorted(name for pattern in PHOTOGRAPHS for name in glob.glob(pattern))
    cv2.setNumThreads(1)  # OpenCV's order of boxes depends on it
    start = time.process_time()
    print(f"seed {arguments.seed}, {len(photographs)} photographs", file=sys.stderr)
    summary = compare(arguments, photographs)
    summary["cpu_s"] = round(time.process_time() - start)
    print(json.dumps(summary))
    sys.exit(summary["different"] > 0 or summary["cascades"] < 21)


main()
