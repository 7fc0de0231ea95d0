#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the maps of the three strongest terms of an ENVI cube into maps.png;
# without one, of a cube that it makes.
cube=$1
if [ -z "$cube" ]; then
  "$(dirname "$0")/spectral-cube.py" cube
  cube=cube.hdr
fi
exec gst-launch-1.0 -q envisrc "location=$cube" num-buffers=1 \
  ! spectralntf rank=6 algorithm=hals init=nndsvd \
  ! videoconvert ! pngenc ! filesink location=maps.png
