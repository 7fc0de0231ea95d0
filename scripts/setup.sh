#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs missing Debian packages.
# usage: scripts/setup.sh [demo|build|recipes|test|ray]
# build, the default: to build and run, with CUDA where nvcc is; demo: with CUDA only
# where a GPU is; recipes: also those of docs/recipes.md; test: also those of the tests,
# of which Debian starts some as services; ray: also Ray from PyPI, in the folder .venv-ray
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
what=${1:-build}
[[ $what =~ ^(demo|build|recipes|test|ray)$ ]] \
  || die "$what is not demo, build, recipes, test or ray"

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
  python3-gdal python3-opencv python3-skimage libopencv-dev
  python3-venv slurm-wlm munge libopenmpi-dev openmpi-bin python3-numpy)

wanted=("${build_packages[@]}" "${run_packages[@]}")
have_nvcc && { [ "$what" != demo ] || have_gpu; } && wanted+=("${cuda_packages[@]}")
# Debian 12 has no GstAnalytics, and the package would cost 600 MB.
grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release 2>/dev/null \
  || wanted+=("${analytics_packages[@]}")
[[ $what =~ ^(recipes|test|ray)$ ]] && wanted+=("${recipe_packages[@]}")
[[ $what =~ ^(test|ray)$ ]] && wanted+=("${test_packages[@]}")
# Ubuntu has it as a snap only; the browser's test is skipped there.
[[ $what =~ ^(test|ray)$ ]] && grep -q '^ID=debian$' /etc/os-release 2>/dev/null \
  && wanted+=(chromium)

command -v dpkg-query >/dev/null || die "this is not a Debian system; install the" \
  "equivalents of these Debian 12 packages: ${wanted[*]}"

# opencv-doc's film is in /usr/share/doc, which slim images exclude.
keep_film=(-o "Dpkg::Options::=--path-include=/usr/share/doc/opencv-doc/*")

as_root ()
{
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "need root for: $*"
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

if [ ${#missing[@]} -gt 0 ]; then
  say "installing: ${missing[*]}"
  update_lists
  install_packages "${missing[@]}"
fi
if [ ! -e "$film" ]; then
  say "opencv-doc was installed without its documents: reinstalling it"
  [ ${#missing[@]} -gt 0 ] || update_lists
  install_packages --reinstall opencv-doc
  [ -e "$film" ] || die "opencv-doc did not install $film: look for path-exclude" \
    "in /etc/dpkg/dpkg.cfg.d"
fi

# Ray is in no Debian suite. Without it its test is skipped. A virtual environment that is
# there stays as it is: another Python would break it.
install_ray ()
{
  [ -e "$venv" ] || /usr/bin/python3 -m venv --system-site-packages "$venv" || return
  # without an answer it gives up soon; a slow line may take its time
  "$venv/bin/pip" install -q --disable-pip-version-check --retries 0 --timeout 10 \
    --only-binary :all: 'ray~=2.60' >&2
}

venv=$top/.venv-ray
if [ "$what" = ray ] && ! "$venv/bin/python" -c "import ray" 2>/dev/null; then
  say "installing Ray from PyPI to $venv"
  install_ray || say "no Ray: its tests will be skipped; if PyPI does answer, remove $venv"
fi
