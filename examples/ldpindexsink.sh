#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Adds pictures to pictures.ldp, which is made if it is not there.
set -euo pipefail
[ $# -gt 0 ] || set -- /usr/share/doc/opencv-doc/examples/data/left0*.jpg
for picture; do
  gst-launch-1.0 -m filesrc location="$picture" ! decodebin ! videoconvert \
    ! ldpindexsink location=pictures.ldp descriptor-width=256 descriptor-height=256 \
        entry-name="${picture//%/%%}" | grep -o 'entries=.*name=[^,]*'
done
