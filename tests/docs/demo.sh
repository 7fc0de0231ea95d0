#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the demo from another folder and looks at what it leaves.
set -euo pipefail
demo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples" && pwd)/demo.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OUT=$scratch/out
cd "$scratch"

fail ()
{
  echo "$*"
  exit 1
}

expect_failure ()
{
  local text=$1
  shift
  if "$demo" "$@" >log 2>&1; then fail "succeeded: demo.sh $*"; fi
  grep -q "$text" log || fail "no word of '$text' in: $(cat log)"
}

expect_failure "no such file: .*/missing.avi" missing.avi
expect_failure "no camera at /dev/video99" /dev/video99

"$demo" >log 2>&1 || fail "$(cat log)"
grep -q "100.0 %\|seconds (" log || fail "shows no progress: $(cat log)"
frames=$(jq -s length out/faces.jsonl)
[ "$frames" -ge 260 ] || fail "$frames frames of the film's 270"
boxed=$(jq -s '[.[] | select((.objects // []) | length > 0)] | length' out/faces.jsonl)
[ "$boxed" -ge 50 ] || fail "faces in $boxed frames only"
gst-launch-1.0 -q filesrc location=out/faces.mp4 ! qtdemux ! h264parse \
  ! avdec_h264 ! video/x-raw,width=720,height=528 ! fakesink \
  || fail "the film does not decode"
gst-launch-1.0 -q filesrc location=out/faces.png ! pngdec ! fakesink \
  || fail "the picture does not decode"
echo "$frames frames, faces in $boxed"
