#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Gives each face in a video an id and prints when faces come and go.
# usage: visiontrack.sh [VIDEO]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-/usr/share/doc/opencv-doc/examples/data/Megamind.avi}
gst-launch-1.0 -m filesrc "location=$input" ! decodebin ! videoconvert \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml label=face min-size-width=60 message=none \
  ! visiontrack ! fakesink | grep 'visiontrack,'
