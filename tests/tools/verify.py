#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cuvision-verify: this machine passes, and a changed table fails.

usage: verify.py PROGRAM TABLE
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'check'))
from checks import check, failures

PROGRAM, TABLE = map(os.path.abspath, sys.argv[1:])
ROW = re.compile(r'^\| `([\w-]+)` \|.*\| ([0-9a-f ]+) \|$', re.M)
# results of these are pictures, not records
PICTURES = {'reflectance', 'bands'}


def tool(*arguments, **environment):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=500,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def expect(status, text, *arguments, **environment):
    got, out, error = tool(*arguments, **environment)
    check(got == status and text in out + error,
          f'{arguments}: status {got}, not {status}, or without "{text}":\n{out}{error}')
    return out


def read_rows():
    with open(TABLE, encoding='utf-8') as file:
        return {name: digests.split() for name, digests in ROW.findall(file.read())}


def records(case, target='c'):
    status, out, error = tool('--records', f'--on={target}', case)
    check(status == 0, f'{case}: {error}')
    return out.splitlines()[:-1]


def results_of(line):
    """Returns the results in a frame's record."""
    record = json.loads(line)['record']
    return {key: value for key, value in record.items()
            if value and key not in ('resolution', 'timestamp') and not key.endswith('_info')}


def test_all():
    """All cases of the table pass in C; so does SIMD, where there is any."""
    rows = read_rows()
    out = expect(0, 'PASS: ')
    for case in rows:
        check(re.search(rf'^PASS +{case} +c ', out, re.M), f'{case} did not pass:\n{out}')
    check(f'PASS: {len(rows)} results on c, ' in out.splitlines()[-1], out)
    check('FAIL' not in out, out)
    listed = re.findall(r'^([\w-]+): ', expect(0, 'houghlines', '--list'), re.M)
    check(listed == list(rows), f'the table has other cases than --list: {listed}')


def test_results():
    """There are results, and the table has their digests."""
    for case, digests in read_rows().items():
        lines = records(case)
        check([hashlib.sha256(line.encode()).hexdigest()[:8] for line in lines] == digests,
              f'{case}: the records have other digests than the table')
        if case not in PICTURES:
            check(any(map(results_of, lines)), f'{case} has no results')
        check(len({json.loads(line)['samples'] for line in lines}) > 1,
              f'{case}: all frames are equal')


def write_table(folder, change):
    path = os.path.join(folder, 'table.md')
    with open(TABLE, encoding='utf-8') as file, open(path, 'w', encoding='utf-8') as changed:
        changed.write(''.join(map(change, file)))
    return path


def test_wrong_table():
    """A changed digit, a missing frame and a missing row fail; the message says where."""
    def digit(line):
        if not line.startswith('| `lines` '):
            return line
        before, digest, _ = line.rsplit(' ', 2)
        return f'{before} {digest[:-1]}{int(digest[-1], 16) ^ 1:x} |\n'

    with tempfile.TemporaryDirectory() as folder:
        last = len(read_rows()['lines']) - 1
        table = write_table(folder, digit)
        out = expect(1, f'frame {last} differs from the table', f'--table={table}', '--on=c',
                     'lines', 'segments')
        check(re.search('^FAIL +lines +c ', out, re.M) and re.search('^PASS +segments', out, re.M)
              and out.splitlines()[-1].startswith('FAIL: 1 '), out)
        table = write_table(folder, lambda line: re.sub(r'(`lines`.*) \w+ \|', r'\1 |', line))
        expect(1, f'{last + 1} frames, the table {last}', f'--table={table}', '--on=c', 'lines')
        table = write_table(folder, lambda line: '' if '`lines`' in line else line)
        expect(1, 'does not have this case', f'--table={table}', '--on=c', 'lines')


def test_trouble():
    """What cannot be run is an error, and no GPU is not a verified GPU."""
    expect(2, 'expected c, simd or cuda', '--on=gpu')
    expect(2, "unknown case 'line'", 'line')
    expect(2, 'one CASE and one --on', '--records', 'lines')
    expect(2, 'has no rows', '--table=' + __file__)
    expect(2, "cannot read '/none'", '--table=/none')
    expect(2, '--on=cuda: ', '--on=cuda', 'lines', CUDA_VISIBLE_DEVICES='')
    expect(2, '--on=cuda: ', '--on=cuda', '--records', 'lines', CUDA_VISIBLE_DEVICES='')
    expect(0, 'cuda is not verified: ', 'lines', CUDA_VISIBLE_DEVICES='')
    expect(0, 'cuvision-verify ', '--version')
    with tempfile.TemporaryDirectory() as folder:
        expect(2, 'set GST_PLUGIN_PATH', '--on=c', 'lines', GST_PLUGIN_PATH_1_0=folder,
               GST_REGISTRY_1_0=os.path.join(folder, 'registry'))


for test in (test_all, test_results, test_wrong_table, test_trouble):
    test()
sys.exit(failures())
