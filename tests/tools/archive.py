# SPDX-License-Identifier: LGPL-2.1-or-later
"""Videos and runs for the tests of cuvision-archive."""

import json
import os
import resource
import subprocess
import sys
import time

LINE = ('filesrc location={film} ! decodebin ! visionpublish name=records source={name} '
        'file-path={results}/records.jsonl add-empty-results=true ! fakesink')
SLOW = LINE.replace('! visionpublish', '! identity sleep-time=15000 ! visionpublish')
LIMIT = 120  # seconds that a run may take


def expect(ok, *what):
    if not ok:
        print('FAILED:', *what)
        sys.exit(1)


def wait_for(what, condition):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        expect(time.monotonic() < end, 'no', what)
        time.sleep(0.002)
    return found


def records(archive, film, output):
    """Returns the records of a result, without their wallclock."""
    with open(os.path.join(archive.result(film, output), 'records.jsonl'),
              encoding='utf-8') as file:
        found = [json.loads(line) for line in file]
    for record in found:
        del record['wallclock']
    return found


def make_film(path, frames, muxer='avimux'):
    subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', f'num-buffers={frames}', '!',
                    'video/x-raw,width=64,height=48', '!', 'jpegenc', '!', muxer, '!',
                    'filesink', f'location={path}'], check=True)


def result_of(archive, film, output='out'):
    return os.path.join(archive.result(film, output), 'done.json')


class Run:
    def __init__(self, run):
        self.status = run.returncode
        self.out = run.stdout.decode()
        self.err = run.stderr.decode(errors='replace')

    def __repr__(self):
        return f'status {self.status}\n{self.out}\n{self.err}'


class Archive:
    """A folder in which the program runs, and the files in it."""

    def __init__(self, program, folder):
        self.program = os.path.abspath(program)
        self.folder = folder
        self.made = {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def films(self, *names, frames=12):
        """Makes videos with this number of frames. Returns their names."""
        if frames not in self.made:
            self.made[frames] = self.path(f'.made-{frames}.avi')
            make_film(self.made[frames], frames)
        with open(self.made[frames], 'rb') as file:
            film = file.read()
        for name in names:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), 'wb') as file:
                file.write(film)
        return list(names)

    def command(self, line, *arguments):
        if '--check' not in arguments and '--help' not in arguments:
            arguments = ('--line', line, *arguments)
        return [self.program, *arguments]

    def run(self, status, *arguments, line=LINE, err='', feed=b'',
            file_size=resource.RLIM_INFINITY):
        """Runs the program, which has to end with this status and text. Files cannot be longer than
        file_size; Python ignores the signal for that, and so does the program."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, hard))
        run = Run(subprocess.run(self.command(line, *arguments), input=feed,
                                 capture_output=True, cwd=self.folder, timeout=LIMIT,
                                 restore_signals=False, check=False))
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        expect(run.status == status and err in run.err, arguments, 'not', status, err, run)
        return run

    def result(self, film, output='out'):
        return self.path(os.path.join(output, film + '.results'))

    def marker(self, film, output='out'):
        with open(result_of(self, film, output), encoding='utf-8') as file:
            return json.load(file)

    def tree(self, folder):
        """Returns inodes and times of all files."""
        found = {}
        for place, _, names in os.walk(self.path(folder)):
            for name in names:
                path = os.path.join(place, name)
                found[path] = (os.stat(path).st_ino, os.stat(path).st_mtime_ns)
        return found

    def done(self, films, output):
        return sum(os.path.exists(result_of(self, film, output)) for film in films)

    def leftovers(self, folder):
        return [name for _, folders, _ in os.walk(self.path(folder))
                for name in folders if name.endswith('.part')]
