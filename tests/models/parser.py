#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the model parser reads and what it says of the rest.
parser.py DETECT DATA_FOLDER"""
import glob
import os
import subprocess
import sys
import tempfile
import time

DETECT, DATA = sys.argv[1:3]
SMALL = ['stumps.xml', 'trees.xml', 'blocks.xml']
failures = checks = 0


def check(condition, text):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print('failed:', text)


def detect(*words):
    """name -> what the parser said, for each line of output."""
    out = subprocess.run([DETECT, *words], capture_output=True, text=True,
                         check=False,
                         env=dict(os.environ, G_DEBUG='fatal-warnings'))
    check(out.returncode == 0, f'{words}: exit status {out.returncode} '
          + out.stderr[-2000:])
    return dict(line.split(': ', 1) for line in out.stdout.splitlines())


def outcome_of(content):
    if isinstance(content, str):
        content = content.encode()
    with tempfile.NamedTemporaryFile(suffix='.xml') as file:
        file.write(content)
        file.flush()
        return detect('parse', file.name)[file.name]


def check_shipped():
    files = glob.glob('/usr/share/opencv4/*cascades/*.xml')
    if len(files) < 22:
        sys.exit('install the package opencv-data')
    expected = {'lbpcascade_frontalcatface': 'ok 24x24 20 419',
                'lbpcascade_frontalface': 'ok 24x24 20 139',
                'lbpcascade_frontalface_improved': 'ok 45x45 19 149',
                'lbpcascade_profileface': 'ok 20x34 16 130',
                'lbpcascade_silverware': 'ok 12x80 16 130',
                'haarcascade_licence_plate_rus_16stages':
                    'old-format OpenCV Haar cascade'}
    for path, outcome in detect('parse', *files).items():
        name = os.path.basename(path)[:-4]
        check(expected.get(name, 'OpenCV cascade with HAAR features') in
              outcome, f'{name}: {outcome}')


def check_small():
    expected = {'stumps.xml': 'ok 14x11', 'trees.xml': 'ok 20x22',
                'blocks.xml': 'ok 70x64'}
    for name, start in expected.items():
        path = os.path.join(DATA, name)
        outcome = detect('parse', path)[path]
        check(outcome.startswith(start), f'{name}: {outcome}')


def check_truncated():
    """A file that is cut anywhere is refused, but for white space at its end.
    """
    for name in SMALL:
        path = os.path.join(DATA, name)
        whole = len(open(path, 'rb').read().rstrip())
        outcomes = detect('prefixes', path)
        check(len(outcomes) > whole, name)
        for length, outcome in outcomes.items():
            ok = outcome.startswith('ok ')
            check(ok == (int(length) >= whole), f'{name}, {length}: {outcome}')
            check(ok or outcome.startswith('line '), outcome)


def check_flips():
    """Each bit turned: a model or a message, and what parses also runs."""
    for name in SMALL[:2]:
        path = os.path.join(DATA, name)
        outcomes = detect('flips', path)
        check(len(outcomes) == 8 * os.path.getsize(path), name)
        good = [o for o in outcomes.values() if o.startswith('ok ')]
        check(0 < len(good) < len(outcomes), f'{name}: {len(good)} parse')
        check(all(o.startswith(('ok ', 'line ')) for o in outcomes.values()),
              name)


def replace(text, old, new, count=1):
    assert old in text, old
    return text.replace(old, new, count)


def between(text, name, new, skip=0):
    """The text with what is in the element exchanged."""
    at = -1
    for _ in range(skip + 1):
        at = text.index(f'<{name}>', at + 1)
    start = at + len(name) + 2
    return text[:start] + new + text[text.index(f'</{name}>', start):]


def without(text, name):
    start = text.index(f'<{name}>')
    end = text.index(f'</{name}>', start) + len(name) + 3
    return text[:start] + text[end:]


def hostile_cases():
    text = open(os.path.join(DATA, 'stumps.xml'), encoding='ascii').read()
    trees = open(os.path.join(DATA, 'trees.xml'), encoding='ascii').read()
    words = '1 2 3 4 5 6 7 8'
    stage = text[text.index('    <_>'):text.index('  </stages>')]
    yield '', 'empty'
    yield ' \n', 'empty'
    yield 'not XML at all', 'not well-formed'
    yield '<?xml version="1.0"?><svg/>', 'not a model that is known'
    yield '<opencv_storage/>', 'not a model that is known'
    yield '<opencv_storage><other/></opencv_storage>', 'not a model that is'
    yield ('<opencv_storage><x type_id="opencv-haar-classifier"/>'
           '</opencv_storage>', 'old-format OpenCV Haar cascade')
    yield '<a><WaldBoostClassifier/></a>', 'a WaldBoostClassifier model'
    yield ('<opencv_storage><waldboost/></opencv_storage>',
           'OpenCV\'s WBDetector')
    for kind in ('HAAR', 'HOG'):
        yield between(text, 'featureType', kind), f'cascade with {kind} feat'
    yield between(text, 'stageType', 'TREE'), "stage type 'TREE'"
    for name in ('featureType', 'width', 'height', 'featureParams',
                 'maxCatCount', 'stages', 'features', 'stageThreshold',
                 'weakClassifiers', 'internalNodes', 'leafValues', 'rect'):
        if name == 'featureType':
            yield without(text, name), '<featureType> must come before'
        else:
            yield without(text, name), f'<{name}> is missing'
    yield between(text, 'width', '2'), "'2' is not an integer in 3 .. 1024"
    yield between(text, 'width', '1025'), 'is not an integer in 3 .. 1024'
    yield between(text, 'height', '99999999999999999999'), 'not an integer'
    yield between(text, 'height', ''), '<height> must hold one value'
    yield between(text, 'height', '11 12'), '<height> must hold one value'
    yield between(text, 'maxCatCount', '0'), 'not an integer in 256 .. 256'
    for value in ('nan', 'inf', '.Nan', '-.Inf', '1e999', 'x', '1,5'):
        yield (between(text, 'stageThreshold', value),
               f"'{value}' is not a finite number")
        yield (between(text, 'leafValues', f'{value} 1'),
               f"'{value}' is not a finite number")
    yield between(text, 'leafValues', '1'), '1 leaf values do not fit 1 nodes'
    yield between(text, 'leafValues', '1 2 3'), '3 leaf values do not fit'
    yield between(text, 'internalNodes', ''), '2 leaf values do not fit 0'
    yield (between(text, 'internalNodes', '0 -1 0 ' + words[:-2]),
           'must hold 11 values')
    yield between(text, 'internalNodes', f'0 -1 0 {words} 9'), 'must hold 11'
    yield (between(text, 'internalNodes', f'0 -1 0 {words[:-1]}4294967296'),
           "'4294967296' is not an integer")
    yield (between(text, 'internalNodes', f'0 -1 12 {words}'),
           'wants feature 12 of 12')
    yield between(text, 'internalNodes', f'0 -1 -1 {words}'), 'feature -1 of'
    yield between(text, 'internalNodes', f'0 -2 0 {words}'), 'leaf 2 does not'
    yield (between(text, 'internalNodes', f'0 -2147483648 0 {words}'),
           'leaf 2147483648 does not exist')
    yield between(text, 'internalNodes', f'1 0 0 {words}'), 'child 1 is not one'
    two = f'{{}} 0 0 {words} {{}} -1 0 {words}'
    yield (between(between(trees, 'internalNodes', two.format(1, 1)),
                   'leafValues', '1 2 3'), 'child 1 is not one of the nodes')
    yield (between(between(trees, 'internalNodes', two.format(2, 0)),
                   'leafValues', '1 2 3'), 'child 2 is not one of the nodes')
    for rect in ('0 0 5 1', '3 0 4 1', '0 0 1 4', '0 9 1 1'):
        yield between(text, 'rect', rect), 'reach out of the window of 14 x 11'
    for rect in ('-1 0 1 1', '0 0 0 1', '0 0 1 -1', '0 0 1 2000', '0 0 1 1.5'):
        yield between(text, 'rect', rect), 'is not an integer in'
    yield between(text, 'rect', '0 0 1'), 'must hold x, y, width and height'
    yield between(text, 'rect', '0 0 1 1 1'), 'and no more'
    yield replace(text, '<width>14</width>', '<width>14</width>' * 2), 'twice'
    yield (replace(text, '</stages>', '</stages><stages></stages>'),
           '<stages> stands here twice')
    yield (text[:text.index('<stages>') + 8] + text[text.index('</stages>'):],
           'a cascade without stages')
    yield (between(text, 'weakClassifiers', ''),
           'a stage without weak classifiers')
    yield (replace(text, '    <_>', stage * 5000 + '    <_>'),
           'more than 4096 stages')
    yield (between(text, 'weakClassifiers', '<_><internalNodes>'
                   + f'0 -1 0 {words}\n' * 70000
                   + '</internalNodes></_>'), 'more than 65536 nodes')
    yield (replace(text, '</features>', '<_><rect>0 0 1 1</rect></_>' * 70000
                   + '</features>'), 'more than 65536 features')
    yield '<_>' * 1000000, 'more than 32 elements in each other'
    yield text + ' ' * (64 << 20), 'more than 64 MB'
    yield (replace(text, '<opencv_storage>', '<!DOCTYPE x [<!ENTITY a "b">]>'
                   '<opencv_storage>'), 'document types and entities')
    yield between(text, 'width', '&a;'), 'not well-formed'
    yield replace(text, '</cascade>', '</cascad>'), 'not well-formed'
    yield text.encode().replace(b'BOOST', b'B\xffOST'), 'not UTF-8'
    yield text.encode().replace(b'BOOST', b'B\0OST'), 'not UTF-8'
    yield b'<a></b>\xff', 'not UTF-8'


def check_hostile():
    for content, message in hostile_cases():
        start = time.monotonic()
        outcome = outcome_of(content)
        check(outcome.startswith('line ') and message in outcome,
              f'wanted "{message}", got "{outcome}"')
        check(time.monotonic() - start < 5, f'{outcome}: too slow')


def check_line():
    """The message names the line of the cause."""
    text = open(os.path.join(DATA, 'stumps.xml'), encoding='ascii').read()
    changed = between(text, 'rect', '\n 3 0 4 1\n', skip=2)
    line = changed[:changed.index(' 3 0 4 1\n')].count('\n') + 1
    check(outcome_of(changed).startswith(f'line {line}: '), 'line of a rect')
    changed = between(text, 'internalNodes', ' 0 -1 99 1 2 3 4 5 6 7 8 ')
    line = changed[:changed.index(' 0 -1 99')].count('\n') + 1
    check(outcome_of(changed).startswith(f'line {line}: '), 'line of a node')


def check_lenient():
    """What other programs leave in such files does no harm."""
    text = open(os.path.join(DATA, 'stumps.xml'), encoding='ascii').read()
    for changed in (
            '\ufeff' + text, text.replace('\n', '\r\n'),
            text.replace(' type_id="opencv-cascade-classifier"', ''),
            replace(text, '<stages>', '<!-- a < b & c --><stages>'),
            between(text, 'width', '<!-- a -->14<!-- b -->'),
            replace(text, '<stages>', '<new><_><rect>x</rect></_></new>'
                    '<stages>'),
            replace(text, '<featureParams>', '<featureParams><mode>1</mode>'),
            text + '<!-- end -->'):
        outcome = outcome_of(changed)
        check(outcome.startswith('ok 14x11 3 '), outcome)


def check_time():
    path = '/usr/share/opencv4/lbpcascades/lbpcascade_frontalcatface.xml'
    out = subprocess.run([DETECT, 'load', path, '20'], check=True,
                         capture_output=True, text=True).stdout
    fastest = min(map(float, out.split()))
    print(f'{os.path.basename(path)} is parsed in {fastest:.2f} ms')
    check(fastest <= 50, f'{fastest} ms')


for test in (check_shipped, check_small, check_truncated, check_flips,
             check_hostile, check_line, check_lenient, check_time):
    test()
print(f'{checks} checks, {failures} failed')
sys.exit(failures > 0 or checks == 0)
