#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds and runs the tests.
# usage: tests/run.sh [--setup] [SUITE...]   unit elements models gpu style docs
# Without a suite: all of them, the CPU's tests once more without CUDA and with
# sanitizers, and a few under valgrind. Emulated kernels, the slowest, and, without a GPU, a
# few long tests of programs run with the sanitizers only. --setup installs missing packages,
# with sudo unless run by root; root needs no --setup. The last line counts tests; the status
# is 0 if none failed.
# BUILD=prefix replaces build-test in the names of the build folders.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"

build=$(realpath -m -- "${BUILD:-$top/build-test}")
passed=0 failed=0 skipped=0 trouble=()
# Processor time of all suites from a clean tree on 2 cores, 2026-12-01
cpu_minutes=62
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

# Counts the tests of a run, and lists those that failed, with the end of their output:
# it has the seed.
count_log ()
{
  local log=$1 numbers
  numbers=$(count_results "$log" 2>/dev/null) || numbers="0 1 0"
  # shellcheck disable=SC2086
  count $numbers
  mapfile -t -O ${#trouble[@]} trouble < <(jq -r --arg step "$2" '
    select(.result | IN("OK", "EXPECTEDFAIL") | not)
    | "\(.result)  \($step): \(.name)", (select(.result != "SKIP")
      | "\(.stdout // "")\n\(.stderr // "")" | split("\n") | map(select(. != ""))
      | .[-15:][] | "    \(.)")' "$log" 2>/dev/null)
}

broken ()
{
  count 0 1 0
  trouble+=("BROKEN  $1")
}

# build_in FOLDER OPTION...: builds everything but the programs of single tests, which those tests
# build.
build_in ()
{
  local folder=$1
  shift
  configure "$folder" -Dtests=true -Dwerror=true "$@" && compile "$folder"
}

# test_in NAME FOLDER ARGUMENT...: runs meson test and counts its tests. Callers multiply the tests'
# time limits, so that a busy machine is not a failure.
test_in ()
{
  local name=$1 folder=$2 log
  shift 2
  rm -f "$folder/meson-logs/$name"*.json
  # one more than processors, as many tests wait
  meson test -C "$folder" --print-errorlogs --logbase "$name" \
    --num-processes $(($(nproc) + 1)) "$@" >&2
  # with a wrapper meson adds the wrapper's name
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

# tests_of FOLDER FILTER: prints the names of the tests for which the filter of jq is true; $names
# in it are those of all tests
tests_of ()
{
  meson introspect --tests "$1" | jq -r "[.[].name] as \$names | .[] | select($2) | .name"
}

main_run ()
{
  step "build and test"
  # valgrind reports lines, but no variables, whose debug information takes long
  build_in "$build" "-Dcuda-fast-compile=$fast" -Dc_args=-g1 -Dcpp_args=-g1 \
    || { broken "build"; return; }
  if [ $# -gt 0 ]; then
    mapfile -t chosen < <(suites "$@")
    test_in chosen "$build" --timeout-multiplier=3 "${chosen[@]}"
  else
    # Without names newer versions of Meson also build the emulated kernels. A program that is also
    # run to find leaks is run only so: its checks are the same.
    mapfile -t chosen < <(tests_of "$build" '(.suite | any(test(":emulated$")) | not)
      and (.name + "-leaks" | IN($names[]) | not)' | grep -vE -- "$only_sanitized")
    test_in all "$build" --timeout-multiplier=3 "${chosen[@]}"
  fi
}

# Long tests of programs, whose checks are the same with sanitizers unless there is a GPU. Other
# tests run these programs without sanitizers.
only_sanitized='^$'
[ "$fast" = false ] \
  || only_sanitized='^tool-(train-(errors|inputs)|index(-copies)?|archive|farm-limits|search)$'

# Leaves out the tests that measure memory, time or accuracy, look for leaks, compare many
# pictures, or train as other tests do: sanitizers find nothing more in those.
not_sanitized='-leaks$|-inspect$|^publish-(targets|brokers)$|^web-browser(-(controls|drawing|settings|teach))?$'
not_sanitized+='|-(equality|butfit|faces|rates|cascade|numpy|opencv|tracks|learnt-channels|bytetrack)$'
not_sanitized+='|-grouping$|^(waldboost-channels|zones-drawn|accuracy.*|python-(compare|pictures))$'
not_sanitized+='|^tool-(archive-|farm$|verify$|train(-(auto|resume))?$)'

run_sanitized ()
{
  # -O1 compiles in half the time and runs little slower; GCC's false warnings
  # at that level are off. Reports need lines only, not variables. Code that ends at the first
  # error, as UBSAN_OPTIONS would have it, is faster.
  local names flags="-g1 -Wno-format-truncation -Wno-maybe-uninitialized"
  flags+=" -fno-sanitize-recover=undefined"
  step "without CUDA; AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer"
  build_in "$build-asan" -Dcuda=disabled -Db_sanitize=address,undefined \
    -Db_lundef=false -Doptimization=1 "-Dc_args=$flags" "-Dcpp_args=$flags" \
    || { broken "build with sanitizers"; return; }
  mapfile -t names < <(tests_of "$build-asan" \
    '.suite | any(test(":(unit|elements|models)$"))' | grep -vE -- "$not_sanitized")
  test_in asan "$build-asan" --timeout-multiplier=5 \
    --wrapper="$top/tests/wrap/sanitized.sh" "${names[@]}"
}

# Runs a few tests that together use every plugin; all tests would take hours.
run_valgrind ()
{
  step "valgrind"
  test_in valgrind "$build" --timeout-multiplier=20 \
    --wrapper="$top/tests/wrap/valgrind.sh" transfer-host overlay-settings \
    publish-json publish-records generic-properties filter-frames
}

# setup_packages: installs what is missing, if asked to or run by root
setup_packages ()
{
  if [ -n "$setup" ] || [ "$(id -u)" = 0 ]; then
    "$top/scripts/setup.sh" test
  else
    "$top/scripts/setup.sh" --check test || die "tests/run.sh --setup installs these" \
      "packages with sudo"
  fi
}

# Prints how long this will take: as long as the last time, or an estimate.
say_duration ()
{
  local minutes=$((cpu_minutes / $(nproc) + 1))
  [ "$minutes" -gt 15 ] || minutes=15 # the longest tests
  if [ -e "$duration" ]; then
    say "this took $(cat "$duration") the last time"
  elif [ $# -gt 0 ]; then
    say "a first build takes about $((minutes / 3)) min on $(nproc) processors," \
      "the tests of a suite up to $((minutes / 3)) min"
  else
    say "this takes about $minutes min on $(nproc) processors"
  fi
}

setup=
[ "${1-}" != --setup ] || { setup=yes; shift; }
case ${1-} in
  -*) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
setup_packages || exit 1
duration=$build/.took-${*:-all}
duration=${duration// /-}
say_duration "$@"
if [ $# -gt 0 ]; then
  main_run "$@"
else
  main_run
  run_sanitized
  run_valgrind
fi

took="$((SECONDS / 60)) min $((SECONDS % 60)) s"
[ "$passed" = 0 ] || echo "$took" >"$duration"
say
printf '%s\n' "${trouble[@]}" >&2
say "in $took"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
