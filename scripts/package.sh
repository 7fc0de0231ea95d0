#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the Debian packages and tests them. Installs packages: run it in a container
# or chroot.
# usage: scripts/package.sh build FOLDER   builds source and binary packages, runs lintian
#        scripts/package.sh check FOLDER   installs them, runs debian/tests, removes them
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export DEBIAN_FRONTEND=noninteractive
shopt -s nullglob

install ()
{
  apt-get install -y -q --no-install-recommends "$@" >&2
}

build ()
{
  local version tree
  install build-essential lintian
  version=$(sed -n '1s/.*(\(.*\)-.*/\1/p' "$top/debian/changelog")
  tree=$out/gst-cuvision-$version
  rm -rf "$tree"
  mkdir "$tree"
  tar -C "$top" -c --exclude='./.*' --exclude='./build*' --exclude=./demo-out \
    --exclude=__pycache__ . | tar -C "$tree" -x
  tar -C "$out" -czf "$out/gst-cuvision_$version.orig.tar.gz" \
    --exclude=debian "gst-cuvision-$version"
  cd "$tree"
  apt-get build-dep -y -q --no-install-recommends ./ >&2
  dpkg-buildpackage -us -uc >&2
  cd "$out"
  lintian --allow-root --info --fail-on error,warning ./*.changes
  rm -r "$tree"
}

# Prints all files on disk except logs and caches.
all_files ()
{
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path "$out" \
    -o -path /root -o -path /var/log -o -path /var/cache \) -prune -o -print | sort
}

# Installs the packages twice: the first time to install their dependencies as well.
check ()
{
  local debs=("$out"/*_all.deb "$out"/*_"$(dpkg --print-architecture)".deb) names deb
  mapfile -t names < <(for deb in "${debs[@]}"; do dpkg-deb -f "$deb" Package; done \
    | grep -v -- -dbgsym)
  mapfile -t debs < <(printf '%s\n' "${debs[@]}" | grep -v -- -dbgsym)
  install autopkgtest gstreamer1.0-tools
  autopkgtest "$out"/*.changes -- null
  install "${debs[@]}"
  apt-get purge -y -q "${names[@]}" >&2
  all_files >"$out/before"

  dpkg -i "${debs[@]}" >&2
  gst-inspect-1.0 waldboostdetect | sed -n 1,12p
  cuvision-index --help | sed -n 1p
  cuvision-archive --help | sed -n 1p
  cuvision-search --help | sed -n 1p
  cuvision-train --help | sed -n 1p
  cuvision-farm --help | sed -n 1p
  apt-get purge -y -q "${names[@]}" >&2
  all_files >"$out/after"
  diff "$out/before" "$out/after" || die "files were left behind"
  ! grep -E 'gstcuv|cuvision' "$out/after" | grep -v "^$top" || die "files were left behind"
  say "nothing was left behind"
}

[ $# = 2 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 2; }
out=$(mkdir -p "$2" && realpath -- "$2")
apt-get update -q >&2
case $1 in
  build | check) "$1" ;;
  *) die "unknown command '$1': expected build or check" ;;
esac
