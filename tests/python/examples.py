#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the example programs for pictures, with OpenCV's class as the oracle.

usage: examples.py FOLDER-OF-EXAMPLES"""

import csv
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import cv2
import numpy

DATA = "/usr/share/doc/opencv-doc/examples/data/"
MODEL = "haarcascade_frontalface_alt2.xml"
FOLDER = sys.argv.pop(1)


def oracle(picture, **options):
    cv2.setNumThreads(1)
    return cv2.CascadeClassifier("/usr/share/opencv4/haarcascades/" + MODEL).detectMultiScale2(
        picture, **options)


class FolderCsv(unittest.TestCase):
    def run_on(self, *arguments):
        return subprocess.run([f"{FOLDER}/folder-csv.py", *arguments], capture_output=True,
                              text=True, check=False)

    def test_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/a, b")
            for to in "a, b/1.jpg", "2.jpg":
                shutil.copy(DATA + "messi5.jpg", f"{folder}/{to}")
            shutil.copy(DATA + "graf1.png", folder)
            with open(f"{folder}/3.jpg", "w", encoding="utf-8") as file:
                file.write("no picture")
            ran = self.run_on(MODEL, folder)
            rows = list(csv.reader(ran.stdout.splitlines()))
            self.assertEqual(rows[0], ["file", "x", "y", "width", "height", "windows"])
            wanted = []
            for path in f"{folder}/2.jpg", f"{folder}/graf1.png", f"{folder}/a, b/1.jpg":
                boxes, windows = oracle(cv2.imread(path))
                wanted += [[path, *map(str, box), str(n)] for box, n in zip(boxes, windows)]
            self.assertGreaterEqual(len(wanted), 4)
            self.assertEqual(rows[1:], wanted)
            self.assertEqual(ran.stderr, f"skipped: {folder}/3.jpg is not a picture\n")

    def test_wrong(self):
        self.assertIn("folder-csv.py MODEL FOLDER", self.run_on().stderr)
        ran = self.run_on("missing.xml", ".")
        self.assertRegex(ran.stderr, "^folder-csv.py: .*missing.xml")
        self.assertEqual(ran.returncode, 1)
        ran = self.run_on("haarcascade_frontalface_alt2.xml", "missing")
        self.assertEqual(ran.stderr, "folder-csv.py: 'missing' is not a folder\n")


class Webcam(unittest.TestCase):
    def shown(self, *arguments, key=-1):
        """Returns the pictures that the program shows."""
        pictures = []
        with mock.patch.object(cv2, "imshow", lambda _, picture: pictures.append(picture.copy())), \
                mock.patch.object(cv2, "waitKey", lambda _: key), \
                mock.patch.object(sys, "argv", ["webcam.py", *arguments]):
            runpy.run_path(f"{FOLDER}/webcam.py", run_name="__main__")
        return pictures

    def test_boxes(self):
        """A picture is a video of one frame."""
        _, wanted = cv2.VideoCapture(DATA + "messi5.jpg").read()
        boxes, _ = oracle(wanted, minSize=(40, 40))
        self.assertGreater(len(boxes), 0)
        for x, y, w, h in boxes:
            cv2.rectangle(wanted, (x, y), (x + w, y + h), (0, 255, 0), 2)
        (shown,) = self.shown(MODEL, DATA + "messi5.jpg")
        numpy.testing.assert_array_equal(shown, wanted)

    def test_key(self):
        self.assertEqual(len(self.shown(MODEL, DATA + "Megamind.avi", key=ord("q"))), 1)

    def test_wrong(self):
        with self.assertRaisesRegex(SystemExit, "cannot open 'missing.avi'"):
            self.shown(MODEL, "missing.avi")
        with self.assertRaisesRegex(SystemExit, "webcam.py: .*missing.xml"):
            self.shown("missing.xml")


if __name__ == "__main__":
    unittest.main()
