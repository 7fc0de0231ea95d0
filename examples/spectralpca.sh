#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The first three components of an ENVI cube, of the header named or of a cube
# made for it, in components.png, and their shares of the variance.
header=$1
if [ -z "$header" ]; then
  "$(dirname "$0")/spectral-cube.py" scene || exit
  header=scene.hdr
fi
exec gst-launch-1.0 -q envisrc "location=$header" ! spectralpca mode=covariance \
  ! visionpublish ! videoconvert ! pngenc snapshot=true \
  ! filesink location=components.png
