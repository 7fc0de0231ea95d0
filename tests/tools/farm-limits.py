#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests workers without file descriptors, and hostile clients of their metrics.

usage: farm-limits.py FARM [TEST...]
"""

import os
import pathlib
import re
import resource
import socket
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "elements" / "web"))
import bombs
import farm
import farmhand
from mosquitto import LONG, wait_until


class Limits(farm.Case):
    def files(self, name):
        return len(os.listdir(f"/proc/{self.farm.workers[name].pid}/fd"))

    def test_unable(self):
        """A worker without file descriptors for another pipeline leaves cameras to a worker
        that has some, and takes its share when it has file descriptors again."""
        self.make()
        self.farm.put("first")
        self.farm.start("a")
        self.wait_for_share(1)
        pid = self.farm.workers["a"].pid
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(
            pid, resource.RLIMIT_NOFILE, (self.files("a"), limits[1])
        )
        for i in range(3):
            self.farm.put(f"camera-{i}")
        wait_until(lambda: "released" in self.farm.log("a"), "a released lease")
        self.assertIn("Too many open files", self.farm.log("a"))
        self.farm.start("b")
        wait_until(
            lambda: self.farm.playing() == {"a": 1, "b": 3}, "b to have the cameras that a left"
        )
        self.assertNotIn("handed over", self.farm.log("b"))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        self.farm.put("another")
        self.farm.put("last")
        self.wait_for_share(3, 3)

    def test_listener(self):
        """Idle connections take few files and lock nobody out; no request takes
        much memory."""
        self.make()
        self.farm.start("a")
        self.farm.fetch("a")
        before = self.files("a")
        address = re.search(r"metrics: http://([\d.]+):(\d+)/", self.farm.log("a"))
        address = address[1], int(address[2])
        idle = [socket.create_connection(address, LONG) for _ in range(200)]
        self.assertEqual(self.farm.fetch("a", "healthz"), "ok\n")
        self.assertLess(self.files("a"), before + 90)
        for sock in idle:
            sock.close()
        bombs.check(self, self.farm.workers["a"].pid, address[1], "/metrics")
        for method, status in (b"POST", b"405"), (b"GET", b"413"):
            with socket.create_connection(address, LONG) as sock:
                sock.sendall(method + b" /healthz HTTP/1.1\r\nHost: a\r\n")
                sock.sendall(b"Content-Length: 3\r\n\r\nabc")
                self.assertEqual(sock.recv(12)[9:], status)


if __name__ == "__main__":
    farm.PROGRAM = farmhand.take_program()
    unittest.main(verbosity=2)
