# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures in CUDA memory, from objects with __cuda_array_interface__: arrays of CuPy and Numba,
tensors of PyTorch. The CUDA driver is loaded with the first one."""

import contextlib
import ctypes
import functools

import numpy

from ._errors import problem
from ._picture import channels_of, new_picture

_POINTER_CONTEXT, _POINTER_DEVICE = 1, 9  # CU_POINTER_ATTRIBUTE_CONTEXT, _DEVICE_ORDINAL


def picture_of(image):
    """Returns a Picture and image, which has its pixels; None for an array without pixels."""
    interface = image.__cuda_array_interface__
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    if numpy.dtype(interface["typestr"]) != numpy.uint8:
        raise problem(TypeError, "the picture in CUDA memory has values of type "
                      f"{numpy.dtype(interface['typestr'])}: convert it to uint8")
    if interface.get("mask") is not None:
        raise problem(ValueError, "the picture in CUDA memory has a mask: remove it")
    channels = channels_of(shape)
    if 0 in shape:
        return None
    row = shape[1] * channels if strides is None else strides[0]
    if strides is not None and (strides[1] != channels or tuple(strides[2:]) not in ((), (1,))):
        raise problem(
            ValueError, f"the picture in CUDA memory has the strides {tuple(strides)}, but the"
            " pixels of a row must follow each other: copy it, such as with"
            " cupy.ascontiguousarray() or tensor.contiguous()")
    picture = new_picture(shape, channels, interface["data"][0], row)
    picture.on_device, picture.stream = 1, _stream_in(interface)
    return picture, image


def _stream_in(interface):
    """Returns the stream whose work so far made the picture, or None for the default stream. 1 and
    2 are the handles of CUDA's two default streams, too."""
    stream = interface.get("stream")
    if stream == 0:
        raise problem(ValueError, "the picture's __cuda_array_interface__ has the stream 0, which"
                      " is ambiguous: use 1, 2, a stream's handle or None")
    return stream


@functools.lru_cache(maxsize=None)
def _driver():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as cause:
        raise problem(RuntimeError, f"{cause}: a picture in CUDA memory needs NVIDIA's driver"
                      ) from cause


def _check(result, call):
    if result != 0:
        raise problem(RuntimeError, f"{call} failed with CUDA's error {result}")


@functools.lru_cache(maxsize=None)
def _primary_context(device):
    context = ctypes.c_void_p()
    _check(_driver().cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
           "cuDevicePrimaryCtxRetain()")
    return context.value


def context_of(picture):
    """Returns the CUDA context of the picture's memory, as an int; None for host memory. Memory of
    pools belongs to no context: then it is the device's primary one."""
    if not picture.on_device:
        return None
    driver, address = _driver(), ctypes.c_uint64(picture.planes[0])
    context, device = ctypes.c_void_p(), ctypes.c_int()
    result = driver.cuPointerGetAttribute(ctypes.byref(context), _POINTER_CONTEXT, address)
    if result == 0 and context.value:
        return context.value
    _check(driver.cuPointerGetAttribute(ctypes.byref(device), _POINTER_DEVICE, address),
           "the picture's address is not in CUDA memory: cuPointerGetAttribute()")
    return _primary_context(device.value)


@contextlib.contextmanager
def current(context):
    """Makes a context current in this thread for a while; None changes nothing."""
    if context is None:
        yield
        return
    _check(_driver().cuCtxPushCurrent_v2(ctypes.c_void_p(context)), "cuCtxPushCurrent()")
    try:
        yield
    finally:
        _driver().cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
