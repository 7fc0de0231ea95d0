#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A quicklook of an ENVI cube, of the header named or of a cube made for it, in
# colours.png: its bands nearest to red, green and blue.
set -e
header=$1
if [ -z "$header" ]; then
  "$(dirname "$0")/spectral-cube.py" scene
  header=scene.hdr
fi
exec gst-launch-1.0 -q envisrc "location=$header" ! spectralrgb \
  ! videoconvert ! pngenc snapshot=true ! filesink location=colours.png
