# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced first by the scripts of examples/, which then report the first error and exit;
# --help prints the script's first comment.
. "${BASH_SOURCE[0]%/*}/common.sh"

report_error ()
{
  local status=$? line=$1 command=${2%%$'\n'*} hint=
  # 129 to 192: a signal, such as Ctrl-C, which is not an error
  [ "$status" -le 128 ] || [ "$status" -gt 192 ] || exit "$status"
  [[ $command != gst-launch-1.0\ -q* ]] || hint="; run it without -q to see warnings"
  say "${BASH_SOURCE[1]##*/}: line $line ended with status $status${input:+, for $input}:" \
    "${command:0:60} ...$hint"
  exit "$status"
}

# check_output FILE: fails if it is empty, as decoders skip invalid data silently.
check_output ()
{
  [ -s "$1" ] && return
  rm -f "$1"
  die "no picture in $input"
}

# find_cube NAME [HEADER]: sets input to HEADER, or to the header of a generated cube.
find_cube ()
{
  input=${2:-$1.hdr}
  [ $# -gt 1 ] || "$top/examples/spectral-cube.py" "$1"
}

# decodebin of GStreamer 1.22 reads a JPEG's orientation only if jpegparse has a rank
export GST_PLUGIN_FEATURE_RANK=jpegparse:MAX${GST_PLUGIN_FEATURE_RANK:+,$GST_PLUGIN_FEATURE_RANK}
set -eEo pipefail
trap 'report_error $LINENO "$BASH_COMMAND"' ERR
case "${1:-}" in
  -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
esac
