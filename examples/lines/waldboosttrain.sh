#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tracks the first face in a video, learns from every third frame of the track what it
# looks like, writes the detector to taught.xml, and prints how good it is.
# usage: waldboosttrain.sh [VIDEO]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-$film}
gst-launch-1.0 -m filesrc "location=$input" ! decodebin ! videoconvert \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml label=face message=none \
      min-size-width=120 inference-interval=25 \
  ! rcdtrack max-distance=0.2 message=none \
  ! waldboosttrain model=taught.xml object-class=face frame-interval=3 weak=64 \
      negative-samples=3000 progress-interval=0 \
  | grep 'state=(string)done'
