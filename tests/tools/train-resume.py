#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills cuvision-train repeatedly; it resumes and writes the same model.

usage: train-resume.py TRAIN
"""

import importlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

train_tool = importlib.import_module('train-tool')

N_WEAK = 24
COMMON = ['--window', '16x16', '--negative-samples', '800', '--copies', '4']
PATTERNS = [*COMMON, '--features', 'lbp', '--weak', str(N_WEAK), '--margin', '0']
# rounds of 32, 128 and 160 trees
CHANNELS = [*COMMON, '--features', 'channels', '--weak', '160']
AUTO = [*COMMON, '--weak', '160']
HEADER, RECORD = 160, 4 * 4 + 4 * 4 + 2 * 8 + 4 * 256 + 4
TREES_HEADER, TREE = 168, 15 * 4 + 16 + 16 * 2 + 4


class Trainer:
    def __init__(self, program, folder, options):
        self.folder = folder
        self.output = os.path.join(folder, 'model.xml')
        self.state, self.trees = self.output + '.state', self.output + '.trees'
        pictures = train_tool.write_pictures(folder)
        self.command = [program, '--positives', train_tool.write_coco(folder, pictures),
                        '--negatives', os.path.join(folder, 'negatives'),
                        '--output', self.output, '--report', folder, *options]

    def run(self, *more, file_size=resource.RLIM_INFINITY):
        """Runs the program. Returns status and messages. Files cannot be longer than file_size;
        Python ignores the signal for that, and so does the program."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, hard))
        run = subprocess.run([*self.command, *more], capture_output=True, text=True,
                             timeout=600, check=False, restore_signals=False)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return run.returncode, run.stderr

    def kill(self, path, size, *more):
        """Kills the program when a state has this number of bytes."""
        with subprocess.Popen([*self.command, *more], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and read_size(path) < size:
                time.sleep(0.001)
            process.kill()
        return process.returncode == -9

    def results(self):
        """Returns the model, and the report except for its time."""
        with open(self.output, 'rb') as file:
            model = file.read()
        with open(os.path.join(self.folder, 'report.json'), 'rb') as file:
            report = json.load(file)
        for part in (report, *report.get('choice', {'kinds': []})['kinds']):
            del part['seconds']
        return model, report

    def run_at_once(self, *more):
        """Returns the results of a run that is not stopped."""
        status, err = self.run(*more)
        expect(status == 0, status, err)
        self.expect_end()
        results = self.results()
        os.remove(self.output)
        return results

    def expect_end(self):
        for path in (self.state, self.trees):
            expect(not os.path.exists(path), path, 'was left')


def read_size(path):
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def expect(ok, *what):
    if not ok:
        print('FAILED:', *what)
        sys.exit(1)


def expect_refused(trainer, text, *more):
    sizes = read_size(trainer.state), read_size(trainer.trees)
    status, err = trainer.run(*more)
    expect(status == 1 and text in err, more, status, err, 'instead of', text)
    expect(not os.path.exists(trainer.output), 'a model was written')
    expect((read_size(trainer.state), read_size(trainer.trees)) == sizes,
           'the state was changed')


def exchange(one, other):
    os.rename(one, one + '.png')
    os.rename(other, one)
    os.rename(one + '.png', other)


def with_other_pictures(trainer):
    one, other = (os.path.join(trainer.folder, 'negatives', name)
                  for name in ('3.png', '4.png'))
    exchange(one, other)
    expect_refused(trainer, 'differ from those of the saved state', '--resume')
    exchange(one, other)


def check_refusals(trainer):
    expect_refused(trainer, 'continue with --resume')
    expect_refused(trainer, 'the seed is 2, but 1 in the saved state', '--resume', '--seed', '2')
    expect_refused(trainer, 'the windows to learn from differ from those of the saved state',
                   '--resume', '--margin', '0.1')
    with_other_pictures(trainer)
    with open(trainer.state, 'r+b') as file:
        header = file.read(HEADER)
        file.seek(20)
        file.write(bytes([header[20] ^ 1]))
    expect_refused(trainer, 'the saved state is damaged; remove the file', '--resume')
    with open(trainer.state, 'r+b') as file:
        file.write(header)


def check_kills(trainer):
    """Each run resumes where the previous one was killed. In one case the rest of the state is
    damaged, in another a record is truncated."""
    for n_weak in (2, 3, 9, 15):
        expect(trainer.kill(trainer.state, HEADER + n_weak * RECORD, '--resume'),
               'ended too early', n_weak)
        expect(read_size(trainer.state) >= HEADER + n_weak * RECORD, 'the state is too short')
        if n_weak == 3:
            damage(trainer.state, HEADER + RECORD + 50)
        if n_weak == 9:
            os.truncate(trainer.state, HEADER + n_weak * RECORD - 1)


def damage(path, at):
    with open(path, 'r+b') as file:
        file.seek(at)
        file.write(b'damage')


def resume(trainer, results):
    status, err = trainer.run('--resume')
    expect(status == 0 and 'continuing after weak classifier' in err, status, err)
    expect(trainer.results() == results, 'another model or report')
    trainer.expect_end()
    return err


def check_patterns(program, folder):
    trainer = Trainer(program, folder, PATTERNS)
    status, err = trainer.run('--resume')
    expect(status == 0 and 'starts from the beginning' in err, status, err)
    trainer.expect_end()
    results = trainer.results()
    expect(len(results[1]['progress']) == N_WEAK, results[1]['progress'])
    os.remove(trainer.output)
    status, err = trainer.run(file_size=1000000)
    expect(status == 1 and 'no space for the samples; set TMPDIR' in err, status, err)
    expect(trainer.kill(trainer.state, HEADER, '--resume'), 'ended too early')
    check_refusals(trainer)
    check_kills(trainer)
    resume(trainer, results)


def check_channels(program, folder):
    """Kills the program in each round, and damages a tree after the second kill. Then kills it on
    the CPU and resumes on a GPU if there is one."""
    trainer = Trainer(program, folder, CHANNELS)
    results = trainer.run_at_once()
    for n_trees in (5, 90, 60, 250):
        expect(trainer.kill(trainer.trees, TREES_HEADER + n_trees * TREE, '--resume'),
               'ended too early', n_trees)
        if n_trees == 5:
            expect_refused(trainer, 'a training run of this model was stopped')
            expect_refused(trainer, 'the seed is 2, but 1 in', '--resume', '--seed', '2')
            expect_refused(trainer, 'the number of copies is 3', '--resume', '--copies', '3')
            with_other_pictures(trainer)
        if n_trees == 90:
            damage(trainer.trees, TREES_HEADER + 50 * TREE + 20)
    resume(trainer, results)
    expect(trainer.kill(trainer.trees, TREES_HEADER + 250 * TREE, '--device', 'cpu'),
           'ended too early')
    err = resume(trainer, results)
    expect(int(re.search('continuing after weak classifier ([0-9]+)', err)[1]) >= 250, err)


def check_auto(program, folder):
    """Kills the program while it learns each kind; the other kind is not learnt again."""
    trainer = Trainer(program, folder, AUTO)
    results = trainer.run_at_once()
    expect(trainer.kill(trainer.trees, TREES_HEADER + 40 * TREE), 'ended too early')
    expect(trainer.kill(trainer.state, HEADER + 5 * RECORD, '--resume'), 'ended too early')
    err = resume(trainer, results)
    numbers = [int(n) for n in re.findall('continuing after weak classifier ([0-9]+)', err)]
    expect(len(numbers) == 2 and numbers[0] == 32 + 128 + 160 and numbers[1] >= 5, err)


def main():
    for check in check_patterns, check_channels, check_auto:
        with tempfile.TemporaryDirectory() as folder:
            check(sys.argv[1], folder)


if __name__ == '__main__':
    sys.exit(main())
