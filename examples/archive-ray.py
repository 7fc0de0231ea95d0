#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cuvision-archive over a folder of films on Ray, on one machine or many.

usage: archive-ray.py --line LINE --output FOLDER [OPTION...] FOLDER

Films are balanced by length: a task has --minutes of film, long films first. A task
that fails is repeated; after whatever was killed, run it again: what is done is left as it is.
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


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', help='of films, with the folders in it')
    line = parser.add_mutually_exclusive_group(required=True)
    line.add_argument('--line', help='the gst-launch line; see cuvision-archive')
    line.add_argument('--line-file', help='a file with it')
    parser.add_argument('--output', required=True, help='folder of the results')
    parser.add_argument('--suffixes', nargs='+', default=SUFFIXES, help='of names of films')
    parser.add_argument('--minutes', type=float, nargs=2, default=(10, 60),
                        metavar=('LEAST', 'MOST'), help='of film a task (default: 10 60)')
    parser.add_argument('--cpus-per-task', type=float, default=1)
    parser.add_argument('--gpus-per-task', type=float, default=0,
                        help='0.25: four tasks share a GPU')
    parser.add_argument('--retries', type=int, default=3, help='of a task (default: 3)')
    parser.add_argument('--retry-failed', action='store_true', help='try failed films again')
    parser.add_argument('--redo', action='store_true', help='replace results of another line')
    parser.add_argument('--address', help='of a Ray cluster (default: this machine)')
    parser.add_argument('--workers', type=int, help='CPUs to use of this machine')
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


def find_films(folder, suffixes):
    found = [os.path.join(place, name) for place, _, names in os.walk(os.path.abspath(folder))
             for name in names if os.path.splitext(name)[1].lower() in suffixes]
    return sorted(os.fsencode(path) for path in found)


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


def slots_of(args):
    """Tasks at a time. One that the cluster cannot place would wait for ever."""
    resources, slots = ray.cluster_resources(), []
    for name, wanted in (('CPU', args.cpus_per_task), ('GPU', args.gpus_per_task)):
        if wanted > resources.get(name, 0):
            sys.exit(f'a task needs {wanted:g} {name}, and there are '
                     f'{resources.get(name, 0):g}: ask for less with '
                     f'--{name.lower()}s-per-task, or start Ray on a machine that has them')
        if wanted > 0:
            slots.append(int(resources[name] / wanted))
    return max(1, min(slots, default=1))


# ---- the run ----


def show(done, n_films, failed, started):
    print(f'\r{done} of {n_films} films, {failed} failed, {time.time() - started:.0f} s',
          end='' if sys.stderr.isatty() else '\n', file=sys.stderr, flush=True)


def run_batches(command, batches, args):
    """Summaries of the batches, and the errors of those that failed."""
    task = ray.remote(num_cpus=args.cpus_per_task, num_gpus=args.gpus_per_task,
                      max_retries=args.retries, retry_exceptions=True)(run_batch)
    waiting = {task.remote(command, films): films for _, films in batches}
    n_films = sum(len(films) for _, films in batches)
    summaries, errors, started, done = [], [], time.time(), 0
    while waiting:
        for reference in ray.wait(list(waiting), timeout=10)[0]:
            done += len(waiting.pop(reference))
            try:
                summaries.append(ray.get(reference))
            except ray.exceptions.RayError as error:
                errors.append(str(error).strip().rsplit('\n', maxsplit=1)[-1])
        show(done, n_films, sum(len(s['failed']) for s in summaries), started)
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


def main():
    args = parse_arguments()
    command, started = command_of(args), time.time()
    films = find_films(args.folder, args.suffixes)
    pending = find_pending(command, films)
    summaries, errors = [run_batch(command, sorted(set(films) - set(pending)))], []
    if pending:
        ray.init(address=args.address, num_cpus=None if args.address else args.workers,
                 include_dashboard=False, log_to_driver=False, logging_level='warning')
        batches = make_batches(pending, find_lengths(pending), args.minutes, slots_of(args))
        now, errors = run_batches(command, batches, args)
        summaries += now
    return report(len(films), summaries, errors, time.time() - started)


if __name__ == '__main__':
    sys.exit(main())
