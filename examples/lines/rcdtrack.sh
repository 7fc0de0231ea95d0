#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tracks the first face of a film and writes followed.avi.
# usage: rcdtrack.sh [FILM]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-$film}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto \
  ! waldboostdetect model=lbpcascade_frontalface_improved.xml label=face \
      inference-interval=25 \
  ! rcdtrack ! visionoverlay ! videoconvert ! jpegenc ! avimux \
  ! filesink location=followed.avi
check_output followed.avi
