#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills and stops cuvision-archive and its pipelines, and runs several on the same videos:
afterwards no result may be missing, duplicated or incomplete.

usage: archive-kill.py ARCHIVE
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from archive import LIMIT, LINE, SLOW, Archive, expect, records, wait_for

N_FILMS = 6
HANGS = LINE.replace('! visionpublish', '! identity sleep-time=1000000000 ! visionpublish')


def start(archive, line, *arguments):
    return subprocess.Popen(archive.command(line, *arguments), cwd=archive.folder,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def is_line(pid):
    """Returns whether a process has become a pipeline, and is no longer a copy of its parent."""
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            return b'--run-line' in file.read()
    except OSError: # the process has ended
        return False


def child_of(process):
    """Returns the process of the program's pipeline, or None if all videos are done."""
    def find():
        if process.poll() is not None:
            return [None]
        with open(f'/proc/{process.pid}/task/{process.pid}/children', encoding='ascii') as file:
            return [int(pid) for pid in file.read().split() if is_line(pid)]
    return wait_for('line', find)[0]


def end(process):
    out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out.decode(), err.decode()


def is_alive(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            return file.read().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


def check_kills(archive, films):
    """Kills with -9 at random moments; afterwards the results are those of a single run."""
    archive.run(0, '--output', 'whole', *films)
    for _ in range(5):
        process = start(archive, SLOW, '--output', 'killed', '--jobs', '2', *films)
        child = child_of(process)
        time.sleep(random.uniform(0, 0.3))
        process.kill()
        expect(end(process)[0] in (-9, 0), 'status', process.returncode)
        wait_for('end of the pipeline', lambda pid=child: pid is None or not is_alive(pid))
    archive.run(0, '--output', 'killed', *films, line=SLOW)
    expect(not archive.leftovers('killed'), archive.leftovers('killed'))
    for film in films:
        expect(records(archive, film, 'killed') == records(archive, film, 'whole'), film)
    archive.run(0, '--check', '--output', 'killed')
    # killed between the last steps
    part = archive.path(f'killed/.{films[0]}.results.part')
    os.mkdir(part)
    with open(os.path.join(part, 'lock'), 'wb'):
        pass
    archive.run(0, '--output', 'killed', *films, line=SLOW)
    names = sorted(os.listdir(archive.path('killed')))
    expect(names == sorted(film + '.results' for film in films), names)


def check_redo(archive, films):
    """Checks that a reader always sees old or new results, and that results exist after a kill
    between the two steps that are needed on a file system that cannot exchange names."""
    other = SLOW.replace('15000', '1')
    archive.run(0, '--output', 'redo', *films, line=other)
    process = start(archive, LINE, '--output', 'redo', '--redo', *films)
    results = [archive.result(film, 'redo') for film in films]
    while process.poll() is None:
        for result in results:
            expect(os.path.exists(result), result, 'is missing')
    status, _, err = end(process)
    expect(status == 0 and not archive.leftovers('redo'), status, err)
    part = archive.path(f'redo/.{films[0]}.results.part')
    os.makedirs(os.path.join(part, '12345678'))
    os.rename(results[0], os.path.join(part, 'old'))
    out = archive.run(0, '--output', 'redo', *films)
    expect(f'{N_FILMS} of them in earlier runs' in out.err, out)
    expect(not archive.leftovers('redo'), archive.leftovers('redo'))
    os.symlink('nowhere', part)
    out = archive.run(1, '--output', 'redo', '--redo', films[0], line=other)
    expect('.part' in out.err and 'Not a directory' in out.err, out)
    os.unlink(part)


def check_lines(archive, films):
    """Checks that the next run restarts a pipeline that was killed, but not one that crashed."""
    process = start(archive, SLOW, '--output', 'lines', *films[:2])
    os.kill(child_of(process), signal.SIGKILL)
    status, _, err = end(process)
    expect(status == 1 and 'signal 9' in err and '1 of 2 videos are done; 0 failed' in err, err)
    expect(os.listdir(archive.path('lines')) == [films[1] + '.results'], 'recorded')
    process = start(archive, SLOW, '--output', 'lines', *films[:2])
    os.kill(child_of(process), signal.SIGABRT)
    status, _, err = end(process)
    expect(status == 1 and 'signal 6' in err and '1 failed' in err, err)
    archive.run(1, '--output', 'lines', *films[:2], line=SLOW, err='1 failed before')
    archive.run(0, '--output', 'lines', '--retry-failed', *films[:2], line=SLOW)


def check_poison(archive, films):
    """Checks that videos whose pipelines are always killed do not block others."""
    process = start(archive, SLOW, '--output', 'poison', *films[:5])
    for _ in range(3):
        child = child_of(process)
        os.kill(child, signal.SIGKILL)
        wait_for('end of the pipeline', lambda pid=child: not is_alive(pid))
    status, _, err = end(process)
    expect(status == 1 and '2 of 5 videos are done; 0 failed' in err, status, err)


def check_change(archive, films):
    """Changes a video while it is read."""
    process = start(archive, SLOW.replace('15000', '100000'), '--output', 'change', films[0])
    child_of(process)
    os.utime(archive.path(films[0]))
    status, _, err = end(process)
    expect(status == 1 and 'changed while it was read' in err, status, err)
    expect(not os.listdir(archive.path('change')), 'recorded')


def check_update(archive, films):
    """Replaces the program while it runs, as a package update does."""
    copy = Archive(shutil.copy(archive.program, archive.path('copy')), archive.folder)
    process = start(copy, SLOW, '--output', 'update', *films[:2])
    child_of(process)
    os.remove(copy.program)
    shutil.copy('/bin/false', copy.program)
    status, _, err = end(process)
    expect(status == 0, status, err)


def check_hang(archive, films):
    """Runs pipelines without any buffer, with a sink that waits for the clock and reports it as
    its position, and one that is only slow."""
    late = LINE.replace('! fakesink', '! fakesink sync=true ts-offset=3600000000000')
    slow = SLOW.replace('15000', '200000')
    processes = [start(archive, line, '--output', 'hang', '--stall', '1', film)
                 for line, film in zip((HANGS, late, slow), films)]
    children = [child_of(process) for process in processes]
    for process, child in list(zip(processes, children))[:2]:
        status, _, err = end(process)
        expect(status == 1 and 'no buffer within 1 s' in err and '1 failed' in err, status, err)
        expect(not is_alive(child), 'the pipeline is still alive')
    status, _, err = end(processes[2])
    expect(status == 0, 'a slow pipeline', status, err)


def check_signals(archive, films):
    """Checks that a program ended by a signal has its status, and leaves nothing behind."""
    for number in (signal.SIGINT, signal.SIGTERM):
        process = start(archive, SLOW, '--output', 'signals', '--json', *films)
        child_of(process)
        process.send_signal(number)
        status, out, err = end(process)
        expect(status == -number and json.loads(out)['done'] == 0, status, out, err)
        expect(not os.listdir(archive.path('signals')), os.listdir(archive.path('signals')))


def check_together(archive, films):
    """Runs three processes with the same videos: each video is done once."""
    processes = [start(archive, SLOW, '--output', 'together', '--wait', '--json', *order)
                 for order in (films, films[::-1], films[3:] + films[:3])]
    done = 0
    for process in processes:
        status, out, err = end(process)
        expect(status == 0, status, err)
        done += json.loads(out)['done']
    expect(done == N_FILMS, done, 'videos were done')
    archive.run(0, '--check', '--output', 'together')
    process = start(archive, HANGS, '--output', 'alone', films[0])
    child_of(process)
    archive.run(1, '--output', 'alone', films[0], line=HANGS, err='locked by another process')
    process.terminate()
    end(process)


def start_slow_end(archive, film):
    """Starts a pipeline that takes 12 s to close, as over a slow network."""
    return start(archive, LINE + ' videotestsrc ! identity sleep-time=12000000 '
                 '! tee allow-not-linked=true', '--output', 'end', film)


def main():
    seed = int(os.environ.get('CUV_TEST_SEED', time.time_ns()))
    print('seed', seed)
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(sys.argv[1], os.path.realpath(folder))
        films = archive.films(*(f'{i}.avi' for i in range(N_FILMS)))
        slow = start_slow_end(archive, *archive.films('slow.avi'))
        for check in (check_kills, check_redo, check_lines, check_poison, check_change, check_update,
                      check_hang, check_signals, check_together):
            check(archive, films)
            print('ok', check.__name__, flush=True)
        status, _, err = end(slow)
        expect(status == 0, 'a slow end', status, err)


if __name__ == '__main__':
    main()
