#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# To the GPU and back, if there is one.
# usage: cudadownload.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
gst-launch-1.0 -v videotestsrc num-buffers=30 ! cudaupload ! cudadownload ! fakesink
