#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares cuvision.groupRectangles() with OpenCV, and tests exceptions and constants."""

import copy
import os
import pickle
import random
import subprocess
import sys
import unittest

import cv2
import numpy

import cuvision
from cuvision import _library

EPS = 0.2, 0.2, 0, 0.05, 0.5, 0.7, 1, 1.5, 3, 1000, -0.1, -0.5, -3
FACES = cuvision.data.haarcascades + "haarcascade_frontalface_alt2.xml"


def some_rectangles(chance):
    """Returns rectangles alone and in heaps, some without an area."""
    most = chance.choice((3, 20, 100, 1000))
    least = chance.choice((1, 0, -5))
    heap = chance.choice((1, 8))
    rectangles = []
    for _ in range(chance.randrange(1, 60 // heap)):
        at = [chance.randrange(-most, 3 * most), chance.randrange(-most, 3 * most),
              chance.randrange(least, most), chance.randrange(least, most)]
        rectangles += [[side + chance.randrange(-heap // 3, heap // 3 + 1) for side in at]
                       for _ in range(heap)]
    return rectangles


class Rectangles(unittest.TestCase):
    def check(self, rectangles, *arguments):
        wanted = cv2.groupRectangles(rectangles, *arguments)
        found = cuvision.groupRectangles(rectangles, *arguments)
        for ours, theirs in zip(found, wanted):
            self.assertIs(type(ours), type(theirs), f"{rectangles} {arguments}")
            numpy.testing.assert_array_equal(ours, theirs, f"{rectangles} {arguments}")
            self.assertEqual(getattr(ours, "dtype", None), getattr(theirs, "dtype", None))
        return len(found[0])

    def test_random(self):
        seed = int(os.environ.get("CUV_TEST_SEED") or random.randrange(2**32))
        print(f"CUV_TEST_SEED={seed}", file=sys.stderr)
        chance = random.Random(seed)
        groups = sum(self.check(some_rectangles(chance), chance.randrange(-1, 5),
                                chance.choice(EPS)) for _ in range(3000))
        self.assertGreater(groups, 10000)

    def test_arguments(self):
        """The arguments are not changed; lists, tuples and arrays are taken."""
        rectangles = [(1, 2, 30, 40), (1, 2, 30, 40), (2, 2, 30, 40)]
        for kind in list, tuple, numpy.array, lambda rows: numpy.array(rows, numpy.uint8):
            given = kind(rectangles)
            before = copy.deepcopy(given)
            self.assertEqual(self.check(given, 1), 1)
            numpy.testing.assert_array_equal(given, before)
        numpy.testing.assert_array_equal(
            cuvision.groupRectangles(rectList=rectangles, groupThreshold=1, eps=0.1)[1], [3])
        for empty in [], (), numpy.zeros((0, 4), int):
            self.assertEqual(cuvision.groupRectangles(empty, 1), ((), ()))

    def test_wrong_arguments(self):
        rectangle = (1, 2, 3, 4)
        for arguments, kind, text in (
                (([(1, 2, 3)], 1), TypeError, "rows of four integers"),
                ((rectangle, 1), TypeError, "rows of four integers"),
                (([(1., 2., 3., 4.)], 1), TypeError, "rows of four integers"),
                (([rectangle], 1.5), TypeError, "groupThreshold is 1.5, not an integer"),
                (([(2**31, 2, 3, 4)], 1), ValueError, "exceeds 32 bits"),
                (([(2**30, 2, 3, 4)], 1), ValueError, r"not from -2\^28"),
                (([rectangle], 1, "a"), TypeError, "eps is 'a', not a number"),
                (([rectangle, rectangle[:3]], 1), TypeError, "rows of four integers"),
                (([rectangle], 1, float("nan")), ValueError, "eps is not from")):
            with self.assertRaisesRegex(kind, text):
                cuvision.groupRectangles(*arguments)

    def test_library(self):
        """What Python cannot pass."""
        self.assertEqual(_library.library.cuv_detect_group(None, 0, 1, 0.2, None), 0)
        self.assertEqual(_library.library.cuv_detect_group(None, 1, 1, 0.2, None), -1)
        self.assertEqual(_library.library.cuv_detect_group(None, -1, 1, 0.2, None), -1)


class Errors(unittest.TestCase):
    def test_types(self):
        """An exception is what the handlers of both modules catch."""
        for kind in cuvision.error, cv2.error, RuntimeError:
            with self.assertRaises(kind) as caught:
                cuvision.CascadeClassifier().detectMultiScale(numpy.zeros((9, 9), numpy.uint8))
            self.assertIn("call load()", caught.exception.msg)
            self.assertEqual(caught.exception.code, cv2.Error.StsError)
            for name in "err", "func", "file", "line":
                self.assertTrue(hasattr(caught.exception, name))
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertIs(type(again), type(caught.exception))
        self.assertEqual(str(again), str(caught.exception))

    def test_without_cv2(self):
        """The module does not import cv2."""
        code = ("import cuvision, sys\ntry:\n cuvision.groupRectangles([1], 1)\n"
                "except cuvision.error as error:\n print(isinstance(error, TypeError),"
                " 'cv2' in sys.modules)")
        self.assertEqual(subprocess.check_output([sys.executable, "-c", code]), b"True False\n")

    def test_old_format(self):
        self.assertEqual(cuvision.CascadeClassifier(FACES).isOldFormatCascade(),
                         cv2.CascadeClassifier(FACES).isOldFormatCascade())
        for module in cuvision, cv2:
            with self.assertRaises(cv2.error):
                module.CascadeClassifier().isOldFormatCascade()

    def test_constants(self):
        names = [name for name in dir(cv2) if name.startswith("CASCADE_")]
        self.assertEqual(len(names), 4)
        for name in names:
            self.assertEqual(getattr(cuvision, name), getattr(cv2, name))


if __name__ == "__main__":
    unittest.main()
