#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cuvision-train with invalid inputs and failures of the system.

usage: train-errors.py TRAIN
"""

import array
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

import cv2

from crosses import (OPTIONS, SIZE, Tests, use_one_processor, write, write_coco,
                     write_info, write_pictures)


class Errors(Tests):
    def path(self, *names):
        return os.path.join(self.folder, *names)

    def report(self, annotations, *more, **settings):
        """Returns stderr and report.json of a training."""
        shutil.rmtree(self.path('report'), ignore_errors=True)
        status, _, err = self.train(
            '--positives', annotations, '--output', self.path('model.xml'),
            '--report', self.path('report'), *OPTIONS, *more, **settings)
        if status != 0:
            self.fail(annotations, more, status, err)
            return err, None
        with open(self.path('report', 'report.json'), encoding='utf-8') as file:
            return err, json.load(file)

    def expect(self, condition, *what):
        if not condition:
            self.fail(*what)


def check_unreadable(tests, pictures):
    """Files that are damaged, missing or not pictures are listed; the others are used."""
    write(tests.path('broken', 'damaged.png'), '\x89PNG nothing')
    write(tests.path('broken', 'notes.txt'), 'no picture')
    listed = pictures + [('missing.png', [(1, 2, 30, 30)])]
    err, data = tests.report(write_info(tests.folder, listed), '--negatives',
                             tests.path('negatives'), '--negatives',
                             tests.path('broken'))
    for name in ('missing.png: no such picture', 'damaged.png', 'notes.txt'):
        tests.expect(f'{name}' in err, name, 'is not in', err)
    tests.expect('3 pictures or boxes were skipped' in err, err)
    tests.expect(len(data['data']['skipped']) == 3, data['data'])


def check_boxes(tests, pictures):
    """Boxes outside the picture are left out, but not those that reach beyond its edge."""
    name, boxes = pictures[0]
    moved = [(name, boxes + [(SIZE, 3, 20, 20), (SIZE - 30, 5, 40, 40)]), *pictures[1:]]
    err, data = tests.report(write_info(tests.folder, moved))
    tests.expect(f'{name}: the box {SIZE},3 20x20 is outside the picture of '
                 f'{SIZE} x {SIZE}' in err, err)
    n = sum(data['data'][role]['objects'] for role in ('learning', 'calibration', 'test'))
    tests.expect(n == 2 * len(pictures) + 1, n, 'objects')


def check_sizes(tests, pictures):
    err, data = tests.report(write_info(tests.folder, pictures), '--window', '24x24')
    n = sum(w < 24 for _, boxes in pictures for _, _, w, _ in boxes)
    n_kept_out = sum(o['w'] < 24 for o in data['objects'])
    tests.expect(f'skipped: {n - n_kept_out} objects are smaller than the window of '
                 '24 x 24' in err, n, n_kept_out, err)
    tests.expect(data['data']['too_small'] == n - n_kept_out, data['data'])
    tests.expect_error('all objects are smaller than the window of 64 x 64 (the largest '
                       'is 3', '--positives', tests.path('info.dat'),
                       '--window', '64x64', '--output', tests.path('x.xml'))


def check_overflow(tests, pictures):
    """If a classifier accepts more windows than the detector lists, a message says so."""
    large = tests.path('large')
    os.makedirs(large)
    for name, _ in pictures[:8]:
        picture = cv2.imread(tests.path(name))
        cv2.imwrite(os.path.join(large, name), cv2.copyMakeBorder(
            picture, 0, 250, 0, 300, cv2.BORDER_REFLECT))
    path = write_info(large, pictures[:8])
    err, data = tests.report(path, '--weak', '1')
    tests.expect('accepts more windows' not in err and data['overflows'] == 0,
                 'with the threshold for 1 false positive', err, data)
    err, data = tests.report(path, '--weak', '1', '--false-positives', 'inf')
    tests.expect('accepts more windows than the detector lists' in err, err)
    tests.expect(data['overflows'] == 1 and data['least_score'] > 0, data)
    tests.expect(all(point['score'] > data['least_score'] for point in data['roc']), data)


def check_ignored(tests, pictures):
    images = ''.join(
        f"<image file='{name}'><box left='{x}' top='{y}' width='{w}' height='{h}' "
        "ignore='1'/></image>" for name, boxes in pictures for x, y, w, h in boxes)
    path = write(tests.path('ignored.xml'),
                 f'<dataset><images>{images}</images></dataset>')
    tests.expect_error('all objects are marked to be ignored', '--positives', path, '--output',
                       tests.path('x.xml'))
    tests.expect_error("no object has the label 'dog'; the objects have no labels",
                       '--positives', tests.path('info.dat'), '--label', 'dog',
                       '--output', tests.path('x.xml'))
    path = write(tests.path('gone.dat'), 'no.png 1 2 3 30 30\n')
    tests.expect_error('all were skipped, see above', '--positives', path, '--output',
                       tests.path('x.xml'))


def check_together(tests, pictures):
    """Two files name the same pictures, which are also among the negatives."""
    left = write_coco(tests.folder, [(name, boxes[:1]) for name, boxes in pictures])
    right = write_info(tests.folder, [(name, boxes[1:]) for name, boxes in pictures])
    folder = tests.path('mixed')
    os.makedirs(folder)
    for name in (pictures[0][0], 'negatives'):
        os.symlink(tests.path(name), os.path.join(folder, name))
    err, data = tests.report(left, '--positives', right, '--negatives', folder)
    roles = [data['data'][role] for role in ('learning', 'calibration', 'test')]
    tests.expect(sum(r['pictures'] for r in roles) == len(pictures) + 8, roles)
    tests.expect(sum(r['objects'] for r in roles) == 2 * len(pictures), roles)
    tests.expect(err.count('skipped:') == 1 and 'it is annotated' in err, err)


def check_suspects(tests, pictures):
    """Crosses that were not annotated in training pictures are reported."""
    _, data = tests.report(write_info(tests.folder, pictures))
    learnt = {os.path.basename(path) for path in data['data']['learning']['files']}
    hidden = {name: boxes[1] for name, boxes in pictures if name in learnt}
    hidden = dict(list(hidden.items())[:3])
    fewer = [(name, boxes[:1] if name in hidden else boxes) for name, boxes in pictures]
    _, data = tests.report(write_info(tests.folder, fewer))
    found = {os.path.basename(s['picture']): (s['x'], s['y']) for s in data['suspects']}
    for name, (x, y, w, _) in hidden.items():
        at = found.get(name, (-99, -99))
        tests.expect(abs(at[0] - x) < w / 3 and abs(at[1] - y) < w / 3, name, x, y, found)
    tests.expect(len(found) <= 8, found)
    with open(tests.path('report', 'index.html'), encoding='utf-8') as file:
        tests.expect('Possible objects that were not annotated' in file.read(), 'page')


def check_exhausted(tests, pictures):
    plain = tests.path('plain')
    os.makedirs(plain)
    boxes = []
    for name, found in pictures:
        picture = cv2.imread(tests.path(name), cv2.IMREAD_GRAYSCALE)
        picture[:] = 128
        for x, y, w, h in found:
            picture[y:y + h, x:x + w] = 200
            picture[y + h // 3:y + h - h // 3, x:x + w] = 20
            picture[y:y + h, x + w // 3:x + w - w // 3] = 20
        cv2.imwrite(os.path.join(plain, name), picture)
        boxes.append((name, found))
    err, data = tests.report(write_info(plain, boxes), '--weak', '400')
    found = re.search(r'all (\d+) windows of the .*negatives are rejected after (\d+) '
                      'weak classifiers', err)
    tests.expect(found and int(found[1]) > 10000, err)
    tests.expect(found and int(found[2]) == len(data['features']) < 400, err)


def write_film(tests, film_name, pictures):
    """Writes a video, and returns its annotations."""
    film = cv2.VideoWriter(tests.path(film_name), cv2.VideoWriter_fourcc(*'MJPG'), 25,
                           (SIZE, SIZE))
    lines = []
    for i in range(3 * len(pictures)):
        name, boxes = pictures[i % len(pictures)]
        film.write(cv2.imread(tests.path(name)))
        objects = [{'x': x, 'y': y, 'w': w, 'h': h} for x, y, w, h in boxes]
        lines.append(json.dumps({'frame_num': i, 'source': film_name,
                                 'objects': objects}))
    film.release()
    return write(tests.path('film.jsonl'), '\n'.join(lines))


def check_film(tests, pictures):
    """Consecutive frames of a video have the same role."""
    _, data = tests.report(write_film(tests, 'film.avi', pictures))
    roles = {}
    for role in ('learning', 'calibration', 'test'):
        for name in data['data'][role]['files']:
            found = re.search(r', frame (\d+)$', name)
            roles[int(found[1]) if found else 0] = role
    changes = sum(roles[i] != roles[i + 1] for i in range(len(roles) - 1))
    tests.expect(len(roles) == 3 * len(pictures) and 2 <= changes <= 6, changes, roles)


def check_order(tests, pictures):
    """Frames of a video between pictures are in the same order however many files are
    decoded at a time."""
    film = write_film(tests, '05-film.avi', pictures)
    arguments = [write_info(tests.folder, pictures), '--positives', film, '--negatives',
                 tests.path('negatives'), '--negatives', tests.path('broken')]
    err, data = tests.report(*arguments)
    one_err, one_data = tests.report(*arguments, preexec_fn=use_one_processor)
    tests.expect(data['data'] == one_data['data'], data['data'], one_data['data'])
    skipped = [[line for line in text.splitlines() if line.startswith('skipped')]
               for text in (err, one_err)]
    tests.expect(skipped[0] == skipped[1] and len(skipped[0]) == 2, skipped)


def check_bad_annotations(tests, pictures):
    """After bad annotations nothing else is read or reported."""
    status, _, err = tests.train(
        '--positives', write_info(tests.folder, pictures), '--positives',
        write(tests.path('bad.txt'), '0 1 2 3 x\n'), '--negatives',
        tests.path(pictures[0][0]), '--output', tests.path('x.xml'))
    tests.expect(status == 1 and 'line 1' in err and 'skipped' not in err, status, err)


# ---- the system ----


def full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


def check_full_disk(tests, annotations):
    """Python ignores the signal for files that are too long, so writing fails."""
    model = tests.path('old.xml')
    write(model, 'old')
    run = subprocess.run([tests.program, '--positives', annotations, '--output', model,
                          *OPTIONS], capture_output=True, text=True, check=False,
                         preexec_fn=full_disk, restore_signals=False)
    tests.expect(run.returncode == 1 and 'no space for the pictures' in run.stderr
                 and 'TMPDIR' in run.stderr, run.returncode, run.stderr)
    with open(model, encoding='utf-8') as file:
        tests.expect(file.read() == 'old', 'the old model is gone')


def waiting(pipe):
    """Returns how many bytes can be read."""
    number = array.array('i', [0])
    fcntl.ioctl(pipe, termios.FIONREAD, number)
    return number[0]


def check_lost_folder(tests, annotations):
    """The folder of the model disappears while annotations are read: at that time
    the program waits, because the name of a missing picture does not fit into the pipe."""
    folder, listed = tests.path('lost'), tests.path('missing.txt')
    os.makedirs(folder)
    with open(annotations, encoding='utf-8') as file:
        write(listed, 'm' * 2000 + '.png 1 1 2 30 30\n' + file.read())
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writer, b' ' * 3000)
    with subprocess.Popen([tests.program, '--positives', listed, '--resume', '--output',
                           os.path.join(folder, 'model.xml'), *OPTIONS],
                          stderr=writer) as run, open(reader, encoding='utf-8') as err:
        os.close(writer)
        while waiting(reader) == 3000 and run.poll() is None:
            time.sleep(0.01) # until the program reports that there is no state
        os.rmdir(folder)
        text = err.read()
        run.wait(timeout=100)
    tests.expect(run.returncode == 1 and 'No such file or directory' in text
                 and 'lost/model.xml' in text, run.returncode, text)


def check_fifo(tests, annotations):
    """A FIFO that nobody writes to does not block: only regular files are read."""
    fifo = tests.path('fifo')
    os.mkfifo(fifo)
    for more in (['--positives', fifo],
                 ['--positives', annotations, '--names', fifo]):
        run = subprocess.run([tests.program, *more, '--output', tests.path('none.xml')],
                             capture_output=True, text=True, check=False, timeout=100)
        tests.expect(run.returncode == 1 and 'not a regular file' in run.stderr,
                     more, run.returncode, run.stderr)
    err, _ = tests.report(annotations, '--negatives', fifo)
    tests.expect('fifo: it is not a regular file' in err, err)


def check_killed(tests, annotations):
    """Whenever the program is killed, the model is the old one or the new one."""
    model = tests.path('kept.xml')
    write(model, 'old')
    arguments = [tests.program, '--positives', annotations, '--output', model, *OPTIONS]
    seen = set()
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as run:
        while run.poll() is None:
            with open(model, encoding='utf-8') as file:
                seen.add(file.read())
            time.sleep(0.002)
    # the model is written before it is measured, and again with the rates
    stages = {text.split('-->')[-1] for text in seen}
    with open(model, encoding='utf-8') as file:
        new = file.read().split('-->')[-1]
    tests.expect(new.endswith('</WaldBoostClassifier>\n') and stages <= {'old', new},
                 'the model was half written')
    write(model, 'old')
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as run:
        time.sleep(0.3)
        run.send_signal(signal.SIGKILL)
    with open(model, encoding='utf-8') as file:
        tests.expect(file.read().split('-->')[-1] in ('old', new),
                     'killed: the model is damaged')


def main():
    with tempfile.TemporaryDirectory() as folder:
        tests = Errors(sys.argv[1], folder)
        pictures = write_pictures(folder)
        for check in (check_unreadable, check_boxes, check_sizes, check_overflow, check_ignored,
                      check_together, check_suspects, check_exhausted, check_film,
                      check_order, check_bad_annotations):
            check(tests, pictures)
        annotations = write_info(folder, pictures)
        for check in (check_full_disk, check_lost_folder, check_fifo,
                      check_killed):
            check(tests, annotations)
    return tests.failed > 0


if __name__ == '__main__':
    sys.exit(main())
