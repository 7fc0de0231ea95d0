#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times many videos with cuvision-archive, alone and on Ray, and kills Ray at random moments.

usage: archive.py ARCHIVE [--films 200] [--kills 20] [--kills-only] [--folder FOLDER]
                  [--seed N]

Cuts videos from opencv-doc's, measures gst-launch-1.0 for each of them (the parts),
cuvision-archive for all, and Ray with four workers; then kills a worker, the raylet or the driver,
in turn, and runs the rest. All results must equal those of the single process, which may take at
most 5 % more processor time than the parts; on a busy machine it may exceed that. Needs the plugins
in GST_PLUGIN_PATH, python3-opencv, and Ray in .venv-ray.
"""

import argparse
import json
import multiprocessing.pool
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from ctypes import CDLL

import cv2

DATA = '/usr/share/doc/opencv-doc/examples/data/'
TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), '..', '..'))
LINE = ('filesrc location={film} ! decodebin ! videoconvert'
        ' ! waldboostdetect name=faces model=lbpcascade_frontalface_improved.xml'
        ' ! visionpublish source={name} file-path={results}/faces.jsonl add-empty-results=true'
        ' ! fakesink')
PR_SET_CHILD_SUBREAPER = 36
SMALL = ('filesrc location={film} ! decodebin ! visionpublish source={name}'
         ' file-path={results}/frames.jsonl add-empty-results=true ! fakesink')
LIMIT = 600  # seconds that a run on Ray may take
MOST = 1.05  # maximum processor time, relative to that of the parts


def fail(*what):
    print('FAILED:', *what, flush=True)
    sys.exit(1)


# ---- videos ----


def cut(frames, path, codec, first, n):
    height, width = frames[0].shape[:2]
    writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*codec), 25, (width, height))
    for frame in frames[first:first + n]:
        writer.write(frame)
    writer.release()


def read(name):
    film, frames = cv2.VideoCapture(DATA + name), []
    while (read_one := film.read())[0]:
        frames.append(cv2.resize(read_one[1], (480, 360)))
    return frames


def make_films(folder, n, least, most):
    """Makes n videos of `least` to `most` frames, in three codecs and two containers."""
    sources = [read(name) for name in ('vtest.avi', 'Megamind.avi')]
    os.makedirs(folder)
    for i in range(n):
        frames = sources[i % len(sources)]
        length = random.randint(least, most)
        codec, end = (('MJPG', 'avi'), ('mp4v', 'mp4'), ('XVID', 'avi'))[i % 3]
        cut(frames, f'{folder}/{i:03}.{end}', codec,
            random.randint(0, len(frames) - length), length)
    return sorted(os.listdir(folder))


# ---- times ----


def measure(function):
    """Returns the function's result, elapsed seconds, and processor seconds, including those of
    processes that outlive their parent."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    result = function()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (result, time.time() - started,
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def processes_of(session):
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as file:
                if os.getsid(int(pid)) == session:
                    found[int(pid)] = file.read()
        except OSError: # it has ended
            pass
    return {pid: text for pid, text in found.items() if text}


def end_session(session):
    """Waits until the processes that work on videos have ended by themselves, then kills Ray's
    helpers. These wait until init is their parent, but here this process becomes their parent."""
    end = time.monotonic() + 60
    while any(re.search(b'run_batch|cuvision-archive\0', text)
              for text in processes_of(session).values()):
        time.sleep(0.05)
        if time.monotonic() > end:
            fail('alive:', processes_of(session))
    while processes_of(session):
        for pid in processes_of(session):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


class Bench:
    def __init__(self, program, folder, line, *films):
        self.program = os.path.abspath(program)
        self.folder = folder
        self.line = line
        self.films_folder = os.path.join(folder, 'films')
        self.films = make_films(self.films_folder, *films)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run_part(self, film):
        line = self.line.format(film=os.path.join(self.films_folder, film), name=film,
                                results=self.path('parts'))
        subprocess.run(['gst-launch-1.0', '-q', *line.split()], check=True)

    def run_parts(self, films, jobs=1):
        os.makedirs(self.path('parts'), exist_ok=True)
        with multiprocessing.pool.ThreadPool(jobs) as pool:
            pool.map(self.run_part, films, chunksize=1)

    def archive(self, output, *arguments, films=None):
        return subprocess.run(
            [self.program, '--line', self.line, '--root', self.films_folder, '--output',
             self.path(output), '--quiet', '--json', *arguments,
             *(os.path.join(self.films_folder, film) for film in films or self.films)],
            check=True, stdout=subprocess.PIPE)

    def start_ray(self, output, program=None):
        """Starts Ray with a few seconds of video per task, so that there are many tasks."""
        return subprocess.Popen(
            [f'{TOP}/.venv-ray/bin/python', f'{TOP}/examples/archive-ray.py', '--program',
             program or self.program, '--line', self.line, '--output', self.path(output),
             '--workers', '4', '--minutes', '0.2', '0.5', self.films_folder],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, 'RAY_USAGE_STATS_ENABLED': '0'}, start_new_session=True)

    def run_ray(self, output, program=None):
        run = self.start_ray(output, program)
        out = run.communicate(timeout=LIMIT)[0]
        end_session(run.pid)
        if run.returncode:
            fail(out)

    def run_measured_ray(self):
        """Returns elapsed seconds, and the processor seconds that cuvision-archive reports: Ray
        does not wait for its workers, so the system does not count them."""
        program, log = self.path('measured'), self.path('times')
        with open(program, 'w', encoding='utf-8') as file:
            file.write(f"#!/bin/bash\nTIMEFORMAT='%U %S'\n"
                       f'{{ time {self.program} "$@" 2>&3; }} 3>&2 2>>{log}\n')
        os.chmod(program, 0o755)
        _, seconds, _ = measure(lambda: self.run_ray('ray', program))
        with open(log, encoding='ascii') as file:
            return seconds, sum(float(word) for word in file.read().split())

    # ---- results ----

    def n_done(self, output):
        return sum(os.path.exists(self.path(output, film + '.results', 'done.json'))
                   for film in self.films)

    def records(self, output, film):
        with open(self.path(output, film + '.results', 'faces.jsonl'), 'rb') as file:
            return re.sub(rb'"wallclock": ?"[^"]*"', b'', file.read())

    def compare(self, output):
        """Checks that each video has its results once, the same bytes except for the wallclock."""
        names = sorted(os.listdir(self.path(output)))
        if names != sorted(film + '.results' for film in self.films):
            fail(output, 'has', len(names), 'folders:', names[:5])
        for film in self.films:
            if self.records(output, film) != self.records('single', film):
                fail('another result:', output, film)
        subprocess.run([self.program, '--check', '--quiet', self.path(output)], check=True)


# ---- kills ----


def find_target(what, session):
    patterns = {'worker': b'^ray::run_batch', 'raylet': b'raylet/raylet'}
    if what == 'driver':
        return session
    found = [pid for pid, text in processes_of(session).items()
             if re.search(patterns[what], text)]
    return random.choice(found) if found else None


def wait_for_work(run):
    while run.poll() is None and not find_target('worker', run.pid):
        time.sleep(0.05)


def kill(what, run):
    """Kills a process. Returns its number, or None if there was no such process or the run had
    ended."""
    target = find_target(what, run.pid)
    if target is None or run.poll() is not None:
        return None
    try:
        os.kill(target, signal.SIGKILL)
    except ProcessLookupError:
        return None
    # killing a driver that has just ended, a zombie, also succeeds
    return target if what != 'driver' or run.wait() == -signal.SIGKILL else None


def kill_one(bench, output, what):
    """Runs the archive and kills one process; if that is a worker, also the driver a little later,
    because Ray would otherwise finish the videos. Returns its session, and whether there was
    anything left to do when that process was killed."""
    run = bench.start_ray(output)
    wait_for_work(run)
    time.sleep(random.uniform(0, 4))
    killed, n_done = kill(what, run), bench.n_done(output)
    if what == 'worker':
        time.sleep(random.uniform(1, 4))
        run.kill()
    run.wait(timeout=LIMIT)
    counts = killed is not None and n_done < len(bench.films)
    print(json.dumps({'killed': what, 'process': killed, 'status': run.returncode,
                      'films_done': n_done, 'output': output, 'counts': counts}), flush=True)
    return run.pid, counts


def run_kills(bench, n):
    """Kills n processes; makes as many outputs as that takes, and compares each complete one. Every
    other run begins while processes of the previous run may still be working."""
    killed, part, sessions = 0, 0, []
    while killed < n:
        output = f'killed-{part}'
        what = ('worker', 'raylet', 'driver')[killed % 3]
        session, was_killed = kill_one(bench, output, what)
        sessions.append(session)
        killed += was_killed
        last = bench.n_done(output) == len(bench.films) or killed == n
        if last:
            bench.run_ray(output)
        if last or killed % 2:
            while sessions:
                end_session(sessions.pop())
        if last:
            bench.compare(output)
            part += 1
    return part


def show(name, seconds, processor, n_films):
    """Prints the times; returns the processor seconds."""
    print(json.dumps({'what': name, 'seconds': round(seconds, 1), 'processor': round(processor, 1),
                      'ms_a_film': round(1000 * processor / n_films, 1),
                      'wall_ms_a_film': round(1000 * seconds / n_films, 1)}), flush=True)
    return processor


def run_alone(bench):
    """Measures the processor seconds of the parts and of cuvision-archive, alternating every ten
    videos, because on a busy machine they change from minute to minute."""
    times = {'gst-launch-1.0': [0, 0], 'cuvision-archive': [0, 0]}
    for i in range(0, len(bench.films), 10):
        films = bench.films[i:i + 10]
        for name, function in (('gst-launch-1.0', lambda: bench.run_parts(films)),
                               ('cuvision-archive', lambda: bench.archive('single', films=films))):
            for j, seconds in enumerate(measure(function)[1:]):
                times[name][j] += seconds
    for name, both in times.items():
        show(name, *both, len(bench.films))
    show('done already', *measure(lambda: bench.archive('single'))[1:], len(bench.films))
    return [processor for _, processor in times.values()]


def run_times(bench):
    parts, alone = run_alone(bench)
    n = len(bench.films)
    # four pipelines at once take more processor time than one after another
    four = show('gst-launch-1.0, 4 at once', *measure(lambda: bench.run_parts(bench.films, 4))[1:], n)
    jobs = show('--jobs 4', *measure(lambda: bench.archive('jobs', '--jobs', '4'))[1:], n)
    on_ray = show('Ray', *bench.run_measured_ray(), n)
    bench.compare('jobs')
    bench.compare('ray')
    ratios = {'cuvision-archive': alone / parts, '--jobs 4': jobs / four, 'Ray': on_ray / four}
    for name, ratio in ratios.items():
        if ratio > MOST:
            fail(f'{name} took {ratio:.3f} times the processor time of its parts')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--films', type=int, default=200)
    parser.add_argument('--kills', type=int, default=20)
    parser.add_argument('--kills-only', action='store_true', help='do not measure times')
    parser.add_argument('--folder', help='folder to keep the videos and results in')
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)
    CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory(dir='/tmp') as ray:
        os.environ['RAY_TMPDIR'] = ray  # the paths of Ray's sockets must be short
        folder = args.folder or scratch
        bench = Bench(args.program, folder, LINE, args.films, 20, 120)
        if args.kills_only:
            bench.archive('single', '--jobs', '2')
        else:
            run_alone(Bench(args.program, os.path.join(folder, 'small'), SMALL, args.films, 5, 5))
            run_times(bench)
        parts = run_kills(bench, args.kills)
        print(json.dumps({'kills': args.kills, 'films': args.films, 'outputs_compared': parts}))


if __name__ == '__main__':
    main()
