#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Adds the family of this folder to a copy of the tree, as
# docs/adding-an-element.md says, builds it and runs its tests.
# usage: CUDA=enabled|disabled EMULATED=true|false [KEEP=folder] \
#   family.sh [MESON-OPTION...]
# KEEP: a new folder for the copy and its build, which stay there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../scripts/common.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$(realpath -m -- "${KEEP:-$scratch/tree}")
build=$tree/build
export GST_REGISTRY_1_0=$scratch/registry
export CUV_CHECK_FEW=1 # the family is only an example

# run_test NAME: the test must exist, run and pass.
run_test ()
{
  meson test -C "$build" --no-rebuild --print-errorlogs "$1" | tee "$scratch/log"
  grep -q '^Ok: *1 *$' "$scratch/log" || die "the test $1 did not run"
}

mkdir "$tree"
cp -r "$top"/{.clang-format,meson.build,meson_options.txt} \
  "$top"/{core,cuda,detect,docs,elements,examples,gst,models,python,scripts,tests,tools} "$tree"
cp -r "$here"/{cuda,elements,tests} "$tree"
sed -i "s/^families = \[/&'countbright', /" "$tree/meson.build"

meson setup "$build" "$tree" -Dtests=true -Dwerror=true -Dcuda="$CUDA" \
  -Dcuda-fast-compile=true -Ddebug=false "$@"
targets=(elements/{countbright/libgstcuvcountbright,transfer/libgstcuvtransfer}.so
  tests/kernels/kernel-countbright
  tests/elements/countbright/countbright-element)
tests=(countbright-cpu countbright-element countbright-element-leaks)
if [ "$EMULATED" = true ]; then
  targets+=(tests/kernels/emulated-countbright)
  tests+=(countbright-emulated)
fi
ninja -C "$build" "${targets[@]}"
for name in "${tests[@]}"; do
  run_test "$name"
done
if [ "$CUDA" = enabled ]; then
  meson test -C "$build" --no-rebuild countbright-cuda countbright-element-cuda
fi
for check in text includes; do
  python3 "$tree/tests/style/style.py" "$check" "$tree" "$build"
done
use_plugins "$build"
gst-inspect-1.0 countbright | grep -A 9 '^  threshold ' \
  || die "gst-inspect-1.0 does not know countbright"
