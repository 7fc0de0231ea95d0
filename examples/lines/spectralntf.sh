#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws the maps of the three strongest terms of an ENVI cube into maps.png.
# usage: spectralntf.sh [HEADER]    without one, of a cube that it makes
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
input=${1:-cube.hdr}
[ $# -gt 0 ] || "$(dirname "$0")/../spectral-cube.py" cube
gst-launch-1.0 -q envisrc "location=$input" num-buffers=1 \
  ! spectralntf rank=6 algorithm=hals init=nndsvd \
  ! videoconvert ! pngenc ! filesink location=maps.png
check_output maps.png
