#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a test of a build with -Db_sanitize=address,undefined. Python itself is
# not built so: it gets the runtime preloaded, and its leaks are not ours.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export G_SLICE=always-malloc GST_REGISTRY_FORK=no
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS=suppressions=$here/leaks.supp:print_suppressions=0
if readelf -d "$1" 2>/dev/null | grep -q libasan; then
  export ASAN_OPTIONS=detect_leaks=1
else
  export ASAN_OPTIONS=detect_leaks=0
  LD_PRELOAD="$(gcc -print-file-name=libasan.so)"
  export LD_PRELOAD
fi
exec "$@"
