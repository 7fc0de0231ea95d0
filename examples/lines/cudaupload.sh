#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows the memory of uploaded frames: CUDA memory if there is a GPU.
# usage: cudaupload.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
gst-launch-1.0 -v videotestsrc num-buffers=30 ! cudaupload ! fakesink
