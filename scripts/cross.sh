#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds for ARM (aarch64) on a Debian machine of another architecture, preferably in a
# chroot, and runs the CPU's tests with qemu-user.
# usage: scripts/cross.sh [BUILD-FOLDER [SUITE...]]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=$(realpath -m -- "${1:-$top/build-arm64}")
suites=("${@:2}")
[ ${#suites[@]} -gt 0 ] || suites=(unit elements)

packages=(gcc libc6-dev meson ninja-build pkgconf jq qemu-user
  gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libsimde-dev locales fonts-dejavu-core
  opencv-data opencv-doc)
arm_packages=(libglib2.0-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
  libcairo2-dev libjson-glib-dev libpango1.0-dev libyaml-dev zlib1g-dev gstreamer1.0-plugins-base
  gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav)

install_missing ()
{
  local wanted=("${packages[@]}" "${arm_packages[@]/%/:arm64}")

  dpkg-query -W "${wanted[@]}" >/dev/null 2>&1 && return
  [ "$(id -u)" = 0 ] || die "needs root to install: ${wanted[*]}"
  dpkg --add-architecture arm64
  apt-get update -q
  # apt would remove the machine's own development packages if their versions differ.
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    --no-remove "${wanted[@]}" || die "apt-get could not install the packages;" \
    "try again in a chroot"
}

# list_tests not|.: prints the tests of the suites that are programs (not), or those that
# are scripts (.), which start programs for ARM themselves.
list_tests ()
{
  local condition=$1

  meson introspect --tests "$build" | jq -r --arg suites "${suites[*]}" '
    .[] | [.suite[] | split (":")[1]] as $have
    | select (any ($suites | split (" ")[]; . as $suite | $have | index ($suite)))
    | select ($have | index ("emulated") | not)
    | select (.cmd[0] | test ("python3?$|\\.sh$") | '"$condition"') | .name'
}

install_missing >&2
configure "$build" --cross-file "$top/scripts/arm64.cross" -Dtests=true -Dsimd=enabled \
  -Dcuda=disabled -Dwerror=true >&2
ninja -C "$build" >&2

mapfile -t programs < <(list_tests not)
mapfile -t scripts < <(list_tests .)
[ ${#programs[@]} -gt 0 ] || die "no tests in the suites: ${suites[*]}"
echo "not run, because they are scripts that start programs: ${scripts[*]}"

# GStreamer's plugin scanner is a program for ARM, so plugins are scanned in the process.
status=0
CUV_CHECK_FEW=1 CUV_TEST_EMULATED=1 GST_REGISTRY_FORK=no meson test -C "$build" \
  -t 10 --print-errorlogs "${programs[@]}" || status=$?
read -r passed failed skipped < <(count_results "$build/meson-logs/testlog.json")
echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
