#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The faces of a film as element messages, whenever their number changes.
film=${1:-/usr/share/doc/opencv-doc/examples/data/Megamind.avi}
exec gst-launch-1.0 -m filesrc "location=$film" ! decodebin ! videoconvert \
  ! waldboostdetect model=lbpcascade_frontalface_improved.xml message=on-change \
  ! fakesink
