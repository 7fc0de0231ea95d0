#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pictures with __cuda_array_interface__.

--cpu: what is wrong with them; needs no GPU. --cuda: compares boxes with those of the same pixels
in host memory. Exit status 77: no GPU, driver or NumPy."""

import ctypes
import gc
import glob
import os
import sys
import tempfile
import threading
import unittest

try:
    import numpy
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import cuvision

# Windows that are brighter above and at the left, by more than their contrast's share.
CASCADE = """<?xml version="1.0"?><opencv_storage><cascade type_id="opencv-cascade-classifier">
<stageType>BOOST</stageType><featureType>HAAR</featureType><height>20</height><width>20</width>
<stageParams><maxWeakCount>1</maxWeakCount></stageParams>
<featureParams><maxCatCount>0</maxCatCount></featureParams><stageNum>2</stageNum><stages>
<_><maxWeakCount>1</maxWeakCount><stageThreshold>0.5</stageThreshold><weakClassifiers>
<_><internalNodes>0 -1 0 0.1</internalNodes><leafValues>0. 1.</leafValues></_></weakClassifiers></_>
<_><maxWeakCount>1</maxWeakCount><stageThreshold>0.5</stageThreshold><weakClassifiers>
<_><internalNodes>0 -1 1 0.1</internalNodes><leafValues>0. 1.</leafValues></_></weakClassifiers></_>
</stages><features>
<_><rects><_>0 0 20 20 -1.</_><_>0 0 20 10 2.</_></rects><tilted>0</tilted></_>
<_><rects><_>0 0 20 20 -1.</_><_>0 0 10 20 2.</_></rects><tilted>0</tilted></_></features>
</cascade></opencv_storage>"""
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models/cuvision-digit.xml")


def new_classifier():
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(CASCADE)
        file.flush()
        return cuvision.CascadeClassifier(file.name)


def noise(shape, seed=1):
    """Returns a picture of blurred noise."""
    coarse = numpy.random.default_rng(seed).integers(
        0, 256, (shape[0] // 6 + 1, shape[1] // 6 + 1) + shape[2:], numpy.uint8)
    return numpy.ascontiguousarray(
        coarse.repeat(6, axis=0).repeat(6, axis=1)[:shape[0], :shape[1]])


class Fake:
    """An array that is not in CUDA memory."""

    def __init__(self, shape, typestr="|u1", strides=None, **others):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (4096, False), "version": 3,
            "strides": strides, **others}


class Interface(unittest.TestCase):
    def test_wrong(self):
        classifier = new_classifier()
        for image, kind, text in (
                (Fake((30, 30), "<f4"), TypeError, "float32: convert it to uint8"),
                (Fake((30, 30), "<u2"), TypeError, "uint16: convert it to uint8"),
                (Fake((3, 30, 40)), ValueError, r"shape \(3, 30, 40\): height x width"),
                (Fake((30,)), ValueError, "shape"),
                (Fake((30, 40), strides=(80, 2)), ValueError, r"strides \(80, 2\).*ascontiguous"),
                (Fake((30, 40, 3), strides=(40, 1, 1200)), ValueError, "contiguous()"),
                (Fake((30, 40, 3), strides=(120, 3, -1)), ValueError, "contiguous()"),
                (Fake((30, 40), mask=Fake((30, 40))), ValueError, "mask: remove it"),
                (Fake((30, 40), stream=0), ValueError, "stream 0.*use 1, 2")):
            with self.assertRaisesRegex(kind, text) as caught:
                classifier.detectMultiScale(image)
            self.assertIsInstance(caught.exception, cuvision.error)

    def test_empty(self):
        classifier = new_classifier()
        self.assertEqual(classifier.detectMultiScale2(Fake((0, 30, 3))), ((), ()))

    def test_not_in_cuda_memory(self):
        """Without a driver, or with one that does not know the address."""
        with self.assertRaisesRegex(RuntimeError, "CUDA memory"):
            new_classifier().detectMultiScale(Fake((30, 30)))


class Device:
    """The first GPU, called by the driver."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.context, device = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)

    def call(self, name, *arguments):
        result = getattr(self.driver, name)(*arguments)
        if result != 0:
            raise OSError(f"{name}: CUDA's error {result}")

    def __enter__(self):
        self.call("cuCtxPushCurrent_v2", self.context)

    def __exit__(self, *_):
        self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


class OnDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = Device()

    def upload(self, pixels, pitch=0, stream=None):
        """Returns a copy of pixels with rows of pitch bytes, made by the work of a stream."""
        row = pixels.shape[1] * (pixels.shape[2] if pixels.ndim == 3 else 1)
        pitch = pitch or row
        padded = numpy.full((pixels.shape[0], pitch), 255, numpy.uint8)
        padded[:, :row] = pixels.reshape(pixels.shape[0], row)
        address = ctypes.c_uint64()
        with self.device:
            self.device.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(padded.size))
            self.device.call("cuMemcpyHtoDAsync_v2", address, ctypes.c_void_p(padded.ctypes.data),
                             ctypes.c_size_t(padded.size), ctypes.c_void_p(stream))
        self.addCleanup(self.free, address)
        strides = (pitch,) + ((pixels.shape[2], 1) if pixels.ndim == 3 else (1,))
        image = Fake(pixels.shape, strides=None if pitch == row else strides,
                     data=(address.value, True), stream=stream)
        image.keep = padded
        return image

    def free(self, address):
        with self.device:
            self.device.call("cuMemFree_v2", address)

    def check(self, pixels, image, classifier=None, **options):
        """Compares a search on the device with one in host memory. Returns the number of boxes."""
        wanted = new_classifier().detectMultiScale2(pixels, **options)
        found = (classifier or new_classifier()).detectMultiScale2(image, **options)
        for ours, theirs in zip(found, wanted):
            numpy.testing.assert_array_equal(ours, theirs)
        return len(found[0])

    def test_formats(self):
        for shape in (240, 320), (241, 319), (120, 160, 3), (121, 159, 4), (240, 320, 1):
            pixels = noise(shape)
            for pitch in 0, 1536:
                self.assertGreater(self.check(pixels, self.upload(pixels, pitch)), 3)

    def test_views(self):
        """A part of a picture, and one from the bottom row up."""
        pixels = noise((240, 320, 3))
        interface = self.upload(pixels).__cuda_array_interface__
        address, row = interface["data"][0], 320 * 3
        part = Fake((200, 250, 3), strides=(row, 3, 1), data=(address + 20 * row + 90, False))
        self.assertGreater(self.check(pixels[20:220, 30:280], part), 3)
        flipped = Fake((240, 320, 3), strides=(-row, 3, 1), data=(address + 239 * row, False))
        self.assertGreater(self.check(pixels[::-1], flipped), 3)

    def test_streams(self):
        stream = ctypes.c_void_p()
        with self.device:
            self.device.call("cuStreamCreate", ctypes.byref(stream), 1)
        pixels = noise((480, 640), 2)
        for which in None, 1, 2, stream.value:
            self.assertGreater(self.check(pixels, self.upload(pixels, stream=which)), 3)
        with self.device:
            self.device.call("cuStreamDestroy_v2", stream)

    def test_both(self):
        """One object searches in host memory and on the device in turn."""
        classifier = new_classifier()
        for i in range(6):
            pixels = noise((240, 320), i)
            image = self.upload(pixels) if i % 3 else pixels
            self.check(pixels, image, classifier, minNeighbors=i % 2)
        del classifier
        gc.collect()

    def test_threads(self):
        """In threads without a current context."""
        pixels = noise((240, 320))
        image, numbers = self.upload(pixels), []
        threads = [threading.Thread(target=lambda: numbers.append(self.check(pixels, image)))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(numbers)), 1)
        self.assertEqual(len(numbers), 4)

    def test_models(self):
        """Another kind of model, and OpenCV's cascades where they are installed."""
        pixels = noise((240, 320))
        image = self.upload(pixels)
        for name in [MODEL, *glob.glob("/usr/share/opencv4/*cascades/*.xml")[:6]]:
            ours, theirs = (cuvision.CascadeClassifier(name) for _ in range(2))
            numpy.testing.assert_array_equal(
                ours.detectMultiScale(image, 1.1, 0), theirs.detectMultiScale(pixels, 1.1, 0), name)

    def test_weights(self):
        image = self.upload(noise((240, 320)))
        with self.assertRaisesRegex(cuvision.error, "host memory only: copy the picture"):
            new_classifier().detectMultiScale3(image, outputRejectLevels=True)


if __name__ == "__main__":
    tests = Interface
    if sys.argv.pop(1) == "--cuda":
        try:
            Device()
        except OSError as error:
            print(f"skipped: {error}")
            sys.exit(77)
        tests = OnDevice
    unittest.main(defaultTest=tests.__name__)
