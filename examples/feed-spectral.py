#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Feeds cubes of a program into a pipeline: a camera of your own.

feed-spectral.py [LINE]   what the cubes go to; "envisink location=fed%05d.hdr"
"""
import sys

import gi
import numpy as np

gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
from gi.repository import Gst, GstApp  # noqa: E402,F401

WIDTH, HEIGHT, BANDS, RATE, CUBES = 64, 48, 16, 25, 10
WAVELENGTHS = np.linspace(460, 620, BANDS)  # nm
CAPS = (f'video/x-spectral, format=U16LE, interleave=bip, width={WIDTH}, '
        f'height={HEIGHT}, bands={BANDS}, framerate={RATE}/1, '
        f'wavelengths=(double)< {", ".join(map(str, WAVELENGTHS))} >')


def grab(number):
    """Your camera's cube: height x width x bands, 12 bits, no padding."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    peak = 460 + 160 * ((columns + rows + 4 * number) % WIDTH) / WIDTH
    return (4095 * np.exp(-((WAVELENGTHS - peak[..., None]) / 30) ** 2)).astype(
        '<u2')


def main():
    Gst.init(None)
    line = ' '.join(sys.argv[1:]) or 'envisink location=fed%05d.hdr'
    pipeline = Gst.parse_launch(f'appsrc name=camera format=time ! {line}')
    camera = pipeline.get_by_name('camera')
    camera.set_caps(Gst.Caps.from_string(CAPS))
    pipeline.set_state(Gst.State.PLAYING)
    for number in range(CUBES):
        buffer = Gst.Buffer.new_wrapped(grab(number).tobytes())
        buffer.pts = number * Gst.SECOND // RATE
        buffer.duration = Gst.SECOND // RATE
        if camera.push_buffer(buffer) != Gst.FlowReturn.OK:
            break
    camera.end_of_stream()
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(message.parse_error().gerror.message)


main()
