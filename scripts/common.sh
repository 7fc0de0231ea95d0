# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034
# Functions that the scripts of this tree share; source it, do not run it.
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

have_nvcc ()
{
  command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]
}

# Prints which of the given packages are installed.
installed_packages ()
{
  dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null \
    | sed -n 's/ installed$//p' || true
}

# configure FOLDER [OPTION...]: makes a build folder; an existing one keeps its
# options.
configure ()
{
  local folder=$1
  shift
  [ -e "$folder/build.ninja" ] || meson setup "$folder" "$top" "$@"
}

# Kernels take minutes to compile, which pays only if there is a GPU to run them.
have_gpu ()
{
  nvidia-smi -L >/dev/null 2>&1
}

# targets_of FOLDER [FAMILY...]: prints the default targets, or only these families'
# plugins. ninja's "all" would also build every test program.
targets_of ()
{
  local folder=$1
  shift
  meson introspect --targets "$folder" | jq -r --arg top "$folder/" '.[]
    | select(.build_by_default) | .filename[] | ltrimstr($top)
    | select($ARGS.positional == [] or test("^elements/(\($ARGS.positional | join("|")))/"))' \
    --args "$@"
}

# compile FOLDER [FAMILY...]
compile ()
{
  local folder targets
  folder=$(realpath -- "$1")
  shift
  mapfile -t targets < <(targets_of "$folder" "$@")
  ninja -C "$folder" "${targets[@]}" >&2
}

# count_steps FOLDER [FAMILY...]: prints how many steps compile would run
count_steps ()
{
  local folder targets
  folder=$(realpath -- "$1")
  shift
  mapfile -t targets < <(targets_of "$folder" "$@")
  ninja -C "$folder" -n "${targets[@]}" | grep -c '^\[' || true
}

# count_results LOG: prints how many tests passed, failed and were skipped, from Meson's
# log, which has one JSON object per test.
count_results ()
{
  jq -rs '
    def n(f): map(select(.result | IN(f))) | length;
    "\(n("OK", "EXPECTEDFAIL")) \(length - n("OK", "EXPECTEDFAIL", "SKIP")) \(n("SKIP"))"
    ' "$1"
}

# Lets this shell's GStreamer find the plugins built in a folder.
use_plugins ()
{
  local folder
  for folder in "$1"/elements/*/; do
    GST_PLUGIN_PATH_1_0="${folder%/}${GST_PLUGIN_PATH_1_0:+:$GST_PLUGIN_PATH_1_0}"
  done
  export GST_PLUGIN_PATH_1_0
  export GST_REGISTRY_1_0="$1/registry.bin"
  export CUV_MODEL_PATH="${CUV_MODEL_PATH:+$CUV_MODEL_PATH:}$top/models"
}
