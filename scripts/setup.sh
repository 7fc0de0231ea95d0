#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs missing Debian packages, with sudo unless run by root.
# usage: scripts/setup.sh [--check] [demo|build|wheel|recipes|test|ray]
#   build (default)  to build and run, with CUDA if nvcc is installed
#   demo             the same, with CUDA only if there is a GPU
#   wheel            also to build a Python wheel with scripts/wheel.sh
#   recipes          also to run docs/recipes.md
#   test             also to run the tests; Debian starts some of these as services
#   ray              also Ray, from PyPI, in the folder .venv-ray
# --check lists what is missing and installs nothing; the status is then 1.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
check=
[ "${1-}" != --check ] || { check=yes; shift; }
what=${1:-build}
[[ $what =~ ^(demo|build|wheel|recipes|test|ray)$ ]] \
  || die "unknown argument '$what': expected demo, build, wheel, recipes, test or ray"

build_packages=(gcc libc6-dev pkgconf meson ninja-build libglib2.0-dev
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libjson-glib-dev
  libcairo2-dev libpango1.0-dev libsoup-3.0-dev libturbojpeg0-dev zlib1g-dev
  libyaml-dev libmosquitto-dev librdkafka-dev libnats-dev)
run_packages=(gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-base-apps
  gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly
  gstreamer1.0-libav fonts-dejavu-core opencv-data opencv-doc jq)
cuda_packages=(g++ libgstreamer-plugins-bad1.0-dev libgl-dev)
analytics_packages=(libgstreamer-plugins-bad1.0-dev)
recipe_packages=(mosquitto mosquitto-clients python3 python3-gi python3-numpy python3-pandas sqlite3
  gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0 gir1.2-gst-rtsp-server-1.0)
test_packages=(g++ git dpkg-dev clang-format valgrind locales libc-bin libboost-context-dev
  curl glib-networking openssl nats-server python3-prometheus-client
  python3-gdal python3-opencv python3-skimage python3-yaml libopencv-dev
  python3-venv slurm-wlm munge libopenmpi-dev openmpi-bin python3-numpy python3-scipy)

wanted=("${build_packages[@]}" "${run_packages[@]}")
have_nvcc && { [ "$what" != demo ] || have_gpu; } && wanted+=("${cuda_packages[@]}")
# Debian 12 has no GstAnalytics, and the package would cost 600 MB.
grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release 2>/dev/null \
  || wanted+=("${analytics_packages[@]}")
[ "$what" != wheel ] || wanted+=(python3-venv)
[[ $what =~ ^(recipes|test|ray)$ ]] && wanted+=("${recipe_packages[@]}")
[[ $what =~ ^(test|ray)$ ]] && wanted+=("${test_packages[@]}")
# Ubuntu has Chromium as a snap only; the test that needs a browser is skipped there.
[[ $what =~ ^(test|ray)$ ]] && grep -q '^ID=debian$' /etc/os-release 2>/dev/null \
  && wanted+=(chromium)

command -v dpkg-query >/dev/null || die "not a Debian system; install the" \
  "equivalents of these Debian 12 packages: ${wanted[*]}"

# opencv-doc's video is in /usr/share/doc, which slim images exclude.
keep_film=(-o "Dpkg::Options::=--path-include=/usr/share/doc/opencv-doc/*")

as_root ()
{
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "not root, and sudo is not installed; run as root: $*"
  fi
}

install_packages ()
{
  as_root env DEBIAN_FRONTEND=noninteractive apt-get "${keep_film[@]}" \
    -o Acquire::Retries=3 install -y -q --no-install-recommends "$@" \
    || die "apt-get could not install: $*"
}

update_lists ()
{
  as_root apt-get -o Acquire::Retries=3 update -q \
    || say "apt-get update failed; trying with the existing lists"
}

mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
  <(installed_packages "${wanted[@]}" | sort -u))

if [ -n "$check" ]; then
  [ ${#missing[@]} -eq 0 ] || { say "missing packages: ${missing[*]}"; exit 1; }
  [ -e "$film" ] || { say "missing: $film of opencv-doc"; exit 1; }
  exit 0
fi
if [ ${#missing[@]} -gt 0 ]; then
  say "installing: ${missing[*]}"
  update_lists
  install_packages "${missing[@]}"
fi
if [ ! -e "$film" ]; then
  say "opencv-doc was installed without its documents: reinstalling it"
  [ ${#missing[@]} -gt 0 ] || update_lists
  install_packages --reinstall opencv-doc
  [ -e "$film" ] || die "opencv-doc did not install $film: remove path-exclude lines" \
    "from /etc/dpkg/dpkg.cfg.d"
fi

# Ray is not in Debian; its test is skipped without it. An existing virtual environment is
# kept: another Python would break it.
install_ray ()
{
  [ -e "$venv" ] || /usr/bin/python3 -m venv --system-site-packages "$venv" || return
  # gives up soon if there is no answer, but waits for a slow connection
  "$venv/bin/pip" install -q --disable-pip-version-check --retries 0 --timeout 10 \
    --only-binary :all: 'ray~=2.60' >&2
}

venv=$top/.venv-ray
if [ "$what" = ray ] && ! "$venv/bin/python" -c "import ray" 2>/dev/null; then
  say "installing Ray from PyPI to $venv"
  install_ray || say "Ray was not installed: its tests will be skipped. If PyPI can be" \
    "reached, remove $venv and try again"
fi
