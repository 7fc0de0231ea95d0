#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cuvision-archive over a folder of films on Ray, on one machine or many.

usage: archive-ray.py --line LINE --output FOLDER [OPTION...] FOLDER

Films are balanced by length: a task has --minutes of film, long films first. A task
that fails or leaves films undone is repeated; after whatever was killed, run it again: what
is done is left as it is. Hidden folders and those of results have no films.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time

import ray

SUFFIXES = '.avi .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .webm .wmv'.split()
PROBE = 50  # films whose length one task finds


def at_least(least, kind=float):
    """A parser of numbers."""
    def number(text):
        if not (value := kind(text)) >= least:
            raise argparse.ArgumentTypeError(f'{text} is less than {least}')
        return value
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', help='of films, with the folders in it')
    line = parser.add_mutually_exclusive_group(required=True)
    line.add_argument('--line', help='the gst-launch line; see cuvision-archive')
    line.add_argument('--line-file', help='a file with it')
    parser.add_argument('--output', required=True, help='folder of the results')
    parser.add_argument('--suffixes', nargs='+', default=SUFFIXES, help='of films')
    parser.add_argument('--minutes', type=at_least(0.001), nargs=2, default=(10, 60),
                        metavar=('LEAST', 'MOST'), help='of film a task (default: 10 60)')
    parser.add_argument('--cpus-per-task', type=at_least(0.001), default=1)
    parser.add_argument('--gpus-per-task', type=at_least(0), default=0,
                        help='0.25: four tasks share a GPU')
    parser.add_argument('--retries', type=at_least(0, int), default=3,
                        help='of a task (default: 3)')
    parser.add_argument('--retry-failed', action='store_true', help='try failed films again')
    parser.add_argument('--redo', action='store_true', help='replace results of another line')
    parser.add_argument('--address', help='of a Ray cluster (default: this machine)')
    parser.add_argument('--workers', type=at_least(1, int), help='CPUs to use of this machine')
    parser.add_argument('--program', default='cuvision-archive')
    return parser.parse_args()


def command_of(args):
    """What all tasks have in common. Paths are absolute: workers have other folders."""
    if args.line_file:
        with open(args.line_file, encoding='utf-8') as file:
            args.line = file.read()
    program = shutil.which(args.program)
    if program is None:
        sys.exit(f'{args.program} is not installed')
    command = [os.path.abspath(program), '--null', '--list', '-', '--line', args.line,
               '--root', os.path.abspath(args.folder), '--output', os.path.abspath(args.output)]
    command += ['--retry-failed'] * args.retry_failed + ['--redo'] * args.redo
    return command


def has_films(path, output):
    """Whether to look in that folder: results may be below the films, and be films."""
    name = os.path.basename(path)
    return not (name.startswith('.') or name.endswith('.results')
                or os.path.realpath(path) == output)


def find_films(args):
    """Films, and errors of folders that cannot be read."""
    suffixes = {'.' + suffix.lower().lstrip('.') for suffix in args.suffixes}
    output, films, errors = os.path.realpath(args.output), [], []
    for place, folders, names in os.walk(os.path.abspath(args.folder), onerror=errors.append):
        folders[:] = [name for name in folders if has_films(os.path.join(place, name), output)]
        films += [os.fsencode(os.path.join(place, name)) for name in names
                  if os.path.splitext(name)[1].lower() in suffixes]
    for error in errors:
        print(error, file=sys.stderr)
    if not films:
        sys.exit(f'{args.folder} has no films that end in {" ".join(sorted(suffixes))}: '
                 'see --suffixes')
    return sorted(films), errors


def find_pending(command, films):
    """Those that are not done; ends the program if the line is wrong."""
    run = subprocess.run([*command, '--pending'], input=b'\0'.join(films),
                         stdout=subprocess.PIPE, check=False)
    if run.returncode:
        sys.exit(run.returncode)
    return [path for path in run.stdout.split(b'\0') if path]


# ---- tasks ----


def discover(films):
    import gi
    gi.require_version('Gst', '1.0')
    gi.require_version('GstPbutils', '1.0')
    from gi.repository import GLib, Gst, GstPbutils
    Gst.init(None)
    discoverer = GstPbutils.Discoverer.new(10 * Gst.SECOND)
    for film in films:
        try:
            info = discoverer.discover_uri(GLib.filename_to_uri(os.fsdecode(film), None))
            yield info.get_duration() / Gst.SECOND
        except (GLib.Error, UnicodeError):
            yield 0


def probe(films):
    """Seconds of each; 0 of one that cannot be read, which takes no time either. Where
    PyGObject or GstPbutils is missing, seconds at 2 Mbit/s."""
    try:
        return list(discover(films))
    except (ImportError, ValueError):
        return [os.path.getsize(film) / 250000 if os.path.exists(film) else 0
                for film in films]


def run_batch(command, films):
    """The summary of cuvision-archive; raises if it is to be repeated. The program ends
    with its worker; --wait because that of a worker that died may still be ending."""
    run = subprocess.run(['setpriv', '--pdeathsig', 'TERM', *command, '--wait', '--quiet',
                          '--json'], input=b'\0'.join(films), capture_output=True, check=False)
    if run.returncode not in (0, 1):
        raise RuntimeError(f'status {run.returncode}: {run.stderr.decode(errors="replace")}')
    return json.loads(run.stdout)


# ---- batches ----


def find_lengths(films):
    """Seconds of each, 0 of those that nobody could look at."""
    task, lengths = ray.remote(probe), []
    parts = [films[i:i + PROBE] for i in range(0, len(films), PROBE)]
    for part, reference in zip(parts, [task.remote(part) for part in parts]):
        try:
            lengths += ray.get(reference)
        except ray.exceptions.RayError:
            lengths += [0] * len(part)
    return lengths


def make_batches(films, lengths, minutes, slots):
    """Lists of films of about the same length, the longest film first. As many as keep
    all slots busy, within the limits of minutes; a longer film is a batch of its own."""
    total = sum(lengths) / 60
    target = min(max(total / (4 * slots), minutes[0]), minutes[1])
    batches = [[0, []] for _ in range(max(1, round(total / target)))]
    for seconds, film in sorted(zip(lengths, films), reverse=True):
        least = min(batches, key=lambda batch: (batch[0], len(batch[1])))
        least[0] += seconds
        least[1].append(film)
    return sorted((batch for batch in batches if batch[1]), reverse=True)


def slots_of(args, machines):
    """Tasks at a time. One that no machine has room for would wait for ever."""
    wanted = {'CPU': args.cpus_per_task, 'GPU': args.gpus_per_task}
    slots = sum(min(int(machine.get(name, 0) / n) for name, n in wanted.items() if n > 0)
                for machine in machines)
    if not slots:
        have = '; '.join(f'{m.get("CPU", 0):g} CPU, {m.get("GPU", 0):g} GPU' for m in machines)
        sys.exit(f'a task needs {wanted["CPU"]:g} CPU and {wanted["GPU"]:g} GPU of one machine, '
                 f'and there are {have}: ask for less with --cpus-per-task and '
                 '--gpus-per-task, or start Ray on a machine that has them')
    return slots


# ---- the run ----


def show(done, n_films, failed, started):
    print(f'\r{done} of {n_films} films, {failed} failed, {time.time() - started:.0f} s',
          end='' if sys.stderr.isatty() else '\n', file=sys.stderr, flush=True)


class Progress:
    """Counts results of tasks that have not ended; a task may take an hour."""

    def __init__(self, args, films):
        self.folder, self.output = (os.fsencode(os.path.abspath(path))
                                    for path in (args.folder, args.output))
        self.old = {film for film in films if self.has_results(film)}  # to be replaced

    def has_results(self, film):
        name = os.path.relpath(film, self.folder)
        return os.path.exists(os.path.join(self.output, name + b'.results'))

    def count(self, batches):
        return sum(film not in self.old and self.has_results(film)
                   for films in batches for film in films)


def run_batches(command, batches, args, slots):
    """Summaries of the batches, and the errors of those that failed. A batch that leaves
    films undone, such as that whose line was killed, is done again."""
    task = ray.remote(num_cpus=args.cpus_per_task, num_gpus=args.gpus_per_task,
                      max_retries=args.retries, retry_exceptions=True)(run_batch)
    waiting = {task.remote(command, films): (films, args.retries) for _, films in batches}
    n_films = sum(len(films) for _, films in batches)
    progress = Progress(args, [film for _, films in batches for film in films])
    summaries, errors, started, done = [], [], time.time(), 0
    while waiting:
        for reference in ray.wait(list(waiting), timeout=10)[0]:
            films, retries = waiting.pop(reference)
            try:
                summary = ray.get(reference)
            except ray.exceptions.RayError as error:
                errors.append(str(error).strip().rsplit('\n', maxsplit=1)[-1])
            else:
                if summary['not_done'] and retries:
                    waiting[task.remote(command, films)] = films, retries - 1
                    continue
                summaries.append(summary)
            done += len(films)
        running = [films for films, _ in list(waiting.values())[:slots]]
        show(done + progress.count(running), n_films, sum(len(s['failed']) for s in summaries),
             started)
    return summaries, errors


def report(n_films, summaries, errors, seconds):
    failed = [entry for s in summaries for entry in s['failed']]
    missing = [entry for s in summaries for entry in s['not_done']]
    before = summaries[0]['done_before']
    done = sum(s['done'] + s['done_before'] for s in summaries) - before
    for entry in failed + missing:
        print(f'{entry["film"]}: {entry["error"]}', file=sys.stderr)
    for error in errors:
        print(f'a task failed: {error}', file=sys.stderr)
    for name, value in (('films', n_films), ('done before', before), ('done now', done),
                        ('failed', len(failed)),
                        ('not done', n_films - before - done - len(failed)),
                        ('tasks', len(summaries) - 1), ('tasks that failed', len(errors)),
                        ('seconds', round(seconds, 1)),
                        ('seconds of tasks', round(sum(s['seconds'] for s in summaries), 1))):
        print(f'{name:18}{value:10}')
    return 0 if before + done == n_films else 1


def run_pending(command, pending, args):
    ray.init(address=args.address, num_cpus=None if args.address else args.workers,
             include_dashboard=False, log_to_driver=False, logging_level='warning')
    slots = slots_of(args, [node['Resources'] for node in ray.nodes() if node['Alive']])
    batches = make_batches(pending, find_lengths(pending), args.minutes, slots)
    return run_batches(command, batches, args, slots)


def main():
    args = parse_arguments()
    command, started = command_of(args), time.time()
    films, unread = find_films(args)
    pending = find_pending(command, films)
    summaries, errors = [run_batch(command, sorted(set(films) - set(pending)))], []
    if pending:
        now, errors = run_pending(command, pending, args)
        summaries += now
    return report(len(films), summaries, errors, time.time() - started) or bool(unread)


if __name__ == '__main__':
    sys.exit(main())
