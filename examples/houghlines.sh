#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the lines of a picture into lines.png.
picture=${1:-/usr/share/doc/opencv-doc/examples/data/building.jpg}
exec gst-launch-1.0 -q filesrc "location=$picture" ! decodebin ! videoconvert \
  ! houghlines orientation-window=10 ! visionoverlay ! videoconvert \
  ! pngenc snapshot=true ! filesink location=lines.png
