#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cuvision-archive over a folder of videos on Ray, on one machine or many.

usage: archive-ray.py --line LINE --output FOLDER [OPTION...] FOLDER

Tasks are balanced: each gets --minutes of video, long videos first. A task that fails
or leaves videos undone is repeated. If anything was killed, run the script again: videos that
are done are skipped. Hidden folders and folders of results are not searched.
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
PROBE = 50  # videos whose length one task finds


def at_least(least, kind=float):
    """Returns a parser that refuses numbers below `least`."""
    def number(text):
        if not (value := kind(text)) >= least:
            raise argparse.ArgumentTypeError(f'{text} is less than {least}')
        return value
    return number


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('folder', help='folder of videos, including its subfolders')
    line = parser.add_mutually_exclusive_group(required=True)
    line.add_argument('--line', help='the gst-launch pipeline; see cuvision-archive')
    line.add_argument('--line-file', help='a file with the pipeline')
    parser.add_argument('--output', required=True, help='folder of the results')
    parser.add_argument('--suffixes', nargs='+', default=SUFFIXES, help='suffixes of videos')
    parser.add_argument('--minutes', type=at_least(0.001), nargs=2, default=(10, 60),
                        metavar=('MIN', 'MAX'),
                        help='minimum and maximum minutes of video per task (default: 10 60)')
    parser.add_argument('--cpus-per-task', type=at_least(0.001), default=1,
                        help='CPUs per task (default: 1)')
    parser.add_argument('--gpus-per-task', type=at_least(0), default=0,
                        help='GPUs per task; 0.25: four tasks share one (default: 0)')
    parser.add_argument('--retries', type=at_least(0, int), default=3,
                        help='retries per task (default: 3)')
    parser.add_argument('--retry-failed', action='store_true', help='retry videos that failed')
    parser.add_argument('--redo', action='store_true', help='replace results of another pipeline')
    parser.add_argument('--address', help='address of a Ray cluster (default: this machine)')
    parser.add_argument('--workers', type=at_least(1, int), help='number of CPUs of this machine to use')
    parser.add_argument('--program', default='cuvision-archive')
    return parser.parse_args()


def command_of(args):
    """Returns the command of all tasks. Paths are absolute, because workers run in other
    folders."""
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


def has_videos(path, output):
    """Returns whether to search a folder. The folder of results may be among the videos, and
    results may be videos themselves."""
    name = os.path.basename(path)
    return not (name.startswith('.') or name.endswith('.results')
                or os.path.realpath(path) == output)


def find_videos(args):
    """Returns the videos, and the errors of folders that cannot be read."""
    suffixes = {'.' + suffix.lower().lstrip('.') for suffix in args.suffixes}
    output, videos, errors = os.path.realpath(args.output), [], []
    for place, folders, names in os.walk(os.path.abspath(args.folder), onerror=errors.append):
        folders[:] = [name for name in folders if has_videos(os.path.join(place, name), output)]
        videos += [os.fsencode(os.path.join(place, name)) for name in names
                  if os.path.splitext(name)[1].lower() in suffixes]
    for error in errors:
        print(error, file=sys.stderr)
    if not videos:
        sys.exit(f'no videos in {args.folder} that end in {" ".join(sorted(suffixes))}: '
                 'see --suffixes')
    return sorted(videos), errors


def find_pending(command, videos):
    """Returns the videos that are not done. Ends the program if the pipeline is invalid."""
    run = subprocess.run([*command, '--pending'], input=b'\0'.join(videos),
                         stdout=subprocess.PIPE, check=False)
    if run.returncode:
        sys.exit(run.returncode)
    return [path for path in run.stdout.split(b'\0') if path]


# ---- tasks ----


def discover(videos):
    import gi
    gi.require_version('Gst', '1.0')
    gi.require_version('GstPbutils', '1.0')
    from gi.repository import GLib, Gst, GstPbutils
    Gst.init(None)
    discoverer = GstPbutils.Discoverer.new(10 * Gst.SECOND)
    for video in videos:
        try:
            info = discoverer.discover_uri(GLib.filename_to_uri(os.fsdecode(video), None))
            yield info.get_duration() / Gst.SECOND
        except (GLib.Error, UnicodeError):
            yield 0


def probe(videos):
    """Returns the length of each video in seconds. It is 0 if the video cannot be read, which takes
    no time to process. Without PyGObject or GstPbutils the length is estimated at 2 Mbit/s."""
    try:
        return list(discover(videos))
    except (ImportError, ValueError):
        return [os.path.getsize(video) / 250000 if os.path.exists(video) else 0
                for video in videos]


def run_batch(command, videos):
    """Returns the summary of cuvision-archive; raises an error if the task has to be repeated. The
    program ends with its worker. It has --wait because the program of a worker that died may
    still be ending."""
    run = subprocess.run(['setpriv', '--pdeathsig', 'TERM', *command, '--wait', '--quiet',
                          '--json'], input=b'\0'.join(videos), capture_output=True, check=False)
    if run.returncode not in (0, 1):
        raise RuntimeError(f'status {run.returncode}: {run.stderr.decode(errors="replace")}')
    return json.loads(run.stdout)


# ---- batches ----


def find_lengths(videos):
    """Returns the length of each video in seconds, or 0 if its task failed."""
    task, lengths = ray.remote(probe), []
    parts = [videos[i:i + PROBE] for i in range(0, len(videos), PROBE)]
    for part, reference in zip(parts, [task.remote(part) for part in parts]):
        try:
            lengths += ray.get(reference)
        except ray.exceptions.RayError:
            lengths += [0] * len(part)
    return lengths


def make_batches(videos, lengths, minutes, slots):
    """Returns lists of videos of about the same total length, longest first: as
    many lists as keep all slots busy, within the limits of minutes. A video
    longer than the maximum is a batch of its own."""
    total = sum(lengths) / 60
    target = min(max(total / (4 * slots), minutes[0]), minutes[1])
    batches = [[0, []] for _ in range(max(1, round(total / target)))]
    for seconds, video in sorted(zip(lengths, videos), reverse=True):
        least = min(batches, key=lambda batch: (batch[0], len(batch[1])))
        least[0] += seconds
        least[1].append(video)
    return sorted((batch for batch in batches if batch[1]), reverse=True)


def slots_of(args, machines):
    """Returns how many tasks run at a time. Ends the program if a task fits on no machine, because
    it would wait forever."""
    wanted = {'CPU': args.cpus_per_task, 'GPU': args.gpus_per_task}
    slots = sum(min(int(machine.get(name, 0) / n) for name, n in wanted.items() if n > 0)
                for machine in machines)
    if not slots:
        have = '; '.join(f'{m.get("CPU", 0):g} CPU, {m.get("GPU", 0):g} GPU' for m in machines)
        sys.exit(f'a task needs {wanted["CPU"]:g} CPU and {wanted["GPU"]:g} GPU on one machine, '
                 f'but there are {have}: lower --cpus-per-task and --gpus-per-task, '
                 'or start Ray on a machine that has them')
    return slots


# ---- the run ----


def show(done, n_videos, failed, started):
    print(f'\r{done} of {n_videos} videos, {failed} failed, {time.time() - started:.0f} s',
          end='' if sys.stderr.isatty() else '\n', file=sys.stderr, flush=True)


class Progress:
    """Counts the results of tasks that are still running, because a task may take an hour."""

    def __init__(self, args, videos):
        self.folder, self.output = (os.fsencode(os.path.abspath(path))
                                    for path in (args.folder, args.output))
        self.old = {video for video in videos if self.has_results(video)}  # to be replaced

    def has_results(self, video):
        name = os.path.relpath(video, self.folder)
        return os.path.exists(os.path.join(self.output, name + b'.results'))

    def count(self, batches):
        return sum(video not in self.old and self.has_results(video)
                   for videos in batches for video in videos)


def run_batches(command, batches, args, slots):
    """Returns summaries of the batches, and the errors of those that failed. A batch that leaves
    videos undone, for example because a pipeline was killed, is repeated."""
    task = ray.remote(num_cpus=args.cpus_per_task, num_gpus=args.gpus_per_task,
                      max_retries=args.retries, retry_exceptions=True)(run_batch)
    waiting = {task.remote(command, videos): (videos, args.retries) for _, videos in batches}
    n_videos = sum(len(videos) for _, videos in batches)
    progress = Progress(args, [video for _, videos in batches for video in videos])
    summaries, errors, started, done = [], [], time.time(), 0
    while waiting:
        for reference in ray.wait(list(waiting), timeout=10)[0]:
            videos, retries = waiting.pop(reference)
            try:
                summary = ray.get(reference)
            except ray.exceptions.RayError as error:
                errors.append(str(error).strip().rsplit('\n', maxsplit=1)[-1])
            else:
                if summary['not_done'] and retries:
                    waiting[task.remote(command, videos)] = videos, retries - 1
                    continue
                summaries.append(summary)
            done += len(videos)
        running = [videos for videos, _ in list(waiting.values())[:slots]]
        show(done + progress.count(running), n_videos, sum(len(s['failed']) for s in summaries),
             started)
    return summaries, errors


def report(n_videos, summaries, errors, seconds):
    failed = [entry for s in summaries for entry in s['failed']]
    missing = [entry for s in summaries for entry in s['not_done']]
    before = summaries[0]['done_before']
    done = sum(s['done'] + s['done_before'] for s in summaries) - before
    for entry in failed + missing:
        print(f'{entry["film"]}: {entry["error"]}', file=sys.stderr)
    for error in errors:
        print(f'a task failed: {error}', file=sys.stderr)
    for name, value in (('videos', n_videos), ('done before', before), ('done now', done),
                        ('failed', len(failed)),
                        ('not done', n_videos - before - done - len(failed)),
                        ('tasks', len(summaries) - 1), ('tasks that failed', len(errors)),
                        ('seconds', round(seconds, 1)),
                        ('seconds of tasks', round(sum(s['seconds'] for s in summaries), 1))):
        print(f'{name:18}{value:10}')
    return 0 if before + done == n_videos else 1


def run_pending(command, pending, args):
    ray.init(address=args.address, num_cpus=None if args.address else args.workers,
             include_dashboard=False, log_to_driver=False, logging_level='warning')
    slots = slots_of(args, [node['Resources'] for node in ray.nodes() if node['Alive']])
    batches = make_batches(pending, find_lengths(pending), args.minutes, slots)
    return run_batches(command, batches, args, slots)


def main():
    args = parse_arguments()
    command, started = command_of(args), time.time()
    videos, unread = find_videos(args)
    pending = find_pending(command, videos)
    summaries, errors = [run_batch(command, sorted(set(videos) - set(pending)))], []
    if pending:
        now, errors = run_pending(command, pending, args)
        summaries += now
    return report(len(videos), summaries, errors, time.time() - started) or bool(unread)


if __name__ == '__main__':
    sys.exit(main())
