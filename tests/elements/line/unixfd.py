#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that another process gets objects, tracks and tables through unixfdsink and unixfdsrc
(GStreamer 1.24), and what happens to one process when the other ends."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# a ball that circles around the middle of the frame in 200 frames
SENDER = ("videotestsrc is-live=true pattern=ball motion=sweep ! video/x-raw,format=I420,width=320,height=240"
          " ! rcdtrack skip-late=false object-initial-x=100 object-initial-y=1 object-initial-width=120"
          " object-initial-height=120 ! houghlines skip-late=false orientation-window=10"
          " ! visionzones zones-location=zones.json hysteresis=1 heat-cell=40 heat-interval=0"
          " ! visionpublish add-empty-results=true file-path=sent ! unixfdsink socket-path=s")
ZONES = {"zones": [
    {"name": "frame", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]], "anchor": "center"},
    {"name": "across", "line": [[0, 0.5], [1, 0.5]], "anchor": "center"},
    {"name": "down", "line": [[0.5, 0], [0.5, 1]], "anchor": "center"}]}
TABLES = ("lines", "zones", "zone_counts", "zone_objects", "zone_outlines", "zone_heat")
RECEIVER = ("unixfdsrc socket-path=s ! visionpublish add-empty-results=true file-path=%s"
            " ! fakesink sync=false")
PYTHON = """
import gstcuvision
for n, sample in enumerate(gstcuvision.samples("unixfdsrc socket-path=s num-buffers=3 ! appsink name=sink")):
    print(len(gstcuvision.objects(sample)), gstcuvision.table(sample, "lines").kind)
"""
LIMIT = 60  # seconds to wait for what takes a fraction of a second


def launch(line):
    return subprocess.Popen(["gst-launch-1.0", "-q"] + line.split(), stderr=subprocess.PIPE, text=True)


def results(path):
    """Returns the records without the fields that each process counts by itself."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        # the last record of a killed program may be incomplete
        records = [json.loads(text) for text in file if text.endswith("\n")]
    return [{key: value for key, value in record.items()
             if key not in ("frame_num", "timestamp", "wallclock")} for record in records]


class OtherProcess(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chdir(folder.name)
        self.addCleanup(os.chdir, "/")
        with open("zones.json", "w", encoding="utf-8") as file:
            json.dump(ZONES, file)
        self.sender = self.start(SENDER)
        self.wait_for(lambda: os.path.exists("s"))

    def start(self, line):
        process = launch(line)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, process=None):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertIsNone((process or self.sender).poll(), "it ended")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def receive(self, path, n):
        """Starts a receiver; returns it once it has written n records."""
        receiver = self.start(RECEIVER % path)
        self.wait_for(lambda: len(results(path)) >= n, receiver)
        return receiver

    def test_same_results(self):
        receiver = self.receive("received", 15)
        self.wait_for(lambda: any("zone_events" in record for record in results("received")[1:]), receiver)
        receiver.kill()
        received = results("received")

        def were_sent():
            sent, n = results("sent"), len(received)
            return any(sent[i : i + n] == received for i in range(len(sent)))

        self.wait_for(were_sent)
        for record in received:
            (found,) = record["objects"]
            self.assertEqual(found["id"], 1)
            self.assertIn("rcdtrack", found)
        for record in received[1:]:  # the heat map is empty in the first frame
            for table in TABLES:
                self.assertTrue(record.get(table), table)
        self.assertGreater(len({json.dumps(record) for record in received}), 5)  # the frames differ

    def test_receiver_is_killed(self):
        self.receive("first", 3).kill()
        n = len(results("sent"))
        self.wait_for(lambda: len(results("sent")) > n + 10)
        self.receive("second", 3)

    def test_sender_is_killed(self):
        receiver = self.receive("received", 3)
        self.sender.send_signal(signal.SIGKILL)
        self.assertIn(receiver.wait(LIMIT), (0, 1))  # neither hangs nor crashes

    def test_receiver_is_first(self):
        self.sender.kill()
        self.sender.wait()
        os.remove("s")
        receiver = self.start(RECEIVER % "received")
        self.assertIn(receiver.wait(LIMIT), (1, 255))  # gst-launch-1.0's errors
        self.assertIn("unixfdsrc", receiver.stderr.read())

    def test_first_frame(self):
        """A receiver that only reads objects gets even those of its first frame."""
        line = "unixfdsrc socket-path=s num-buffers=3 ! visioncrop ! multifilesink location=crop-%d"
        self.assertEqual(self.start(line).wait(LIMIT), 0)
        self.assertEqual(len([name for name in os.listdir(".") if name.startswith("crop-")]), 3)

    def test_python(self):
        """A program can receive results without any of our elements in its pipeline."""
        done = subprocess.run([sys.executable, "-c", PYTHON], capture_output=True, text=True, timeout=LIMIT,
                              check=False)
        self.assertEqual(done.stdout, 3 * "1 lines\n", done.stderr)


if __name__ == "__main__":
    if subprocess.run(["gst-inspect-1.0", "--exists", "unixfdsink"], check=False).returncode:
        print("skipped: this GStreamer has no unixfdsink, which came with 1.24")
        sys.exit(77)
    unittest.main()
