# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments of the module's functions as libcuvdetect takes them."""

import ctypes
import operator

import numpy

from ._errors import problem
from ._library import BGR, BGRA, GREY, Picture


def picture_of(image):
    """Returns a Picture, and the array that has its pixels; None for an array without pixels."""
    if image is None:
        raise problem(TypeError, "the picture is None: was its file read?")
    image = numpy.asarray(image)
    if image.dtype != numpy.uint8:
        raise problem(
            TypeError, f"the picture has values of type {image.dtype}: convert it to uint8")
    channels = channels_of(image.shape)
    if image.size == 0:
        return None
    if image.strides[1] != channels or (image.ndim == 3 and image.strides[2] != 1):
        image = numpy.ascontiguousarray(image)
    return new_picture(image.shape, channels, image.ctypes.data, image.strides[0]), image


def channels_of(shape):
    """Returns the number of channels, which may be 0 in an array without pixels."""
    channels = shape[2] if len(shape) == 3 else 1
    if len(shape) not in (2, 3) or channels not in (0, 1, 3, 4):
        raise problem(
            ValueError, f"the picture has the shape {tuple(shape)}: height x width for grey, or"
            " with 1, 3 or 4 channels of BGR(A) as a third dimension")
    return channels


def new_picture(shape, channels, address, stride):
    picture = Picture({1: GREY, 3: BGR, 4: BGRA}[channels], shape[1], shape[0])
    picture.planes[0] = address
    picture.strides[0] = stride
    return picture


def integer(value, name):
    """Returns value as an int of 32 bits; ctypes would cut off bits."""
    try:
        value = operator.index(value)
    except TypeError:
        raise problem(TypeError, f"{name} is {value!r}, not an integer") from None
    if not -2**31 <= value < 2**31:
        raise problem(ValueError, f"{name} is {value}, which exceeds 32 bits")
    return value


def real(value, name):
    """Returns value as a float."""
    try:
        return ctypes.c_double(value).value  # float() would take text, too
    except TypeError:
        raise problem(TypeError, f"{name} is {value!r}, not a number") from None


def size(value, name):
    """Returns width and height; (0, 0) for None."""
    if value is None:
        return 0, 0
    try:
        width, height = value
    except (TypeError, ValueError):
        raise problem(TypeError, f"{name} is {value!r}, not width and height") from None
    return integer(width, name), integer(height, name)
