#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs examples/lines/ELEMENT.sh in an empty folder and checks what it prints to the file
# `out` and what it writes.
# usage: example.sh ELEMENT CHECK   CHECK: a command, or `serves` for a page
set -euo pipefail
look=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/drawn.py
look ()
{
  "$PYTHON" "$look" "$@"
}

# Requests a frame as soon as the example has printed its address.
example_web ()
{
  local url=
  touch out
  "$example" /usr/share/doc/opencv-doc/examples/data/Megamind.avi 0 >out 2>&1 &
  trap 'kill $!; rm -rf "$scratch"' EXIT
  until [ -n "$url" ]; do
    kill -0 $! || { cat out; exit 1; }
    sleep 0.1
    url=$(sed -n 's/^Open //p' out)
  done
  until curl -sS "${url}record.json" | jq -e '.objects | length > 0'; do sleep 0.1; done
}

example=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples/lines" && pwd)/$1.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
if [ "$2" = serves ]; then
  example_web
else
  "$example" >out || { cat out; exit 1; }
  eval "$2"
fi
