#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares cuvision.CascadeClassifier and libcuvdetect with OpenCV."""

import copy
import ctypes
import glob
import os
import pathlib
import pickle
import random
import subprocess
import sys
import tempfile
import threading
import unittest

import cv2
import numpy

import cuvision
from cuvision import _library

DATA = "/usr/share/doc/opencv-doc/examples/data/"
CASCADES = sorted(glob.glob("/usr/share/opencv4/*cascades/*.xml"))
FACES = cuvision.data.haarcascades + "haarcascade_frontalface_alt2.xml"
FEW = "CUV_CHECK_FEW" in os.environ
library = _library.library
# One stage, whose threshold every window exceeds.
ACCEPTS_ALL = """<?xml version="1.0"?><opencv_storage><cascade type_id="opencv-cascade-classifier">
<stageType>BOOST</stageType><featureType>HAAR</featureType><height>20</height><width>20</width>
<stageParams><maxWeakCount>1</maxWeakCount></stageParams>
<featureParams><maxCatCount>0</maxCatCount></featureParams><stageNum>1</stageNum>
<stages><_><maxWeakCount>1</maxWeakCount><stageThreshold>-9.</stageThreshold>
<weakClassifiers><_><internalNodes>0 -1 0 0.</internalNodes><leafValues>1. 1.</leafValues></_>
</weakClassifiers></_></stages>
<features><_><rects><_>0 0 10 10 -1.</_><_>0 0 10 5 2.</_></rects><tilted>0</tilted></_></features>
</cascade></opencv_storage>"""
# OpenCV's order of boxes depends on its number of threads.
cv2.setNumThreads(1)


def read(name, *flags):
    picture = cv2.imread(DATA + name, *flags)
    assert picture is not None, name
    return picture


class Equality(unittest.TestCase):
    def check(self, name, picture, *arguments, **options):
        wanted = cv2.CascadeClassifier(name).detectMultiScale2(picture, *arguments, **options)
        classifier = cuvision.CascadeClassifier(name)
        found = classifier.detectMultiScale2(picture, *arguments, **options)
        for ours, theirs in zip(found, wanted):
            self.assertIs(type(ours), type(theirs))
            numpy.testing.assert_array_equal(ours, theirs, f"{name} {arguments} {options}")
            self.assertEqual(getattr(ours, "dtype", None), getattr(theirs, "dtype", None))
        boxes = classifier.detectMultiScale(picture, *arguments, **options)
        numpy.testing.assert_array_equal(boxes, wanted[0])
        return len(found[0])

    def test_all_cascades(self):
        """Every cascade, grey and BGR, each with settings of its own."""
        seed = int(os.environ.get("CUV_TEST_SEED") or random.randrange(2**32))
        print(f"CUV_TEST_SEED={seed}", file=sys.stderr)
        chance = random.Random(seed)
        pictures = [read("messi5.jpg"), read("basketball1.png"), read("Blender_Suzanne1.jpg", 0)]
        total = self.check(FACES, pictures[0], minNeighbors=0)  # many, whatever the seed
        for name in CASCADES[::5] if FEW else CASCADES:
            picture = chance.choice(pictures)
            small = chance.randrange(10, 60)
            total += self.check(name, picture)
            total += self.check(
                name, picture[chance.randrange(40):, chance.randrange(40):],
                scaleFactor=chance.choice((1.05, 1.2, 1.5)), minNeighbors=chance.randrange(3),
                minSize=(small, small), maxSize=(small * 4, small * 5))
        self.assertGreater(total, 10)
        self.assertGreaterEqual(len(CASCADES), 21)

    def test_levels(self):
        """Levels and weights, bit for bit, grey and BGR, with and without groups."""
        total = 0
        for i, name in enumerate(CASCADES[::5] if FEW else CASCADES):
            picture = read("messi5.jpg", i % 2)[40:220, 180:380]
            for neighbors in 0, 1:
                wanted = cv2.CascadeClassifier(name).detectMultiScale3(
                    picture, 1.1, neighbors, outputRejectLevels=True)
                found = cuvision.CascadeClassifier(name).detectMultiScale3(
                    picture, 1.1, neighbors, outputRejectLevels=True)
                for ours, theirs in zip(found, wanted):
                    self.assertIs(type(ours), type(theirs))
                    numpy.testing.assert_array_equal(ours, theirs, f"{name} {neighbors}")
                    self.assertEqual(getattr(ours, "dtype", 0), getattr(theirs, "dtype", 0))
                total += len(found[0])
        self.assertGreater(total, 100)

    def test_without_levels(self):
        """Without outputRejectLevels OpenCV 4.6 returns boxes only if it finds none."""
        picture = read("messi5.jpg", 0)
        ours, theirs = cuvision.CascadeClassifier(FACES), cv2.CascadeClassifier(FACES)
        for image in picture[:30], picture:
            boxes, levels, weights = ours.detectMultiScale3(image)
            numpy.testing.assert_array_equal(boxes, theirs.detectMultiScale(image))
            self.assertEqual((levels, weights), ((), ()))

    def test_views(self):
        """Views of an array with any strides, without a change of the array."""
        whole = read("messi5.jpg")
        four = cv2.cvtColor(whole, cv2.COLOR_BGR2BGRA)
        views = [whole[20:300, 10:500], whole[::-1], whole[::-1, :, 1].copy()[::-1],
                 whole[:, ::-1], whole[::2, ::2], whole[:, :, ::-1],
                 whole[:, :, 1], whole[:, :, :1], numpy.asfortranarray(whole)]
        for view in views:
            before = view.copy()
            self.check(FACES, numpy.ascontiguousarray(view))
            wanted = cv2.CascadeClassifier(FACES).detectMultiScale(numpy.ascontiguousarray(view))
            classifier = cuvision.CascadeClassifier(FACES)
            numpy.testing.assert_array_equal(classifier.detectMultiScale(view), wanted)
            numpy.testing.assert_array_equal(view, before)
        numpy.testing.assert_array_equal(
            cuvision.CascadeClassifier(FACES).detectMultiScale(four),
            cv2.CascadeClassifier(FACES).detectMultiScale(whole))

    def test_sizes(self):
        """One object, pictures of many sizes, down to a pixel."""
        ours, theirs = cuvision.CascadeClassifier(FACES), cv2.CascadeClassifier(FACES)
        whole = read("messi5.jpg", 0)
        for height, width in ((342, 548), (120, 200), (342, 548), (20, 20), (19, 40), (1, 1)):
            picture = whole[60:60 + height, 180:180 + width]
            numpy.testing.assert_array_equal(
                ours.detectMultiScale(picture, 1.1, 0), theirs.detectMultiScale(picture, 1.1, 0))

    def test_limits(self):
        """Sizes as OpenCV takes them, also odd ones."""
        ours, theirs = cuvision.CascadeClassifier(FACES), cv2.CascadeClassifier(FACES)
        picture = read("messi5.jpg")[60:220, 180:340]
        for small, large in (((0, 0), (0, 30)), ((0, 0), (30, 0)), ((0, 0), (0, 1)),
                             ((-5, 5), (0, 0)), ((0, 0), (-1, -1)), ((0, 0), (-5, 90)),
                             ((40, 40), (30, 30)), ([25, 25], numpy.array([60, 60]))):
            wanted = theirs.detectMultiScale2(picture, 1.2, 0, 0, small, tuple(map(int, large)))
            found = ours.detectMultiScale2(picture, 1.2, 0, 0, small, large)
            numpy.testing.assert_array_equal(found[0], wanted[0], f"{small} {large}")
        for empty in numpy.zeros((0, 30), numpy.uint8), numpy.zeros((30, 0, 3), numpy.uint8):
            self.assertEqual(ours.detectMultiScale2(empty), theirs.detectMultiScale2(empty))

    def test_window(self):
        for name in CASCADES:
            self.assertEqual(cuvision.CascadeClassifier(name).getOriginalWindowSize(),
                             cv2.CascadeClassifier(name).getOriginalWindowSize())

    def test_threads(self):
        """Several threads with one object, and with one object each."""
        picture = read("messi5.jpg", 0)
        wanted = cv2.CascadeClassifier(FACES).detectMultiScale(picture)
        shared, found = cuvision.CascadeClassifier(FACES), []

        def run():
            own = cuvision.CascadeClassifier(FACES)
            for classifier in (shared, own) * 3:
                found.append(classifier.detectMultiScale(picture))

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 24)
        for boxes in found:
            numpy.testing.assert_array_equal(boxes, wanted)


class Trouble(unittest.TestCase):
    def test_load(self):
        classifier = cuvision.CascadeClassifier("missing.xml")
        self.assertTrue(classifier.empty())
        self.assertIn("missing.xml", classifier.error)
        with self.assertRaisesRegex(RuntimeError, "no cascade is loaded: call load.*missing.xml"):
            classifier.detectMultiScale(numpy.zeros((30, 30), numpy.uint8))
        self.assertEqual(classifier.getOriginalWindowSize(), (0, 0))
        self.assertTrue(classifier.load(FACES))
        self.assertFalse(classifier.empty())
        self.assertEqual(classifier.error, "")
        with tempfile.NamedTemporaryFile(suffix=".xml") as file:
            file.write(b"<opencv_storage>\n<cascade>\n")
            file.flush()
            self.assertFalse(classifier.load(file.name))
        self.assertRegex(classifier.error, "line [0-9]+: ")
        self.assertTrue(classifier.empty())

    def test_load_nothing(self):
        """A wrong name raises an error and keeps the cascade. Copies would share memory, so they
        raise an error, too."""
        classifier = cuvision.CascadeClassifier(FACES)
        for name, error in (3, TypeError), ("a\0b", ValueError):
            with self.assertRaises(error) as caught:
                classifier.load(name)
            self.assertIsInstance(caught.exception, cuvision.error)
            self.assertFalse(classifier.empty())
        for function in copy.copy, copy.deepcopy, pickle.dumps:
            with self.assertRaisesRegex(TypeError, "cannot be copied"):
                function(classifier)
        with self.assertRaises(TypeError):
            cuvision.CascadeClassifier(1, 2, 3)

    def test_no_library(self):
        code = "try:\n import cuvision\nexcept ImportError as error:\n print(error)"
        for path, text in (("/missing/libcuvdetect.so.0", "/missing.*: install libcuvdetect0 or the"),
                           ("libz.so.1", "libcuvdetect is older than this module")):
            found = subprocess.check_output([sys.executable, "-c", code], text=True,
                                            env={**os.environ, "CUV_DETECT_LIBRARY": path})
            self.assertRegex(found, text)

    def test_cv2_of_a_program(self):
        """A test's own cv2 has neither a folder nor a type of exceptions."""
        code = ("import sys, types; sys.modules['cv2'] = types.ModuleType('cv2'); import cuvision\n"
                "sys.modules['cv2'].error = 1\n"
                "try:\n cuvision.CascadeClassifier(3)\nexcept cuvision.error as error:\n print(error)")
        self.assertIn("not a path", subprocess.check_output([sys.executable, "-c", code], text=True))

    def test_folder_without_cascades(self):
        """opencv-python 5 has such a folder."""
        classifier = cuvision.CascadeClassifier("/nowhere/" + os.path.basename(FACES))
        self.assertRegex(classifier.error, "No such file.*; cuvision.data.haarcascades has a file")
        classifier.load("/nowhere/other.xml")
        self.assertNotIn("haarcascades", classifier.error)

    def test_too_many_windows(self):
        """A cascade that accepts every window."""
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(ACCEPTS_ALL)
            file.flush()
            classifier = cuvision.CascadeClassifier(file.name)
        self.assertFalse(classifier.empty(), classifier.error)
        noise = numpy.random.default_rng(1).integers(0, 256, (400, 400), numpy.uint8)
        with self.assertWarnsRegex(RuntimeWarning, "[0-9]+ windows were left out") as caught:
            self.assertEqual(len(classifier.detectMultiScale(noise, 1.1, 0)), 131072)
        self.assertEqual(caught.filename, __file__)

    def test_name_without_a_folder(self):
        self.assertTrue(cuvision.CascadeClassifier().load(os.path.basename(FACES)))
        self.assertTrue(cuvision.CascadeClassifier().load(pathlib.Path(FACES)))

    def test_pictures(self):
        classifier = cuvision.CascadeClassifier(FACES)
        for shape, dtype, error, text in (
                ((30, 30), numpy.float32, TypeError, "float32: convert it to uint8"),
                ((30,), numpy.uint8, ValueError, r"shape \(30,\): height x width"),
                ((30, 30, 2), numpy.uint8, ValueError, "1, 3 or 4"),
                ((2, 2, 2, 3), numpy.uint8, ValueError, "shape")):
            with self.assertRaisesRegex(error, text):
                classifier.detectMultiScale(numpy.zeros(shape, dtype))
        with self.assertRaisesRegex(TypeError, "None: was its file read"):
            classifier.detectMultiScale(None)

    def test_levels_of_other_models(self):
        """Only cascades have levels."""
        model = os.path.join(os.path.dirname(__file__), "../../models/cuvision-digit.xml")
        classifier = cuvision.CascadeClassifier(model)
        self.assertEqual(classifier.error, "")
        picture = numpy.zeros((100, 100), numpy.uint8)
        self.assertEqual(classifier.detectMultiScale3(picture), ((), (), ()))
        with self.assertRaisesRegex(ValueError, "OpenCV's cascades only"):
            classifier.detectMultiScale3(picture, outputRejectLevels=True)

    def test_options(self):
        classifier = cuvision.CascadeClassifier(FACES)
        picture = read("messi5.jpg", 0)
        for options, text in (({"scaleFactor": 1.0}, "scaleFactor is 1.0: use 1.001 or more"),
                              ({"scaleFactor": float("nan")}, "scaleFactor is nan"),
                              ({"minNeighbors": 2**32}, "minNeighbors is 4294967296"),
                              ({"minSize": (2**32 + 30, 30)}, "minSize is")):
            with self.assertRaisesRegex(ValueError, text):
                classifier.detectMultiScale(picture, **options)
        for options in ({"minNeighbors": 1.5}, {"minSize": "30"}, {"maxSize": (3.5, 4)},
                        {"scaleFactor": "1.1"}, {"scaleFactor": None}):
            with self.assertRaisesRegex(TypeError, f"^{list(options)[0]} is ") as caught:
                classifier.detectMultiScale(picture, **options)
            self.assertIsInstance(caught.exception, cuvision.error)
        self.assertEqual(len(classifier.detectMultiScale(picture)), 2)


class Library(unittest.TestCase):
    """What the class does not use."""

    def setUp(self):
        error = ctypes.c_void_p()
        self.model = ctypes.c_void_p(
            library.cuv_detect_model_load(FACES.encode(), ctypes.byref(error)))
        self.options = _library.Options()
        library.cuv_detect_options_init(ctypes.byref(self.options), ctypes.sizeof(self.options))
        self.addCleanup(library.cuv_detect_model_free, self.model)

    def new(self, n=1):
        """Returns a detector, or the text of an error."""
        error = ctypes.c_void_p()
        detect = library.cuv_detect_new(
            ctypes.byref(self.model), n, ctypes.byref(self.options), ctypes.byref(error))
        if detect is None:
            return _library.take_text(error)
        self.addCleanup(library.cuv_detect_free, detect)
        return ctypes.c_void_p(detect)

    def run_on(self, detect, picture):
        """Returns the detections, or the text of an error."""
        error, found = ctypes.c_void_p(), ctypes.POINTER(_library.Detection)()
        n = library.cuv_detect_run(
            detect, ctypes.byref(picture), ctypes.byref(found), ctypes.byref(error))
        if n < 0:
            return _library.take_text(error)
        return [(d.x, d.y, d.width, d.height, d.rotation) for d in found[:n]]

    @staticmethod
    def picture(kind, pixels, *planes):
        """Makes a picture of kind, a value of CuvDetectFormat."""
        picture = _library.Picture(kind, pixels.shape[1], pixels.shape[0])
        for i, plane in enumerate((pixels, *planes)):
            picture.planes[i], picture.strides[i] = plane.ctypes.data, plane.strides[0]
        return picture

    def test_formats(self):
        """All formats whose grey is the same have the same objects."""
        grey = read("messi5.jpg", 0)
        wanted = self.run_on(self.new(), self.picture(0, grey))
        self.assertEqual(len(wanted), 2)
        chroma = numpy.full((171, 274), 128, numpy.uint8)
        both = numpy.full((171, 548), 128, numpy.uint8)
        self.assertEqual(self.run_on(self.new(), self.picture(5, grey, both)), wanted)
        self.assertEqual(self.run_on(self.new(), self.picture(6, grey, chroma, chroma)), wanted)
        for kind, n in ((1, 3), (2, 3), (3, 4), (4, 4)):
            pixels = numpy.ascontiguousarray(numpy.repeat(grey[:, :, None], n, axis=2))
            self.assertEqual(self.run_on(self.new(), self.picture(kind, pixels)), wanted)

    def test_order_of_channels(self):
        bgr = read("messi5.jpg")
        wanted = self.run_on(self.new(), self.picture(2, bgr))
        rgb = numpy.ascontiguousarray(bgr[:, :, ::-1])
        self.assertEqual(self.run_on(self.new(), self.picture(1, rgb)), wanted)
        rgba = cv2.cvtColor(bgr, cv2.COLOR_BGR2RGBA)
        self.assertEqual(self.run_on(self.new(), self.picture(3, rgba)), wanted)

    def test_part(self):
        """A part of a picture is searched like a picture of its own."""
        grey = read("messi5.jpg", 0)
        part = numpy.ascontiguousarray(grey[50:300, 100:420])
        inside = self.run_on(self.new(), self.picture(0, part))
        self.assertGreater(len(inside), 0)
        self.options.left, self.options.top = 100, 50
        self.options.right, self.options.bottom = 420, 300
        self.assertEqual(self.run_on(self.new(), self.picture(0, grey)),
                         [(x + 100, y + 50, w, h, r) for x, y, w, h, r in inside])

    def test_rotations(self):
        """A picture turned by a quarter has its objects in that rotation."""
        grey = read("messi5.jpg", 0)
        upright = self.run_on(self.new(), self.picture(0, grey))
        turned = numpy.ascontiguousarray(numpy.rot90(grey, -1))
        self.assertEqual(self.run_on(self.new(), self.picture(0, turned)), [])
        self.options.n_rotations, self.options.rotations[0] = 1, 90
        found = self.run_on(self.new(), self.picture(0, turned))
        self.assertEqual([(y, 342 - x - w, h, w) for x, y, w, h, _ in found],
                         [box[:4] for box in upright])
        self.assertEqual({r for *_, r in found}, {90})

    def test_weights(self):
        """A part of a picture in another format has the weights of a grey picture."""
        grey = numpy.ascontiguousarray(read("messi5.jpg", 0)[40:260, 100:420])
        self.options.weights = 1
        wanted = self.weights_in(self.picture(0, grey))
        self.assertGreater(len(wanted), 0)
        whole = numpy.zeros((280, 440, 4), numpy.uint8)
        whole[40:260, 100:420] = grey[:, :, None]
        self.options.left, self.options.top = 100, 40
        self.options.right, self.options.bottom = 420, 260
        self.assertEqual(self.weights_in(self.picture(4, whole)), wanted)
        self.options.weights = 0
        self.assertEqual({*self.weights_in(self.picture(4, whole))}, {(0.0, 0)})

    def weights_in(self, picture):
        error, found = ctypes.c_void_p(), ctypes.POINTER(_library.Detection)()
        n = library.cuv_detect_run(
            self.new(), ctypes.byref(picture), ctypes.byref(found), ctypes.byref(error))
        return [(d.weight, d.n_stages) for d in found[:n]]

    def test_weights_alone(self):
        """Weights exclude rotations, upscale and CUDA memory."""
        self.options.weights, self.options.upscale = 1, 2
        self.assertIn("without rotations and upscale", self.new())
        self.options.upscale, self.options.n_rotations = 1, 1
        self.assertIn("without rotations and upscale", self.new())

    def test_wrong_options(self):
        for name, value, text in (
                ("size", 4, "cuv_detect_options_init"), ("upscale", 9, "1 to 8"),
                ("n_rotations", 13, "0 to 12"), ("left", -1, "part to search"),
                ("right", 5, "part to search"), ("bottom", 5, "part to search"),
                ("size", 10**6, "cuv_detect_options_init"), ("grouping", 5, "CuvDetectGrouping"),
                ("min_neighbors", -1, "min_neighbors"), ("nms_iou", 1.5, "nms_iou"),
                ("nms_inside", float("nan"), "nms_inside"), ("n_threads", -1, "n_threads")):
            before = getattr(self.options, name)
            setattr(self.options, name, value)
            self.assertIn(text, self.new())
            setattr(self.options, name, before)
        self.options.n_rotations, self.options.rotations[0] = 1, 181
        self.assertIn("-180 to 180", self.new())
        self.options.n_rotations = 0
        for n in 0, 17:
            self.assertIn("1 to 16", self.new(n))
        self.model, model = ctypes.c_void_p(), self.model
        self.assertIn("a model is NULL", self.new())
        self.model = model

    def test_smaller_options(self):
        """A program compiled before the last fields were added gets their defaults."""
        known = _library.Options.min_neighbors.offset
        size = ctypes.sizeof(self.options)
        memory = (ctypes.c_uint8 * size)(*[0xff] * size)
        library.cuv_detect_options_init(
            ctypes.cast(memory, ctypes.POINTER(_library.Options)), known)
        self.assertEqual(set(memory[known:]), {0xff})
        grey = read("messi5.jpg", 0)
        wanted = self.run_on(self.new(), self.picture(0, grey))
        self.options = _library.Options.from_buffer(memory)
        self.assertEqual(self.run_on(self.new(), self.picture(0, grey)), wanted)

    def test_wrong_pictures(self):
        grey = numpy.zeros((40, 40), numpy.uint8)
        for name, value, text in (("format", 7, "CuvDetectFormat"), ("width", 0, "below 1"),
                                  ("height", -1, "below 1")):
            picture = self.picture(0, grey)
            setattr(picture, name, value)
            self.assertIn(text, self.run_on(self.new(), picture))
        picture = self.picture(5, grey)
        self.assertIn("plane of the picture is NULL", self.run_on(self.new(), picture))
        picture = self.picture(0, grey)
        picture.strides[0] = 2**40
        self.assertIn("32 bits", self.run_on(self.new(), picture))
        self.options.upscale = 8
        large = numpy.zeros((1, 1), numpy.uint8)
        picture = self.picture(0, large)
        picture.width = picture.height = 5000
        self.assertIn("too large", self.run_on(self.new(), picture))

    def test_without_gstreamer(self):
        path = os.environ["CUV_DETECT_LIBRARY"]
        needed = subprocess.check_output(["readelf", "-d", path], text=True)
        self.assertIn("NEEDED", needed)
        self.assertNotRegex(needed, "NEEDED.*(gst|orc)")


if __name__ == "__main__":
    unittest.main()
