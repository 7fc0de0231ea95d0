#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gst-inspect-1.0 of each plugin and element works and takes <= 50 ms.

Arguments: the folders that the plugins are in. The registry is warm: the first
call makes it. Of several looks the best one counts, less the time that it
waited for a CPU, as the machine may have other work. On a slow machine the
limit is twice what GStreamer's own identity takes just then."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

LIMIT_MS = 50
LOOKS = 25


def waited_for_cpu(pid):
    """In ms; 0 where the kernel does not tell."""
    try:
        with open(f'/proc/{pid}/schedstat', encoding='ascii') as stat:
            return int(stat.read().split()[1]) / 1e6
    except OSError:
        return 0


def run_once(name, out, err):
    """Milliseconds and status. A child that has ended still has its counts
    until it is waited for."""
    start = time.monotonic()
    child = subprocess.Popen(['gst-inspect-1.0', name], stdout=out, stderr=err)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    took = 1000 * (time.monotonic() - start) - waited_for_cpu(child.pid)
    return took, child.wait()


def look(name):
    """Milliseconds and text."""
    with tempfile.TemporaryFile('w+') as out, \
            tempfile.TemporaryFile('w+') as err:
        took, status = run_once(name, out, err)
        out.seek(0)
        err.seek(0)
        text, trouble = out.read(), err.read()
    if status or trouble:
        sys.exit(f'gst-inspect-1.0 {name}: status {status}\n{text}{trouble}')
    return took, text


def inspect(name):
    """The text, once a look at name was fast enough."""
    best = usual = float('inf')
    for _ in range(LOOKS):
        took, text = look(name)
        if 'cuvision' not in text:
            sys.exit(f'gst-inspect-1.0 {name}: not ours\n{text}')
        best = min(best, took)
        if best > LIMIT_MS:
            usual = min(usual, look('identity')[0])
        if best <= LIMIT_MS or best <= 2 * usual:
            print(f'{name}: {best:.1f} ms')
            return text
    sys.exit(f'{name}: {best:.1f} ms is more than {LIMIT_MS} '
             f'and twice the {usual:.1f} of identity')


plugins = [path for folder in sys.argv[1:]
           for path in glob.glob(os.path.join(folder, 'libgst*.so'))]
assert plugins, 'no plugin'
subprocess.run(['gst-inspect-1.0'], stdout=subprocess.DEVNULL, check=True)
for plugin in sorted(plugins):
    name = re.sub(r'^libgst|\.so$', '', os.path.basename(plugin))
    elements = re.findall(r'^  (\S+): ', inspect(name), re.M)
    assert elements, f'{name} has no element'
    for element in elements:
        inspect(element)
