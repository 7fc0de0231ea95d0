#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables in another process, by unixfdsink and unixfdsrc (GStreamer 1.24)."""

import json
import os
import subprocess
import sys
import tempfile
import time

FRAMES = 5
LIVE = ("videotestsrc is-live=true pattern=checkers-8 ! houghlines"
        " ! visionpublish file-path=%s ! unixfdsink socket-path=%s")
READER = ("unixfdsrc num-buffers=%d socket-path=%s"
          " ! visionpublish file-path=%s ! fakesink sync=false")


def launch(line):
    return subprocess.Popen(["gst-launch-1.0", "-q"] + line.split())


def read_lines(path):
    """The lines of each frame."""
    with open(path, encoding="utf-8") as file:
        # the sender's last record may not be whole
        records = [text for text in file if text.endswith("\n")]
    return [json.loads(text)["lines"] for text in records]


def main():
    with tempfile.TemporaryDirectory() as folder:
        socket, sent, received = (
            os.path.join(folder, name) for name in ("s", "sent", "received")
        )
        sender = launch(LIVE % (sent, socket))
        try:
            while not os.path.exists(socket):
                assert sender.poll() is None, "the sender ended"
                time.sleep(0.01)
            reader = launch(READER % (FRAMES, socket, received))
            assert reader.wait() == 0, "the reader failed"
        finally:
            sender.kill()
            sender.wait()
        expected, lines = read_lines(sent)[0], read_lines(received)
    assert len(expected) > 10, expected
    assert lines == [expected] * FRAMES, lines


if __name__ == "__main__":
    sys.exit(main())
