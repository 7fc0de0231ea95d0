#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs examples/lines/ELEMENT.sh in an empty folder and checks its output.
set -euo pipefail
look=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/drawn.py
look ()
{
  "$PYTHON" "$look" "$@"
}

# Requests a frame as soon as the example has printed its address.
example_web ()
{
  local url=
  touch out
  "$example" /usr/share/doc/opencv-doc/examples/data/Megamind.avi 0 >out 2>&1 &
  trap 'kill $!; rm -rf "$scratch"' EXIT
  until [ -n "$url" ]; do
    kill -0 $! || { cat out; exit 1; }
    sleep 0.1
    url=$(sed -n 's/^Open //p' out)
  done
  until curl -sS "${url}record.json" | jq -e '.objects | length > 0'; do sleep 0.1; done
}

example=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples/lines" && pwd)/$1.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
export GST_REGISTRY_1_0=$scratch/registry
case $1 in
  visionwebsink) example_web; exit ;;
esac
"$example" >out || { cat out; exit 1; }
case $1 in
  visionpublish) jq -es '[.[].objects[]?] | length > 50' out >/dev/null ;;
  ldpindexsink) [ "$(grep -c 'entries=' out)" = 9 ] && tail -1 out | grep -q 'entries=(guint64)9.*left09.jpg' ;;
  houghlines) look drawn lines.png /usr/share/doc/opencv-doc/examples/data/building.jpg ;;
  ldpretrieve) gst-launch-1.0 -q filesrc location=alike.png ! pngdec ! fakesink ;;
  ldpdescriptor) gst-launch-1.0 -q filesrc location=codes.png ! pngdec ! fakesink ;;
  rcdtrack) gst-launch-1.0 -q filesrc location=followed.avi ! avidemux ! jpegdec ! fakesink ;;
  visiontrack) [ "$(grep -c '[)]acquired' out)" -ge 3 ] ;;
  spectralntf) gst-launch-1.0 -q filesrc location=maps.png ! pngdec ! fakesink ;;
  visioncrop) gst-launch-1.0 -q filesrc location=face-00001.jpg ! jpegdec \
    ! video/x-raw,width=112,height=112 ! fakesink ;;
  visionoverlay) look drawn faces.png /usr/share/doc/opencv-doc/examples/data/messi5.jpg ;;
  visionzones) jq -es '[.[].zone_events[]? | select(.event == "enter")] | length > 0' events.jsonl >/dev/null ;;
  waldboosttrain) grep -q 'model=(string)taught.xml' out && [ -s taught.xml ] ;;
  waldboostdetect) [ "$(grep -c 'waldboostdetect, .*objects=' out)" -ge 5 ] ;;
  envisrc) grep -q 'caps = video/x-spectral' out ;;
  envisink) cmp cube.img copy.img ;;
  spectralreflectance) [ "$(stat -c %s reflectance.img)" = "$(($(stat -c %s scene.img) * 2))" ] ;;
  spectralrgb) look bands colours.png scene ;;
  spectralpca) jq -e '.spectral | length == 31' out && [ -s components.png ] ;;
  *) grep -q 'caps = video/x-raw' out ;;
esac
