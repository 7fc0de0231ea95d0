#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What an ENVI cube is: its caps.
# usage: envisrc.sh [HEADER]    without one, of a cube that it makes
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
input=${1:-cube.hdr}
[ $# -gt 0 ] || "$(dirname "$0")/../spectral-cube.py" cube
gst-launch-1.0 -v envisrc "location=$input" ! fakesink
