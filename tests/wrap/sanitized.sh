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

# GCC's runtimes before version 14 take a block of thread-local storage whose address happens to be
# 16 above a page for one of glibc 2.19, read its bounds from what lies before it, and crash there
# (google/sanitizers issue 1322). Without the interceptor they do not look for such blocks; what
# the dynamic linker allocates counts as reachable all the same.
ASAN_OPTIONS=detect_leaks=1:intercept_tls_get_addr=0 exec "$@"
