#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs the wheel, if there is one, and runs the two commands of the README in a new,
# minimal system of each suite and prints a table; the status is 0 if none failed.
# usage: scripts/matrix.sh [SUITE...]   default: bookworm trixie testing
# Suites: Debian's bookworm, trixie, testing; Ubuntu's, noble or later; arm64, which is
# trixie with scripts/cross.sh instead of the two commands.
# Needs root, debootstrap and 10 GB per suite. Systems and logs are written to
# MATRIX_DIR, by default /var/tmp/cuvision-matrix; existing systems are replaced.
# MATRIX_RUN=wheel, demo or tests runs only that; wheel needs dist/, written by
# scripts/wheel.sh on Debian 12. Suites of Ubuntu need the address of a mirror in
# MATRIX_MIRROR.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=$(realpath -m -- "${MATRIX_DIR:-/var/tmp/cuvision-matrix}")
wheels=$(find "$top/dist" -name '*.whl' 2>/dev/null || true)
read -ra wanted <<< "${MATRIX_RUN:-${wheels:+wheel} demo tests}"
declare -A command=([wheel]=tests/wheel/wheel.sh [demo]=examples/demo.sh [tests]=tests/run.sh
  [arm64]=scripts/cross.sh)
row='%-10s %-10s %-10s %-24s %-24s %-40s %s\n'
failed=0

# The mirror that apt uses here; if there is none, debootstrap uses its default.
find_mirror ()
{
  grep -rhvE '^ *#|docker' /etc/apt/sources.list{,.d} 2>/dev/null \
    | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true
}

# Accepts a mirror whose index has expired.
apt_settings ()
{
  echo 'Acquire::Check-Valid-Until "false";'
  apt-config dump | grep -E '^Acquire::https?::Proxy ' || true
}

# Lets pip accept the certificates that it accepts here.
pip_settings ()
{
  [ -n "${PIP_CERT-}" ] || return 0
  install -D -m 644 "$PIP_CERT" "$1/etc/ssl/pip.pem"
  printf '[global]\ncert = /etc/ssl/pip.pem\n' > "$1/etc/pip.conf"
}

copy_tree ()
{
  git -C "$top" ls-files -co --exclude-standard -z \
    | tar -C "$top" --null -T - -c | tar -C "$1" -x --no-same-owner
  [ -z "$wheels" ] || cp -r "$top/dist" "$1"
}

make_system ()
{
  local root=$folder/$1 source=() mirror
  mirror=$(find_mirror)
  case $1 in
    bookworm | trixie | testing | arm64)
      source=("${1/arm64/trixie}" "$root" ${mirror:+"$mirror"}) ;;
    *) # debootstrap has one script for Ubuntu's suites
      source=(--components=main,universe "$1" "$root" "${MATRIX_MIRROR-}" gutsy) ;;
  esac
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "${source[@]}" \
    && cp /etc/resolv.conf "$root/etc/resolv.conf" \
    && echo '127.0.0.1 localhost' > "$root/etc/hosts" \
    && apt_settings > "$root/etc/apt/apt.conf.d/99matrix" \
    && pip_settings "$root" \
    && mkdir "$root/tree" && copy_tree "$root/tree"
}

# enter SUITE COMMAND...: runs a command in the system's copy of the tree, in namespaces
# of its own, so that its mounts and processes end with it.
enter ()
{
  local root=$folder/$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -ec '
    mount -t proc proc "$0/proc"
    mount --rbind /sys "$0/sys"
    mount --rbind /dev "$0/dev"
    chroot "$0" env -i -C /tree HOME=/root LANG=C.UTF-8 \
      PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$root" "$@"
}

# run SUITE wheel|demo|tests|arm64: prints the last line of its results, for the table.
run ()
{
  local log=$folder/$1-$2.log pattern='^[0-9]+ (corners|frames|passed), ' status=0
  say "$1: ${command[$2]}, log in $log"
  enter "$1" "${command[$2]}" > "$log" 2>&1 || status=$?
  [ "$status" = 0 ] || echo -n "FAILED "
  grep -E "$pattern" "$log" | tail -n 1 || status=1
  return "$status"
}

# test_suite SUITE: adds a row to the table
test_suite ()
{
  local suite=$1 started=$SECONDS part
  local -A result=([wheel]=- [demo]=- [tests]=-)
  local parts=("${wanted[@]}")
  [ "$suite" != arm64 ] || parts=(arm64)
  say "$suite: debootstrap, log in $folder/$suite.log"
  if make_system "$suite" > "$folder/$suite.log" 2>&1; then
    for part in "${parts[@]}"; do
      result[${part/arm64/tests}]=$(run "$suite" "$part") || failed=1
    done
  else
    result[demo]="no system"
    failed=1
  fi
  # shellcheck disable=SC2059
  table+=$(printf "$row" "$suite" \
    "$(enter "$suite" pkg-config --modversion gstreamer-1.0 2>/dev/null || echo -)" \
    "$(enter "$suite" gcc -dumpfullversion 2>/dev/null || echo -)" \
    "${result[wheel]}" "${result[demo]}" "${result[tests]}" $(((SECONDS - started) / 60)))$'\n'
}

[ "$(id -u)" = 0 ] || die "needs root, for debootstrap and chroot"
command -v debootstrap >/dev/null || die "install debootstrap"
for part in "${wanted[@]}"; do
  [[ $part =~ ^(wheel|demo|tests)$ ]] || die "MATRIX_RUN: wheel, demo or tests, not '$part'"
  [[ $part != wheel || -n $wheels ]] || die "dist/ has no wheel: run scripts/wheel.sh"
done
[ $# -gt 0 ] || set -- bookworm trixie testing
mkdir -p "$folder"
# shellcheck disable=SC2059
table=$(printf "$row" suite GStreamer gcc wheel demo tests minutes)$'\n'
for suite; do
  test_suite "$suite"
done
printf %s "$table"
exit "$failed"
