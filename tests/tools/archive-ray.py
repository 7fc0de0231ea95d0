#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs examples/archive-ray.py with four workers, one of which is killed, and the pipeline of
another: the results are those of a single process, and the second run has nothing to do.

usage: archive-ray.py ARCHIVE SCRIPT FOLDER-OF-RAY
"""

import argparse
import contextlib
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import types

from archive import LIMIT, SLOW, Archive, expect, records, wait_for

N_FILMS = 16


# ---- processes ----


def processes(session):
    """Returns the command lines of the processes that have not ended."""
    found = {}
    for pid in map(int, filter(str.isdigit, os.listdir('/proc'))):
        with contextlib.suppress(OSError): # the process has ended
            if os.getsid(pid) == session:
                with open(f'/proc/{pid}/cmdline', 'rb') as file:
                    found[pid] = file.read()
    return {pid: text for pid, text in found.items() if text}


def parent_of(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as file:
        return int(file.read().rsplit(')', maxsplit=1)[1].split()[1])


def kill_both(process):
    """Kills a pipeline, and a worker that processes other videos, whose task Ray repeats.
    Returns False if they ended just before."""
    expect(process.poll() is None, 'Ray ended before anything was killed')
    found = processes(process.pid)
    workers = [pid for pid, text in found.items() if text.startswith(b'ray::run_batch')]
    lines = [pid for pid, text in found.items() if b'--run-line' in text]
    with contextlib.suppress(OSError):
        for line in lines:
            others = set(workers) - {parent_of(parent_of(line))}
            if len(others) < len(workers) and others:
                os.kill(line, signal.SIGKILL)
                os.kill(min(others), signal.SIGKILL)
                return True
    return False


def end(session):
    """Waits until the processes of Ray have ended, which takes a while."""
    while left := processes(session):
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


# ---- without Ray ----


def load(script):
    sys.modules.setdefault('ray', types.ModuleType('ray'))
    spec = importlib.util.spec_from_file_location('archive_ray', script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expect_exit(text, function, *arguments):
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            result = function(*arguments)
    except SystemExit as error:
        expect(text in str(error), text, error)
    else:
        expect(False, 'no exit', text, result)


def check_functions(script, folder):
    module = load(script)
    args = argparse.Namespace(folder=folder, output=folder, suffixes=['MKV'])
    expect_exit('that end in .mkv', module.find_videos, args)
    args.folder += '/absent'
    expect_exit('no videos', module.find_videos, args)
    args = argparse.Namespace(cpus_per_task=2, gpus_per_task=0.5)
    expect(module.slots_of(args, [{'CPU': 5, 'GPU': 1}, {'CPU': 2, 'GPU': 4}, {}]) == 3, 'slots')
    # only both machines together have enough
    expect_exit('2 CPU and 0.5 GPU', module.slots_of, args, [{'CPU': 8}, {'CPU': 1, 'GPU': 4}])


# ---- the run ----


def count(text, name):
    return int(re.search(rf'^{name} +(\d+)$', text, re.M)[1])


class Ray:
    def __init__(self, archive, python, script, folder):
        self.archive = archive
        self.command = [python, script, '--program', archive.program, '--line', SLOW, '--output',
                        archive.path('films/out'), '--workers', '4', '--minutes', '0.02', '0.1',
                        '--suffixes', 'AVI', '--', archive.path('films')]
        self.environment = {**os.environ, 'RAY_USAGE_STATS_ENABLED': '0',
                            'RAY_TMPDIR': folder}

    def start(self):
        return subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def run(self, kill):
        """Checks the output and the status of the script."""
        with self.start() as process:
            if kill:
                wait_for('worker and pipeline', lambda: kill_both(process))
            out, err = process.communicate(timeout=LIMIT)
        end(process.pid)
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
    # the paths of Ray's sockets must be short
    with tempfile.TemporaryDirectory() as folder, \
            tempfile.TemporaryDirectory(dir='/tmp') as ray_folder:
        archive = Archive(program, os.path.realpath(folder))
        films = [f'{i}.avi' for i in range(N_FILMS)]
        archive.films(*(f'films/{name}' for name in films), 'films/.trash/0.avi',
                      'films/old.results/0.avi', 'films/out/0.avi')
        with open(archive.path('films/text.avi'), 'wb') as file:
            file.write(b'a text\n' * 99)
        check_functions(script, folder)
        archive.run(0, '--output', 'whole', '--root', 'films', *(f'films/{n}' for n in films))
        ray = Ray(archive, python if os.path.exists(python) else sys.executable, script,
                  ray_folder)
        out = ray.run(kill=True)
        expect(count(out, 'done now') == N_FILMS and count(out, 'tasks') > 4, out)
        before = archive.tree('films/out')
        out = ray.run(kill=False)
        expect(count(out, 'done before') == N_FILMS and count(out, 'tasks') == 0, out)
        expect(archive.tree('films/out') == before, 'the second run changed something')
        for film in films:
            expect(records(archive, film, 'films/out') == records(archive, film, 'whole'), film)
        archive.run(0, '--check', '--output', 'films/out')


if __name__ == '__main__':
    main()
