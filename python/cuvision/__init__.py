# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds objects in pictures with boosted classifiers, without GStreamer.

CascadeClassifier has the methods and the results of OpenCV's class of this name, which OpenCV 5
no longer has in its package for Python:

    import cuvision
    faces = cuvision.CascadeClassifier(cuvision.data.haarcascades
                                       + "haarcascade_frontalface_alt2.xml")
    for x, y, w, h in faces.detectMultiScale(picture):
        ...

Pictures are NumPy arrays of uint8: grey (height x width), or BGR or BGRA (height x width x 3 or
4), as OpenCV reads them. They are not copied if the pixels of a row follow each other.
"""

import ctypes
import os
import threading
from typing import Optional, Sequence, Tuple, Union

import numpy

from . import data
from ._library import BGR, BGRA, GREY, Detection, Options, Picture, library, take_text

__all__ = ["CascadeClassifier", "data"]

_GROUP_NEIGHBORS = 2  # CUV_DETECT_GROUP_NEIGHBORS


def _picture_of(image):
    """Returns a Picture, and the array that has its pixels."""
    image = numpy.asarray(image)
    if image.dtype != numpy.uint8:
        raise TypeError(f"the picture has values of type {image.dtype}: convert it to uint8")
    channels = image.shape[2] if image.ndim == 3 else 1
    if image.ndim not in (2, 3) or channels not in (1, 3, 4) or 0 in image.shape:
        raise ValueError(
            f"the picture has the shape {image.shape}: height x width for grey, or with 1, 3 or 4"
            " channels of BGR(A) as a third dimension")
    if image.strides[1] != channels or (image.ndim == 3 and image.strides[2] != 1):
        image = numpy.ascontiguousarray(image)
    picture = Picture({1: GREY, 3: BGR, 4: BGRA}[channels], image.shape[1], image.shape[0])
    picture.planes[0] = image.ctypes.data
    picture.strides[0] = image.strides[0]
    return picture, image


class CascadeClassifier:
    """An OpenCV cascade with Haar or LBP features. Objects of this class may be used by several
    threads, one at a time; the interpreter's lock is released while a picture is searched."""

    def __init__(self, filename: Union[str, "os.PathLike[str]"] = "") -> None:
        """Loads a cascade, if a name is given; empty() says whether that failed."""
        self._lock = threading.Lock()
        self._model: Optional[ctypes.c_void_p] = None
        self._detect: Optional[ctypes.c_void_p] = None
        self._options = b""
        self.error = ""  # why the last load() failed
        if filename:
            self.load(filename)

    def __del__(self) -> None:
        self._close()

    def _close(self):
        if self._detect is not None:
            library.cuv_detect_free(self._detect)
        if self._model is not None:
            library.cuv_detect_model_free(self._model)
        self._detect = self._model = None

    def load(self, filename: Union[str, "os.PathLike[str]"]) -> bool:
        """Loads a cascade from an XML, YAML or JSON file, which may be compressed with gzip. A
        name without a folder is also searched for in the folders of CUV_MODEL_PATH and in those
        of OpenCV's packages. Returns False if that fails; then error says why."""
        error = ctypes.c_void_p()
        with self._lock:
            self._close()
            model = library.cuv_detect_model_load(os.fsencode(filename), ctypes.byref(error))
            self.error = take_text(error) if model is None else ""
            self._model = None if model is None else ctypes.c_void_p(model)
        return model is not None

    def empty(self) -> bool:
        """Returns whether no cascade is loaded."""
        return self._model is None

    def getOriginalWindowSize(self) -> Tuple[int, int]:
        """Returns width and height of the cascade's window, in pixels."""
        width, height = ctypes.c_int(), ctypes.c_int()
        with self._lock:
            if self._model is not None:
                library.cuv_detect_model_window(
                    self._model, ctypes.byref(width), ctypes.byref(height))
        return width.value, height.value

    def detectMultiScale(
        self,
        image: numpy.ndarray,
        scaleFactor: float = 1.1,
        minNeighbors: int = 3,
        flags: int = 0,
        minSize: Optional[Sequence[int]] = None,
        maxSize: Optional[Sequence[int]] = None,
    ) -> Union[numpy.ndarray, Tuple[()]]:
        """Finds objects of different sizes.

        image: uint8, grey or BGR(A)
        scaleFactor: ratio of the sizes that are searched for, above 1
        minNeighbors: an object needs more than so many windows that agree; 0 returns all windows
        flags: not used
        minSize, maxSize: width and height of the smallest and largest objects, in pixels

        Returns the boxes, an array with a row x, y, width, height (int32) for each, or an empty
        tuple."""
        return self.detectMultiScale2(image, scaleFactor, minNeighbors, flags, minSize, maxSize)[0]

    def detectMultiScale2(
        self,
        image: numpy.ndarray,
        scaleFactor: float = 1.1,
        minNeighbors: int = 3,
        flags: int = 0,
        minSize: Optional[Sequence[int]] = None,
        maxSize: Optional[Sequence[int]] = None,
    ) -> Tuple[Union[numpy.ndarray, Tuple[()]], Union[numpy.ndarray, Tuple[()]]]:
        """Like detectMultiScale(), but returns the boxes and for each the number of windows that
        agree on it (int32)."""
        options = Options()
        library.cuv_detect_options_init(ctypes.byref(options))
        options.scale_factor = scaleFactor
        options.min_neighbors = max(minNeighbors, 0)
        if minSize is not None:
            options.min_width, options.min_height = map(int, minSize)
        if maxSize is not None:
            options.max_width, options.max_height = map(int, maxSize)
        options.grouping = _GROUP_NEIGHBORS
        found = self._run(image, options)
        if not len(found):
            return (), ()
        boxes = [found[name] for name in ("x", "y", "width", "height")]
        return numpy.stack(boxes, axis=1), found["neighbors"].copy()

    def _run(self, image, options):
        """Returns the detections, an array of structs."""
        picture, _pixels = _picture_of(image)
        found, error = ctypes.POINTER(Detection)(), ctypes.c_void_p()
        with self._lock:
            self._open(options)
            n = library.cuv_detect_run(self._detect, ctypes.byref(picture), ctypes.byref(found),
                                       ctypes.byref(error))
            if n < 0:
                raise RuntimeError(take_text(error))
            kinds = numpy.dtype(Detection)
            return numpy.frombuffer(ctypes.string_at(found, n * kinds.itemsize), kinds) \
                if n else numpy.empty(0, kinds)

    def _open(self, options):
        """Makes a detector, unless the last one has the same options."""
        if self._model is None:
            raise RuntimeError("no cascade is loaded: call load()" +
                               (f" ({self.error})" if self.error else ""))
        if self._detect is not None and bytes(options) == self._options:
            return
        if self._detect is not None:
            library.cuv_detect_free(self._detect)
        error = ctypes.c_void_p()
        detect = library.cuv_detect_new(ctypes.byref(self._model), 1, ctypes.byref(options),
                                        ctypes.byref(error))
        self._detect = None if detect is None else ctypes.c_void_p(detect)
        self._options = bytes(options)
        if detect is None:
            raise ValueError(take_text(error))
