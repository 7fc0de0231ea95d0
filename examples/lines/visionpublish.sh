#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The faces of a film or picture as JSON lines on stdout.
# usage: visionpublish.sh [FILM]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
input=${1:-$film}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto \
  ! waldboostdetect model=lbpcascade_frontalface_improved.xml \
  ! visionpublish file-format=json-lines ! fakesink
