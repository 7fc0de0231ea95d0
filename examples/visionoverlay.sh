#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the faces of a picture into faces.png.
picture=${1:-/usr/share/doc/opencv-doc/examples/data/messi5.jpg}
exec gst-launch-1.0 -q filesrc "location=$picture" ! decodebin ! videoconvert \
  ! waldboostdetect model=lbpcascade_frontalface.xml ! visionoverlay \
  ! videoconvert ! pngenc snapshot=true ! filesink location=faces.png
