#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the objects in a video as element messages when their number changes.
# usage: waldboostdetect.sh [VIDEO [MODEL]]
# MODEL is a cascade of OpenCV, a WaldBoostClassifier of BUT FIT or a WBDetector
# of opencv_contrib.
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-$film}
model=${2:-haarcascade_frontalface_alt2.xml}
gst-launch-1.0 -m filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto \
  ! waldboostdetect "model=$model" message=on-change ! fakesink
