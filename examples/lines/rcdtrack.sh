#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tracks the first face of at least 120 pixels and writes followed.avi.
# usage: rcdtrack.sh [VIDEO]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-$film}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml label=face \
      min-size-width=120 inference-interval=25 \
  ! rcdtrack ! visionoverlay ! videoconvert ! jpegenc ! avimux \
  ! filesink location=followed.avi
check_output followed.avi
