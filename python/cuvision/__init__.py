# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds objects in pictures with boosted classifiers, without GStreamer.

CascadeClassifier has the methods and the results of OpenCV's class of this name, which the package
opencv-python no longer has in version 5:

    import cuvision
    faces = cuvision.CascadeClassifier(cuvision.data.haarcascades
                                       + "haarcascade_frontalface_alt2.xml")
    for x, y, w, h in faces.detectMultiScale(picture):
        ...

Pictures are NumPy arrays of uint8: grey (height x width), or BGR or BGRA (height x width x 3 or
4), as OpenCV reads them. They are not copied if the pixels of a row follow each other. Arrays of
CuPy and CUDA tensors of PyTorch (__cuda_array_interface__) are searched on the GPU, where they are.
"""

import ctypes
import os
import threading
import warnings
from typing import Any, Optional, Sequence, Tuple, Union

import numpy

from . import _cuda, data
from ._errors import error, problem
from ._library import Detection, Options, library, take_text
from ._picture import integer, picture_of, real, size
from ._train import train

__all__ = ["CascadeClassifier", "data", "error", "groupRectangles", "train",
           "CASCADE_DO_CANNY_PRUNING", "CASCADE_DO_ROUGH_SEARCH", "CASCADE_FIND_BIGGEST_OBJECT",
           "CASCADE_SCALE_IMAGE"]

# Flags, without effect, as in OpenCV since version 3.
CASCADE_DO_CANNY_PRUNING = 1
CASCADE_SCALE_IMAGE = 2
CASCADE_FIND_BIGGEST_OBJECT = 4
CASCADE_DO_ROUGH_SEARCH = 8


def __dir__() -> Sequence[str]:
    """Returns what completion of names offers: no helpers."""
    return sorted(__all__)


_Image = Union[numpy.ndarray, Any]  # Any: with __cuda_array_interface__
_Array = Union[numpy.ndarray, Any]  # Any: an empty tuple, as OpenCV returns it
_BOX = "x", "y", "width", "height"


def _boxes_in(found):
    return numpy.stack([found[name] for name in _BOX], axis=1) if len(found) else ()


def _hint(name):
    """Returns what else to say of a cascade that could not be loaded: the package opencv-python has
    the folder of cascades in version 5, but no cascades."""
    path = os.path.join(os.fsencode(data.haarcascades), os.path.basename(name))
    return "; cuvision.data.haarcascades has a file of this name" if os.path.isfile(path) else ""


def _column(found, name):
    """Returns a field of the detections, an array of structs or an empty tuple."""
    return found[name].copy() if len(found) else ()


def groupRectangles(
    rectList: Union[Sequence[Sequence[int]], numpy.ndarray], groupThreshold: int, eps: float = 0.2
) -> Tuple[_Array, _Array]:
    """Groups similar rectangles, as OpenCV does after a search.

    rectList: rectangles x, y, width, height
    groupThreshold: a group needs more than so many rectangles; 0 returns all rectangles
    eps: largest distance of similar rectangles' edges, relative to the mean of the smaller width
        and the smaller height

    Returns the mean of each group, and its number of rectangles (both int32)."""
    try:
        rectangles = numpy.asarray(rectList)
    except ValueError:  # rows of different lengths
        rectangles = numpy.array([""])
    if rectangles.size == 0:
        return (), ()
    if rectangles.dtype.kind not in "iu" or rectangles.ndim != 2 or rectangles.shape[1] != 4:
        raise problem(TypeError, "rectList needs rows of four integers: x, y, width, height")
    if rectangles.min() < -2**31 or rectangles.max() >= 2**31:
        raise problem(ValueError, "a rectangle in rectList exceeds 32 bits")
    boxes = numpy.zeros(len(rectangles), Detection)
    for i, name in enumerate(_BOX):
        boxes[name] = rectangles[:, i]
    text = ctypes.c_void_p()
    n = library.cuv_detect_group(
        boxes.ctypes.data, len(boxes), integer(groupThreshold, "groupThreshold"),
        real(eps, "eps"),
        ctypes.byref(text))
    if n < 0:
        raise problem(ValueError, take_text(text))
    return _boxes_in(boxes[:n]), _column(boxes[:n], "neighbors")


class CascadeClassifier:
    """An OpenCV cascade with Haar or LBP features, or another model that waldboostdetect reads.
    Several threads may use an object, one at a time; the interpreter's lock is released while a
    picture is searched. The child of a fork needs objects of its own."""

    _detect = _model = None  # pointers, as ctypes.c_void_p
    _context = None  # in which _detect works, see _cuda.context_of()

    def __init__(self, filename: Union[str, "os.PathLike[str]"] = "") -> None:
        """Loads a model, if a name is given; empty() says whether that failed."""
        self._lock = threading.Lock()
        self._options = b""
        self.error = ""  # why the last load() failed
        if filename:
            self.load(filename)

    def __del__(self) -> None:
        self._close()

    def __reduce__(self):
        raise TypeError("a CascadeClassifier cannot be copied: load the file again")

    def _free_detect(self):
        detect, self._detect = self._detect, None
        if detect is not None:
            with _cuda.current(self._context):
                library.cuv_detect_free(detect)

    def _close(self):
        self._free_detect()
        model, self._model = self._model, None
        if model is not None:
            library.cuv_detect_model_free(model)

    def load(self, filename: Union[str, "os.PathLike[str]"]) -> bool:
        """Loads a model from an XML, YAML or JSON file, which may be compressed with gzip, in place
        of the one before. A name without a folder is also searched for in the folders of
        CUV_MODEL_PATH and in those of OpenCV's packages. Returns False if that fails; then error
        says why, and the object is empty."""
        try:
            name = os.fsencode(filename)
        except TypeError:
            raise problem(TypeError, f"the name of the file is {filename!r}, not a path") from None
        if b"\0" in name:
            raise problem(ValueError, "the name of the file has a character 0")
        text = ctypes.c_void_p()
        with self._lock:
            self._close()
            model = library.cuv_detect_model_load(name, ctypes.byref(text))
            self.error = take_text(text) + _hint(name) if model is None else ""
            self._model = None if model is None else ctypes.c_void_p(model)
        return model is not None

    def empty(self) -> bool:
        """Returns whether no model is loaded."""
        return self._model is None

    def _check_model(self):
        if self._model is None:
            raise problem(RuntimeError, "no cascade is loaded: call load()" +
                          (f" ({self.error})" if self.error else ""))

    def isOldFormatCascade(self) -> bool:
        """Returns False, as OpenCV does since version 4, which converts cascades of OpenCV 1 while
        loading them, too. Raises an error if no cascade is loaded."""
        self._check_model()
        return False

    def getOriginalWindowSize(self) -> Tuple[int, int]:
        """Returns width and height of the model's window, in pixels; (0, 0) without a model."""
        width, height = ctypes.c_int(), ctypes.c_int()
        with self._lock:
            if self._model is not None:
                library.cuv_detect_model_window(
                    self._model, ctypes.byref(width), ctypes.byref(height))
        return width.value, height.value

    def detectMultiScale(
        self,
        image: _Image,
        scaleFactor: float = 1.1,
        minNeighbors: int = 3,
        flags: int = 0,
        minSize: Optional[Sequence[int]] = None,
        maxSize: Optional[Sequence[int]] = None,
    ) -> _Array:
        """Finds objects of different sizes.

        image: uint8, grey or BGR(A), in host memory or (with __cuda_array_interface__) on a GPU
        scaleFactor: ratio of the sizes that are searched for, at least 1.001
        minNeighbors: an object needs more than so many windows that agree; 0 returns all windows
        flags: not used
        minSize, maxSize: width and height of the smallest and largest objects, in pixels; if one
            side of maxSize is 0, objects may have any size up to that of the picture

        Returns the boxes, an array with a row x, y, width, height (int32) for each, or an empty
        tuple. Warns if there are more than 131072 windows before they are grouped: the others are
        left out."""
        return self._search(image, scaleFactor, minNeighbors, minSize, maxSize)[0]

    def detectMultiScale2(
        self,
        image: _Image,
        scaleFactor: float = 1.1,
        minNeighbors: int = 3,
        flags: int = 0,
        minSize: Optional[Sequence[int]] = None,
        maxSize: Optional[Sequence[int]] = None,
    ) -> Tuple[_Array, _Array]:
        """Like detectMultiScale(), but returns the boxes and for each the number of windows that
        agree on it (int32)."""
        boxes, found = self._search(image, scaleFactor, minNeighbors, minSize, maxSize)
        return boxes, _column(found, "neighbors")

    def detectMultiScale3(
        self,
        image: _Image,
        scaleFactor: float = 1.1,
        minNeighbors: int = 3,
        flags: int = 0,
        minSize: Optional[Sequence[int]] = None,
        maxSize: Optional[Sequence[int]] = None,
        outputRejectLevels: bool = False,
    ) -> Tuple[_Array, _Array, _Array]:
        """Like detectMultiScale(), but with weights, for cascades of OpenCV.

        outputRejectLevels: False returns the boxes and two empty tuples. (OpenCV 4.6 raises an
            error if there are boxes.) True returns the boxes, for each the number of the cascade's
            stages (int32), and the highest sum of the last stage over its windows (float64), a
            measure of certainty; then the picture must be in host memory."""
        if not outputRejectLevels:
            return self._search(image, scaleFactor, minNeighbors, minSize, maxSize)[0], (), ()
        boxes, found = self._search(
            image, scaleFactor, minNeighbors, minSize, maxSize, weights=True)
        return boxes, _column(found, "n_stages"), _column(found, "weight")

    def _search(self, image, scale_factor, min_neighbors, min_size, max_size, weights=False):
        """Returns the boxes, and the detections as an array of structs."""
        smallest, largest = size(min_size, "minSize"), size(max_size, "maxSize")
        options = Options()
        library.cuv_detect_options_init(ctypes.byref(options), ctypes.sizeof(options))
        options.scale_factor = real(scale_factor, "scaleFactor")
        if not options.scale_factor >= 1.001:
            raise problem(ValueError, f"scaleFactor is {scale_factor}: use 1.001 or more, such as 1.1")
        options.min_neighbors = max(integer(min_neighbors, "minNeighbors"), 0)
        options.min_width, options.min_height = (max(side, 0) for side in smallest)
        options.max_width, options.max_height = largest if all(largest) else (0, 0)
        options.weights = weights
        on_device = hasattr(image, "__cuda_array_interface__")
        picture = (_cuda.picture_of if on_device else picture_of)(image)
        found = () if picture is None or all(largest) and min(largest) < 0 \
            else self._run(*picture, options)
        return _boxes_in(found), found

    def _run(self, picture, _pixels, options):
        """Returns the detections, an array of structs. _pixels is the array that picture points to,
        which must live until the end."""
        found, text = ctypes.POINTER(Detection)(), ctypes.c_void_p()
        kinds = numpy.dtype(Detection)
        context = _cuda.context_of(picture)
        with self._lock:
            self._open(options, context)
            with _cuda.current(context):
                n = library.cuv_detect_run(self._detect, ctypes.byref(picture), ctypes.byref(found),
                                           ctypes.byref(text))
            if n < 0:
                raise problem(RuntimeError, take_text(text))
            lost = library.cuv_detect_lost(self._detect)
            copied = ctypes.string_at(found, n * kinds.itemsize) if n else b""
        if lost:
            warnings.warn(f"{lost} windows were left out: the limit is 131072; use a larger"
                          " minSize", RuntimeWarning, stacklevel=4)
        return numpy.frombuffer(copied, kinds)

    def _open(self, options, context):
        """Makes a detector, unless the last one has the same options and context."""
        self._check_model()
        if self._detect is not None and (bytes(options), context) == (
                self._options, self._context):
            return
        self._free_detect()
        text = ctypes.c_void_p()
        detect = library.cuv_detect_new(ctypes.byref(self._model), 1, ctypes.byref(options),
                                        ctypes.byref(text))
        if detect is None:
            raise problem(ValueError, take_text(text))
        self._detect, self._options = ctypes.c_void_p(detect), bytes(options)
        self._context = context
