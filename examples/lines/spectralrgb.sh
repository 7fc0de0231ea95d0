#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes the bands of an ENVI cube nearest to red, green and blue to colours.png.
# usage: spectralrgb.sh [HEADER]    default: a generated cube
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
find_cube scene "$@"
gst-launch-1.0 -q envisrc "location=$input" ! spectralrgb \
  ! videoconvert ! pngenc snapshot=true ! filesink location=colours.png
check_output colours.png
