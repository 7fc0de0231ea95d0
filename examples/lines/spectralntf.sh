#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the maps of the three strongest terms of an ENVI cube into maps.png.
# usage: spectralntf.sh [HEADER]    default: a generated cube
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
find_cube cube "$@"
gst-launch-1.0 -q envisrc "location=$input" num-buffers=1 \
  ! spectralntf rank=6 algorithm=hals init=nndsvd \
  ! videoconvert ! pngenc ! filesink location=maps.png
check_output maps.png
