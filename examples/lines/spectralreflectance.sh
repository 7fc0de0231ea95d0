#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes the reflectances of an ENVI cube to reflectance.hdr and reflectance.img.
# usage: spectralreflectance.sh [HEADER WHITE DARK]    default: generated cubes
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
find_cube scene "$@"
white=${2:-white.hdr} dark=${3:-dark.hdr}
[ $# -gt 1 ] || "$top/examples/spectral-cube.py" --height 50 --seed 2 white
[ $# -gt 2 ] || "$top/examples/spectral-cube.py" --height 50 --noise 1e-4 --endmembers 1 dark
gst-launch-1.0 -q envisrc "location=$input" ! spectralreflectance "white=$white" "dark=$dark" \
  ! envisink location=reflectance.hdr
check_output reflectance.img
