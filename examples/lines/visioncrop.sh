#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes each face in a picture to its own file, face-00000.jpg and so on.
# usage: visioncrop.sh [PICTURE]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-/usr/share/doc/opencv-doc/examples/data/messi5.jpg}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml ! visioncrop width=112 height=112 margin=0.2 \
  ! videoconvert ! jpegenc ! multifilesink location=face-%05d.jpg
check_output face-00000.jpg
