#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Keeps the texture of a folder's pictures, or of OpenCV's, in pictures.ldp, and
# shows which are most like what a camera sees. Without a screen and a camera: for
# a picture, in alike.png.
set -euo pipefail
folder=${1:-/usr/share/doc/opencv-doc/examples/data}
"$(dirname "$0")/ldpindexsink.sh" "$folder"/*.jpg
if [ -n "${DISPLAY:-}" ] && [ -e /dev/video0 ]; then
  exec gst-launch-1.0 v4l2src ! queue leaky=downstream max-size-buffers=1 ! videoconvert \
    ! cudaupload ! ldpretrieve index=pictures.ldp ! visionoverlay ! cudadownload \
    ! videoconvert ! autovideosink
fi
picture=("$folder"/*.jpg)
exec gst-launch-1.0 -q filesrc location="${picture[0]}" ! decodebin ! videoconvert \
  ! ldpretrieve index=pictures.ldp k=3 ! visionoverlay ! videoconvert ! pngenc snapshot=true \
  ! filesink location=alike.png
