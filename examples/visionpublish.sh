#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The faces of a film as JSON lines on stdout.
film=${1:-/usr/share/doc/opencv-doc/examples/data/Megamind.avi}
exec gst-launch-1.0 -q filesrc "location=$film" ! decodebin ! videoconvert \
  ! waldboostdetect model=lbpcascade_frontalface_improved.xml \
  ! visionpublish file-format=json-lines ! fakesink
