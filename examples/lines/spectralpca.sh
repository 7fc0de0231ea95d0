#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes the first three components of an ENVI cube to components.png, and prints
# their fractions of the variance as JSON.
# usage: spectralpca.sh [HEADER]    default: a generated cube
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
find_cube scene "$@"
gst-launch-1.0 -q envisrc "location=$input" ! spectralpca \
  ! visionpublish ! videoconvert ! pngenc snapshot=true \
  ! filesink location=components.png
check_output components.png
