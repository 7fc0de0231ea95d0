#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The first three components of an ENVI cube in components.png, and their shares
# of the variance as JSON.
# usage: spectralpca.sh [HEADER]    without one, of a cube that it makes
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
input=${1:-scene.hdr}
[ $# -gt 0 ] || "$(dirname "$0")/../spectral-cube.py" scene
gst-launch-1.0 -q envisrc "location=$input" ! spectralpca \
  ! visionpublish ! videoconvert ! pngenc snapshot=true \
  ! filesink location=components.png
check_output components.png
