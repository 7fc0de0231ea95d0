#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# To the GPU and back, if there is one.
exec gst-launch-1.0 -v videotestsrc num-buffers=30 ! cudaupload ! cudadownload \
  ! fakesink
