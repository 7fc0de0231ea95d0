#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kills cuvision-train repeatedly; it resumes and writes the same model.

usage: train-resume.py TRAIN
"""

import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

train_tool = importlib.import_module('train-tool')

N_WEAK = 24
OPTIONS = ['--features', 'lbp', '--window', '16x16', '--weak', str(N_WEAK),
           '--negative-samples', '800', '--copies', '4', '--margin', '0']
HEADER = 160


class Trainer:
    def __init__(self, program, folder):
        self.folder = folder
        self.output = os.path.join(folder, 'model.xml')
        self.state = self.output + '.state'
        pictures = train_tool.write_pictures(folder)
        self.command = [program, '--positives', train_tool.write_coco(folder, pictures),
                        '--negatives', os.path.join(folder, 'negatives'),
                        '--output', self.output, '--report', folder, *OPTIONS]

    def run(self, *more, file_size=resource.RLIM_INFINITY):
        """Runs the program. Returns status and messages. Files cannot be longer than file_size;
        Python ignores the signal for that, and so does the program."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, hard))
        run = subprocess.run([*self.command, *more], capture_output=True, text=True,
                             timeout=600, check=False, restore_signals=False)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return run.returncode, run.stderr

    def kill(self, size, *more):
        """Kills the program when its state has this number of bytes."""
        with subprocess.Popen([*self.command, *more], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and read_size(self.state) < size:
                time.sleep(0.001)
            process.kill()
        return process.returncode == -9

    def results(self):
        """Returns the model, and the report except for its time."""
        with open(self.output, 'rb') as file:
            model = file.read()
        with open(os.path.join(self.folder, 'report.json'), 'rb') as file:
            report = json.load(file)
        expect(len(report['progress']) == N_WEAK, report['progress'])
        del report['seconds']
        return model, report


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
    size = read_size(trainer.state)
    status, err = trainer.run(*more)
    expect(status == 1 and text in err, more, status, err, 'instead of', text)
    expect(not os.path.exists(trainer.output), 'a model was written')
    expect(read_size(trainer.state) == size, 'the state was changed')


def exchange(one, other):
    os.rename(one, one + '.png')
    os.rename(other, one)
    os.rename(one + '.png', other)


def check_refusals(trainer):
    expect_refused(trainer, 'continue with --resume')
    expect_refused(trainer, 'the seed is 2, but 1 in the saved state', '--resume', '--seed', '2')
    expect_refused(trainer, 'the windows to learn from are not those of the saved state',
                   '--resume', '--margin', '0.1')
    one, other = (os.path.join(trainer.folder, 'negatives', name)
                  for name in ('3.png', '4.png'))
    exchange(one, other)
    expect_refused(trainer, 'are not those of the saved state', '--resume')
    exchange(one, other)
    with open(trainer.state, 'r+b') as file:
        header = file.read(HEADER)
        file.seek(20)
        file.write(bytes([header[20] ^ 1]))
    expect_refused(trainer, 'the saved state is damaged; remove the file', '--resume')
    with open(trainer.state, 'r+b') as file:
        file.write(header)


def check_kills(trainer, record):
    """Each run resumes where the previous one was killed. In one case the rest of the state is
    damaged, in another a record is truncated."""
    for n_weak in (2, 3, 9, 15):
        expect(trainer.kill(HEADER + n_weak * record, '--resume'),
               'ended too early', n_weak)
        expect(read_size(trainer.state) >= HEADER + n_weak * record, 'the state is too short')
        if n_weak == 3:
            with open(trainer.state, 'r+b') as file:
                file.seek(HEADER + record + 50)
                file.write(b'damage')
        if n_weak == 9:
            os.truncate(trainer.state, HEADER + n_weak * record - 1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(sys.argv[1], folder)
        status, err = trainer.run('--resume')
        expect(status == 0 and 'starts from the beginning' in err, status, err)
        results = trainer.results()
        expect(not os.path.exists(trainer.state), 'the state was left')
        os.remove(trainer.output)
        status, err = trainer.run(file_size=1000000)
        expect(status == 1 and 'no space for the samples; set TMPDIR' in err, status, err)
        expect(trainer.kill(HEADER, '--resume'), 'ended too early')
        check_refusals(trainer)
        check_kills(trainer, 4 * 4 + 4 * 4 + 2 * 8 + 4 * 256 + 4)
        status, err = trainer.run('--resume')
        expect(status == 0 and 'continuing after weak classifier' in err, status, err)
        expect(trainer.results() == results, 'another model or report')
        expect(not os.path.exists(trainer.state), 'the state was left')


if __name__ == '__main__':
    sys.exit(main())
