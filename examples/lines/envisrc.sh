#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the caps of an ENVI cube.
# usage: envisrc.sh [HEADER]    default: a generated cube
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
find_cube cube "$@"
gst-launch-1.0 -v envisrc "location=$input" ! fakesink
