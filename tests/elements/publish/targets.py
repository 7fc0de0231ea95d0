#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests visionpublish with files, FIFOs, pipes and full disks, and with readers that are late,
die or sleep."""

import csv
import fcntl
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

LIVE = "videotestsrc is-live=true num-buffers=%d ! video/x-raw,framerate=200/1"
FAST = "videotestsrc num-buffers=%d ! video/x-raw,width=32,height=32"
PUBLISH = " ! visionpublish name=p add-empty-results=true %s ! fakesink"


def jq_count(text):
    """Returns the number of JSON values; fails if jq finds an error."""
    run = subprocess.run(
        ["jq", "-c", "."], input=text, capture_output=True, check=True
    )
    return len(run.stdout.splitlines())


def launch(line, **kwargs):
    return subprocess.Popen(["gst-launch-1.0", "-q"] + line.split(), **kwargs)


def rss_kib():
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    raise RuntimeError("no VmRSS")


class Publish:
    """A pipeline in this process."""

    def __init__(self, line):
        self.pipeline = Gst.parse_launch(line)
        self.element = self.pipeline.get_by_name("p")
        self.warnings = []

    def play(self):
        start = time.monotonic()
        result = self.pipeline.set_state(Gst.State.PLAYING)
        assert time.monotonic() - start < 5.0, "the state change blocked"
        return result

    def wait(self, seconds=60):
        """Reads messages until EOS or an error; returns the error's text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.pipeline.bus.timed_pop(20 * Gst.MSECOND)
            if message is None:
                continue
            if message.type == Gst.MessageType.EOS:
                return None
            if message.type == Gst.MessageType.WARNING:
                self.warnings.append(message.parse_warning()[0].message)
            if message.type == Gst.MessageType.ERROR:
                return message.parse_error()[0].message
        raise AssertionError("no EOS")

    def end(self, frames):
        self.until(lambda: self.stat("frames") == frames)
        assert self.wait() is None
        self.stop()

    def flush(self):
        """Returns when the streaming thread is idle."""
        pad = self.element.get_static_pad("sink")
        pad.send_event(Gst.Event.new_flush_start())
        pad.send_event(Gst.Event.new_flush_stop(True))

    def stop(self):
        # stopping may post warnings before the bus is flushed
        self.pipeline.set_state(Gst.State.READY)
        while True:
            message = self.pipeline.bus.pop_filtered(Gst.MessageType.WARNING)
            if message is None:
                break
            self.warnings.append(message.parse_warning()[0].message)
        self.pipeline.set_state(Gst.State.NULL)

    def stat(self, field):
        return self.element.get_property("stats").get_value(field)

    def until(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "the condition never became true"
            time.sleep(0.01)


class Targets(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="publish-")
        self.path = os.path.join(self.dir, "records")
        self.children = []

    def tearDown(self):
        for child in self.children:
            child.kill()
            child.wait()
            if child.stdout:
                child.stdout.close()
        shutil.rmtree(self.dir)

    def cat(self, path, out):
        with open(out, "wb") as file:
            child = subprocess.Popen(["cat", path], stdout=file)
        self.children.append(child)
        return child

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def until_lines(self, n, seconds=30):
        """Waits until the file has more than n lines."""
        end = time.monotonic() + seconds
        while (not os.path.exists(self.path)
               or self.read(self.path).count(b"\n") <= n):
            self.assertLess(time.monotonic(), end, "there are too few lines")
            time.sleep(0.01)

    # ---- FIFOs ----

    def test_fifo_reader_comes_late(self):
        os.mkfifo(self.path)
        publish = Publish(LIVE % 400 + PUBLISH % ("file-path=" + self.path))
        publish.play()
        publish.until(lambda: publish.stat("frames") > 50)
        reader = self.cat(self.path, self.path + ".out")
        self.assertIsNone(publish.wait())
        publish.stop()
        reader.wait(10)
        text = self.read(self.path + ".out")
        self.assertEqual(jq_count(text), 400)
        numbers = [json.loads(line)["frame_num"] for line in text.splitlines()]
        self.assertEqual(numbers, list(range(400)))
        self.assertEqual(publish.element.get_property("dropped"), 0)

    def test_fifo_without_reader(self):
        os.mkfifo(self.path)
        publish = Publish(FAST % 3000 + PUBLISH % ("file-path=" + self.path))
        publish.play()
        publish.end(3000)
        self.assertEqual(publish.element.get_property("dropped"), 3000)
        self.assertEqual(len(publish.warnings), 1, publish.warnings)
        self.assertIn(self.path, publish.warnings[0])
        self.assertIn("start its reader", publish.warnings[0])

    def test_fifo_reader_is_killed(self):
        os.mkfifo(self.path)
        first, second = self.path + ".1", self.path + ".2"
        reader = self.cat(self.path, first)
        publish = Publish(
            LIVE % -1 + PUBLISH % ("file-path=" + self.path)
        )
        publish.play()
        publish.until(lambda: publish.stat("records") > 50)
        reader.send_signal(signal.SIGKILL)
        reader.wait()
        # more records than the queue holds: some are dropped
        publish.until(lambda: publish.stat("dropped") > 100)
        records = publish.stat("records")
        reader = self.cat(self.path, second)
        publish.until(lambda: publish.stat("records") > records)
        frames = publish.stat("frames")
        publish.until(lambda: publish.stat("frames") > frames + 300)
        publish.pipeline.send_event(Gst.Event.new_eos())
        self.assertIsNone(publish.wait())
        publish.stop()
        reader.wait(10)
        self.assertEqual(len(publish.warnings), 1, publish.warnings)
        self.assertIn("Broken pipe", publish.warnings[0])
        text = self.read(second)
        numbers = [json.loads(line)["frame_num"] for line in text.splitlines()]
        self.assertEqual(numbers[-1], publish.stat("frames") - 1)
        self.assertEqual(numbers, sorted(numbers))
        # the queued records and all later ones
        self.assertGreater(len(numbers), 1200)
        self.assertEqual(
            publish.stat("records") + publish.stat("dropped"),
            publish.stat("frames"),
        )

    def test_fifo_is_recreated(self):
        os.mkfifo(self.path)
        reader = self.cat(self.path, self.path + ".1")
        publish = Publish(
            LIVE % 600
            + PUBLISH % ("file-format=json file-path=" + self.path)
        )
        publish.play()
        publish.until(lambda: publish.stat("records") > 20)
        reader.kill()
        reader.wait()
        os.unlink(self.path)
        publish.until(lambda: publish.stat("frames") > 150)
        os.mkfifo(self.path)
        reader = self.cat(self.path, self.path + ".2")
        self.assertIsNone(publish.wait())
        publish.stop()
        reader.wait(10)
        # the new reader gets a separate array
        records = json.loads(self.read(self.path + ".2"))
        self.assertEqual(records[-1]["frame_num"], 599)

    def test_slow_reader(self):
        os.mkfifo(self.path)
        end = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.children.append(subprocess.Popen(["sleep", "100"], stdin=end))
        os.close(end)
        tags = "tags={\\\"x\\\":\\\"%s\\\"}" % ("y" * 1000)
        publish = Publish(
            FAST % 30000 + PUBLISH % ("%s file-path=%s" % (tags, self.path))
        )
        before = rss_kib()
        publish.play()
        self.assertIsNone(publish.wait())
        publish.stop()
        # 30000 records of 1.1 KiB are 33 MiB, 1024 records about 1 MiB
        self.assertLess(rss_kib() - before, 15 * 1024)
        self.assertGreater(publish.stat("dropped"), 28000)
        self.assertGreater(publish.stat("records"), 10)
        self.assertEqual(len(publish.warnings), 1, publish.warnings)
        self.assertIn("cannot keep up", publish.warnings[0])

    def test_wait_at_eos_is_interrupted(self):
        os.mkfifo(self.path)
        reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        for interrupt in (Publish.flush, Publish.stop):
            publish = Publish(FAST % 900 + PUBLISH % ("file-path=" + self.path))
            publish.element.set_property("tags", '{"x":"%s"}' % ("y" * 1000))
            publish.play()
            publish.until(lambda: publish.stat("frames") == 900)
            time.sleep(0.5)
            self.assertGreater(publish.stat("queue"), 100)
            start = time.monotonic()
            interrupt(publish)
            self.assertLess(time.monotonic() - start, 7)
            publish.stop()
        os.close(reader)

    # ---- files ----

    def test_full_disk(self):
        publish = Publish(FAST % 300 + PUBLISH % "file-path=/dev/full")
        publish.play()
        publish.end(300)
        self.assertEqual(publish.stat("frames"), 300)
        self.assertEqual(publish.element.get_property("dropped"), 300)
        self.assertEqual(len(publish.warnings), 1, publish.warnings)
        for part in ("/dev/full", "No space left on device", "free some space"):
            self.assertIn(part, publish.warnings[0])

    def test_file_size_limit(self):
        """SIGXFSZ does not end the program, and the file is a complete array."""
        publish = Publish(
            FAST % 900 + PUBLISH % ("file-format=json file-path=" + self.path)
        )
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 * 1024, hard))
        try:
            publish.play()
            self.assertIsNone(publish.wait())
            publish.stop()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        size = os.path.getsize(self.path)
        records = json.loads(self.read(self.path))
        self.assertLessEqual(size, 20 * 1024)
        self.assertGreater(len(records), 50)
        self.assertEqual(records[-1]["frame_num"], len(records) - 1)
        self.assertEqual(publish.stat("records"), len(records))
        self.assertEqual(publish.stat("dropped"), 900 - len(records))
        self.assertEqual(publish.stat("bytes"), size)
        self.assertIn("File too large", publish.warnings[0])

    def fail_to_start(self, path, *parts):
        publish = Publish(FAST % 3 + PUBLISH % "file-format=json")
        publish.element.set_property("file-path", path)
        self.assertEqual(publish.play(), Gst.StateChangeReturn.FAILURE)
        error = publish.wait()
        for part in (path,) + parts:
            self.assertIn(part, error)
        publish.stop()

    def test_cannot_open(self):
        self.fail_to_start(
            self.dir + "/none/x", "No such file", "create the folder"
        )
        self.fail_to_start(self.dir, "Is a directory", "use a file")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            self.fail_to_start(self.path, "No such device or address")

    def test_read_only_directory(self):
        os.chmod(self.dir, 0o555)
        publish = Publish(FAST % 3 + PUBLISH % ("file-path=" + self.path))
        if os.geteuid() == 0:
            os.seteuid(65534)
        try:
            self.assertEqual(publish.play(), Gst.StateChangeReturn.FAILURE)
        finally:
            os.seteuid(os.getuid())
            os.chmod(self.dir, 0o755)
        error = publish.wait()
        self.assertIn("Permission denied", error)
        self.assertIn("choose a writable path", error)
        publish.stop()

    def test_two_writers(self):
        """A second writer is rejected, in this process and from another."""
        for kind in ("json", "csv"):
            path = self.path + "." + kind
            settings = "file-format=%s file-path=%s" % (kind, path)
            first = Publish(LIVE % -1 + PUBLISH % settings)
            first.play()
            first.until(lambda: first.stat("records") > 20)
            second = Publish(FAST % 10 + PUBLISH % settings)
            self.assertEqual(second.play(), Gst.StateChangeReturn.FAILURE)
            error = second.wait()
            for part in (path, "another visionpublish", "json-lines"):
                self.assertIn(part, error)
            second.stop()
            for other in (kind, "json-lines"):
                line = FAST % 10 + PUBLISH % (
                    "file-format=%s file-path=%s" % (other, path))
                child = launch(line, stderr=subprocess.PIPE)
                self.assertIn(b"another visionpublish",
                              child.communicate(timeout=20)[1])
                self.assertNotEqual(child.returncode, 0)
            records = first.stat("records")
            first.pipeline.send_event(Gst.Event.new_eos())
            self.assertIsNone(first.wait())
            first.stop()
            self.assertGreaterEqual(first.stat("records"), records)
            with open(path, newline="", encoding="utf-8") as file:
                rows = json.load(file) if kind == "json" else list(
                    csv.DictReader(file))
            self.assertEqual([int(row["frame_num"]) for row in rows],
                             list(range(first.stat("records"))))
            # now the lock is free
            third = Publish(FAST % 10 + PUBLISH % settings)
            third.play()
            self.assertIsNone(third.wait())
            third.stop()
            self.assertEqual(third.stat("records"), 10)

    def test_lines_are_shared(self):
        settings = "tags={\"x\":\"%s\"} source=%%s file-path=%s" % (
            "y" * 10000, self.path)
        children = [launch(FAST % 1000 + PUBLISH % (settings % source))
                    for source in "ab"]
        for child in children:
            self.assertEqual(child.wait(60), 0)
        numbers = {"a": [], "b": []}
        for line in self.read(self.path).splitlines():
            record = json.loads(line)
            numbers[record["source"]].append(record["frame_num"])
        for source in "ab":
            self.assertEqual(numbers[source], list(range(1000)))

    def test_partial_line_of_an_active_writer(self):
        """A partial line is not terminated while its writer appends to it."""
        publish = Publish(LIVE % 10 + PUBLISH % ("file-path=" + self.path))
        opened = threading.Event()
        with open(self.path, "ab", buffering=0) as other:

            def write_slowly():
                while not opened.wait(0.002):
                    other.write(b" ")

            fcntl.flock(other, fcntl.LOCK_SH)
            other.write(b'{"half":')
            writer = threading.Thread(target=write_slowly)
            writer.start()
            publish.pipeline.set_state(Gst.State.PAUSED)
            opened.set()
            writer.join()
            other.write(b'1}\n')
        publish.play()
        self.assertIsNone(publish.wait())
        publish.stop()
        records = list(map(json.loads, self.read(self.path).splitlines()))
        self.assertEqual(records.pop(0), {"half": 1})
        self.assertEqual(len(records), 10)

    def test_partial_line_of_an_idle_writer(self):
        """A partial line is terminated if its writer is idle."""
        publish = Publish(FAST % 10 + PUBLISH % ("file-path=" + self.path))
        with open(self.path, "ab", buffering=0) as idle:
            fcntl.flock(idle, fcntl.LOCK_SH)
            idle.write(b'{"half":')
            publish.play()
            self.assertIsNone(publish.wait())
        publish.stop()
        lines = self.read(self.path).splitlines()
        self.assertEqual(lines.pop(0), b'{"half":')
        self.assertEqual(len(list(map(json.loads, lines))), 10)

    def test_exclusive_lock_of_another_start(self):
        """A start waits while another start holds the exclusive lock."""
        publish = Publish(FAST % 10 + PUBLISH % ("file-path=" + self.path))
        with open(self.path, "ab") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            timer = threading.Timer(
                0.2, fcntl.flock, (other, fcntl.LOCK_SH))
            timer.start()
            start = time.monotonic()
            publish.play()
            self.assertGreater(time.monotonic() - start, 0.15)
            self.assertIsNone(publish.wait())
            timer.join()
        publish.stop()
        self.assertEqual(jq_count(self.read(self.path)), 10)

    def test_lock_is_shared(self):
        """Once started, the element holds the shared lock."""
        publish = Publish(LIVE % 10 + PUBLISH % ("file-path=" + self.path))
        publish.pipeline.set_state(Gst.State.PAUSED)
        with open(self.path, "rb") as other:
            fcntl.flock(other, fcntl.LOCK_SH | fcntl.LOCK_NB)
            with self.assertRaises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        publish.stop()

    def test_restart(self):
        publish = Publish(FAST % 10 + PUBLISH % ("file-path=" + self.path))
        for n in range(1, 4):
            publish.play()
            self.assertIsNone(publish.wait())
            publish.stop()
            self.assertEqual(jq_count(self.read(self.path)), 10 * n)

    def test_killed(self):
        """After a kill, the records that were written are complete."""
        child = launch(LIVE % -1 + PUBLISH % ("file-path=" + self.path))
        self.children.append(child)
        self.until_lines(50)
        child.kill()
        child.wait()
        text = self.read(self.path)
        self.assertTrue(text.endswith(b"}\n"))
        self.assertGreater(jq_count(text), 50)

    def test_interrupted(self):
        line = LIVE % -1 + PUBLISH % ("file-format=json file-path=" + self.path)
        child = launch(line, stdout=subprocess.DEVNULL)
        self.children.append(child)
        self.until_lines(50)
        child.send_signal(signal.SIGINT)
        child.wait(10)
        self.assertGreater(len(json.loads(self.read(self.path))), 50)

    def test_csv(self):
        values = 'tags={"a":[1,"b"]} source=a,b"c file-format=csv file-path='
        child = launch(FAST % 100 + PUBLISH % (values + self.path))
        self.assertEqual(child.wait(20), 0)
        with open(self.path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 100)
        for n, row in enumerate(rows):
            self.assertEqual(row["kind"], "frame")
            self.assertEqual(int(row["frame_num"]), n)
            self.assertEqual(row["source"], 'a,b"c')
            self.assertEqual(row["width"], "32")
            self.assertEqual(
                json.loads(row["extra"]), {"tags": {"a": [1, "b"]}}
            )
            self.assertNotIn(None, row)

    # ---- standard output ----

    def test_stdout(self):
        child = launch(FAST % 900 + PUBLISH % "", stdout=subprocess.PIPE)
        text, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 0)
        self.assertEqual(jq_count(text), 900)

    def test_stdout_is_closed(self):
        """A closed stdout does not end gst-launch-1.0 by SIGPIPE (status -13)."""
        child = launch(FAST % 3000 + PUBLISH % "", stdout=subprocess.PIPE)
        child.stdout.readline()
        child.stdout.close()
        self.assertEqual(child.wait(20), 0)

    def test_stdout_is_never_read(self):
        child = launch(FAST % 3000 + PUBLISH % "", stdout=subprocess.PIPE)
        self.children.append(child)
        self.assertEqual(child.wait(60), 0)

    def test_stdout_reader_is_late(self):
        """EOS waits for the records that a pipe cannot hold."""
        tags = "tags={\"x\":\"%s\"}" % ("y" * 1000)
        child = launch(FAST % 900 + PUBLISH % tags, stdout=subprocess.PIPE)
        self.children.append(child)
        time.sleep(5)
        text, _ = child.communicate(timeout=30)
        self.assertEqual(child.returncode, 0)
        self.assertEqual(jq_count(text), 900)

    def test_stdout_is_closed_at_start(self):
        line = "gst-launch-1.0 -q %s >&-" % (FAST % 30 + PUBLISH % "")
        self.assertEqual(os.system(line), 0)

    def test_decimal_comma(self):
        env = dict(os.environ, LC_ALL="de_DE.UTF-8")
        comma = subprocess.run(
            ["/usr/bin/python3", "-c", "import locale as l;"
             "l.setlocale(l.LC_ALL, '');print(l.str(1.5))"],
            env=env, capture_output=True, check=True,
        )
        self.assertEqual(comma.stdout, b"1,5\n")
        child = launch(FAST % 1 + PUBLISH % "tags={\"a\":1.5}",
                       stdout=subprocess.PIPE, env=env)
        text, _ = child.communicate(timeout=30)
        self.assertEqual(json.loads(text)["tags"], {"a": 1.5})


if __name__ == "__main__":
    # Python ignores these signals, but other applications may not
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    Gst.init(None)
    if Gst.ElementFactory.find("visionpublish") is None:
        sys.exit("no element visionpublish in GST_PLUGIN_PATH_1_0")
    unittest.main(verbosity=2)
