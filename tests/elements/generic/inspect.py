#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that gst-inspect-1.0 works for each plugin and element and does not look for a GPU:
the dynamic linker must not report a search for CUDA's driver. Prints milliseconds.

Arguments: the folders of the plugins. The first call creates the registry, so that it exists
when later calls are timed."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time


def searched(command):
    """Returns the finished process, and the libraries that were searched for."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False,
            env={**os.environ, 'LD_DEBUG': 'libs',
                 'LD_DEBUG_OUTPUT': os.path.join(folder, 'libs')})
        text = ''
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding='utf-8',
                      errors='replace') as file:
                text += file.read()
    return done, set(re.findall(r'find library=(\S+)', text))


def inspect(name):
    """Checks and returns the output of gst-inspect-1.0."""
    start = time.monotonic()
    done, libraries = searched(['gst-inspect-1.0', name])
    print(f'{name}: {1000 * (time.monotonic() - start):.0f} ms')
    if done.returncode or done.stderr:
        sys.exit(f'gst-inspect-1.0 {name}: status {done.returncode}\n'
                 f'{done.stdout}{done.stderr}')
    if 'cuvision' not in done.stdout:
        sys.exit(f'gst-inspect-1.0 {name}: not ours\n{done.stdout}')
    driver = [library for library in libraries if 'libcuda.so' in library]
    if driver:
        sys.exit(f'gst-inspect-1.0 {name} looks for {driver}')
    return done.stdout


# check that LD_DEBUG shows such a search
_, seen = searched([sys.executable, '-c', """
import ctypes
try:
    ctypes.CDLL('libcuda.so.1')
except OSError:
    pass"""])
assert 'libcuda.so.1' in seen, seen
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
