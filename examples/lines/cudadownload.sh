#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copies frames to the GPU and back if there is one.
# usage: cudadownload.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
gst-launch-1.0 -v videotestsrc num-buffers=30 ! cudaupload ! cudadownload ! fakesink
