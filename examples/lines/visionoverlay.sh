#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws boxes around the faces in a picture and writes faces.png.
# usage: visionoverlay.sh [PICTURE]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-/usr/share/doc/opencv-doc/examples/data/messi5.jpg}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml ! visionoverlay \
  ! videoconvert ! pngenc snapshot=true ! filesink location=faces.png
check_output faces.png
