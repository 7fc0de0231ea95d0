#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The objects of a film as element messages, whenever their number changes.
# usage: waldboostdetect.sh [FILM [MODEL]]; a cascade of OpenCV, a
# WaldBoostClassifier of BUT FIT or a WBDetector of opencv_contrib
film=${1:-/usr/share/doc/opencv-doc/examples/data/Megamind.avi}
model=${2:-lbpcascade_frontalface_improved.xml}
exec gst-launch-1.0 -m filesrc "location=$film" ! decodebin ! videoconvert \
  ! waldboostdetect "model=$model" message=on-change ! fakesink
