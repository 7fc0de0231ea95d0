#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes who enters and leaves the left half of a video, and when, to events.jsonl.
# usage: visionzones.sh [VIDEO]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-/usr/share/doc/opencv-doc/examples/data/Megamind.avi}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! waldboostdetect model=haarcascade_frontalface_alt2.xml label=face inference-interval=5 \
  ! rcdtrack max-targets=4 \
  ! visionzones zones='{"zones": [{"name": "left", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}]}' \
  ! visionpublish file-path=events.jsonl ! fakesink
check_output events.jsonl
