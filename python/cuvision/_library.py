# SPDX-License-Identifier: LGPL-2.1-or-later
"""libcuvdetect, called by ctypes: the structs and functions of cuvdetect.h."""

import ctypes
import os

_MAX_ROTATIONS = 12


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("scale_factor", ctypes.c_double),
        ("min_width", ctypes.c_int),
        ("min_height", ctypes.c_int),
        ("max_width", ctypes.c_int),
        ("max_height", ctypes.c_int),
        ("upscale", ctypes.c_double),
        ("n_rotations", ctypes.c_int),
        ("rotations", ctypes.c_int * _MAX_ROTATIONS),
        ("left", ctypes.c_int),
        ("top", ctypes.c_int),
        ("right", ctypes.c_int),
        ("bottom", ctypes.c_int),
        ("grouping", ctypes.c_int),
        ("min_neighbors", ctypes.c_int),
        ("nms_iou", ctypes.c_double),
        ("nms_inside", ctypes.c_double),
        ("n_threads", ctypes.c_int),
        ("weights", ctypes.c_int),
    ]


class Picture(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_int),
        ("width", ctypes.c_int),
        ("height", ctypes.c_int),
        ("planes", ctypes.c_void_p * 3),
        ("strides", ctypes.c_ssize_t * 3),
        ("on_device", ctypes.c_int),
        ("stream", ctypes.c_void_p),
        ("reserved", ctypes.c_void_p * 4),
    ]


class Detection(ctypes.Structure):
    _fields_ = [
        ("x", ctypes.c_int),
        ("y", ctypes.c_int),
        ("width", ctypes.c_int),
        ("height", ctypes.c_int),
        ("model", ctypes.c_int),
        ("rotation", ctypes.c_int),
        ("neighbors", ctypes.c_int),
        ("score", ctypes.c_float),
        ("weight", ctypes.c_double),
        ("n_stages", ctypes.c_int),
        ("reserved", ctypes.c_int),
    ]


GREY, BGR, BGRA = 0, 2, 4  # of CuvDetectFormat


_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")  # exists in a wheel


def _load_glib():
    """A wheel has GLib for systems without it. Libraries that need GLib get the one that is loaded
    first, so that a process never has two."""
    try:
        ctypes.CDLL("libglib-2.0.so.0")
    except OSError:
        for name in ("libpcre2-8.so.0", "libglib-2.0.so.0"):
            ctypes.CDLL(os.path.join(_FOLDER, "glib", name))


def _load():
    """Loads the library: that of CUV_DETECT_LIBRARY, of the wheel or of the system. Calls release
    the interpreter's lock."""
    name = os.environ.get("CUV_DETECT_LIBRARY")
    try:
        if not name and os.path.isdir(_FOLDER):
            _load_glib()
            name = os.path.join(_FOLDER, "libcuvdetect.so.0")
        library = ctypes.CDLL(name or "libcuvdetect.so.0")
    except OSError as error:
        raise ImportError(f"{error}: install libcuvdetect0 or the wheel gst-cuvision, or set"
                          " CUV_DETECT_LIBRARY to the file") from error
    error = ctypes.POINTER(ctypes.c_void_p)
    for name, result, arguments in (
        ("model_load", ctypes.c_void_p, [ctypes.c_char_p, error]),
        ("model_free", None, [ctypes.c_void_p]),
        ("model_window", None, [ctypes.c_void_p] + 2 * [ctypes.POINTER(ctypes.c_int)]),
        ("options_init", None, [ctypes.POINTER(Options), ctypes.c_size_t]),
        ("new", ctypes.c_void_p,
         [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int, ctypes.POINTER(Options), error]),
        ("free", None, [ctypes.c_void_p]),
        ("lost", ctypes.c_int, [ctypes.c_void_p]),
        ("run", ctypes.c_int,
         [ctypes.c_void_p, ctypes.POINTER(Picture),
          ctypes.POINTER(ctypes.POINTER(Detection)), error]),
        ("group", ctypes.c_int,
         [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_double, error]),
    ):
        try:
            function = getattr(library, "cuv_detect_" + name)
        except AttributeError as missing:
            raise ImportError(f"{missing}: libcuvdetect is older than this module: install the same"
                              " version of both, or correct CUV_DETECT_LIBRARY") from missing
        function.restype, function.argtypes = result, arguments
    return library


library = _load()
_c = ctypes.CDLL(None)
_c.free.argtypes = [ctypes.c_void_p]


def take_text(pointer):
    """Returns the text at a c_void_p, and frees it."""
    text = ctypes.string_at(pointer.value).decode("utf-8", "replace")
    _c.free(pointer)
    return text
