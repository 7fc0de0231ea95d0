#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Adds pictures to pictures.ldp, which is made if it is not there. What is no
# picture is named and skipped: the status is then 1. Adding them again doubles
# them.
# grid=1 and 128x128 pixels find the same material best; for the same scene
# leave grid=1 out (docs/ldpretrieve.md, Which settings).
# usage: ldpindexsink.sh [PICTURE...]
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
begin "$@"
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
