#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Draws boxes around the faces in a video or of a camera. First installs and builds
# what is missing.
# usage: examples/demo.sh [FILE|http://...|/dev/videoN|rtsp://...]
#   FILE, http://..., https://...  a video or picture that GStreamer can decode
#   /dev/videoN, rtsp://...        a camera: until it ends, Ctrl-C, or for
#                                  DEMO_SECONDS seconds
# BUILD=folder and OUT=folder replace the folders build and demo-out. The input must
# answer within DEMO_TIMEOUT seconds, by default 30.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/example.sh"

is_address ()
{
  [[ $1 == http://* || $1 == https://* || $1 == rtsp://* || $1 == rtsps://* ]]
}

input=${1:-$film}
is_address "$input" || input=$(realpath -m -- "$input")
here=$PWD
build=$(realpath -m -- "${BUILD:-$top/build}")
out=$(realpath -m -- "${OUT:-$top/demo-out}")
work=$out/unfinished
video=$work/faces.mp4
records=$work/faces.jsonl
still=$work/faces.png

is_camera ()
{
  [[ $input == /dev/* || $input == rtsp* ]]
}

check_input ()
{
  if is_address "$input"; then
    return
  elif is_camera; then
    [ -c "$input" ] || die "no camera at $input; cameras found:" \
      "$(ls /dev/video* 2>/dev/null || echo none)"
    [ -r "$input" ] || die "no permission to read $input: join the group video"
  else
    [ -f "$input" ] || die "no such file: $input"
    [ -r "$input" ] || die "no permission to read $input"
  fi
}

if is_address "$input"; then
  source=(uridecodebin "uri=$input" name=decoder)
elif is_camera; then
  source=(v4l2src "device=$input" ! decodebin name=decoder)
else
  source=(filesrc "location=$input" ! decodebin name=decoder)
fi
# The pipeline is the same with and without a GPU.
faces=(videoconvert ! videoflip video-direction=auto ! cudaupload ! waldboostdetect "model=${MODEL:-haarcascade_frontalface_alt2.xml}"
  label=face ! visionoverlay thickness=3 color=0xff30e060 ! visionpublish "file-path=$records"
  add-empty-results=true ! cudadownload)
families=(transfer waldboost overlay publish) # their plugins
record=(videoconvert ! "video/x-raw,format=I420" ! x264enc tune=zerolatency
  speed-preset=veryfast pass=qual quantizer=21 ! h264parse ! mp4mux name=mux ! filesink "location=$video")
sound=() # only if the input has some: the muxer would wait for it

# Reads the input's streams; fails if there is no answer.
discover ()
{
  local uri=$input found
  [[ $input != /dev/* ]] || return 0
  is_address "$input" || uri=file://$(jq -rn --arg path "$input" '$path | split("/") | map(@uri) | join("/")')
  found=$(LC_ALL=C gst-discoverer-1.0 "--timeout=${DEMO_TIMEOUT:-30}" "$uri" 2>&1)
  case $found in
    *"timed out"*) die "no answer from $input within ${DEMO_TIMEOUT:-30} s" ;;
    *"An error was encountered"*) die "cannot read $input:" \
      "$(sed '1,/An error was/d; s/^ *//; /^$/d' <<<"$found" | head -n 1)" ;;
    *"Missing plugins"*) ;;
    *"  audio"*) sound=(decoder. ! queue ! audioconvert ! audioresample
      ! audio/x-raw,rate=48000,channels=2 ! avenc_aac ! mux.) ;;
  esac
}

# build_plugins TEXT [FAMILY...]: builds them, and first says how much there is to do.
build_plugins ()
{
  local text=$1 steps
  shift
  steps=$(count_steps "$build" "$@")
  [ "$steps" = 0 ] || say "building $text: $steps steps," \
    "about $((steps / 4 / $(nproc) + 1)) s${kernels:+ and some minutes for CUDA kernels}"
  compile "$build" "$@"
}

# videorate: some frames of the default video have the same timestamp.
run_file ()
{
  gst-launch-1.0 -q -e "${source[@]}" ! videorate \
    ! "${faces[@]}" ! progressreport name=progress update-freq=1 \
    ! "${record[@]}" "${sound[@]}"
}

# A camera is live: the queue keeps the newest frame and drops the others.
run_camera ()
{
  local limit=()
  # gst-launch-1.0 -e waits forever if the camera has not answered yet
  [ -z "${DEMO_SECONDS:-}" ] \
    || limit=(timeout --foreground -s INT -k 30 "$DEMO_SECONDS")
  say "recording until ${DEMO_SECONDS:+$DEMO_SECONDS seconds have passed or }Ctrl-C"
  trap : INT
  "${limit[@]}" gst-launch-1.0 -q -e "${source[@]}" \
    ! queue leaky=downstream max-size-buffers=1 \
    ! "${faces[@]}" ! progressreport name=progress update-freq=1 do-query=false \
    ! queue ! "${record[@]}" "${sound[@]}" || [ $? = 124 ] \
    || die "no more data from $input$([ ! -s "$records" ] \
      || echo "; its records are in $work until the next run")"
  trap - INT
}

# Prints the number of the frame with the most objects; of several, the one with
# the largest object.
best_frame ()
{
  jq -s 'max_by([(.objects // [] | length), ([.objects[]?.w] | max)])
    | .frame_num // 0' "$records"
}

# identity passes frames 0 to $1, and multifilesink keeps the last of them.
save_still ()
{
  gst-launch-1.0 -q filesrc "location=$video" ! qtdemux ! h264parse \
    ! identity "eos-after=$(($1 + 2))" ! avdec_h264 ! videoconvert \
    ! video/x-raw,format=RGB ! pngenc compression-level=0 \
    ! multifilesink "location=$still.large"
  gst-launch-1.0 -q filesrc "location=$still.large" ! pngdec ! pngenc \
    ! filesink "location=$still"
  rm -f "$still.large"
}

[ $# = 0 ] || check_input
"$top/scripts/setup.sh" demo
discover
kernels=
if have_nvcc && have_gpu; then
  kernels=yes
elif have_nvcc && [ ! -e "$build" ]; then
  say "nvidia-smi finds no GPU: building without CUDA kernels" \
    "(meson configure $build -Dcuda=auto adds them)"
fi
configure "$build" "-Dcuda=$([ "$kernels" ] && echo auto || echo disabled)" >&2
build_plugins "what this demo runs" "${families[@]}"
use_plugins "$build"

rm -rf "$work" # of a failed run; the last good results remain in $out
mkdir -p "$work"
started=$(date +%s%N)
if is_camera; then run_camera; else run_file; fi
took=$((($(date +%s%N) - started) / 1000000))
[ -s "$records" ] || die "no frame was processed"
save_still "$(best_frame)"

jq -rs '"\(length) frames, \([.[].objects[]?] | length) faces"' "$records"
echo "in $((took / 1000)).$(printf %03d $((took % 1000))) s:"
for file in "$video" "$records" "$still"; do
  mv "$file" "$out/"
  realpath --relative-to="$here" "$out/${file##*/}"
done
rmdir "$work"
build_plugins "the other elements and the programs"
