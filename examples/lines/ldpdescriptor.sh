#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the local derivative patterns of a picture into codes.png.
# usage: ldpdescriptor.sh [PICTURE]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-/usr/share/doc/opencv-doc/examples/data/butterfly.jpg}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto ! ldpdescriptor order=2 draw=code-0 \
  ! videoconvert ! pngenc snapshot=true ! filesink location=codes.png
check_output codes.png
