#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the straight lines in a picture and writes lines.png.
# usage: houghlines.sh [PICTURE]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-/usr/share/doc/opencv-doc/examples/data/building.jpg}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto ! houghlines \
  ! visionoverlay ! videoconvert ! pngenc snapshot=true ! filesink location=lines.png
check_output lines.png
