#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs examples/archive-ray.py with four workers, of which one is killed: the results are
those of a single process, and the second run has nothing to do.

usage: archive-ray.py ARCHIVE SCRIPT FOLDER-OF-RAY
"""

import os
import re
import signal
import subprocess
import sys
import tempfile

from archive import LIMIT, SLOW, Archive, expect, records, wait_for

N_FILMS = 16


def workers(session):
    """Processes of a session that do films now."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                if file.read().startswith(b'ray::run_batch') and os.getsid(int(pid)) == session:
                    found.append(int(pid))
        except OSError: # it has ended
            pass
    return found


def kill_worker(process):
    """Whether one was killed; else the next may be."""
    for pid in workers(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
            return True
        except ProcessLookupError:
            pass
    return process.poll() is not None


def count(text, name):
    return int(re.search(rf'^{name} +(\d+)$', text, re.M)[1])


class Ray:
    def __init__(self, archive, python, script):
        self.archive = archive
        self.command = [python, script, '--program', archive.program, '--line', SLOW, '--output',
                        archive.path('out'), '--workers', '4', '--minutes', '0.02', '0.1',
                        archive.path('films')]
        self.environment = {**os.environ, 'RAY_USAGE_STATS_ENABLED': '0'}

    def start(self):
        return subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def run(self, kill):
        """What it prints, and its status."""
        with self.start() as process:
            if kill:
                wait_for('worker', lambda: kill_worker(process))
            out, err = process.communicate(timeout=LIMIT)
        expect(process.returncode == 1, process.returncode, out, err)
        expect('text.avi: ' in err and count(out, 'failed') == 1, out, err)
        return out


def main():
    program, script, place = (os.path.abspath(path) for path in sys.argv[1:])
    python = os.path.join(place, 'bin', 'python')
    if subprocess.run([python if os.path.exists(python) else sys.executable, '-c',
                       'import ray'], capture_output=True, check=False).returncode:
        print("skipped: PyPI's ray is missing; scripts/setup.sh ray installs it")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(program, os.path.realpath(folder))
        films = [f'{i}.avi' for i in range(N_FILMS)]
        archive.films(*(f'films/{name}' for name in films))
        with open(archive.path('films/text.avi'), 'wb') as file:
            file.write(b'a text\n' * 99)
        archive.run(0, '--output', 'whole', '--root', 'films', *(f'films/{n}' for n in films))
        ray = Ray(archive, python if os.path.exists(python) else sys.executable, script)
        out = ray.run(kill=True)
        expect(count(out, 'done now') == N_FILMS and count(out, 'tasks') > 4, out)
        before = archive.tree('out')
        out = ray.run(kill=False)
        expect(count(out, 'done before') == N_FILMS and count(out, 'tasks') == 0, out)
        expect(archive.tree('out') == before, 'the second run changed something')
        for film in films:
            expect(records(archive, film, 'out') == records(archive, film, 'whole'), film)
        archive.run(0, '--check', '--output', 'out')


if __name__ == '__main__':
    main()
