#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Prints the line coverage of core/, gst/, detect/ and elements/, per folder, by the suites unit,
# elements and models in a build without CUDA. Needs gcovr. Fails below the minimum or if a test
# fails.
# usage: [BUILD=folder] scripts/coverage.sh [MINIMUM]   in percent, 85 by default
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

minimum=${1:-85}
build=$(realpath -m -- "${BUILD:-$top/build-coverage}")
command -v gcovr >/dev/null || die "gcovr is not installed: install the package gcovr"

# Without atomic counters threads lose counts, and gcov shows negative ones.
configure "$build" -Dtests=true -Dcuda=disabled -Db_coverage=true \
  -Dc_args=-fprofile-update=atomic >&2
compile "$build"
find "$build" -name '*.gcda' -delete
# Leaves out tests that run a program again to look for leaks.
mapfile -t names < <(meson introspect --tests "$build" | jq -r '.[]
  | select(.suite | any(test(":(unit|elements|models)$")) and all(test(":emulated$") | not))
  | .name | select(test("-leaks$") | not)')
tests=0
meson test -C "$build" --timeout-multiplier=5 --print-errorlogs "${names[@]}" >&2 || tests=$?

gcovr --root "$top" --filter "$top/(core|gst|detect|elements)/" \
  --json-summary "$build/coverage.json" --html-details "$build/coverage.html" "$build" >&2

# report FILTER: prints percent, covered lines, lines and name of each row of the filter.
report ()
{
  jq -r --argjson minimum "$minimum" '
    def rows(f): group_by(f) | map({name: .[0] | f, covered: map(.line_covered) | add,
      lines: map(.line_total) | add} | .percent = 100 * .covered / .lines);
    def folder: split("/") | .[0:([2, length - 1] | min)] | join("/");
    def low: map(select(.percent < $minimum));
    .files | map(select(.line_total > 0)) | '"$1"' | .[]
    | "\(.percent * 10 | floor / 10)\t\(.covered)\t\(.lines)\t\(.name)"' \
    "$build/coverage.json"
}
echo "percent, lines covered, lines; files below $minimum %:"
report 'rows(.filename) | low'
echo "folders:"
report 'rows(.filename | folder)'
echo "total:"
report 'rows(.filename | split("/")[0])'
below=$(report 'rows(.filename | split("/")[0]) | low')
[ -z "$below" ] || die "below $minimum %: $below"
[ "$tests" = 0 ] || die "a test failed"
