#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes boxes of what moves in a video, and how much of it does, to motion.jsonl.
# usage: visionmotion.sh [VIDEO]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
input=${1:-/usr/share/doc/opencv-doc/examples/data/vtest.avi}
gst-launch-1.0 -q filesrc "location=$input" ! decodebin ! videoconvert \
  ! visionmotion method=average ! visionpublish file-path=motion.jsonl ! fakesink
check_output motion.jsonl
