#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Times many streams in one process: total frames per second, and CPU time per
# frame. Plays the video once and then five times, so that start-up time cancels
# out. Needs a GPU with a video decoder.
# usage: streams.sh VIDEO.h264 STREAMS CHAIN    VIDEO: a byte stream; CHAIN: elements
#                                               after the decoder, or "identity"
set -euo pipefail
video=$1 streams=$2 chain=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat "$video" >"$work/1.h264"
for _ in 1 2 3 4 5; do cat "$video"; done >"$work/5.h264"

# times FILE: real, user and system seconds
times ()
{
  local line=() i
  for ((i = 0; i < streams; i++)); do
    # shellcheck disable=SC2206
    line+=(filesrc "location=$1" ! h264parse ! nvh264dec ! $chain
      ! fakesink sync=false async=false)
  done
  TIMEFORMAT='%R %U %S'
  { time gst-launch-1.0 -q "${line[@]}" >"$work/log" 2>&1; } 2>&1 \
    || { cat "$work/log" >&2; return 1; }
}

frames=$(gst-launch-1.0 -v filesrc "location=$video" ! h264parse \
  ! video/x-h264,alignment=au ! identity silent=false ! fakesink \
  | grep -c 'last-message = chain')
times "$work/1.h264" >"$work/once"
times "$work/5.h264" >"$work/often"
paste -d ' ' "$work/once" "$work/often" | awk -v n=$((4 * frames * streams)) \
  -v streams="$streams" '{
    printf "%d streams: %.0f frames a second, %.3f ms of CPU time a frame\n",
      streams, n / ($4 - $1), ($5 + $6 - $2 - $3) * 1000 / n }'
