#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests settings-file of visionwebsink, the messages save and line, and the places of viewers who
may change controls."""

import json
import os
import shlex
import stat as modes
import tempfile
import unittest

from client import Gst, SILENT, Sink, WebSocket, run, wait_for, websocket_status
from controls import BALANCE, Remote, make_tokens

CONTROLS = "controls=balance.brightness,zones.zones,lines.nms,track.clear-target,late.hue"
SOURCE = BALANCE + " ! houghlines name=lines ! rcdtrack name=track ! visionzones name=zones"
ZONES = '{"zones": [{"name": "Dad\'s door", "polygon": [[0, 0], [1, 0], [1, 1]]}]}'


def ask(remote, kind, **fields):
    """Returns the answer of a request without a control."""
    remote.id += 1
    remote.send(json.dumps({"type": kind, "id": remote.id, **fields}).encode())
    while (text := remote.text())["type"] not in ("done", "refused") \
            or text.get("id") != remote.id:
        pass
    return text


class Settings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "settings.json")

    def start(self, more="", source=SOURCE, **kwargs):
        server = Sink(f"{CONTROLS} settings-file={self.path} {more}", source, **kwargs)
        self.addCleanup(server.stop)
        return server

    def connect(self, server):
        remote = Remote(server.port)
        self.addCleanup(remote.close)
        remote.expect("controls")
        return remote

    def write(self, values):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"visionwebsink": 1, "values": values}, file)

    def value(self, server, element, name):
        return server.pipeline.get_by_name(element).get_property(name)

    def test_saves_and_starts(self):
        server = self.start()
        remote = Remote(server.port)
        self.assertTrue(remote.expect("controls")["can_save"])
        remote.set(0.25)
        remote.set("square", "lines.nms")
        remote.set(ZONES, "zones.zones")
        answer = ask(remote, "save")
        self.assertEqual((answer["type"], "value" in answer), ("done", False))
        remote.close()
        server.stop()
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(json.load(file), {"visionwebsink": 1, "values": {
                "balance.brightness": 0.25, "lines.nms": "square", "zones.zones": ZONES}})
        again = self.start(state=Gst.State.READY)
        self.assertEqual(self.value(again, "balance", "brightness"), 0.25)
        self.assertEqual(self.value(again, "zones", "zones"), ZONES)
        self.assertEqual(self.value(again, "lines", "nms").value_nick, "square")
        self.assertIsNone(again.problem())

    def test_elements_that_come_later(self):
        self.write({"late.hue": 0.5})
        server = self.start()
        for value in 0.5, 3:  # the second is refused, by the file of the second start
            late = Gst.ElementFactory.make("videobalance", "late")
            server.pipeline.add(late)
            if value == 0.5:
                wait_for(lambda: late.get_property("hue") == value, "the value of the file")
            else:
                server.problem(Gst.MessageType.WARNING)  # late is missing at the start
                self.assertIn("late.hue: expected a number from -1 to 1",
                              server.problem(Gst.MessageType.WARNING))
            late.set_state(Gst.State.NULL)
            server.stop()
            self.write({"late.hue": 3})
            server = self.start()

    def test_saving_keeps_values_of_elements_that_are_missing(self):
        self.write({"late.hue": 0.5})
        server = self.start()
        remote = Remote(server.port)
        remote.expect("controls")
        self.assertEqual(ask(remote, "save")["type"], "done")
        remote.close()
        server.stop()
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["values"]["late.hue"], 0.5)

    def test_bad_files(self):
        def text(values, version=1, **more):
            return json.dumps({"visionwebsink": version, "values": values, **more})

        cases = (
            ("", "not a JSON object"), ("[]", "not a JSON object"), ("{}", '"visionwebsink": 1'),
            (text({}, 2), '"visionwebsink": 1'), (text({}, "1"), '"visionwebsink": 1'),
            (text([]), '"values", an object'), ('{"visionwebsink": 1}', '"values", an object'),
            (text({}, x=1), "visionwebsink and values only"),
            (text({"balance.brightness": None}), "balance.brightness must be a number"),
            (text({"balance.brightness": {}}), "balance.brightness must be a number"),
            (text({"balance.brightness": 2}), "balance.brightness: expected a number from -1 to 1"),
            (text({"balance.brightness": "x"}), "balance.brightness: expected a number"),
            (text({"lines.nms": "x"}), "lines.nms: expected one of"),
            (text({"track.clear-target": []}), "track.clear-target: it is a signal"),
            (text({"balance.hue": 0}), "balance.hue is not in the property controls"),
            (text({"late.hue": "a"})[:-1], "not"), (text({})[:-1] + "//", "comments"),
            (text({}) + "\0", "zero byte"), (" " * (1 << 20) + text({}), "more than 1048576 bytes"),
            ("[" * 100000, "nested"), (text({"lines.nms": [0] * 9000}), "more than 8192 values"),
        )
        for content, part in cases:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(content)
            server = Sink(f"{CONTROLS} settings-file={self.path}", SOURCE)
            problem = server.problem() or ""
            server.stop()
            self.assertIn(part, problem, content[:80])
            self.assertIn("settings-file", problem)

    def test_bad_paths(self):
        for path, part in (self.folder, "a folder"), ("/dev/null", "not a regular file"):
            server = Sink(f"{CONTROLS} settings-file={path}", SOURCE)
            self.assertIn(part, server.problem() or "")
            server.stop()
        server = Sink(f"settings-file={self.path}", SOURCE)
        self.assertIn("set controls, too", server.problem() or "")
        server.stop()

    def test_values_that_an_element_refuses(self):
        """The element has not started, and fails with its own error."""
        self.write({"zones.zones": "{}"})
        server = self.start()
        warnings = [server.problem(Gst.MessageType.WARNING) for _ in range(2)]
        self.assertIn(f"zones.zones is from settings-file '{self.path}'", warnings[1])
        self.assertIn("zones '{}' is invalid", server.problem())

    def test_only_while_stopped(self):
        server = self.start()
        server.sink.set_property("settings-file", "other")
        self.assertEqual(server.sink.get_property("settings-file"), self.path)

    def test_who_may_save(self):
        server = self.start(make_tokens(self.folder))
        remote = Remote(server.port, "/controls?token=read-token")
        for kind in "save", "line":
            self.assertIn("looking only", ask(remote, kind)["reason"])
        remote.close()
        self.assertFalse(os.path.exists(self.path))

    def test_save_without_a_file(self):
        with Sink("controls=balance.brightness", SOURCE) as server:
            remote = Remote(server.port)
            self.assertFalse(remote.expect("controls")["can_save"])
            self.assertIn("no settings-file", ask(remote, "save")["reason"])
            remote.close()

    def test_attacks(self):
        server = self.start()
        remote = self.connect(server)
        for fields in ({"value": "/etc/passwd"}, {"control": "balance.brightness"},
                       {"control": None}, {"arguments": []}, {"path": "x"}):
            for kind in "save", "line":
                self.assertIn("type, id only", ask(remote, kind, **fields)["reason"])
        self.assertIn("type must be", ask(remote, "Save")["reason"])
        self.assertFalse(os.path.exists(self.path))
        for _ in range(500):  # more than are done at a time: each gets an answer
            remote.id += 1
            remote.send(b'{"type":"save","id":%d}' % remote.id)
        answers = [remote.text() for _ in range(500)]
        self.assertEqual({answer["id"] for answer in answers},
                         set(range(remote.id - 499, remote.id + 1)))
        self.assertIn("done", {answer["type"] for answer in answers})
        self.assertEqual(ask(remote, "save")["type"], "done")
        self.assertEqual(os.listdir(self.folder), ["settings.json"])

    def test_places_that_cannot_be_written(self):
        self.path = os.path.join(self.folder, "none", "settings.json")
        remote = self.connect(self.start())
        self.assertIn("cannot be written", ask(remote, "save")["reason"])
        os.mkdir(os.path.dirname(self.path))
        self.assertEqual(ask(remote, "save")["type"], "done")
        os.remove(self.path)
        os.mkdir(self.path)
        self.assertIn("cannot be written", ask(remote, "save")["reason"])
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["settings.json"])

    def test_folder_without_permission(self):
        remote = self.connect(self.start())
        os.chmod(self.folder, 0o500)
        self.addCleanup(os.chmod, self.folder, 0o700)
        if os.access(self.folder, os.W_OK):
            self.skipTest("root may write everywhere")
        self.assertIn("Permission denied", ask(remote, "save")["reason"])

    def test_symbolic_link(self):
        """The link is replaced, not the file that it names."""
        other = os.path.join(self.folder, "other")
        remote = self.connect(self.start())
        with open(other, "w", encoding="ascii") as file:
            file.write("kept")
        os.symlink(other, self.path)
        self.assertEqual(ask(remote, "save")["type"], "done")
        with open(other, encoding="ascii") as file:
            self.assertEqual(file.read(), "kept")
        self.assertTrue(modes.S_ISREG(os.lstat(self.path).st_mode))

    def test_line(self):
        server = self.start(make_tokens(self.folder))
        remote = Remote(server.port, "/controls?token=change-token")
        remote.expect("controls")
        remote.set(ZONES, "zones.zones")
        line = ask(remote, "line")["value"]
        self.assertNotIn("change-token", line)
        copy = Gst.parse_launchv(shlex.split(line, comments=True))
        self.assertEqual(copy.get_by_name("zones").get_property("zones"), ZONES)
        self.assertEqual(copy.get_by_name("sink").get_property("controls"),
                         CONTROLS.split("=")[1])
        remote.close()


class Places(unittest.TestCase):
    def test_viewers_who_only_look(self):
        """They cannot keep out those who may change controls."""
        with tempfile.TemporaryDirectory() as folder, \
                Sink(f"controls=sink.jpeg-quality max-viewers=2 {make_tokens(folder)}",
                     SILENT) as server:
            for path in "/ws", "/controls":
                lookers = [WebSocket(server.port, path + "?token=read-token") for _ in range(3)]
                self.assertEqual([looker.status for looker in lookers], [101, 101, 503])
                changers = [WebSocket(server.port, path + "?token=change-token")
                            for _ in range(5)]
                self.assertEqual([changer.status for changer in changers], [101] * 4 + [503])
                for client in lookers + changers:
                    client.close()

    def test_without_such_a_token(self):
        with Sink("max-viewers=2", SILENT) as server:
            viewers = [WebSocket(server.port) for _ in range(2)]
            self.assertEqual(websocket_status(server.port), 503)
            for viewer in viewers:
                viewer.close()

    def test_connections_of_the_port(self):
        with tempfile.TemporaryDirectory() as folder, \
                Sink(f"controls=sink.jpeg-quality max-viewers=200 {make_tokens(folder)}",
                     SILENT) as server:
            lookers = []
            for path in "/ws", "/controls":
                lookers += [WebSocket(server.port, path + "?token=read-token")
                            for _ in range(130)]
            self.assertEqual([looker.status for looker in lookers].count(101), 240)
            self.assertEqual(lookers[-1].status, 503)
            changer = WebSocket(server.port, "/controls?token=change-token")
            self.assertEqual(changer.status, 101)
            for client in lookers + [changer]:
                client.close()


if __name__ == "__main__":
    run()
