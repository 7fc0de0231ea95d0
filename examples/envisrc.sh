#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What an ENVI cube is: its caps. Without a file, of one that is made here.
set -e
cube=${1:-cube.hdr}
[ -n "$1" ] || "$(dirname "$0")/spectral-cube.py" cube
exec gst-launch-1.0 -v envisrc "location=$cube" ! fakesink
