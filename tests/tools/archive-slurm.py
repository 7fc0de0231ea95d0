#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Submits examples/archive.slurm to a Slurm of one node that it starts in a folder of its
own, cancels the array and submits it again. Without Slurm, munge or root it runs the
script as an array would.

usage: archive-slurm.py ARCHIVE SCRIPT
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from archive import LIMIT, SLOW, Archive, expect, records, wait_for

N_FILMS = 6
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
    """munged, slurmctld and slurmd."""

    def __init__(self, folder):
        self.daemons = []
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
        self.daemons.append(subprocess.Popen(command, env=self.environment,
                                             start_new_session=True, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

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


def submit(slurm, archive, script, films):
    wait_for('end of the array', lambda: not slurm.jobs())
    out = slurm.call('sbatch', '--array=1-2', script, films, 'line', 'out', cwd=archive.folder)
    expect('Submitted batch job' in out, 'sbatch', out)


def run_on_slurm(slurm, archive, script, films):
    submit(slurm, archive, script, 'films')
    wait_for('film', lambda: archive.done(films, 'out') >= 1)
    slurm.call('scancel', '--name=cuvision-archive')
    submit(slurm, archive, script, 'films')
    wait_for('end of the films', lambda: archive.done(films, 'out') == len(films))
    wait_for('end of the array', lambda: not slurm.jobs())


def run_as_array(archive, script):
    """Two tasks at a time; the first ones are killed."""
    for kill in (True, False):
        tasks = []
        for task in ('3', '5'):
            environment = {**os.environ, 'SLURM_ARRAY_TASK_ID': task,
                           'SLURM_ARRAY_TASK_MIN': '3', 'SLURM_ARRAY_TASK_STEP': '2',
                           'SLURM_ARRAY_TASK_COUNT': '2'}
            tasks.append(subprocess.Popen([script, 'films', 'line', 'out'], env=environment,
                                          cwd=archive.folder, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL))
        time.sleep(0.3 if kill else 0)
        for task in tasks:
            if kill:
                task.send_signal(signal.SIGKILL)
            expect(task.wait(LIMIT) == (-9 if kill else 0), 'status', task.returncode)


def missing():
    names = [name for name in ('munged', 'slurmctld', 'slurmd', 'sbatch')
             if not shutil.which(name, path=os.environ['PATH'] + ':/usr/sbin')]
    return f'{names[0]} (slurm-wlm, munge)' if names else 'root' if os.getuid() else ''


def main():
    program, script = (os.path.abspath(path) for path in sys.argv[1:])
    os.environ['PATH'] = f"{os.path.dirname(program)}:{os.environ['PATH']}:/usr/sbin"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as private:
        archive = Archive(program, os.path.realpath(folder))
        films = archive.films(*(f'{i}.avi' for i in range(N_FILMS)))
        for name, text in (('films', '\n'.join(films)), ('line', SLOW)):
            with open(archive.path(name), 'w', encoding='utf-8') as file:
                file.write(text)
        archive.run(0, '--output', 'whole', *films)
        if missing():
            print('no', missing(), '- running the script without Slurm')
            run_as_array(archive, script)
        else:
            slurm = Slurm(private)
            try:
                wait_for('node', slurm.is_ready)
                if slurm.is_dead():
                    print('Slurm does not run here - running the script without it')
                    run_as_array(archive, script)
                else:
                    run_on_slurm(slurm, archive, script, films)
            finally:
                slurm.stop()
        for film in films:
            expect(records(archive, film, 'out') == records(archive, film, 'whole'), film)
        expect(not archive.leftovers('out'), archive.leftovers('out'))
        archive.run(0, '--check', '--output', 'out')


if __name__ == '__main__':
    main()
