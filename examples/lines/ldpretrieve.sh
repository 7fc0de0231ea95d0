#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Indexes the pictures in a folder, by default OpenCV's, in pictures.ldp, and shows
# those most similar to the camera's frames. Without a screen and a camera it
# writes those most similar to the first picture to alike.png.
# usage: ldpretrieve.sh [FOLDER]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
folder=${1:-/usr/share/doc/opencv-doc/examples/data}
names=$("$(dirname "$0")/ldpindexsink.sh" "$folder"/*.jpg) \
  || [ -n "$names" ] || die "no picture in $folder"
echo "$names"
if [ -n "${DISPLAY:-}" ] && [ -e /dev/video0 ]; then
  exec gst-launch-1.0 v4l2src ! queue leaky=downstream max-size-buffers=1 ! videoconvert \
    ! cudaupload ! ldpretrieve index=pictures.ldp ! visionoverlay ! cudadownload \
    ! videoconvert ! autovideosink
fi
for input in "$folder"/*.jpg; do
  [[ $names != *"$input"* ]] || break
done
gst-launch-1.0 -q filesrc location="$input" ! decodebin ! videoconvert \
  ! videoflip video-direction=auto \
  ! ldpretrieve index=pictures.ldp k=3 ! visionoverlay ! videoconvert ! pngenc snapshot=true \
  ! filesink location=alike.png
check_output alike.png
