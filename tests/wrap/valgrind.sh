#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a test under valgrind: any bad access, and any block lost for good.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export G_SLICE=always-malloc GST_REGISTRY_FORK=no
suppressions=("--suppressions=$here/valgrind.supp")
for file in /usr/share/glib-2.0/valgrind/glib.supp \
    /usr/share/gstreamer-1.0/valgrind/gst.supp; do
  [ ! -e "$file" ] || suppressions+=("--suppressions=$file")
done
exec valgrind -q --error-exitcode=99 --leak-check=full \
  --show-leak-kinds=definite --errors-for-leak-kinds=definite \
  --num-callers=30 "${suppressions[@]}" "$@"
