#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compiles the tree with this Debian release's CUDA toolkit (12.4 in Debian 13), which it
# installs from contrib and non-free: run it as root in a container or chroot.
# usage: scripts/cuda-compile.sh [BUILD-FOLDER]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if ! have_nvcc; then
  shopt -s nullglob
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [ ! -e "$list" ] \
      || sed -Ei '/non-free$/!s/^(deb .* main|Components: main)\>.*/& contrib non-free/' "$list"
  done
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
    nvidia-cuda-toolkit
fi
"$top/scripts/setup.sh"
folder=${1:-$top/build-cuda}
configure "$folder" -Dcuda=enabled -Dcuda-archs=90 -Dcuda-fast-compile=true \
  -Dtests=true -Dwerror=true
ninja -C "$folder"
