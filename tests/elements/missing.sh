#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a test without its pictures and videos, then with invalid ones: it must
# fail with a message, not by timeout.
# usage: missing.sh TEST FILE...    the files that it reads
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
test=$1
shift
export CUV_TEST_DATA="$folder"

expect ()
{
  if "$test" >"$folder/log" 2>&1; then
    echo "passed without its files"
    exit 1
  fi
  if ! grep -q "$1" "$folder/log"; then
    echo "expected '$1', got:"
    cat "$folder/log"
    exit 1
  fi
}

expect "no such file: $folder/$1"
for name; do
  echo "no picture" >"$folder/$name"
done
expect "no frame: "
