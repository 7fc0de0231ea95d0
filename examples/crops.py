#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Crops detected objects, each into a file: crops.py SOURCE FOLDER [MODEL]

SOURCE is the start of a gst-launch-1.0 line: 'filesrc location=film.avi', v4l2src"""
import os, sys
from gstcuvision import objects, samples
from PIL import Image
import gi
gi.require_version("GstVideo", "1.0")
from gi.repository import GstVideo

def picture(sample):
    info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    pixels = sample.get_buffer().extract_dup(0, info.size)
    return Image.frombuffer("RGB", (info.width, info.height), pixels, "raw", "RGB", info.stride[0], 1)

if not 3 <= len(sys.argv) <= 4:
    sys.exit(__doc__)
source, folder, model = (sys.argv + ["lbpcascade_frontalface_improved.xml"])[1:4]
os.makedirs(folder, exist_ok=True)
line = (f'{source} ! decodebin ! videoconvert ! video/x-raw,format=RGB ! waldboostdetect model="{model}" '
        "! appsink name=sink sync=false max-buffers=4")
try:
    for number, sample in enumerate(samples(line)):
        for found in objects(sample):
            x, y, w, h = (found[key] for key in "xywh")
            picture(sample).crop((x, y, x + w, y + h)).save(f"{folder}/{number:06}-{found['region_id']}.jpg")
except KeyboardInterrupt:
    pass
