# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provides a NATS server, workers, and cameras that number their frames, for the tests of
cuvision-farm. The caller must have tests/elements/publish in sys.path."""

import collections
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst
from mosquitto import LONG, free_port, wait_until

PAUSE = 0.1  # seconds before a test checks again
RATE = 10  # frames per second of each camera
# The number of a frame is its time stamp, which GDP keeps.
LINE = (
    "tcpclientsrc host=127.0.0.1 port={port} ! gdpdepay"
    " ! visionpublish target=mqtt address=127.0.0.1:%d source={camera}"
    ' tags="{\\"worker\\":\\"{worker}\\"}" add-empty-results=true ! fakesink'
)


class Nats:
    """A server with JetStream in a folder. The program `nats` is in no distribution, so put()
    speaks the protocol as it does."""

    def __init__(self, folder, *options):
        self.port = free_port()
        self.folder = pathlib.Path(folder) / "jetstream"
        self.options = options
        self.process = None
        self.was_started = False

    def start(self):
        """Starts the server, on another port if a test took this one before the first start."""
        self.launch()
        while not self.was_started and self.has_ended():
            self.port = free_port()
            self.launch()
        self.was_started = True
        return self

    def has_ended(self):
        time.sleep(PAUSE)
        return self.process.poll() is not None

    def launch(self):
        self.process = subprocess.Popen(
            ["nats-server", "-js", "-sd", self.folder, "-a", "127.0.0.1"]
            + ["-p", str(self.port), *self.options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(
            lambda: self.answers() or self.process.poll() is not None, "nats-server"
        )

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as sock:
                return sock.recv(4) == b"INFO"
        except OSError:
            return False

    def stop(self, number=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(LONG)
            self.process = None

    def put(self, key, value, bucket="cameras"):
        """Sends what `nats kv put BUCKET KEY VALUE` sends."""
        self.request(f"$KV.{bucket}.{key}", value)

    def request(self, subject, value):
        data = value.encode()
        with socket.create_connection(("127.0.0.1", self.port), LONG) as sock:
            sock.sendall(
                b'CONNECT {"verbose":false}\r\n'
                + f"PUB {subject} {len(data)}\r\n".encode()
                + data
                + b"\r\nPING\r\n"
            )
            answer = b""
            while b"PONG" not in answer:
                part = sock.recv(4096)
                if not part:
                    raise AssertionError(f"the NATS server said {answer}")
                answer += part


class Cameras:
    """Live videos, each on its own port."""

    def __init__(self, number):
        Gst.init(None)
        self.pipelines = [
            Gst.parse_launch(
                "videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=16,"
                f"height=16,framerate={RATE}/1 ! gdppay"
                " ! tcpserversink name=server host=127.0.0.1 port=0"
            )
            for i in range(number)
        ]
        for pipeline in self.pipelines:
            pipeline.set_state(Gst.State.PLAYING)
        self.ports = [
            pipeline.get_by_name("server").get_property("current-port")
            for pipeline in self.pipelines
        ]
        for port in self.ports:
            wait_until(lambda: accepts(port), "a camera")

    def stop(self):
        for pipeline in self.pipelines:
            pipeline.set_state(Gst.State.NULL)


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


class Farm:
    """A configuration and the workers that use it."""

    def __init__(self, program, folder, nats, lines, **settings):
        self.program = program
        self.folder = pathlib.Path(folder)
        self.config = self.folder / "farm.conf"
        self.workers = {}
        groups = {"nats": {"servers": f"nats://127.0.0.1:{nats.port}"}}
        groups["worker"] = {"lease-age": "2", "outage-grace": "1"}
        groups["worker"]["listen"] = "127.0.0.1:0"
        groups.update({name: {"line": line} for name, line in lines.items()})
        for name, value in settings.items():
            group, _, key = name.partition("_")
            groups.setdefault(group, {})[key.replace("_", "-")] = value
        text = ""
        for name, keys in groups.items():
            text += f"[{name}]\n"
            text += "".join(f"{key} = {value}\n" for key, value in keys.items())
        self.config.write_text(text, encoding="utf-8")

    def run(self, *words, check=True, **options):
        result = subprocess.run(
            [self.program, "-c", self.config, *words],
            capture_output=True,
            text=True,
            timeout=LONG,
            **options,
        )
        if check and result.returncode != 0:
            raise AssertionError(f"{words}: {result.stderr}")
        return result

    def put(self, camera, **value):
        self.run("put", camera, json.dumps(value))

    def list(self):
        """Returns the lease of each camera, {} if it is free; {} without a server."""
        result = self.run("list", "--json", check=False)
        if result.returncode != 0:
            return {}
        rows = json.loads(result.stdout)
        return {row["camera"]: row.get("lease", {}) for row in rows}

    def playing(self):
        """Returns for each worker the number of cameras that play."""
        time.sleep(PAUSE)
        leases = self.list().values()
        return collections.Counter(
            lease["worker"] for lease in leases if lease.get("state") == "playing"
        )

    def start(self, *names, **options):
        for name in names:
            with open(self.folder / f"{name}.log", "ab") as log:
                self.workers[name] = subprocess.Popen(
                    [self.program, "-c", self.config, "-n", name, "run"],
                    stderr=log,
                    **options,
                )

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")

    def lines_of(self, name):
        """Returns the processes of a worker's pipelines."""
        pid = self.workers[name].pid
        path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        return [int(child) for child in path.read_text().split()]

    def fetch(self, name, path="metrics"):
        wait_until(lambda: "metrics: " in self.log(name), "an address")
        address = re.search(r"metrics: (\S+)metrics", self.log(name))[1]
        with urllib.request.urlopen(address + path, timeout=LONG) as answer:
            return answer.read().decode()

    def metric(self, name, metric):
        """Returns the sum of a metric over all labels."""
        lines = self.fetch(name).splitlines()
        return sum(
            float(line.rsplit(" ", 1)[1])
            for line in lines
            if re.match(rf"cuvision_farm_{metric}[ {{]", line)
        )

    def signal(self, name, number):
        self.workers[name].send_signal(number)

    def kill(self, name):
        self.signal(name, signal.SIGKILL)
        self.workers.pop(name).wait(LONG)

    def stop(self):
        for worker in self.workers.values():
            worker.send_signal(signal.SIGCONT)
            worker.terminate()
        status = [worker.wait(LONG) for worker in self.workers.values()]
        self.workers = {}
        return status


class Run:
    """The numbers of the frames of a camera that one process of a pipeline sent."""

    def __init__(self, worker):
        self.worker = worker
        self.frames = {}  # frame_num -> number of the camera's frame

    def first(self):
        return min(self.frames.values())

    def last(self):
        return max(self.frames.values())

    def holes(self):
        """Returns the frames that were lost within the pipeline."""
        numbers = self.frames.values()
        return (
            max(self.frames) + 1 - len(self.frames)
            + self.last() + 1 - self.first() - len(set(numbers))
        )


def runs_of(messages):
    """Returns the runs of each camera, from the subscriber's lines."""
    current, runs = {}, collections.defaultdict(list)
    for line in messages:
        found = re.match(r"0 cameras/([^/]+)/records (.*)", line)
        if not found:
            continue
        camera, record = found[1], json.loads(found[2])
        key = camera, record["tags"]["worker"]
        run = current.get(key)
        number = record["frame_num"]
        # a record that is sent again does not start a new run
        new = number == 0 and (
            run is None or run.frames.get(0) != frame_number(record)
        )
        if run is None or new:
            run = current[key] = Run(record["tags"]["worker"])
            runs[camera].append(run)
        run.frames[number] = frame_number(record)
    return runs


def frame_number(record):
    return round(record["timestamp"] * RATE / 1e9)


def between(runs, begin=0):
    """Returns the frames of a camera from `begin` on that no run has, and those that two runs
    have."""
    counts = collections.Counter(
        number
        for run in runs
        for number in set(run.frames.values())
        if number >= begin
    )
    missing = max(counts) + 1 - min(counts) - len(counts)
    return missing, sum(count > 1 for count in counts.values())


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ")[1][0]
    except OSError:
        return False
    return state != "Z"


def missing_programs():
    """Returns the names of missing Debian packages."""
    needed = {"nats-server": "nats-server", "mosquitto": "mosquitto"}
    needed["mosquitto_sub"] = "mosquitto-clients"
    missing = [needed[n] for n in needed if shutil.which(n) is None]
    missing += os.environ.get("CUV_TEST_MISSING", "").split()
    Gst.init(None)
    if Gst.ElementFactory.find("gdppay") is None:
        missing.append("gstreamer1.0-plugins-bad")
    return missing


def take_program():
    """Removes and returns the first argument. Exits if programs are missing."""
    missing = missing_programs()
    if missing:
        print("skipped: install", *missing)
        sys.exit(77)
    return sys.argv.pop(1)
