#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests scripts of examples/ with --help, broken pictures and EXIF orientations.
# usage: scripts.sh PYTHON
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
examples=$here/../../examples
data=/usr/share/doc/opencv-doc/examples/data
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail ()
{
  echo "$*"
  exit 1
}

for example in "$examples"/*.sh "$examples"/lines/*.sh; do
  "$example" --help >log 2>&1 || fail "$example --help: $(cat log)"
  grep -q "^usage: .*${example##*/}" log || fail "$example --help: $(cat log)"
done
[ "$(ls)" = log ] || fail "--help left $(ls)"

echo "no picture" >broken.jpg
for name in houghlines ldpdescriptor visionoverlay visionpublish waldboostdetect; do
  if "$examples/lines/$name.sh" broken.jpg >log 2>&1; then fail "$name.sh accepted broken.jpg"; fi
  tail -n 1 log | grep -q broken.jpg || fail "$name.sh broken.jpg: $(cat log)"
done

# Broken pictures are skipped, the others are indexed and compared.
mkdir pictures
cp broken.jpg pictures/a.jpg
cp "$data"/left0[1-4].jpg pictures
cp broken.jpg pictures/z.jpg
env -u DISPLAY "$examples/lines/ldpretrieve.sh" pictures >log 2>&1 || fail "$(cat log)"
for name in a.jpg z.jpg; do
  grep -q "skipped: pictures/$name" log || fail "not skipped: $name: $(cat log)"
done
[ "$(grep -c 'entries=' log)" = 4 ] && [ -s alike.png ] || fail "$(cat log)"

# Pictures with different EXIF orientations have the same face.
"$1" "$here/orientation.py" "$data/messi5.jpg" . decodebin
for picture in turned-*.jpg; do
  "$examples/lines/waldboostdetect.sh" "$picture" haarcascade_frontalface_alt2.xml >log 2>&1 \
    || fail "$(cat log)"
  grep -qE 'x\\=\\\(uint\\\)22[0-9]\\,\\ y\\=\\\(uint\\\)9[0-9]\\,\\ width\\=\\\(uint\\\)(39|4)' log \
    || fail "no face in $picture: $(cat log)"
done
echo "ok"
