#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs a wheel of scripts/wheel.sh for a user of a system without GStreamer, GLib and
# compiler, finds boxes, then installs GStreamer and runs plugins and programs.
# Installs packages: run it in a new container or chroot, as scripts/matrix.sh does.
# usage: wheel.sh [WHEEL]   default: the one in dist/
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
export DEBIAN_FRONTEND=noninteractive
wheel=$(realpath -- "${1:-$(echo "$top"/dist/*.whl)}")
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
chmod 755 "$home"
cp "$wheel" "$home"
chown -R nobody "$home"

install ()
{
  apt-get install -y -q --no-install-recommends "$@" >&2
}

as_user ()
{
  setpriv --reuid=nobody --regid=nogroup --clear-groups env -C "$home" HOME="$home" \
    PATH="$home/venv/bin:/usr/bin:/bin" "$@"
}

apt-get update -q >&2
install python3-venv
[[ $(ldconfig -p) != *libglib-2.0* ]] || die "GLib is installed already"
as_user python3 -m venv venv
as_user pip install -q --disable-pip-version-check "${wheel##*/}" >&2
as_user python - >"$home/found" <<'END_OF_PROGRAM'
import cuvision, numpy
board = numpy.kron(numpy.indices((8, 8)).sum(0) % 2 * 255, numpy.ones((40, 40))).astype("uint8")
corners = cuvision.CascadeClassifier("cuvision-xcorner.xml")
for box in corners.detectMultiScale(board):
    print(*box)
faces = cuvision.CascadeClassifier(cuvision.data.haarcascades + "haarcascade_frontalface_alt2.xml")
assert not faces.empty(), faces.error
END_OF_PROGRAM
n_corners=$(wc -l <"$home/found")
[ "$n_corners" = 49 ] || die "$n_corners corners of 49 were found in a chessboard"
! as_user cuvision-verify 2>"$home/found" || die "cuvision-verify ran without GStreamer"
grep -q 'needs GStreamer' "$home/found" || die "cuvision-verify does not say what it needs"

install gstreamer1.0-tools gstreamer1.0-plugins-base libpangocairo-1.0-0 libsoup-3.0-0
as_user python -c '
import cuvision, re
glibs = set(re.findall(r"/\S*libglib-2\.0\S*", open("/proc/self/maps").read()))
assert len(glibs) == 1 and "cuvision" not in "".join(glibs), glibs'
plugins=$(as_user python -m cuvision gst-path)
n_plugins=0
for plugin in "$plugins"/*.so; do
  as_user gst-inspect-1.0 "$plugin" >/dev/null \
    || die "${plugin##*/} cannot be loaded: $(ldd "$plugin" | grep 'not found')"
  n_plugins=$((n_plugins + 1))
done
for program in "$home"/venv/bin/cuvision-*; do
  as_user "$program" --help >/dev/null || die "${program##*/} does not start"
done
as_user GST_PLUGIN_PATH="$plugins" gst-launch-1.0 -q videotestsrc pattern=checkers-8 num-buffers=1 \
  ! video/x-raw,width=320,height=320 ! waldboostdetect model=cuvision-xcorner.xml upscale=2 \
  ! visionpublish ! fakesink >"$home/found"
grep -q '"roi_type"' "$home/found" || die "waldboostdetect finds no corners"
as_user cuvision-verify >&2
echo "$n_corners corners, $n_plugins plugins, $(stat -c %s "$wheel") bytes"
