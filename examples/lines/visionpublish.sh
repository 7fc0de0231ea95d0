#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the faces in a video or picture as JSON lines.
# usage: visionpublish.sh [VIDEO]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-$film}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml \
  ! visionpublish file-format=json-lines ! fakesink
