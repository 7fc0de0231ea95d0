#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shows in which memory frames go on: CUDA memory where there is a GPU.
# usage: cudaupload.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
gst-launch-1.0 -v videotestsrc num-buffers=30 ! cudaupload ! fakesink
