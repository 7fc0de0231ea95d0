#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how long cameras are not analysed, or are analysed twice, when workers and servers
fail, with 3 workers of cuvision-farm and 12 RTSP cameras on this machine.

usage: farm.py BUILD [--kills N] [--only EVENT]

It fails if a camera is not analysed again within 10 seconds of a worker's end or the
server's return, is analysed twice for more than 10 seconds, or if a pipeline loses a record.
"""

import argparse
import collections
import datetime
import json
import pathlib
import random
import re
import select
import signal
import socket
import sys
import tempfile
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "elements" / "publish"), str(TESTS / "tools")]
import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
from farmhand import Farm, Nats
from mosquitto import Broker, Subscriber, wait_until

CAMERAS = 12
RATE = 10
LIMIT = 10  # seconds
LINE = (
    "rtspsrc location={location} latency=0 protocols=tcp ! rtpjpegdepay ! jpegdec"
    " ! visionpublish target=mqtt address=127.0.0.1:%d source={camera}"
    ' tags="{\\"worker\\":\\"{worker}\\"}" add-empty-results=true ! fakesink'
)


def serve_cameras():
    """Serves twelve RTSP addresses; each plays while somebody watches it."""
    server = GstRtspServer.RTSPServer(address="127.0.0.1", service="0")
    for i in range(CAMERAS):
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch(
            "( videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,"
            f"width=160,height=120,framerate={RATE}/1 ! jpegenc ! rtpjpegpay name=pay0 )"
        )
        factory.set_shared(True)
        server.get_mount_points().add_factory(f"/camera-{i}", factory)
    server.attach(None)
    threading.Thread(target=GLib.MainLoop().run, daemon=True).start()
    port = server.get_bound_port()
    names = [f"camera-{i}" for i in range(CAMERAS)]
    return server, {n: f"rtsp://127.0.0.1:{port}/{n}" for n in names}


class Proxy(threading.Thread):
    """A connection to the NATS server that can be cut like a cable."""

    def __init__(self, target):
        super().__init__(daemon=True)
        self.target = target
        self.cut = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = {}
        self.start()

    def run(self):
        while True:
            ready, _, _ = select.select([self.listener, *self.pairs], [], [], 0.1)
            while self.cut:
                time.sleep(0.1)
            for sock in ready:
                if sock is self.listener:
                    self.connect()
                else:
                    self.forward(sock)

    def connect(self):
        client, _ = self.listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self.target), 1)
        except OSError:
            client.close()
            return
        self.pairs[client], self.pairs[server] = server, client

    def forward(self, sock):
        if sock not in self.pairs:
            return
        try:
            data = sock.recv(65536)
            if data:
                self.pairs[sock].sendall(data)
                return
        except OSError:
            pass
        other = self.pairs.pop(sock)
        self.pairs.pop(other)
        sock.close()
        other.close()


class Run:
    def __init__(self, worker):
        self.worker = worker
        self.times = {}  # frame_num -> seconds

    def begin(self):
        return min(self.times.values())

    def end(self):
        return max(self.times.values())


def parse_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Records:
    """Reads the records that have arrived since the last call."""

    def __init__(self, path):
        self.file = open(path, encoding="utf-8")
        self.rest = ""
        self.runs = collections.defaultdict(list)
        self.current = {}

    def read(self):
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        for line in lines:
            found = re.match(r"0 cameras/([^/]+)/records (.*)", line)
            if found:
                self.add(found[1], json.loads(found[2]))
        return self.runs

    def add(self, camera, record):
        key = camera, record["tags"]["worker"]
        number, when = record["frame_num"], parse_time(record["wallclock"])
        run = self.current.get(key)
        if run is None or number == 0 and run.times.get(0) != when:
            run = self.current[key] = Run(record["tags"]["worker"])
            self.runs[camera].append(run)
        run.times[number] = when


def measure(runs, begin, back, end):
    """Returns for a camera: the longest time without a frame; when the last such time ended that
    began before `back` (later ones belong to cameras that are redistributed); the number of
    missing frames; the time with two pipelines; the gaps within pipelines."""
    holes = sum(max(run.times) + 1 - len(run.times) for run in runs)
    times = sorted(t for run in runs for t in run.times.values())
    times = [t for t in times if begin - 2 <= t <= end]
    gaps = [(b - a, b) for a, b in zip(times, times[1:]) if b - a > 5 / RATE]
    missing = sum(round(gap * RATE) - 1 for gap, _ in gaps)
    again = max((b for gap, b in gaps if b - gap < back + 1), default=back)
    twice = 0
    for i, run in enumerate(runs):
        for other in runs[i + 1 :]:
            first = max(run.begin(), other.begin(), begin)
            last = min(run.end(), other.end(), end)
            twice = max(twice, last - first)
    return max((gap for gap, _ in gaps), default=0), again, missing, twice, holes


class Bench:
    def __init__(self, build, folder):
        self.folder = pathlib.Path(folder)
        broker = Broker(folder).start()
        subscriber = Subscriber(broker).start()
        self.nats = Nats(folder).start()
        self.proxy = Proxy(self.nats.port)
        self.server, self.cameras = serve_cameras()
        program = pathlib.Path(build).resolve() / "tools" / "farm" / "cuvision-farm"
        ages = {"worker_lease_age": "5", "worker_outage_grace": "5"}
        lines = {"line": LINE % broker.port}
        self.farm = Farm(program, folder, self.nats, lines, **ages)
        (self.folder / "behind").mkdir()
        self.behind = Farm(
            program, self.folder / "behind", self.proxy, lines, **ages
        )
        self.ends = [subscriber.stop, lambda: broker.stop(signal.SIGKILL)]
        for name, location in self.cameras.items():
            self.farm.put(name, location=location)
        self.farm.start("a", "b")
        self.behind.start("c")
        self.records = Records(subscriber.file)
        self.failed = False

    def wait(self):
        """Waits until all cameras are analysed and shared evenly."""

        def steady():
            time.sleep(0.2)
            shares = self.farm.playing().values()
            workers = len(self.farm.workers) + len(self.behind.workers)
            return (
                sum(shares) == CAMERAS
                and len(shares) == workers
                and max(shares) - min(shares) < 2
            )

        wait_until(steady, "a steady state")
        wait_until(self.are_fresh, "frames of all cameras")

    def are_fresh(self):
        time.sleep(0.1)
        now, runs = time.time(), self.records.read()
        return len(runs) == CAMERAS and all(
            max(run.end() for run in of) > now - 1 for of in runs.values()
        )

    def report(self, name, begin, again_since):
        end = time.time()
        all_runs = self.records.read()
        rows = [
            measure(all_runs[c], begin, again_since, end) for c in self.cameras
        ]
        gap, again, missing, twice, holes = (
            max(r[0] for r in rows), max(r[1] for r in rows),
            sum(r[2] for r in rows), max(r[3] for r in rows),
            sum(r[4] for r in rows),
        )
        # seconds since the server's return or the worker's end
        again -= again_since
        bad = again > LIMIT or twice > LIMIT or holes > 0
        self.failed |= bad
        print(
            f"{name:42} gap {gap:5.1f} s  again after {again:4.1f} s  missing"
            f" {missing:4d} frames  twice {twice:4.1f} s  holes {holes}"
            f"{'  BAD' if bad else ''}",
            flush=True,
        )

    def event(self, name, act, after=None):
        self.wait()
        time.sleep(2)
        begin = time.time()
        back = act() or begin
        self.wait()
        time.sleep(2)
        self.report(name, begin, back)
        if after is not None:
            after()

    # ---- events ----

    def kill(self, number=signal.SIGKILL):
        name = random.choice(list(self.farm.workers))
        self.farm.signal(name, number)
        self.farm.workers.pop(name).wait()
        time.sleep(12)

    def start_again(self):
        self.farm.start(*{"a", "b"} - set(self.farm.workers))

    def terminate(self):
        self.kill(signal.SIGTERM)

    def restart(self, number, pause):
        self.nats.stop(number)
        time.sleep(pause)
        self.nats.start()
        return time.time()

    def stop_process(self, process, pause):
        process.send_signal(signal.SIGSTOP)
        time.sleep(pause)
        process.send_signal(signal.SIGCONT)

    def hang(self):
        self.stop_process(self.nats.process, 20)
        return time.time()

    def cut(self):
        self.proxy.cut = True
        time.sleep(25)
        self.proxy.cut = False

    def close(self):
        self.farm.stop()
        self.behind.stop()
        self.nats.stop()
        for end in self.ends:
            end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--only")
    options = parser.parse_args()
    Gst.init(None)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.build, folder)
        kill = signal.SIGKILL
        start = bench.start_again
        events = [
            (f"kill -9 of a worker, {i + 1}", bench.kill, start)
            for i in range(options.kills)
        ]
        events += [
            ("SIGTERM of a worker", bench.terminate, start),
            ("server restarted in 1 s", lambda: bench.restart(signal.SIGTERM, 1)),
            ("server killed, away for 8 s", lambda: bench.restart(kill, 8)),
            ("server killed, away for 30 s", lambda: bench.restart(kill, 30)),
            ("server hangs for 20 s", bench.hang),
            ("worker stopped for 25 s",
             lambda: bench.stop_process(bench.farm.workers["a"], 25)),
            ("worker cut off for 25 s", bench.cut),
        ]
        try:
            for event in events:
                if options.only is None or options.only in event[0]:
                    bench.event(*event)
        finally:
            bench.close()
    sys.exit(bench.failed)


if __name__ == "__main__":
    main()
