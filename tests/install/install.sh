#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs a build into a new folder and checks it: each header compiles alone,
# pkg-config works, plugins find their library.
# usage: BUILD=folder install.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../scripts/common.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LD_LIBRARY_PATH GST_PLUGIN_PATH PYTHONPATH CUV_MODEL_PATH
export GST_REGISTRY_1_0=$scratch/registry

compile "$BUILD" 2>/dev/null
DESTDIR=$scratch meson install -C "$BUILD" --no-rebuild --quiet
pc=$(find "$scratch" -name gstcuvision-1.0.pc)
[ -n "$pc" ] || die "no gstcuvision-1.0.pc"
# a prefix may be moved, as DESTDIR does
export PKG_CONFIG_PATH=${pc%/*}
read -ra flags < <(pkg-config --cflags --libs gstcuvision-1.0)
prefix=$(realpath "$(pkg-config --variable=prefix gstcuvision-1.0)")
[[ $prefix == "$scratch"* ]] || die "gstcuvision-1.0.pc cannot be moved: its prefix is $prefix"
headers=$(pkg-config --variable=includedir gstcuvision-1.0)/gstcuvision-1.0
library=$(pkg-config --variable=libdir gstcuvision-1.0)
GST_PLUGIN_PATH_1_0=$(pkg-config --variable=pluginsdir gstcuvision-1.0)
export GST_PLUGIN_PATH_1_0

for header in "$headers"/*.h; do
  for language in c c++; do
    echo "#include <${header##*/}>" | gcc -x "$language" -Wall -Werror -fsyntax-only \
      - "${flags[@]}" || die "${header##*/} does not stand alone in $language"
  done
done

read -ra detect < <(pkg-config --cflags --libs cuvdetect)
for language in c c++; do
  echo "#include <cuvdetect.h>" | gcc -x "$language" -std=${language/c/gnu}11 -Wall -Wextra -Werror \
    -fsyntax-only - "${detect[@]}" || die "cuvdetect.h does not stand alone in $language"
done
cc -Wall -Werror -o "$scratch/faces" "$here/faces.c" "${detect[@]}" "-Wl,-rpath,$library"
cat >"$scratch/faces.py" <<'END'
import sys, cv2, cuvision
grey = cv2.imread("/usr/share/doc/opencv-doc/examples/data/messi5.jpg", cv2.IMREAD_GRAYSCALE)
cv2.imwrite(sys.argv[1], grey)
faces = cuvision.CascadeClassifier("haarcascade_frontalface_alt2.xml")
for box in faces.detectMultiScale(grey):
    print(*box)
corners = cuvision.CascadeClassifier("cuvision-xcorner.xml")
assert not corners.empty(), corners.error
END
PYTHONPATH=$(dirname "$(find "$scratch" -name gstcuvision.py)") LD_LIBRARY_PATH=$library \
  env -u CUV_DETECT_LIBRARY /usr/bin/python3 "$scratch/faces.py" "$scratch/grey.pgm" >"$scratch/boxes"
plugins=$(PYTHONPATH=$(dirname "$(find "$scratch" -name gstcuvision.py)") LD_LIBRARY_PATH=$library \
  env -u CUV_DETECT_LIBRARY /usr/bin/python3 -m cuvision gst-path)
[ "$plugins" = "$(realpath "$GST_PLUGIN_PATH_1_0")" ] || die "gst-path prints $plugins"
[ -s "$scratch/boxes" ] || die "the installed module cuvision finds no faces"
"$scratch/faces" haarcascade_frontalface_alt2.xml <"$scratch/grey.pgm" \
  | cmp - "$scratch/boxes" || die "libcuvdetect finds other faces than its module"

for plugin in "$GST_PLUGIN_PATH_1_0"/*.so; do
  linked=$(ldd "$plugin")
  for name in libgstcuvision-1.0.so.1 libcuvdetect.so.0; do
    [[ $linked != *"$name"* || $linked == *"$name => $scratch"* ]] \
      || die "${plugin##*/} does not find its library $name: $linked"
  done
done
for program in "$prefix"/bin/*; do
  linked=$(ldd "$program")
  [[ $linked != *"not found"* ]] || die "${program##*/} lacks a library: $linked"
done
# compile with the build folder, without installation
read -ra built < <(PKG_CONFIG_PATH=$BUILD/meson-uninstalled \
  pkg-config --cflags --libs gstcuvision-1.0)
cc -Wall -Werror -o "$scratch/uninstalled" "$here/reader.c" "${built[@]}" \
  || die "meson-uninstalled/gstcuvision-1.0.pc does not fit the build"
# meson devenv finds all programs
for program in "$prefix"/bin/*; do
  meson devenv -C "$BUILD" sh -c "command -v ${program##*/}" >/dev/null \
    || die "meson devenv does not find ${program##*/}"
done

lines=$(PYTHONPATH=$(dirname "$(find "$scratch" -name gstcuvision.py)") /usr/bin/python3 \
  "$top/examples/read-appsink.py" /usr/share/doc/opencv-doc/examples/data/sudoku.png)
[ -n "$lines" ] || die "the installed Python module finds no lines in a picture"

# Containers install this tag, which has the models but no headers.
DESTDIR=$scratch/runtime meson install -C "$BUILD" --no-rebuild --quiet --tags runtime
for model in "$top"/models/*.xml; do
  [ -n "$(find "$scratch/runtime" -path "*/gst-cuvision/models/${model##*/}")" ] \
    || die "${model##*/} is not installed with the tag runtime"
done

cc -Wall -Werror -o "$scratch/reader" "$here/reader.c" "${flags[@]}" \
  "-Wl,-rpath,$library"
line=(filesrc location=/usr/share/doc/opencv-doc/examples/data/building.jpg
  ! decodebin ! videoconvert ! houghlines name=last)
"$scratch/reader" "${line[@]}" ! fakesink >"$scratch/read"
gst-launch-1.0 -q "${line[@]}" ! visionpublish ! fakesink \
  | jq -r '.lines[] | "lines \(.votes)"' >"$scratch/wanted"
[ -s "$scratch/wanted" ] && cmp "$scratch/read" "$scratch/wanted"
echo "$(wc -l <"$scratch/read") rows read"
