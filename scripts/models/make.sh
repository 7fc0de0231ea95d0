#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Trains the models in models/ from generated pictures.
#
# usage: make.sh [CUVISION-TRAIN [FOLDER]]
#
# CUVISION-TRAIN is the program, FOLDER is where models are written. The pictures
# take 100 MB in TMPDIR. With Debian 12's Pillow, NumPy and fonts the models are the
# same bytes on any machine. Needs the packages in packages.txt.
set -eu

here=$(dirname "$(realpath "$0")")
train=${1:-cuvision-train}
models=$(realpath "${2:-$here/../../models}")
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT

fonts()
{
  sed -n "s/^$1 //p" "$here/fonts.txt" | tr '\n' '\0'
}

"$here/xcorners.py" "$pictures/xcorner" 480 480 1
"$train" --positives "$pictures/xcorner/annotations.json" \
  --negatives "$pictures/xcorner/negatives" --features lbp --window 16x16 --weak 64 \
  --copies 1 --margin 0 --false-positives inf --output "$models/cuvision-xcorner.xml"

fonts learn | xargs -0 "$here/digits.py" "$pictures/digit" 800 500 1
"$train" --positives "$pictures/digit/annotations.json" \
  --negatives "$pictures/digit/negatives" --features lbp --window 16x24 --weak 256 \
  --copies 2 --margin 0 --false-positives 0.5 --output "$models/cuvision-digit.xml"
