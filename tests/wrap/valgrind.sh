#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a test under valgrind: fails on invalid accesses and definite leaks.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export G_SLICE=always-malloc
export CUV_CHECK_FEW=1
[ -z "${GST_REGISTRY_1_0:-}" ] || gst-inspect-1.0 --version >/dev/null 2>&1
suppressions=("--suppressions=$here/valgrind.supp")
glib=/usr/share/glib-2.0/valgrind/glib.supp
[ ! -e "$glib" ] || suppressions+=("--suppressions=$glib")
exec valgrind -q --error-exitcode=99 --leak-check=full \
  --show-leak-kinds=definite --errors-for-leak-kinds=definite \
  --num-callers=30 "${suppressions[@]}" "$@"
