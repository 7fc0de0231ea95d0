#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks which files the model parser accepts, and its errors for others.

usage: parser.py DETECT DATA_FOLDER"""
import glob
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import storage
from boosted import make_stages, write_boosted, write_butfit
from cascade import write_cascade
from hostile import (accepted, between, bombs, plain, refused, replace, some_wbd,
                     without, yaml_cascade)

DETECT, DATA = sys.argv[1:3]
CASCADES = '/usr/share/opencv4'
failures = checks = 0


def check(condition, text):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print('failed:', text)


def detect(*words, program=(DETECT,)):
    """Returns {name: outcome} for each line of output."""
    env = dict(os.environ, G_DEBUG='fatal-warnings')
    if words[0] in ('prefixes', 'flips'): # meson's value makes many parses slow
        env['MALLOC_PERTURB_'] = '0'
    out = subprocess.run([*program, *words], capture_output=True, text=True,
                         check=False, env=env)
    check(out.returncode == 0, f'{words}: exit status {out.returncode} '
          + out.stderr[-2000:])
    return dict(line.split(': ', 1) for line in out.stdout.splitlines())


def outcome_of(content, *words, **options):
    if isinstance(content, str):
        content = content.encode()
    with tempfile.NamedTemporaryFile(suffix='.xml') as file:
        file.write(content)
        file.flush()
        return detect('parse', *words, file.name, **options)[file.name]


# ---- good files ----


def count_parts(path):
    """Returns the expected outcome, computed with another parser."""
    cascade = xml.etree.ElementTree.parse(path).getroot()[0]
    stages = cascade.findall('stages/_')
    weak = sum(len(stage.findall('weakClassifiers/_') + stage.findall('trees/_'))
               for stage in stages)
    size = cascade.findtext('size', '').split() or [
        cascade.find(name).text for name in ('width', 'height')]
    return f'ok {"x".join(size)} {len(stages)} {weak}'


def check_shipped():
    files = glob.glob(f'{CASCADES}/*cascades/*.xml')
    if len(files) < 22:
        sys.exit('install the package opencv-data')
    for path, outcome in detect('parse', *files).items():
        check(outcome == count_parts(path), f'{path}: {outcome}')


def check_small():
    expected = {'stumps.xml': 'ok 14x11', 'trees.xml': 'ok 20x22',
                'blocks.xml': 'ok 70x64'}
    for name, start in expected.items():
        path = os.path.join(DATA, name)
        outcome = detect('parse', path)[path]
        check(outcome.startswith(start), f'{name}: {outcome}')


def check_accepted():
    for content, pattern in accepted():
        outcome = outcome_of(content)
        check(pattern.match(outcome), f'{outcome}: {content[:9999]}')
    # 64 x 64 = 4096
    text = plain('LBP').replace('sizeX="12" sizeY="10"', 'sizeX="192" '
                                'sizeY="192"')
    for size, good in ((63, True), (64, False)):
        changed = re.sub('position.="." position.="." blockWidth="." '
                         'blockHeight="."', 'positionX="0" positionY="0" '
                         f'blockWidth="64" blockHeight="{size}"', text)
        check(changed != text, size)
        check(outcome_of(changed).startswith('ok '), size)
        outcome = outcome_of(changed, 'block-value=mean-trunc')
        check(outcome.startswith('ok ') if good else
              'use block-value=sum' in outcome, outcome)


# ---- damaged files ----


def write_samples(folder):
    """Writes a small file of each kind. Returns their paths."""
    files = {kind: write_cascade(1, kind)
             for kind in ('stumps', 'trees', 'haar-trees', 'haar-tilted')}
    for seed, kind in enumerate(('LBP', 'LRD', 'LRP', 'HAAR', 'WBD')):
        files[kind] = write_boosted(seed, kind)
    for kind, text in files.items():
        files[kind] = os.path.join(folder, f'{kind}.xml')
        with open(files[kind], 'w', encoding='ascii') as file:
            file.write(text)
    files['old'] = os.path.join(folder, 'old.xml')
    storage.write_old(files['haar-trees'], files['old'])
    for end in ('yml', 'json', 'xml.gz'):
        files[end] = os.path.join(folder, f'copy.{end}')
        storage.write_copy(files['stumps'], files[end])
    return files


def check_truncated(path):
    """Checks that a file truncated anywhere, except in trailing white space, is refused."""
    with open(path, 'rb') as file:
        whole = len(file.read().rstrip())
    outcomes = detect('prefixes', path)
    check(len(outcomes) > whole, path)
    for length, outcome in outcomes.items():
        ok = outcome.startswith('ok ')
        check(ok == (int(length) >= whole), f'{path}, {length}: {outcome}')
        check(ok or outcome.startswith('line '), outcome)


def check_flips(path, n):
    """Checks that flipped bits give an error or a model that can be evaluated. In files of more
    than n bits only some are flipped."""
    bits = 8 * os.path.getsize(path)
    step = bits // n // 2 * 2 + 1
    outcomes = detect('flips', path, str(step), 'octaves=1',
                      'levels-per-octave=2')
    check(len(outcomes) == len(range(0, bits, step)), path)
    good = sum(o.startswith('ok ') for o in outcomes.values())
    check(0 < good < len(outcomes), f'{path}: {good} parse')
    for outcome in outcomes.values():
        check(outcome.startswith(('ok ', 'line ')), outcome)


def check_damaged():
    sanitized = is_sanitized()
    with tempfile.TemporaryDirectory() as folder:
        for kind, path in write_samples(folder).items():
            if kind != 'yml': # YAML may end after any line
                check_truncated(path)
            # sanitizers find what flips break, so that other builds check few
            check_flips(path, (1500 if 'copy' in path else 6000) // (3 if sanitized else 10))


def children_seconds():
    """Returns processor time, which does not depend on how busy the machine is."""
    times = os.times()
    return times.children_user + times.children_system


def check_hostile():
    for content, message in refused():
        start = children_seconds()
        outcome = outcome_of(content)
        check(outcome.startswith('line ') and message in outcome,
              f'wanted "{message}", got "{outcome}"')
        check(children_seconds() - start < 5, f'{outcome}: too slow')


def check_bombs():
    """Checks the limits of SECURITY.md for the largest files: 200 MB of memory, a few seconds.
    Sanitizers take many times as much of both, so they get smaller files."""
    sanitized = is_sanitized()
    limit = [] if sanitized else ['prlimit', f'--as={350 << 20}']
    for content, message in bombs((17 if sanitized else 63) << 20):
        start = children_seconds()
        outcome = outcome_of(content, program=[*limit, DETECT])
        seconds = children_seconds() - start
        check(outcome.startswith('line ') and message in outcome,
              f'wanted "{message}", got "{outcome}"')
        print(f'{len(content) / 1e6:.1f} MB, {seconds:.1f} s: {message}')
        check(sanitized or seconds < 60, f'{outcome}: too slow')


def is_sanitized():
    """Returns whether the program has AddressSanitizer, which reserves terabytes of addresses."""
    return 'libasan' in subprocess.run(['ldd', DETECT], capture_output=True, text=True,
                                       check=True).stdout


def check_line():
    """Checks that the message names the line of the cause."""
    def check_mark(text, mark):
        line = text[:text.index(mark)].count('\n') + 1
        outcome = outcome_of(text)
        check(outcome.startswith(f'line {line}: '), f'{mark}: {outcome}')

    text = write_cascade(1, 'stumps')
    check_mark(between(text, 'rect', '\n 3 0 4 1\n', skip=2), ' 3 0 4 1\n')
    check_mark(between(text, 'internalNodes', ' 0 -1 99 1 2 3 4 5 6 7 8 '),
               ' 0 -1 99')
    text = write_cascade(1, 'haar')
    check_mark(between(text, 'rects', '<_>0 0 1 1 1</_>\n<_>\n0 0 99 1 2</_>'
                       '\n<_>0 0 1 1 1</_>', skip=2), '0 0 99 1')
    check_mark(plain('LRD').replace('blockA="', 'blockA="9'), 'blockA="9')
    check_mark(between(some_wbd(5), 'alphas', '\n x'), ' x')
    check_mark(between(some_wbd(5), 'alphas', 'x'), 'x<')
    check_mark(replace(plain('LRP'), '<LRP', '\n<LRP a="1"\n')
               .replace('blockA="', 'blockB="2"\nblockA="9'), 'blockA="9')
    check_mark(without(write_cascade(1, 'stumps'), 'rect'), '      </_>\n')
    yml = yaml_cascade()
    check_mark(replace(yml, 'stageType: BOOST', 'stageType: X'), 'stageType')
    check_mark(replace(yml, '         stageThreshold: ', '         stageThreshold: x'),
               '         stageThreshold')
    check_mark(replace(yml, 'featureType: LBP', 'featureType: LBP: a'), 'featureType')


# ---- time ----


def check_time():
    """Prints parsing times of the largest files of opencv-data, and of others."""
    rng = random.Random(6)
    stages = make_stages(rng, 'LRP', (40, 16), 1000, 2, 1)
    with tempfile.TemporaryDirectory() as folder:
        butfit = os.path.join(folder, '1000-lrp.xml')
        with open(butfit, 'w', encoding='ascii') as file:
            file.write(write_butfit('LRP', (40, 16), stages, [0] * 1000))
        wbd = os.path.join(folder, '1024-wbd.xml')
        with open(wbd, 'w', encoding='ascii') as file:
            file.write(some_wbd(1024))
        for path in (f'{CASCADES}/lbpcascades/lbpcascade_frontalcatface.xml',
                     f'{CASCADES}/haarcascades/haarcascade_frontalface_alt_'
                     'tree.xml', butfit, wbd):
            out = subprocess.run([DETECT, 'load', path, '20'], check=True,
                                 capture_output=True, text=True).stdout
            fastest = min(map(float, out.split()))
            size = os.path.getsize(path) / 1e6
            print(f'{os.path.basename(path)}, {size:.1f} MB, is parsed in '
                  f'{fastest:.2f} ms')
            check(fastest <= 50 + 50 * size, f'{fastest} ms')


for test in (check_shipped, check_small, check_accepted, check_damaged,
             check_hostile, check_bombs, check_line, check_time):
    begin = time.monotonic()
    test()
    print(f'{test.__name__}: {time.monotonic() - begin:.1f} s', flush=True)
print(f'{checks} checks, {failures} failed')
sys.exit(failures > 0 or checks == 0)
