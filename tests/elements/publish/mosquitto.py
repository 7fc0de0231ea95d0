# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mosquitto, a subscriber and a pipeline for the tests of visionpublish."""

import json
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

# A limit that even a busy machine does not reach.
LONG = 60
LIVE = (
    "videotestsrc is-live=true num-buffers=%d"
    " ! video/x-raw,width=32,height=32,framerate=200/1"
)
FAST = "videotestsrc num-buffers=%d ! video/x-raw,width=32,height=32"
PUBLISH = (
    " ! visionpublish name=p target=mqtt add-empty-results=true source=%s %s"
    " ! fakesink"
)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def wait_until(condition, what):
    end = time.monotonic() + LONG
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {LONG} s for {what}")
        time.sleep(0.01)


class Broker:
    """A mosquitto that keeps its sessions when it is terminated."""

    def __init__(self, folder, *options, port=None):
        self.port = port or free_port()
        self.folder = pathlib.Path(folder)
        self.config = self.folder / "mosquitto.conf"
        text = [
            f"listener {self.port} 127.0.0.1",
            "user root",
            "persistence true",
            f"persistence_location {folder}/",
            "max_queued_messages 100000",
            *(options or ["allow_anonymous true"]),
        ]
        self.config.write_text("\n".join(text) + "\n", encoding="utf-8")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            ["mosquitto", "-c", self.config],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(lambda: answers(self.port), "mosquitto")
        return self

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM):
        self.send(number)
        self.process.wait(LONG)


class Subscriber:
    """Reads all topics into a file; the broker keeps its session."""

    def __init__(self, broker, *options):
        self.file = broker.folder / "received"
        self.command = ["mosquitto_sub", "-p", str(broker.port), "-q", "1"]
        self.command += ["-i", "subscriber", "-c", "-t", "#", "-F", "%r %t %p"]
        self.command += options
        self.process = None

    def start(self):
        """Starts the subscriber. When this returns, the broker knows the subscription, and
        nothing that it has sent since then is lost."""
        with open(self.file, "ab") as log:
            subprocess.run(
                self.command + ["-E"], stdout=log, timeout=LONG, check=True
            )
            self.process = subprocess.Popen(self.command, stdout=log)
        return self

    def lines(self):
        """Returns the lines received so far. Restarts mosquitto_sub, because version 2.1 may end
        when its broker does."""
        if self.process is not None and self.process.poll() is not None:
            with open(self.file, "ab") as log:
                self.process = subprocess.Popen(self.command, stdout=log)
        with open(self.file, encoding="utf-8") as log:
            return [line for line in log if line.endswith("\n")]

    def records(self, source):
        """Returns the numbers of the frames of a source, in the order of arrival."""
        begin = f"0 cameras/{source}/records "
        return [
            json.loads(line[len(begin) :])["frame_num"]
            for line in self.lines()
            if line.startswith(begin)
        ]

    def statuses(self, source):
        """Returns the statuses of a source, without those that the broker retained for a new
        subscriber."""
        begin = f"0 cameras/{source}/status "
        return [
            json.loads(line[len(begin) :])["status"]
            for line in self.lines()
            if line.startswith(begin)
        ]

    def stop(self):
        self.process.kill()
        self.process.wait(LONG)
        self.process = None


def without_repetitions(numbers):
    return list(dict.fromkeys(numbers))


class Pipeline:
    def __init__(self, line):
        self.pipeline = Gst.parse_launch(line)
        self.element = self.pipeline.get_by_name("p")
        self.messages = []

    def play(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        return self

    def stats(self):
        stats = self.element.props.stats
        return {
            stats.nth_field_name(i): stats.get_value(stats.nth_field_name(i))
            for i in range(stats.n_fields())
        }

    def collect(self, seconds):
        """Collects warnings and errors. Returns True at EOS or an error."""
        bus = self.pipeline.get_bus()
        kinds = (
            Gst.MessageType.WARNING | Gst.MessageType.ERROR | Gst.MessageType.EOS
        )
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            message = bus.timed_pop_filtered(int(left * 1e9), kinds)
            if message is None:
                break
            if message.type == Gst.MessageType.EOS:
                return True
            if message.type == Gst.MessageType.WARNING:
                self.messages.append(message.parse_warning()[0].message)
            else:
                self.messages.append(message.parse_error()[0].message)
                return True
        return False

    def wait_for(self, condition, what):
        end = time.monotonic() + LONG
        while not condition(self.stats()):
            self.collect(0.01)
            if time.monotonic() > end:
                raise AssertionError(f"waited {LONG} s for {what}: {self.stats()}")

    def finish(self):
        assert self.collect(LONG), "no EOS"
        return self.stop()

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)
        return self.stats()


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def broker(self, *options, **kwargs):
        broker = Broker(self.folder, *options, **kwargs)
        self.addCleanup(lambda: broker.process and broker.stop(signal.SIGKILL))
        return broker

    def subscriber(self, broker, *options):
        subscriber = Subscriber(broker, *options)
        self.addCleanup(lambda: subscriber.process and subscriber.stop())
        return subscriber

    def pipeline(self, source, line, options, broker):
        address = f"address=127.0.0.1:{broker.port} "
        pipeline = Pipeline(line + PUBLISH % (source, address + options))
        self.addCleanup(pipeline.pipeline.set_state, Gst.State.NULL)
        return pipeline

    def expect_received(self, subscriber, source, numbers):
        numbers = list(numbers)
        wait_until(
            lambda: numbers[-1] in subscriber.records(source),
            f"record {numbers[-1]} of {source}",
        )
        received = without_repetitions(subscriber.records(source))
        self.assertEqual(received, numbers)
