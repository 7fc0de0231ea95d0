#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes rotated copies of a picture with a matching EXIF Orientation: turned-1.jpg,
turned-3.jpg, ...

usage: orientation.py PICTURE FOLDER [decodebin]

With decodebin only the upright turned-1.jpg is written if the element decodebin does not
read the orientation (GStreamer 1.24)."""
import struct
import subprocess
import sys

import cv2

TURNS = {1: None, 3: cv2.ROTATE_180, 6: cv2.ROTATE_90_COUNTERCLOCKWISE,
         8: cv2.ROTATE_90_CLOCKWISE}


def exif(orientation):
    """Returns an APP1 segment with one entry: tag 0x0112, a short."""
    tiff = struct.pack('>2sHIHHHIHHI', b'MM', 42, 8, 1, 0x0112, 3, 1,
                       orientation, 0, 0)
    body = b'Exif\0\0' + tiff
    return struct.pack('>HH', 0xffe1, len(body) + 2) + body


def decodebin_reads():
    """Returns whether decodebin reads orientations: it uses jpegparse if that has this class."""
    about = subprocess.run(['gst-inspect-1.0', 'jpegparse'], stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    return 'Codec/Parser' in about


picture = cv2.imread(sys.argv[1])
upright_only = sys.argv[3:] == ['decodebin'] and not decodebin_reads()
for orientation, turn in TURNS.items():
    if turn is not None and upright_only:
        continue
    turned = picture if turn is None else cv2.rotate(picture, turn)
    jpeg = cv2.imencode('.jpg', turned)[1].tobytes()
    with open(f'{sys.argv[2]}/turned-{orientation}.jpg', 'wb') as file:
        file.write(jpeg[:2] + exif(orientation) + jpeg[2:])
