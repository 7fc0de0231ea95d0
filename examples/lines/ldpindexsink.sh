#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Adds pictures to pictures.ldp, which is created if it does not exist. Files that
# are not pictures are reported and skipped; the exit status is then 1. Pictures added
# twice are stored twice.
# grid=1 and 128x128 pixels suit finding the same material; omit grid=1 to find the
# same scene (docs/ldpretrieve.md, Which settings).
# usage: ldpindexsink.sh [PICTURE...]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/example.sh"
[ $# -gt 0 ] || set -- /usr/share/doc/opencv-doc/examples/data/left0*.jpg
status=0
for picture; do
  location=${picture//\\/\\\\}
  gst-launch-1.0 -m filesrc location="$location" ! decodebin ! videoconvert \
    ! videoflip video-direction=auto \
    ! ldpindexsink location=pictures.ldp grid=1 descriptor-width=128 descriptor-height=128 \
        entry-name="${location//%/%%}" 2>/dev/null | grep -o 'entries=.*written=[^0]*1.*name=[^,]*' \
    || { say "skipped: $picture"; status=1; }
done
exit $status
