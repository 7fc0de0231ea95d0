#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# A quicklook of an ENVI cube in colours.png: its bands nearest to red, green and
# blue.
# usage: spectralrgb.sh [HEADER]    without one, of a cube that it makes
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
input=${1:-scene.hdr}
[ $# -gt 0 ] || "$(dirname "$0")/../spectral-cube.py" scene
gst-launch-1.0 -q envisrc "location=$input" ! spectralrgb \
  ! videoconvert ! pngenc snapshot=true ! filesink location=colours.png
check_output colours.png
