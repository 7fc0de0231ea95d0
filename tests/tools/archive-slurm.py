#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Submits examples/archive.slurm to a Slurm of one node that it starts in a separate
folder, cancels the array and submits it again, by the commands of docs/scaling.md. Without
Slurm, munge or root it runs the script as an array would, and is skipped.

usage: archive-slurm.py ARCHIVE SCRIPT PAGE
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from archive import LIMIT, SLOW, Archive, expect, records, wait_for

N_FILMS = 8
CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
KillWait=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus}
PartitionName=all Nodes={host} Default=YES State=UP
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(('127.0.0.1', 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """Runs munged, slurmctld and slurmd."""

    def __init__(self, folder):
        self.daemons, self.log = [], os.path.join(folder, 'log')
        for name in ('state', 'spool'):
            os.mkdir(os.path.join(folder, name))
        os.chmod(folder, 0o755)
        key = os.path.join(folder, 'munge.key')
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o400), 'wb') as file:
            file.write(os.urandom(64))
        config = os.path.join(folder, 'slurm.conf')
        host = socket.gethostname().split('.')[0]
        with open(config, 'w', encoding='utf-8') as file:
            file.write(CONFIG.format(host=host, folder=folder, ports=free_ports(2),
                                     cpus=os.cpu_count()))
        self.environment = {**os.environ, 'SLURM_CONF': config}
        paths = {name: os.path.join(folder, 'munge.' + name)
                 for name in ('socket', 'log', 'pid', 'seed')}
        self.start('munged', '--foreground', '--force', '--num-threads=2', f'--key-file={key}',
                   f'--socket={paths["socket"]}', f'--log-file={paths["log"]}',
                   f'--pid-file={paths["pid"]}', f'--seed-file={paths["seed"]}')
        wait_for('munged', lambda: os.path.exists(paths['socket']))
        self.start('slurmctld', '-D', '-f', config)
        self.start('slurmd', '-D', '-f', config, '-N', host)

    def start(self, *command):
        # slurmd kills the processes of its group when it ends
        with open(self.log, 'ab') as log:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=log,
                                                 stderr=log, start_new_session=True))

    def call(self, *command, cwd=None):
        run = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                             timeout=LIMIT, cwd=cwd, check=False)
        return run.stdout if run.returncode == 0 else ''

    def is_dead(self):
        return any(daemon.poll() is not None for daemon in self.daemons)

    def is_ready(self):
        return self.is_dead() or 'idle' in self.call('sinfo', '--noheader', '--format=%T')

    def jobs(self):
        return self.call('squeue', '--noheader', '--array').split('\n')[:-1]

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def submit(slurm, archive, command):
    wait_for('end of the array', lambda: not slurm.jobs())
    out = slurm.call('bash', '-c', command, cwd=archive.folder)
    expect('Submitted batch job' in out, command, out)
    return out.split()[-1]


def expect_summaries(archive, job, tasks):
    for task in tasks:
        with open(archive.path(f'slurm-{job}_{task}.out'), encoding='utf-8') as file:
            out = file.read()
        expect('"not_done"' in out, job, task, out)


def run_on_slurm(slurm, archive, commands, films):
    whole, some = commands
    submit(slurm, archive, whole)
    wait_for('film', lambda: archive.done(films, 'results') >= 1)
    slurm.call('scancel', '--name=cuvision-archive')
    jobs = submit(slurm, archive, some), submit(slurm, archive, whole)
    wait_for('end of the videos', lambda: archive.done(films, 'results') == len(films))
    wait_for('end of the array', lambda: not slurm.jobs())
    expect_summaries(archive, jobs[0], (3, 7))
    expect_summaries(archive, jobs[1], range(1, 9))


def start_task(archive, script, task, tasks, **more):
    """Starts the script as Slurm would, as one of the tasks of an array."""
    environment = {**os.environ, 'SLURM_ARRAY_TASK_ID': str(task),
                   'SLURM_ARRAY_TASK_MIN': str(min(tasks)),
                   'SLURM_ARRAY_TASK_MAX': str(max(tasks)),
                   'SLURM_ARRAY_TASK_COUNT': str(len(tasks)), **more}
    return subprocess.Popen([script, 'films.txt', 'faces.line', 'results', '--root', '/'],
                            env=environment, cwd=archive.folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True)


def expect_refusals(archive, script):
    """Checks that arrays that do not determine the number of parts are refused."""
    for tasks in ((3, 7), (7,), (0, 1)):
        with start_task(archive, script, tasks[0], tasks) as run:
            err = run.communicate(timeout=LIMIT)[1]
        expect(run.returncode == 2 and 'PARTS=N' in err, tasks, run.returncode, err)


def run_as_array(archive, script):
    """Runs two tasks at a time: tasks that are killed, those of --array=1,3, and all tasks."""
    for kill, tasks, more in ((True, (1, 2), {}), (False, (1, 3), {'PARTS': '3'}),
                              (False, (1, 2), {})):
        runs = [start_task(archive, script, task, tasks, **more) for task in tasks]
        time.sleep(0.3 if kill else 0)
        for run in runs:
            if kill:
                run.send_signal(signal.SIGKILL)
            err = run.communicate(timeout=LIMIT)[1]
            expect(run.returncode == (-9 if kill else 0), 'status', run.returncode, err)


def missing():
    names = [name for name in ('munged', 'slurmctld', 'slurmd', 'sbatch')
             if not shutil.which(name, path=os.environ['PATH'] + ':/usr/sbin')]
    return f'{names[0]} (slurm-wlm, munge)' if names else 'root' if os.getuid() else ''


def commands_of(page):
    """Returns the commands of the page's Slurm blocks, for all parts and for some."""
    with open(page, encoding='utf-8') as file:
        found = re.findall(r'^```sh slurm\n(.*?)^```$', file.read(), re.M | re.S)
    expect(len(found) == 2, page, found)
    return found


def make_archive(program, script, folder):
    """Makes the files with the names that docs/scaling.md uses."""
    archive = Archive(program, os.path.realpath(folder))
    films = [archive.path(name) for name in archive.films(*(f'{i}.avi' for i in range(N_FILMS)))]
    for name, text in (('films.txt', '\n'.join(films)), ('faces.line', SLOW)):
        with open(archive.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
    os.symlink(os.path.dirname(script), archive.path('examples'))
    archive.run(0, '--output', 'whole', '--root', '/', *films)
    return archive, [film.lstrip('/') for film in films]


def run_anywhere(archive, script, commands, films):
    """Returns why Slurm was not used, or None if it was."""
    if missing():
        run_as_array(archive, script)
        return f'{missing()} is missing'
    with tempfile.TemporaryDirectory() as private:
        slurm = Slurm(private)
        try:
            wait_for('node', slurm.is_ready)
            if not slurm.is_dead():
                run_on_slurm(slurm, archive, commands, films)
                return ''
        finally:
            slurm.stop()
        with open(slurm.log, encoding='utf-8', errors='replace') as file:
            why = file.read()[-1500:]
    run_as_array(archive, script)
    return f'Slurm does not start here: {why}'


def main():
    program, script, page = (os.path.abspath(path) for path in sys.argv[1:])
    os.environ['PATH'] = f"{os.path.dirname(program)}:{os.environ['PATH']}:/usr/sbin"
    with tempfile.TemporaryDirectory() as folder:
        archive, films = make_archive(program, script, folder)
        expect_refusals(archive, script)
        why = run_anywhere(archive, script, commands_of(page), films)
        for film in films:
            expect(records(archive, film, 'results') == records(archive, film, 'whole'), film)
        expect(not archive.leftovers('results'), archive.leftovers('results'))
        archive.run(0, '--check', '--output', 'results')
    if why:
        print('skipped, though the script works as an array would run it:', why)
        sys.exit(77)


if __name__ == '__main__':
    main()
