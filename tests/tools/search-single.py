#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cuvision-search without MPI: one process gives the same results, more are refused.

usage: search-single.py SINGLE INDEX [SEARCH]   SEARCH has MPI"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'check'))
from checks import check, failures

SINGLE, INDEX, *MPI = (os.path.abspath(program) for program in sys.argv[1:])
PICTURES = '/usr/share/doc/opencv-doc/examples/data'
NAMES = ['aloeL.jpg', 'baboon.jpg', 'board.jpg', 'fruits.jpg', 'home.jpg']


def run(program, *arguments, **environment):
    return subprocess.run([program, *arguments], capture_output=True, text=True,
                          timeout=120, env={**os.environ, **environment})


def records(program, *arguments):
    done = run(program, *arguments)
    check(done.returncode == 0, f'{program} {arguments}: {done.stderr}')
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for record in found:
        del record['microseconds']
    return found


def main():
    for name in NAMES:
        shutil.copy(os.path.join(PICTURES, name), name)
    added = run(INDEX, 'add', 'single.ldp', *NAMES)
    check(added.returncode == 0, added.stderr)
    line = ['-i', 'single.ldp', '--device', 'cpu', '-k', '3']
    for query, wanted in (([NAMES[2]], [2]), (['-e', NAMES[1]], [1]),
                          (['-n', '3', '0'], [3, 0])):
        found = records(SINGLE, *line, *query)
        best = [record['matches'][0] for record in found]
        check([match['entry'] for match in best] == wanted
              and all(match['similarity'] == 1 for match in best), f'{query}: {found}')
        for program in MPI:
            check(found == records(program, *line, *query),
                  f'{query}: differs from the answer with MPI')
    done = run(SINGLE, '-i', 'none.ldp', 'x')
    check(done.returncode == 1 and 'No such file' in done.stderr, done.stderr)
    check('libmpi' not in run('ldd', SINGLE).stdout, 'it is linked with MPI')
    done = run(SINGLE, *line, *NAMES, OMPI_COMM_WORLD_SIZE='2')
    check(done.returncode == 2 and 'built without MPI' in done.stderr and not done.stdout,
          done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir('/')
sys.exit(failures() > 0)
