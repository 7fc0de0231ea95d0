#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copies an ENVI cube into copy.hdr and copy.img as little endian samples of 8
# or 16 bits or floats.
# usage: envisink.sh [HEADER]    default: a generated cube
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
find_cube cube "$@"
gst-launch-1.0 -v envisrc "location=$input" ! envisink location=copy.hdr
