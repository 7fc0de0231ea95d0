#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a test of a build with -Db_sanitize=address,undefined. Programs built without,
# such as Python, get the runtime preloaded, and their leaks are ignored. The C++ library
# must be loaded with it, or plugins cannot throw exceptions.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runtime=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libstdc++.so.6)
export G_SLICE=always-malloc
export CUV_CHECK_FEW=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS=suppressions=$here/leaks.supp:print_suppressions=0

# Creates the registry first, which loads all plugins of the system.
if [ -n "${GST_REGISTRY_1_0:-}" ]; then
  ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$runtime \
    gst-inspect-1.0 --version >/dev/null 2>&1
fi
if [[ $(readelf -d "$1" 2>/dev/null) != *libasan* ]]; then
  ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$runtime exec "$@"
fi

# LeakSanitizer itself crashes now and then when a thread ends while it looks for leaks
# (google/sanitizers issue 1353). Only then does the test get another try.
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
for _ in 1 2 3; do
  { ASAN_OPTIONS=detect_leaks=1 "$@" 2>&1 >&3 | tee "$errors" >&2; status=${PIPESTATUS[0]}; } 3>&1
  grep -q "LeakSanitizer has encountered a fatal error" "$errors" || break
done
exit "$status"
