#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copies an ENVI cube into copy.hdr and copy.img as little endian samples of 8
# or 16 bits or floats. Without a file, one that is made here.
set -e
cube=${1:-cube.hdr}
[ -n "$1" ] || "$(dirname "$0")/spectral-cube.py" cube
exec gst-launch-1.0 -v envisrc "location=$cube" ! envisink location=copy.hdr
