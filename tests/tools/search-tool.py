#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cuvision-search: the same bits from any number of ranks, from ldpretrieve and
from NumPy; errors that name rank and file; ranks that are killed.

usage: search-tool.py SEARCH INDEX WRITER [ENTRIES], where ENTRIES are those of the index that
is compared with NumPy, 4000 by default. Exit status 77: a package is missing."""
import base64
import concurrent.futures
import importlib.util
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

for package, name, found in (
        ('openmpi-bin', 'mpirun', shutil.which('mpirun')),
        ('python3-opencv', 'cv2', importlib.util.find_spec('cv2')),
        ('python3-numpy', 'numpy', importlib.util.find_spec('numpy'))):
    if not found:
        print(f'skipped: install {package} ({name} is missing)')
        sys.exit(77)

import cv2
import numpy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'check'))
from checks import check, failures

SEARCH, INDEX, WRITER = (os.path.abspath(program) for program in sys.argv[1:4])
ENTRIES = int(sys.argv[4]) if len(sys.argv) > 4 else 4000
PICTURES = '/usr/share/doc/opencv-doc/examples/data'
NAMES = ['aloeL.jpg', 'baboon.jpg', 'board.jpg', 'fruits.jpg', 'home.jpg']
MPIRUN = ['mpirun', '--map-by', 'slot:OVERSUBSCRIBE']
# lets Open MPI 4 and 5 run as root, and in containers, which have no other machines
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                  PRTE_ALLOW_RUN_AS_ROOT='1', PRTE_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                  OMPI_MCA_plm='isolated', OMPI_MCA_pml='ob1',
                  OMPI_MCA_odls_base_sigkill_timeout='0')


def run(command, text=None, **environment):
    return subprocess.run(command, input=text, capture_output=True, text=True,
                          timeout=120, env={**os.environ, **environment})


def search(*arguments, n=0, text=None):
    """Returns the records of a search that succeeds; n = 0: without mpirun."""
    launcher = [*MPIRUN, '-n', str(n)] if n else []
    done = run([*launcher, SEARCH, '--device', 'cpu', *arguments], text)
    check(done.returncode == 0, f'{n} ranks, {arguments}: {done.stderr}')
    return [json.loads(line) for line in done.stdout.splitlines()]


def at_once(function, *rows):
    """Calls a function for each row, two at a time, because calls mostly wait for MPI."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda row: function(*row), rows))


def expect(status, part, *arguments, n=0, text=None):
    launcher = [*MPIRUN, '-n', str(n)] if n else []
    done = run([*launcher, SEARCH, *arguments], text)
    check(done.returncode == status and part in done.stdout + done.stderr,
          f'{n} ranks, {arguments}: {done.returncode}, {done.stdout}{done.stderr}')
    return done


def index(*arguments):
    done = run([INDEX, *arguments])
    check(done.returncode == 0, f'{arguments}: {done.stderr}')
    return done.stdout


def write(grid, size, n, seed, *files):
    subprocess.run([WRITER, str(grid), str(size), str(n), str(seed), *files],
                   check=True)


def timeless(records):
    return [{key: value for key, value in record.items() if key != 'microseconds'}
            for record in records]


def retrieve(path, k, picture, *settings):
    """Returns the matches of ldpretrieve."""
    line = ['gst-launch-1.0', '-q', 'filesrc', f'location={picture}', '!', 'decodebin',
            '!', 'videoconvert', '!', 'ldpretrieve', f'index={path}', f'k={k}',
            'thumbnails=false', *settings, '!', 'visionpublish', '!', 'fakesink']
    return [{key: match[key] for key in ('rank', 'name', 'similarity', 'entry')}
            for match in json.loads(run(line).stdout)['matches']]


def as_retrieved(record):
    return [{key: match[key] for key in ('rank', 'name', 'similarity', 'entry')}
            for match in record['matches']]


# ---- NumPy ----

class Oracle:
    """Computes similarities as docs/ldpretrieve.md defines them, from the bytes of an index with
    counts of two bytes."""

    def __init__(self, path):
        data = numpy.memmap(path, numpy.uint8, 'r')
        columns, rows, n, bins = struct.unpack_from('<IIII', data, 52)
        size, stride = struct.unpack_from('<QQ', data, 80)
        assert struct.unpack_from('<I', data, 68)[0] == 2
        count = (len(data) - 4096) // stride
        entries = numpy.lib.stride_tricks.as_strided(
            data[4096:], (count, size), (stride, 1))
        self.shape = (columns * rows, n, bins)
        self.counts = numpy.ascontiguousarray(entries).view('<u2')
        totals = self.counts[0].reshape(self.shape).sum(2, dtype=int)[:, 0]
        used = n * int((totals > 0).sum())
        self.most = used * math.lcm(*[int(t) for t in totals if t])
        assert self.most < 2 ** 62
        self.weights = [self.most // (int(t) * used) if t else 0 for t in totals]
        self.totals = totals * n

    def similarities(self, query):
        """Returns similarities: distances are integers, which are divided once."""
        distance = numpy.zeros(len(self.counts), numpy.int64)
        size = self.shape[1] * self.shape[2]
        for block, weight in enumerate(self.weights):
            part = slice(block * size, (block + 1) * size)
            common = numpy.minimum(self.counts[:, part], query[part]).sum(
                1, dtype=numpy.int64)
            distance += weight * (self.totals[block] - common)
        return (self.most - distance) / self.most

    def best(self, query, k, threshold=0.0):
        """Returns (entry, similarity) of the best; equal ones are ordered by number."""
        found = self.similarities(query)
        order = numpy.argsort(-found, kind='stable')[:k]
        return [(int(i), float(found[i])) for i in order if found[i] >= threshold]


def pairs(record):
    return [(match['entry'], match['similarity']) for match in record['matches']]


def test_numpy():
    files = ['r-0.ldp', 'r-1.ldp', 'r-2.ldp']
    write(1, 128, ENTRIES, 1, 'all.ldp')
    write(1, 128, ENTRIES, 1, *files)
    oracle = Oracle('all.ldp')
    queries = [0, 5, ENTRIES // 2, ENTRIES - 1]
    wanted = [oracle.best(oracle.counts[i], 50) for i in queries]
    check(any(a[1] == b[1] for best in wanted for a, b in zip(best, best[1:])),
          'there are no ties')
    numbers = [str(i) for i in queries]

    def compare(n, more):
        one = search('-i', 'all.ldp', '-k', '50', '-n', *more, *numbers, n=n)
        check([pairs(record) for record in one] == wanted, f'{n} ranks, NumPy')
        several = search('-i', 'r-?.ldp', '-k', '50', '-n', *more, *numbers, n=n)
        check([pairs(record) for record in several] == wanted,
              f'{n} ranks, three files')
        for record in several:
            for match in record['matches']:
                start = ENTRIES * files.index(match['file']) // 3
                check(match['name'] == str(match['entry'])
                      and match['file_entry'] == match['entry'] - start,
                      f'{n} ranks: {match}')

    at_once(compare, (0, ['--threads', '1']), (1, []), (2, ['--memory-limit', '1']),
            (4, ['--no-check', '--memory-limit', '0']), (7, []))
    threshold = wanted[1][7][1]
    found = search('-i', 'all.ldp', '-k', '10000', '-t', repr(threshold), '-n', '5', n=3)
    check(pairs(found[0]) == oracle.best(oracle.counts[5], 10000, threshold),
          'a threshold')


def test_many_queries():
    """More queries than are compared at once, some of them invalid, are answered in order."""
    oracle = Oracle('all.ldp')
    done = expect(0, 'up to 16 queries at once', '-v', '-d', 'cpu', '-i', 'all.ldp', '-n',
                  *map(str, range(40)))
    scans = [json.loads(line)['microseconds']['scan'] for line in done.stdout.splitlines()]
    check(sum(a != b for a, b in zip(scans, scans[1:])) < 20,
          f'queries were compared one by one: {scans}')
    numbers = [str(7 * i) for i in range(40)]
    for at in 3, 21, 21:
        numbers.insert(at, 'x')
    for n in 0, 3:
        done = expect(1, 'skipped: x', '-d', 'cpu', '-i', 'all.ldp', '-k', '3', '-n',
                      *numbers[:5], '-', n=n, text='\n'.join(numbers[5:]))
        found = [json.loads(line) for line in done.stdout.splitlines()]
        check([record['query'] for record in found] == numbers, f'{n} ranks, the order')
        for record in found:
            check('error' in record if record['query'] == 'x' else pairs(record)
                  == oracle.best(oracle.counts[record['query_entry']], 3),
                  f'{n} ranks: {record}')


def test_blocks():
    """Blocks of different sizes have different weights."""
    write(3, 70, 60, 7, 'blocks.ldp')
    oracle = Oracle('blocks.ldp')
    for n in 0, 2, 5:
        found = search('-i', 'blocks.ldp', '-k', '100', '-n', '3', '59', n=n)
        check([pairs(record) for record in found]
              == [oracle.best(oracle.counts[i], 100) for i in (3, 59)],
              f'{n} ranks, blocks')


# ---- pictures ----

def test_pictures():
    """Pictures are decoded and described as by ldpretrieve and by cuvision-index add."""
    paths = [os.path.join(PICTURES, name) for name in NAMES]
    index('add', 'p.ldp', *paths)
    query = os.path.join(PICTURES, 'aloeR.jpg')
    for path, n, k in (('p.ldp', 2, 4), ('all.ldp', 0, 50), ('all.ldp', 4, 50)):
        found = search('-i', path, '-k', str(k), query, n=n)[0]
        check(as_retrieved(found) == retrieve(path, k, query),
              f'{path}, {n} ranks, differs from ldpretrieve: {found}')
    turned = cv2.rotate(cv2.imread(paths[1]), cv2.ROTATE_90_CLOCKWISE)
    cv2.imwrite('turned.png', turned[:, ::-1])
    for orientations, alike in ('all', True), ('mirrored', False), ('upright', False):
        found = search('-i', 'p.ldp', '--orientations', orientations, 'turned.png', n=2)[0]
        check(as_retrieved(found) == retrieve('p.ldp', 5, 'turned.png',
                                              f'orientations={orientations}')
              and (found['matches'][0]['similarity'] > 0.8) == alike,
              f'{orientations}: {found}')
    found = search('-i', 'p.ldp', '-k', '4', query, paths[3], n=2)
    check(found[1]['matches'][0]['entry'] == 3
          and found[1]['matches'][0]['similarity'] == 1, 'differs from cuvision-index')
    times = found[0]['microseconds']
    check(found[0]['query'] == query and found[0]['entries'] == 5
          and sorted(times) == ['decode', 'describe', 'merge', 'scan']
          and all(isinstance(us, int) for us in times.values()), 'the record')
    done = expect(0, 'rank 1 on ', '-v', '-d', 'cpu', '-i', 'p.ldp', query, n=2)
    check(done.stderr.count(' on the CPU, ') == 2 and 'entries 2 to 4' in done.stderr,
          done.stderr)
    check(timeless(found)
          == timeless(search('-i', 'p.ldp', '-k', '4', query, paths[3])),
          'without mpirun')


def test_queries():
    """Queries are pictures, names and numbers, on the command line and from stdin."""
    home = os.path.join(PICTURES, 'home.jpg')
    by_number = search('-i', 'p.ldp', '-n', '4')[0]
    by_name = search('-i', 'p.ldp', '-e', home, n=2)[0]
    check(by_name['matches'] == by_number['matches'] and by_name['query'] == home
          and by_name['query_entry'] == by_number['query_entry'] == 4, 'by name')
    twice = search('-i', 'p.ldp', '-i', 'p.ldp', '-e', home, n=3)
    check([record['query_entry'] for record in twice] == [4, 9], 'a name twice')
    text = f'\n{home}\n{os.path.join(PICTURES, "none.jpg")}\r\n{home}'
    done = expect(1, 'skipped: ', '-i', 'p.ldp', '-k', '1', '-', home, n=2, text=text)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    check([record.get('query') for record in found]
          == [home, os.path.join(PICTURES, 'none.jpg'), home, home]
          and 'error' in found[1] and 'matches' not in found[1]
          and all(r['matches'][0]['entry'] == 4 for r in found if 'matches' in r),
          f'a list of pictures: {found}')
    for kind, bad in (('-n', '5'), ('-n', '-1'), ('-n', 'x'), ('-e', 'none')):
        done = expect(1, 'skipped', '-i', 'p.ldp', kind, '--', bad, '0')
        check('error' in json.loads(done.stdout.splitlines()[0]), f'{kind} {bad}')


def test_dialogue():
    """Each line of stdin is answered before the next one is written, even if bytes without the end
    of a line follow it."""
    with subprocess.Popen([*MPIRUN, '-n', '2', SEARCH, '-i', 'all.ldp', '-n', '-'],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        for text, *wanted in (('0\n', 0), ('1\n', 1), ('2\n3\n4', 2, 3),
                              ('5\n' + '\n' * 10000, 45), ('6\n7' * 3, 6, 76, 76),
                              ('\n', 7)):
            process.stdin.write(text)
            process.stdin.flush()
            late = threading.Timer(60, process.kill)
            late.start()
            found = [json.loads(process.stdout.readline() or '{}').get('query_entry')
                     for _ in wanted]
            late.cancel()
            check(found == wanted, f'answers to {text[:20]!r}: {found}, not {wanted}')
        process.stdin.close()
        try:
            check(process.wait(60) == 0, 'the end of stdin')
        finally:
            process.kill()


def test_thumbnails():
    index('export', 'p.ldp', 'exported')
    wanted = [cv2.imread(os.path.join('exported', name))
              for name in sorted(os.listdir('exported'))]
    for match in search('-i', 'p.ldp', '--thumbnails', '-n', '2', n=3)[0]['matches']:
        kind, data = match['thumbnail'].split(',')
        picture = cv2.imdecode(numpy.frombuffer(base64.b64decode(data), numpy.uint8), 1)
        check(kind == 'data:image/png;base64'
              and (picture == wanted[match['entry']]).all(), f'thumbnail of {match}')
    expect(1, '--thumbnails: the index has none', '-i', 'blocks.ldp', '--thumbnails',
           '-n', '0')
    expect(1, 'lower --k', '-i', 'p.ldp', '--thumbnails', '-k', '9999', '-n', '0')


# ---- several files ----

def test_many_files():
    """Searches more files than a process may open by default. Their copies are not larger than
    their entries, and a memory limit holds for all of them together."""
    write(1, 128, 120, 3, 'many.ldp')
    index('split', 'many.ldp', '60')
    wanted = pairs(search('-i', 'many.ldp', '-n', '7')[0])
    memory = []
    for limit in ('0', '64'):
        done = run(['bash', '-c', 'ulimit -Sn 50 && exec "$0" "$@"', SEARCH, '-v', '-d',
                    'cpu', '--memory-limit', limit, '-i', 'many-*.ldp', '-n', '7'])
        check(done.returncode == 0 and pairs(json.loads(done.stdout)) == wanted,
              f'60 files: {done.stdout}{done.stderr}')
        memory += re.findall(r'(\d+) MiB of host memory', done.stderr)
    check(len(memory) == 2 and int(memory[1]) - int(memory[0]) < 20,
          f'MiB without and with copies of 240 KB: {memory}')


def test_order():
    """The files of a pattern are sorted by bytes, whatever the locale."""
    for name in ('a', 'B', '_c'):
        shutil.copy('p.ldp', f'order-{name}.ldp')
    for locale in ('C', 'de_DE.UTF-8'):
        done = run([SEARCH, '-d', 'cpu', '-i', 'order-*.ldp', '-k', '3', '-n', '0'],
                   LC_ALL=locale)
        check([match['file'] for match in json.loads(done.stdout)['matches']]
              == [f'order-{name}.ldp' for name in ('B', '_c', 'a')],
              f'{locale}: {done.stdout}')


# ---- odd sizes ----

def test_few():
    """Searches with more ranks than entries, without entries, and with k above their number."""
    index('add', 'one.ldp', os.path.join(PICTURES, 'home.jpg'))
    shutil.copy('one.ldp', 'none.ldp')
    index('remove', '--number', 'none.ldp', '0')
    home = os.path.join(PICTURES, 'home.jpg')
    for n in 0, 4:
        found = search('-i', 'none.ldp', '-i', 'one.ldp', '-i', 'none.ldp', '-k', '9',
                       home, n=n)[0]
        check(pairs(found) == [(0, 1.0)] and found['matches'][0]['file'] == 'one.ldp',
              f'{n} ranks, one entry: {found}')
        found = search('-i', 'none.ldp', home, n=n)[0]
        check(found['matches'] == [] and found['entries'] == 0, f'{n} ranks, none')


# ---- errors ----

def test_wrong():
    def expect_wrong(part, *arguments):
        expect(2, part, *arguments)

    at_once(expect_wrong,
            ('--index is missing', 'x'),
            ('no query', '-i', 'p.ldp'),
            ('--k must be', '-i', 'p.ldp', '-k', '0', 'x'),
            ('--threshold must be', '-i', 'p.ldp', '-t', '2', 'x'),
            ('--repeat must be', '-i', 'p.ldp', '--repeat', '0', 'x'),
            ('--repeat must be', '-i', 'p.ldp', '--repeat', '1000001', 'x'),
            ('is not auto', '-i', 'p.ldp', '-d', 'x', 'x'),
            ('is not upright', '-i', 'p.ldp', '--orientations', 'x', 'x'),
            ('used together', '-i', 'p.ldp', '-e', '-n', 'x'),
            ('Unknown option', '--nothing'))
    done = expect(2, '--index is missing', 'x', n=3)
    check(done.stderr.count('--index is missing') == 1, 'not only the root prints')
    done = expect(0, 'Examples:', '--help', n=2)
    check(done.stdout.count('Examples:') == 1, 'not only the root prints help')
    expect(1, 'No such file', '-i', 'none-*.ldp', '-n', '0')
    expect(1, 'rank 1 on ', '-i', 'missing.ldp', '-n', '0', n=2)
    expect(1, 'has other parameters (order 3, a grid of 3', '-i', 'p.ldp', '-i',
           'blocks.ldp', '-n', '0', n=2)
    expect(1, 'its first bytes differ', '-i', os.path.join(PICTURES, NAMES[0]), '-n', '0')
    if not os.path.exists('/dev/nvidiactl'):
        expect(1, '--device cuda: ', '-d', 'cuda', '-i', 'p.ldp', '-n', '0')


def test_damage():
    """Only the ranks with damaged entries report errors."""
    with open('p.ldp', 'rb') as file:
        data = bytearray(file.read())
    stride = struct.unpack_from('<Q', data, 88)[0]
    data[4096 + 3 * stride + 7] ^= 1
    with open('d.ldp', 'wb') as file:
        file.write(data)
    for n, who in ((0, ''), (5, 'rank 4 on ')):
        done = expect(1, who, '-i', 'p.ldp', '-i', 'd.ldp', '-n', '0', n=n)
        check('d.ldp: entry 3 is damaged' in done.stderr and done.stdout == ''
              and done.stderr.count('rank ') <= 1 + (n > 0), done.stderr)
    search('-i', 'd.ldp', '-n', '0', '--no-check')
    with open('t.ldp', 'wb') as file:
        file.write(data[:-100])
    expect(1, 'is truncated', '-i', 't.ldp', '-n', '0', n=2)


def differ(part, name, write_file):
    """Runs a search in which rank 1 has a different file than rank 0, in its own folder."""
    for folder in ('0', '1'):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        shutil.copy('p.ldp', os.path.join(folder, 'p.ldp'))
    write_file('1/p.ldp')
    done = run([*MPIRUN, '-n', '2', 'bash', '-c',
                'cd "$OMPI_COMM_WORLD_RANK" && exec "$0" -i p.ldp -n 0', SEARCH])
    if part is None:
        check(done.returncode == 0, f'{name}: {done.stderr}')
        return
    check(done.returncode != 0 and done.stdout == ''
          and any(line.startswith('cuvision-search: rank 1 on ') and part in line
                  for line in done.stderr.splitlines()), f'{name}: {done.stderr}')


def test_other_files():
    differ('p.ldp has 4 entries, but 5 at rank 0', 'fewer entries',
           lambda path: index('remove', '-n', path, '2'))
    differ('differs in entries from the file at rank 0', 'other entries',
           lambda path: index('rename', '-n', path, '4', 'x'))
    differ('differs in entries from the file at rank 0', 'another entry in the middle',
           lambda path: index('rename', '-n', path, '2', 'x'))
    differ('differs in parameters from the file at rank 0', 'other parameters',
           lambda path: shutil.copy('blocks.ldp', path))
    differ('cannot be opened', 'no file', os.remove)
    # appended since
    differ(None, 'more entries', lambda path: index('add', path, 'exported/' + sorted(
        os.listdir('exported'))[0]))


def changed(change, kind, *queries):
    """Returns answers, status and errors of a search whose file is changed when the first query has
    been answered."""
    shutil.copy('p.ldp', 'w.ldp')
    with subprocess.Popen([*MPIRUN, '-n', '2', SEARCH, '-d', 'cpu', '-i', 'w.ldp', '-k',
                           '1', kind, '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        process.stdin.write(queries[0] + '\n')
        process.stdin.flush()
        first = json.loads(process.stdout.readline())
        change()
        time.sleep(0.2)  # longer than the pause between two checks of the files
        out, errors = process.communicate('\n'.join(queries[1:]), timeout=60)
    return [first, *map(json.loads, out.splitlines())], process.returncode, errors


def test_changed():
    """A file that is overwritten or truncated ends the search. A file that grows does not, and one
    that is replaced only causes a warning."""
    picture = os.path.join(PICTURES, NAMES[0])
    shutil.copy('p.ldp', 'other.ldp')
    index('rename', '-n', 'other.ldp', '4', 'x')

    def overwrite():
        shutil.copy('other.ldp', 'w.ldp')

    for change, *queries in ((overwrite, '0', '4'), (overwrite, '0'),
                             (lambda: os.truncate('w.ldp', 4096), '0', '4')):
        answers, status, errors = changed(change, '--number', *queries)
        check(len(answers) == 1 and status != 0
              and 'w.ldp was overwritten during the search' in errors,
              f'overwritten: {answers}, {status}, {errors}')
    for warns, change in ((False, lambda: index('merge', 'w.ldp', 'other.ldp')),
                          (True, lambda: index('remove', '-n', 'w.ldp', '0'))):
        answers, status, errors = changed(change, '--entry', picture, picture)
        check(timeless(answers[:1]) == timeless(answers[1:]) and status == 0
              and ('w.ldp was replaced' in errors) == warns,
              f'grown or replaced: {answers}, {status}, {errors}')


# ---- killed ranks ----

def ranks_of(process):
    """Returns the process ids of mpirun's running children, by rank."""
    found = []
    for pid in os.listdir('/proc'):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8') as file:
                state, parent = file.read().rsplit(')', 1)[1].split()[:2]
            if int(parent) != process.pid or state == 'Z':
                continue
            with open(f'/proc/{pid}/environ', encoding='utf-8') as file:
                rank = re.search(r'(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)', file.read())
        except OSError:
            continue
        if rank is not None:
            found.append((int(rank[1]), int(pid)))
    return [pid for _, pid in sorted(found)]


def has_mapped(pid, path):
    try:
        with open(f'/proc/{pid}/maps', encoding='utf-8') as file:
            return path in file.read()
    except OSError:
        return False


def wait_until(process, what, condition):
    end = time.monotonic() + 60
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f'{what}: mpirun has ended: {process.poll()}')
        time.sleep(0.001)


def wait_for_end(process):
    """Waits for the end of mpirun, which in Debian 12 may hang in its library PMIx when all ranks
    are dead."""
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        check(not ranks_of(process), 'ranks go on without the one that was killed')
        print('mpirun hangs after its ranks have ended')
        process.kill()
        process.wait()


def kill_rank(rank, started, numbers):
    """Returns status, results and errors of a search of which a rank is killed. It would not end by
    itself, because it waits for stdin."""
    command = [*MPIRUN, '-n', '3', SEARCH, '-d', 'cpu', '-i', 'all.ldp', '-k', '3',
               '--repeat', '5', '--output', 'killed.jsonl', '-n', *numbers, '-']
    with open('killed.jsonl', 'w', encoding='utf-8'):
        pass
    with open('errors', 'w', encoding='utf-8') as errors, subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=errors) as process:
        try:
            wait_until(process, 'loading', lambda: [
                has_mapped(pid, 'all.ldp') for pid in ranks_of(process)] == [True] * 3)
            pids = ranks_of(process)
            if started:
                wait_until(process, 'results', lambda: os.path.getsize('killed.jsonl'))
            os.kill(pids[rank], signal.SIGKILL)
            wait_for_end(process)
        finally:
            process.kill()
    with open('killed.jsonl', encoding='utf-8') as file, \
            open('errors', encoding='utf-8') as errors:
        return process.returncode, file.read(), errors.read()


def test_killed():
    """Kills rank 0, 1 or 2 while it loads or compares. An error names the rank, the exit status is
    not 0, and each line is the answer of an undisturbed search."""
    numbers = [str(i) for i in range(2000)]
    wanted = search('-i', 'all.ldp', '-k', '3', '-n', *numbers)
    for rank, started in ((1, False), (2, True), (1, True), (0, True)):
        status, out, error = kill_rank(rank, started, numbers)
        check(status != 0 and f'rank {rank} ' in error and 'signal 9' in error,
              f'rank {rank} killed: {status}, {error}')
        lines = out.split('\n')
        check(len(lines) > 1 or not started, f'rank {rank}: no results')
        for i, line in enumerate(lines[:-1]):
            record = json.loads(line)
            check(record['query_entry'] == i
                  and record['matches'] == wanted[i]['matches'],
                  f'rank {rank} killed: {line}')


def test_output():
    """A full disk is reported."""
    done = subprocess.run(['bash', '-c', '"$0" -i p.ldp -n 0 > /dev/full', SEARCH],
                          stderr=subprocess.PIPE, text=True)
    check(done.returncode == 1 and 'No space left' in done.stderr, done.stderr)
    expect(1, 'No space left', '-i', 'p.ldp', '-n', '-o', '/dev/full', *'01234' * 8, n=3)
    expect(1, 'none/x: No such file', '-i', 'p.ldp', '-n', '-o', 'none/x', '0', n=2)
    done = subprocess.run(['bash', '-c', '"$0" -i p.ldp -n - < .', SEARCH],
                          stderr=subprocess.PIPE, text=True)
    check(done.returncode == 1 and 'stdin: Is a directory' in done.stderr, done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (test_numpy, test_many_queries, test_blocks, test_pictures, test_queries,
                 test_dialogue, test_thumbnails, test_many_files, test_order, test_few,
                 test_wrong, test_damage, test_other_files, test_changed, test_killed,
                 test_output):
        start = time.monotonic()
        test()
        print(f'{test.__name__}: {time.monotonic() - start:.1f} s', flush=True)
    os.chdir('/')
sys.exit(failures() > 0)
