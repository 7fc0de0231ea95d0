#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the local derivative patterns of a picture into codes.png.
picture=${1:-/usr/share/doc/opencv-doc/examples/data/butterfly.jpg}
exec gst-launch-1.0 -q filesrc "location=$picture" ! decodebin ! videoconvert \
  ! ldpdescriptor order=2 draw=code-0 ! videoconvert \
  ! pngenc snapshot=true ! filesink location=codes.png
