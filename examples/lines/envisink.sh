#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copies an ENVI cube into copy.hdr and copy.img as little endian samples of 8
# or 16 bits or floats.
# usage: envisink.sh [HEADER]    without one, a cube that it makes
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
input=${1:-cube.hdr}
[ $# -gt 0 ] || "$(dirname "$0")/../spectral-cube.py" cube
gst-launch-1.0 -v envisrc "location=$input" ! envisink location=copy.hdr
