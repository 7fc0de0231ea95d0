#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs the demo from another folder and checks its output.
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
  if "$demo" "$@" >log 2>&1; then fail "did not fail: demo.sh $*"; fi
  grep -q "$text" log || fail "'$text' is not in: $(cat log)"
}

# expect_sound [DURATION]: the demo's video has sound
expect_sound ()
{
  LC_ALL=C gst-discoverer-1.0 out/faces.mp4 >log
  grep -q "audio #2: MPEG-4 AAC" log && grep -q "Duration: ${1-}" log || fail "no sound: $(cat log)"
}

# serve ARGUMENT...: starts a server in Python that prints its port or address.
serve ()
{
  [ -z "${server:-}" ] || kill "$server"
  rm -f server
  touch server # exists before the background process creates it
  "$PYTHON" -u "$@" >server 2>&1 &
  server=$!
  trap 'kill $server; rm -rf "$scratch"' EXIT
  until port=$(grep -oP '(port |127.0.0.1:)\K\d+' server | head -n 1); do
    kill -0 $server || fail "$(cat server)"
    sleep 0.1
  done
}

expect_failure "no such file: .*/missing.avi" missing.avi
expect_failure "no camera at /dev/video99" /dev/video99

"$demo" >log 2>&1 || fail "$(cat log)"
grep -q "100.0 %\|seconds (" log || fail "no progress printed: $(cat log)"
frames=$(jq -s length out/faces.jsonl)
[ "$frames" -ge 260 ] || fail "only $frames of the video's 270 frames have a record"
boxed=$(jq -s '[.[] | select((.objects // []) | length > 0)] | length' out/faces.jsonl)
[ "$boxed" -ge 50 ] || fail "only $boxed frames have a face"
gst-launch-1.0 -q filesrc location=out/faces.mp4 ! qtdemux ! h264parse \
  ! avdec_h264 ! video/x-raw,width=720,height=528 ! fakesink \
  || fail "the video does not decode"
expect_sound "0:00:11"
gst-launch-1.0 -q filesrc location=out/faces.png ! pngdec ! fakesink \
  || fail "the picture does not decode"

# Photographs are rotated by their EXIF orientation, so that faces are found.
"$PYTHON" "${demo%/*}/../tests/docs/orientation.py" \
  /usr/share/doc/opencv-doc/examples/data/messi5.jpg . decodebin
turned=turned-6.jpg
[ -e "$turned" ] || turned=turned-1.jpg
MODEL=haarcascade_frontalface_alt2.xml "$demo" "$turned" >log 2>&1 || fail "$(cat log)"
jq -e '.resolution.width == 548 and (.objects | length) >= 2' out/faces.jsonl >/dev/null \
  || fail "no face in $(cat out/faces.jsonl)"

# A video at a URL.
gst-launch-1.0 -q filesrc location=/usr/share/doc/opencv-doc/examples/data/Megamind.avi \
  ! avidemux ! identity eos-after=21 ! decodebin ! videoconvert ! jpegenc ! avimux ! filesink location=film.avi
serve -m http.server --bind 127.0.0.1 0
"$demo" "http://127.0.0.1:$port/film.avi" >log 2>&1 || fail "$(cat log)"
[ "$(jq -s length out/faces.jsonl)" -ge 19 ] || fail "$(wc -l out/faces.jsonl)"
expect_failure "http://127.0.0.1:$port/missing.avi" "http://127.0.0.1:$port/missing.avi"

# A server that accepts the connection and does not answer.
serve -c 'import socket, time
server = socket.create_server(("127.0.0.1", 0))
print("port", server.getsockname()[1])
time.sleep(600)'
DEMO_TIMEOUT=1 expect_failure "no answer from rtsp://" "rtsp://127.0.0.1:$port/camera"

# A camera on the network, with sound.
serve "${demo%/*}/rtsp-server.py" /usr/share/doc/opencv-doc/examples/data/Megamind.avi
for seconds in 4 60; do # a busy machine may need longer
  rm -f out/faces.jsonl
  if DEMO_SECONDS=$seconds "$demo" "rtsp://127.0.0.1:$port/camera" >log 2>&1; then break; fi
done
[ "$(jq -s length out/faces.jsonl)" -ge 5 ] || fail "$(cat log)"
expect_sound
expect_failure "cannot read rtsp://.*/none: " "rtsp://127.0.0.1:$port/none"
# A gst-launch-1.0 that ignores SIGINT.
mkdir deaf
printf '%s\n' '#!/bin/sh' "trap '' INT" 'exec sleep 600' >deaf/gst-launch-1.0
chmod +x deaf/gst-launch-1.0
DEMO_SECONDS=0.1 PATH=$PWD/deaf:$PATH \
  expect_failure "no more data from rtsp://" "rtsp://127.0.0.1:$port/camera"
if "$PYTHON" "${demo%/*}/rtsp-server.py" film.avi "$port" >log 2>&1; then fail "shares port $port"; fi
grep -q "port $port of 127.0.0.1 is taken" log || fail "$(cat log)"

# A camera that disconnects: the records so far are kept, and their path is printed.
(
  until [ -s out/unfinished/faces.jsonl ] || [ ! -e out ]; do sleep 0.1; done
  kill "$server"
) &
expect_failure "records are in .*/out/unfinished" "rtsp://127.0.0.1:$port/camera"
[ -s out/unfinished/faces.jsonl ] || fail "no records are left"
trap 'rm -rf "$scratch"' EXIT
echo "$frames frames, faces in $boxed"
