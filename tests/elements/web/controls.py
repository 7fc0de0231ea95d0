#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the controls of visionwebsink from the clients' side: who may change what, attacks, and
what changes cost others. control-values.c and control-requests.c test what needs no server."""

import json
import os
import random
import tempfile
import threading
import time
import unittest

from client import (Gst, SILENT, Sink, WebSocket, check_growth, decode, get, rss_kib, run, stat,
                    websocket_status)

BALANCE = "videotestsrc pattern=solid-color foreground-color=0xff808080 is-live=true " \
    "! video/x-raw,format=I420,width=64," \
    "height=48,framerate=30/1 ! videobalance name=balance"
CONTROLS = "controls=balance.brightness"


class Remote(WebSocket):
    """A client of the controls."""

    def __init__(self, port, path="/controls", **headers):
        super().__init__(port, path, **headers)
        self.id = 0

    def text(self):
        """Returns the next text, or None at the end."""
        while (found := self.frame()) is not None and found[0] != 8:
            if found[0] == 1:
                return json.loads(found[1])
        return None

    def expect(self, kind):
        """Returns the next text of this type."""
        while (text := self.text()) is not None and text["type"] != kind:
            pass
        if text is None:
            raise AssertionError(f"no text of type {kind}")
        return text

    def request(self, value, control="balance.brightness"):
        self.id += 1
        self.send(json.dumps({"type": "set", "id": self.id, "control": control,
                              "value": value}).encode())

    def set(self, value, control="balance.brightness"):
        """Returns the answer of a request."""
        self.request(value, control)
        while (text := self.text())["type"] not in ("done", "refused") or text["id"] != self.id:
            pass
        return text


def brightness(jpeg):
    return int(decode(jpeg)[24, 32, 0])


def make_tokens(folder):
    paths = []
    for name in "change", "read":
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w", encoding="ascii") as file:
            file.write(f"{name}-token\n")
    return f"token-file={paths[0]} read-token-file={paths[1]}"


class Changes(unittest.TestCase):
    def test_reaches_the_picture(self):
        """A change is in a picture that a viewer gets soon after."""
        with Sink(CONTROLS, BALANCE) as server:
            viewer, remote = WebSocket(server.port), Remote(server.port)
            remote.expect("controls")
            brightness(viewer.next()[1])  # imports OpenCV
            times, frames = [], []
            for value in (0.4, -0.4) * 5:
                start, frames = time.monotonic(), frames + [0]
                remote.request(value)
                while abs(brightness(viewer.next()[1]) - 127 - 255 * value) > 25:
                    frames[-1] += 1
                    self.assertLess(frames[-1], 100)
                times.append(1000 * (time.monotonic() - start))
            print(f"frames before a change is seen: {sorted(frames)}, milliseconds:",
                  " ".join(f"{t:.0f}" for t in sorted(times)))
            viewer.close()
            remote.close()

    def test_all_see_a_change(self):
        with Sink(CONTROLS, BALANCE) as server:
            remotes = [Remote(server.port) for _ in range(3)]
            for remote in remotes:
                self.assertEqual(remote.expect("controls")["controls"][0]["value"], 0)
            self.assertEqual(remotes[0].set(0.25)["value"], 0.25)
            for remote in remotes[1:]:
                self.assertEqual(remote.expect("values")["values"],
                                 {"balance.brightness": 0.25})
            server.pipeline.get_by_name("balance").set_property("brightness", -0.5)
            for remote in remotes:
                self.assertEqual(remote.expect("values")["values"],
                                 {"balance.brightness": -0.5})
                remote.close()

    def test_flood_slows_nobody(self):
        """1000 changes per second leave the frame rate of others, and the last one wins."""
        with Sink(CONTROLS, BALANCE.replace("30/1", "100/1")) as server:
            viewer, remote = WebSocket(server.port), Remote(server.port)
            remote.expect("controls")
            rates = []
            for flood in False, True:
                done = threading.Event()
                thread = threading.Thread(target=self.flood, args=(remote, done))
                if flood:
                    thread.start()
                before, numbers = stat(server.sink, "render-microseconds"), []
                while len(numbers) < 60:
                    numbers.append(viewer.next()[0]["frame_num"])
                done.set()
                rates.append(100 * len(numbers) / (numbers[-1] - numbers[0] + 1))
                us = (stat(server.sink, "render-microseconds") - before) / len(numbers)
                print(f"{rates[-1]:.0f} frames of 100 shown, {us:.0f} us in render()")
                if flood:
                    thread.join()
            self.assertGreater(5 * rates[1], rates[0])
            self.assertEqual(remote.set(0.125)["value"], 0.125)
            self.assertEqual(
                server.pipeline.get_by_name("balance").get_property("brightness"), 0.125)
            viewer.close()
            remote.close()

    @staticmethod
    def flood(remote, done):
        n = 0
        while not done.wait(0.02):
            for _ in range(20):
                n += 1
                remote.request(n % 100 / 100)

    def test_stops_and_starts(self):
        with Sink(CONTROLS, BALANCE) as server:
            for state in Gst.State.NULL, Gst.State.READY, Gst.State.NULL:
                remote = Remote(server.port)
                remote.expect("controls")
                for _ in range(20):
                    remote.request(0.5)
                server.pipeline.set_state(state)
                if state == Gst.State.READY:
                    self.assertEqual(remote.set(0.5)["type"], "done")
                server.pipeline.set_state(Gst.State.PLAYING)
                server.open()
                remote.close()

    def test_viewers_without_controls(self):
        with Sink(source=SILENT) as server:
            self.assertEqual(json.loads(get(server.port, "/controls.json").body),
                             {"controls": False})
            self.assertEqual(websocket_status(server.port, "/controls"), 404)


class Access(unittest.TestCase):
    def test_tokens(self):
        with tempfile.TemporaryDirectory() as folder, \
                Sink(f"{CONTROLS} {make_tokens(folder)}", BALANCE) as server:
            for token, status in ("", 401), ("x", 401), ("read-token", 101), ("change-token", 101):
                for path in "/controls", "/ws":
                    self.assertEqual(
                        websocket_status(server.port, f"{path}?token={token}"), status)
            remote = Remote(server.port, "/controls?token=read-token")
            self.assertFalse(remote.expect("access")["may_change"])
            self.assertIn("looking only", remote.set(0.5)["reason"])
            remote.close()
            remote = Remote(server.port, Authorization="Bearer change-token")
            self.assertTrue(remote.expect("access")["may_change"])
            self.assertEqual(remote.set(0.5)["type"], "done")
            remote.close()

    def test_bad_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens = make_tokens(folder)
            same = tokens.replace("read\n", "").split()[0]
            cases = (
                (f"{CONTROLS} address=0.0.0.0", "set token-file"),
                (f"{CONTROLS} address=::", "set token-file"),
                (tokens.split()[1], "set token-file or token-env, too"),
                (same + " read-" + same, "write another one into that file"),
                ("read-token-file=/nonexistent", "read-token-file '/nonexistent'"),
                ("controls=brightness", "expected names such as"),
                ("controls=balance.", "expected names such as"),
                ("controls=,", "expected names such as"),
                (CONTROLS + ",balance.brightness", "named twice"),
                ("controls=balance.none", "no such property or signal"),
                ("controls=balance.name", "remove it from controls"),
                ("controls=sink.port", "can change while playing"),
                ("controls=sink.controls", "can change while playing"),
            )
            for properties, part in cases:
                server = Sink(properties, BALANCE)
                self.assertIn(part, server.problem() or "", properties)
                server.stop()

    def test_an_address_of_the_network_with_a_token(self):
        with tempfile.TemporaryDirectory() as folder:
            server = Sink.__new__(Sink)
            server.pipeline = Gst.parse_launch(
                f"{BALANCE} ! visionwebsink name=sink port=0 address=0.0.0.0 {CONTROLS} "
                + make_tokens(folder))
            server.pipeline.set_state(Gst.State.PLAYING)
            self.assertIsNone(server.problem())
            server.stop()

    def test_missing_elements(self):
        with Sink("controls=late.brightness", BALANCE) as server:
            self.assertIn("late.brightness", server.problem(Gst.MessageType.WARNING))
            remote = Remote(server.port)
            self.assertEqual(remote.expect("controls")["controls"][0]["type"], "missing")
            self.assertIn("no element 'late'", remote.set(0, "late.brightness")["reason"])
            late = Gst.ElementFactory.make("videobalance", "late")
            server.pipeline.add(late)
            self.assertEqual(remote.expect("controls")["controls"][0]["value"], 0)
            self.assertEqual(remote.set(0.5, "late.brightness")["type"], "done")
            self.assertEqual(late.get_property("brightness"), 0.5)
            late.set_state(Gst.State.NULL)
            server.pipeline.remove(late)
            self.assertEqual(remote.expect("controls")["controls"][0]["type"], "missing")
            remote.close()

    def test_sharing_a_port(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens = make_tokens(folder)
            with Sink(tokens, SILENT) as first:
                second = Sink(f"path=/b {tokens.split()[0]}", SILENT, port=first.port)
                self.assertIn("read-token-file", second.problem())
                second.stop()

    def test_sinks_of_a_port(self):
        """A page controls the elements of its own sink, also if another pipeline has elements of
        the same names."""
        with Sink(CONTROLS, BALANCE) as first, \
                Sink(f"path=/yard {CONTROLS},balance.hue", BALANCE, port=first.port) as second:
            remotes = [Remote(first.port, path) for path in ("/controls", "/yard/controls")]
            self.assertEqual([len(remote.expect("controls")["controls"]) for remote in remotes],
                             [1, 2])
            for remote, value in zip(remotes, (0.25, -0.5)):
                self.assertEqual(remote.set(value)["value"], value)
            for server, value in (first, 0.25), (second, -0.5):
                self.assertEqual(
                    server.pipeline.get_by_name("balance").get_property("brightness"), value)
            self.assertIn("not in the property controls",
                          remotes[0].set(0.5, "balance.hue")["reason"])
            for remote in remotes:
                remote.close()


class Attacks(unittest.TestCase):
    def setUp(self):
        self.server = Sink(CONTROLS, BALANCE)
        self.addCleanup(self.server.stop)
        self.port = self.server.port

    def tearDown(self):
        """Whatever a client sends, nothing changes and others are served."""
        balance = self.server.pipeline.get_by_name("balance")
        self.assertEqual(balance.get_property("brightness"), 0)
        self.assertEqual(balance.get_property("contrast"), 1)
        self.assertIsNone(self.server.problem())
        remote = Remote(self.port)
        remote.expect("controls")
        remote.close()

    def test_other_origins(self):
        own = f"127.0.0.1:{self.port}"
        for headers, status in (({"Origin": f"http://{own}"}, 101),
                                ({"Origin": "http://evil.example"}, 403),
                                ({"Origin": "null"}, 403),
                                ({"Origin": "http://localhost:1"}, 403),
                                ({"Sec_Fetch_Site": "cross-site"}, 403),
                                ({"Host": "evil.example"}, 421)):
            self.assertEqual(websocket_status(self.port, "/controls", **headers), status)
        self.assertEqual(get(self.port, "/controls.json", Origin="http://evil").status, 403)

    def test_messages(self):
        def message(**fields):
            return json.dumps({"type": "set", "id": 1, "control": "balance.brightness",
                               "value": 0.5, **fields}).encode()

        remote = Remote(self.port)
        remote.expect("controls")
        for n, bad in enumerate((
                b"", b"x", b"{}", b"[]", b"null", b"{" * 30000, b"[" * 30000,
                b'{"a":' * 10000, b'{"a": [' + b"0," * 30000 + b"0]}",
                message(value=float("nan")), message(value=float("inf")), message(value=1e300),
                message(value=-1.01), message(value="0.5"), message(value=[0.5]),
                message(value={}), message(value=None), message(value=True),
                message(control="balance.contrast"), message(control="none.brightness"),
                message(control="sink.port"), message(control=""), message(control=5),
                message(control="balance.brightness\0"), message(control="a" * 60000),
                message(type="call"), message(type="call", arguments=[]), message(type="get"),
                message(id=0), message(id=-1), message(id="1"), message(id=1e30),
                message(id=1, extra=1), message().replace(b"0.5", b"1e999"),
                message().replace(b"0.5", b"0.5//"), message()[:-1], message() + b"x")):
            remote.send(bad)
            text = remote.text()
            self.assertEqual(text["type"], "refused", (n, bad[:100], text))
            self.assertGreater(len(text["reason"]), 5)
        remote.close()

    def test_replayed_message(self):
        """A message with the same id, or a lower one, is not carried out again."""
        remote = Remote(self.port)
        remote.expect("controls")
        remote.id = 6
        self.assertEqual(remote.set(0)["type"], "done")
        for n in 7, 1:
            remote.id = n - 1
            self.assertIn("ids must increase", remote.set(0.5)["reason"])
        remote.close()

    def expect_end(self, *frames):
        """Frames end the connection."""
        remote = Remote(self.port)
        remote.expect("controls")
        for data, opcode in frames:
            try:
                remote.send(data, opcode)
            except OSError:
                break  # it has ended
        try:
            while remote.frame() not in (None, b""):
                pass
        except OSError:
            pass
        remote.close()

    def test_frames_that_end_the_connection(self):
        request = b'{"type":"set","id":1,"control":"balance.brightness","value":0.5}'
        self.expect_end((request, 2))  # binary
        self.expect_end((b"\xff\xfe", 1))  # not UTF-8
        self.expect_end((b" " * (64 << 10) + request, 1))  # too large
        self.expect_end(*[(request[:-1], 1)] * 5000)  # too many

    def test_a_client_that_does_not_read(self):
        """Nothing is kept for a client that sends, and does not read the answers."""
        remote = Remote(self.port, buffer=4096)
        memory = rss_kib()
        with self.assertRaises(OSError):
            for _ in range(1000):
                for _ in range(100):
                    remote.send(b"x")
                time.sleep(0.05)
        check_growth(self, memory)
        remote.close()

    def test_rubbish(self):
        """Mutated messages are refused, each with an answer."""
        seed = int(os.environ.get("CUV_TEST_SEED", random.randrange(1 << 32)))
        print(f"CUV_TEST_SEED={seed}")
        rng = random.Random(seed)
        remote = Remote(self.port)
        remote.expect("controls")
        for _ in range(2000):
            remote.id += 1
            text = bytearray(b'{"type":"set","id":%d,"control":"balance.brightness",'
                             b'"value":77777}' % remote.id)
            for _ in range(rng.randrange(1, 5)):
                text[rng.randrange(len(text))] = rng.choice(b'{}[]",:123456789\\eux \x01')
            remote.send(bytes(text))
            self.assertEqual(remote.text()["type"], "refused", text)
        remote.close()


if __name__ == "__main__":
    run()
