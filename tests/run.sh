#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sets up what is missing, builds and runs the tests.
# usage: tests/run.sh [SUITE...]   unit elements models gpu style docs
# Without a suite: all of them, the same code once more without CUDA and under
# the sanitizers, and a few under valgrind. Emulated kernels, the slowest, then
# run under the sanitizers only. The last line counts tests; the status is 0 if
# none failed. BUILD=prefix names other build folders than build-test*.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"

build=$(realpath -m -- "${BUILD:-$top/build-test}")
passed=0 failed=0 skipped=0 trouble=()
# Where no GPU runs them, kernels only have to compile.
command -v nvidia-smi >/dev/null && fast=false || fast=true

step ()
{
  say
  say "== $* ($((SECONDS / 60)) min)"
}

# count PASSED FAILED SKIPPED
count ()
{
  passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# Counts the tests of a run, and lists those that failed.
count_log ()
{
  local log=$1 numbers
  numbers=$(count_results "$log" 2>/dev/null) || numbers="0 1 0"
  # shellcheck disable=SC2086
  count $numbers
  mapfile -t -O ${#trouble[@]} trouble < <(jq -r --arg step "$2" '
    select(.result | IN("OK", "EXPECTEDFAIL") | not)
    | "\(.result)  \($step): \(.name)"' "$log" 2>/dev/null)
}

broken ()
{
  count 0 1 0
  trouble+=("BROKEN  $1")
}

# build_in FOLDER OPTION...: but for what only some tests need; they build it.
build_in ()
{
  local folder=$1
  shift
  configure "$folder" -Dtests=true -Dwerror=true "$@" && compile "$folder"
}

# A busy machine is no failure: tests may take three times what they state.
# test_in NAME FOLDER ARGUMENT...: one run of meson test, counted.
test_in ()
{
  local name=$1 folder=$2 log
  shift 2
  rm -f "$folder/meson-logs/$name"*.json
  meson test -C "$folder" --print-errorlogs --logbase "$name" "$@" >&2
  # with a wrapper meson adds its name
  log=$(find "$folder/meson-logs" -name "$name*.json" -size +0 | head -n 1)
  if [ -n "$log" ]; then
    count_log "$log" "$name"
  else
    broken "$name: no test ran"
  fi
}

suites ()
{
  printf -- '--suite=%s\n' "$@"
}

main_run ()
{
  step "build and test"
  build_in "$build" "-Dcuda-fast-compile=$fast" || { broken "build"; return; }
  if [ $# -gt 0 ]; then
    mapfile -t chosen < <(suites "$@")
    test_in chosen "$build" --timeout-multiplier=3 "${chosen[@]}"
  else
    test_in all "$build" --timeout-multiplier=3 --no-suite=emulated
  fi
}

# tests_of FOLDER SUITE...: names of the tests
tests_of ()
{
  local folder=$1
  shift
  meson introspect --tests "$folder" | jq -r '.[]
    | select(any(.suite[]; sub("^.*:"; "") | IN($ARGS.positional[]))) | .name' \
    --args "$@"
}

# Without those that measure memory or time, look for leaks, or compare many
# pictures: they tell nothing more there.
run_sanitized ()
{
  local names
  step "without CUDA; AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer"
  build_in "$build-asan" -Dcuda=disabled -Db_sanitize=address,undefined \
    -Db_lundef=false || { broken "build with sanitizers"; return; }
  mapfile -t names < <(tests_of "$build-asan" unit elements models \
    | grep -vE -- '-leaks$|-inspect$|^publish-(targets|brokers)$|^web-browser$|-(equality|faces|rates|cascade|numpy|opencv|tracks)$|^tool-(archive-|farm$)')
  test_in asan "$build-asan" --timeout-multiplier=5 \
    --wrapper="$top/tests/wrap/sanitized.sh" "${names[@]}"
}

# A few that go through every plugin; the whole takes too long here.
run_valgrind ()
{
  step "valgrind"
  test_in valgrind "$build" --timeout-multiplier=20 \
    --wrapper="$top/tests/wrap/valgrind.sh" transfer-host overlay-settings \
    publish-json publish-records generic-properties filter-frames
}

# Ray is large, and PyPI is asked for it each time where it cannot be had.
[ $# -eq 0 ] || [[ " $* " =~ \ (elements|docs)\  ]] && what=ray || what=test
"$top/scripts/setup.sh" "$what" || exit 1
if [ $# -gt 0 ]; then
  main_run "$@"
else
  main_run
  run_sanitized
  run_valgrind
fi

say
printf '%s\n' "${trouble[@]}" >&2
say "in $((SECONDS / 60)) min $((SECONDS % 60)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
