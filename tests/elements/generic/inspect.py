#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gst-inspect-1.0 of each plugin and element works and takes <= 50 ms.

Arguments: the folders that the plugins are in. The registry is warm: the first
call makes it. The best of five counts, as the machine may have other work."""
import glob
import os
import re
import subprocess
import sys
import time

LIMIT_MS = 50


def inspect(name):
    best = float('inf')
    for _ in range(5):
        start = time.monotonic()
        done = subprocess.run(['gst-inspect-1.0', name], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        best = min(best, 1000 * (time.monotonic() - start))
        if done.returncode or done.stderr or 'cuvision' not in done.stdout:
            sys.exit(f'gst-inspect-1.0 {name}: status {done.returncode}\n'
                     f'{done.stdout}{done.stderr}')
    print(f'{name}: {best:.1f} ms')
    return best, done.stdout


plugins = [path for folder in sys.argv[1:]
           for path in glob.glob(os.path.join(folder, 'libgst*.so'))]
assert plugins, 'no plugin'
subprocess.run(['gst-inspect-1.0'], stdout=subprocess.DEVNULL, check=True)
worst = 0
for plugin in sorted(plugins):
    name = re.sub(r'^libgst|\.so$', '', os.path.basename(plugin))
    took, text = inspect(name)
    worst = max(worst, took)
    elements = re.findall(r'^  (\S+): ', text, re.M)
    assert elements, f'{name} has no element'
    for element in elements:
        worst = max(worst, inspect(element)[0])
if worst > LIMIT_MS:
    sys.exit(f'{worst:.1f} ms is more than {LIMIT_MS}')
