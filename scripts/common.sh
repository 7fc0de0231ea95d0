# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034
# What the scripts of this tree share; sourced, never run.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
film=/usr/share/doc/opencv-doc/examples/data/Megamind.avi

say ()
{
  echo "$*" >&2
}

die ()
{
  say "error: $*"
  exit 1
}

# A signal, 129 to 192, is no error of the script.
say_where ()
{
  local status=$? line=$1 command=${2%%$'\n'*} hint=
  [ "$status" -le 128 ] || [ "$status" -gt 192 ] || exit "$status"
  [[ $command != gst-launch-1.0\ -q* ]] || hint="; without -q it says more"
  say "${BASH_SOURCE[1]##*/}: line $line ended with status $status${input:+, for $input}:" \
    "${command:0:60} ...$hint"
  exit "$status"
}

# begin "$@": the start of a script that ends at its first error, and says where.
# --help prints what its head says. Cameras write into a JPEG how they were held,
# for videoflip to turn it; decodebin of 1.22 reads it only with jpegparse's rank.
begin ()
{
  export GST_PLUGIN_FEATURE_RANK=jpegparse:MAX${GST_PLUGIN_FEATURE_RANK:+,$GST_PLUGIN_FEATURE_RANK}
  set -eEo pipefail
  trap 'say_where $LINENO "$BASH_COMMAND"' ERR
  case "${1:-}" in
    -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  esac
}

# A decoder skips what is no picture without a word: has FILE something in it?
check_output ()
{
  [ -s "$1" ] && return
  rm -f "$1"
  die "no picture in $input"
}

have_nvcc ()
{
  command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]
}

# Those of the packages that are installed.
installed_packages ()
{
  dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null \
    | sed -n 's/ installed$//p' || true
}

# configure FOLDER [OPTION...]: a build folder that is there keeps its options.
configure ()
{
  local folder=$1
  shift
  [ -e "$folder/build.ninja" ] || meson setup "$folder" "$top" "$@"
}

# compile FOLDER: what is built by default, which ninja's "all" is not: that has
# the program of every test.
compile ()
{
  local folder targets
  folder=$(realpath -- "$1")
  mapfile -t targets < <(meson introspect --targets "$folder" \
    | jq -r --arg top "$folder/" \
      '.[] | select(.build_by_default) | .filename[] | ltrimstr($top)')
  ninja -C "$folder" "${targets[@]}" >&2
}

# Has this shell's GStreamer find the plugins built in a folder.
use_plugins ()
{
  local folder
  for folder in "$1"/elements/*/; do
    GST_PLUGIN_PATH_1_0="${folder%/}${GST_PLUGIN_PATH_1_0:+:$GST_PLUGIN_PATH_1_0}"
  done
  export GST_PLUGIN_PATH_1_0
  export GST_REGISTRY_1_0="$1/registry.bin"
}
