#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a test under the leaks tracer; fails if an object is alive at the end.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_FILE=$log \
  GST_DEBUG_NO_COLOR=1 "$@" || exit
if ! grep -q GST_TRACER "$log"; then
  echo "the leaks tracer did not run"
  exit 1
fi
if grep 'object-alive, type-name=(string)[^%]' "$log"; then
  exit 1
fi
