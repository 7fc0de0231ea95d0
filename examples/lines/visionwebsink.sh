#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows the faces in a video in a browser, at http://127.0.0.1:8080/ or the given
# port (0: any free port); the line "Open ..." has the address. Ctrl-C ends it.
# usage: visionwebsink.sh [VIDEO [PORT]]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-$film}
gst-launch-1.0 filesrc "location=$input" ! decodebin ! videoconvert \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml label=face \
  ! visionwebsink "port=${2:-8080}" "source=${input##*/}"
