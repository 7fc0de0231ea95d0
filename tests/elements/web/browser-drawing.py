#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws regions, zones and targets on the picture of visionwebsink's page, with a mouse and a
finger. What is drawn is compared with the elements' properties, in pixels of the frame."""

import json
import os
import shutil
import sys
import tempfile

import gi

gi.require_version("GstVideo", "1.0")
from gi.repository import GstVideo

from client import Gst, run, wait_for
from controls import make_tokens
from user import UserTest

WIDTH, HEIGHT = 640, 480
CAPS = f"caps=video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate=30/1"
SOURCE = f"appsrc name=source format=time is-live=true {CAPS}" \
    " ! rcdtrack name=track object-class=nobody" \
    " ! visionzones name=zones hysteresis=1 anchor=center ! houghlines name=lines"
CONTROLS = "controls=lines.roi,track.set-target,zones.zones,lines.canny-low"
MOUSE = {"width": 1200, "height": 800, "max_width": 0, "touch": False}
FINGER = {"width": 360, "height": 740, "max_width": 160, "touch": True}
WAYS = (MOUSE, FINGER)
ZONES = {"units": "pixels", "zones": [
    {"name": "queue", "polygon": [[100.5, 100], [300, 100], [300, 300], [100, 300]],
     "dwell": 60, "labels": ["person"], "anchor": "center"},
    {"name": "gate", "line": [[400, 400], [560, 400]], "crowd": 0}]}
SMALL, LARGE = (200, 160, 40, 40), (100, 80, 300, 300)  # the one is inside the other
UNDO = ("z", 90, "", 2)
REDO = ("Z", 90, "", 10)
ESCAPE, ENTER, SPACE = ("Escape", 27), ("Enter", 13, "\r"), (" ", 32, " ")
DELETE, DOWN, RIGHT, TAB = ("Delete", 46), ("ArrowDown", 40), ("ArrowRight", 39), ("Tab", 9)
LARGE_STEP = 8  # the modifier Shift


def button(text):
    return "[...document.querySelectorAll('button')].find((one) => one.textContent === " \
        f"'{text}' || one.ariaLabel === '{text}')"


class Drawing(UserTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kept = None  # a sink and its page: opening them costs more than what is tested

    def open(self, way=MOUSE):
        """Shows a frame in a page without zones, targets, and drawn regions."""
        if self.kept is None:
            type(self).kept = self.connect(CONTROLS, keep=True)
        self.server, self.page = self.kept
        self.touch = way["touch"]
        self.page.call("Emulation.setDeviceMetricsOverride", width=way["width"],
                       height=way["height"], deviceScaleFactor=1, mobile=False)
        self.page.call("Emulation.setTouchEmulationEnabled", enabled=self.touch)
        self.keys(ESCAPE, ESCAPE)
        self.server.pipeline.get_by_name("track").emit("clear-target")
        self.server.pipeline.get_by_name("zones").set_property("zones-location", None)
        for zones, roi in (('{"zones": [ ]}', "1,2,3,4"), ("", "0,0,16,16")):
            self.set("lines.roi", roi)  # others' values end the history
            self.set("zones.zones", zones)
        self.server.sink.set_property("max-width", way["max_width"])
        self.record()
        self.assertEqual(self.page.run("canvas.width"), way["max_width"] or WIDTH)

    def connect(self, controls, query="", **kwargs):
        server, page = self.serve(controls, SOURCE, query, **kwargs)
        server.n = 0
        page.wait("document.getElementById('status').textContent.startsWith('Connected')")
        self.push(server)
        page.wait("document.getElementById('status').textContent === 'Live'")
        return server, page

    def set(self, name, value):
        """Sets a property as the program does, and waits until the page shows it."""
        element, member = name.split(".")
        self.server.pipeline.get_by_name(element).set_property(member, value)
        self.page.wait(f"document.getElementById('control {name}').value === {json.dumps(value)}")

    def push(self, server, *boxes, track=None):
        buffer = Gst.Buffer.new_wrapped(bytes(WIDTH * HEIGHT))
        buffer.pts = server.n * Gst.SECOND // 30
        server.n += 1
        for box in boxes:
            region = GstVideo.buffer_add_video_region_of_interest_meta(buffer, "person", *box)
            if track is not None:
                region.add_param(Gst.Structure.new_from_string(f"object_id, id={track}"))
        server.pipeline.get_by_name("source").emit("push-buffer", buffer)

    def record(self, *boxes):
        """Pushes a frame, and returns its record when the page shows it."""
        self.page.run("""window.last = {};
            window.listens ??= document.addEventListener('frame-shown',
              ({ detail }) => { window.last = detail; }) ?? true""")
        self.push(self.server, *boxes)
        self.page.wait(f"last.frame_num === {self.server.n - 1}")
        return self.page.run("last")

    def press(self, text):
        self.page.run(button(text) + ".click()")

    def exists(self, text):
        return self.page.run(button(text) + " !== undefined")

    def point(self, *points):
        """Drags in pixels of the frame; one point is a click or a tap."""
        self.drag(self.page, *[(x / WIDTH, y / HEIGHT) for x, y in points], touch=self.touch)

    def keys(self, *keys, times=1):
        for key in keys * times:
            self.key(self.page, *key)

    def says(self, text):
        self.page.wait(f"document.body.innerText.includes({json.dumps(text)})")

    def near(self, numbers, wanted, off=3):
        self.assertEqual(len(numbers), len(wanted), numbers)
        for number, other in zip(numbers, wanted):
            self.assertLessEqual(abs(number - other), off, f"{numbers}, expected {wanted}")

    def set_zones(self, zones):
        self.set("zones.zones", json.dumps(zones))

    def wait_zones(self, matches):
        """Waits until the text matches, and returns its zones."""
        return json.loads(self.wait_value(self.server, "zones.zones", lambda text: bool(
            text and matches(json.loads(text)["zones"]))))["zones"]

    def wait_roi(self, *wanted):
        def matches(text):
            found = [int(number) for number in text.split(",")] if text else []
            return len(found) == len(wanted) and all(
                abs(a - b) <= 3 for a, b in zip(found, wanted))

        return self.wait_value(self.server, "lines.roi", matches)

    # ---- regions ----

    def test_region(self):
        for way in WAYS:
            self.open(way)
            self.press("Reset roi to nothing")
            self.wait_value(self.server, "lines.roi", lambda text: not text)
            self.press("Draw the region of lines")
            self.point((320, 240))
            self.point((480, 400), (200, 200), (160, 80))
            self.wait_roi(160, 80, 480, 400)
            self.point((480, 400), (500, 440), (560, 440))
            self.wait_roi(160, 80, 560, 440)
            self.point((160, 260), (80, 300))
            self.wait_roi(80, 80, 560, 440)
            self.point((300, 200), (320, 180))
            moved = self.wait_roi(100, 60, 580, 420)
            self.keys(DELETE)
            self.wait_value(self.server, "lines.roi", "")
            self.press("Undo")
            self.wait_value(self.server, "lines.roi", moved)
            self.press("Done")
            self.keys(UNDO, UNDO)
            self.wait_roi(160, 80, 560, 440)
            self.keys(REDO)
            self.wait_roi(80, 80, 560, 440)
            self.press("Draw the region of lines")
            self.press("Clear")
            self.wait_value(self.server, "lines.roi", "")
            self.assertEqual(self.page.complaints(), [])

    def test_region_is_a_layer(self):
        self.open()
        outlines = "document.querySelectorAll('#overlay .outline').length"
        self.assertEqual(self.page.run(outlines), 1)
        self.page.run("[...document.querySelectorAll('#layers label')].at(-1).click()")
        self.assertEqual(self.page.run(outlines), 0)
        self.page.run("[...document.querySelectorAll('#layers label')].at(-1).click()")
        self.assertEqual(self.page.run("""(() => {
          const box = document.querySelector('#overlay .outline').getBoundingClientRect();
          const { left, top, width } = canvas.getBoundingClientRect();
          return [box.left - left, box.top - top, box.width * 640 / width].map(Math.round);
        })()"""), [0, 0, 16])
        self.server.pipeline.get_by_name("lines").set_property("roi", "")
        self.page.wait(outlines + " === 0")

    # ---- zones ----

    def test_new_zones(self):
        """A polygon and a line are in force, and in the record, under their names."""
        for way in WAYS:
            self.open(way)
            self.press("Draw the zones of zones")
            self.press("New polygon")
            for point in (100, 100), (500, 120), (460, 400), (100, 100):
                self.point(point)
            polygon, = self.wait_zones(lambda zones: len(zones) == 1)
            self.near([c for point in polygon["polygon"] for c in point],
                      [100 / WIDTH, 100 / HEIGHT, 500 / WIDTH, 120 / HEIGHT, 460 / WIDTH,
                       400 / HEIGHT], 0.006)
            self.press("New line")
            self.point((200, 440), (420, 440))
            self.press("New line")
            self.point((40, 200))
            self.point((40, 400))
            self.press("New polygon")
            for point in (300, 20), (360, 20), (360, 70), (360, 70):  # a double click closes
                self.point(point)
            zones = self.wait_zones(lambda zones: len(zones) == 4)
            self.assertEqual([zone["name"] for zone in zones],
                             ["zone 1", "line 1", "line 2", "zone 2"])
            self.near([c for point in zones[1]["line"] for c in point],
                      [200 / WIDTH, 440 / HEIGHT, 420 / WIDTH, 440 / HEIGHT], 0.006)
            self.assertEqual(len(zones[3]["polygon"]), 3)
            self.assertEqual([zone["zone"] for zone in self.record()["zones"]],
                             ["zone 1", "line 1", "line 2", "zone 2"])
            self.assertEqual(self.page.complaints(), [])

    def test_list(self):
        """Zones are a list, whether they are drawn or not; their text can be opened and typed."""
        self.open()
        self.says("No zones.")
        text = "document.getElementById('control zones.zones')"
        items = "[...document.querySelectorAll('.zones li')].map((one) => one.innerText" \
            ".split(/\\s*\\n\\s*/).join(': '))"
        wanted = ["queue: polygon, 4 points", "gate: line, 2 points"]
        self.set_zones(ZONES)
        self.assertEqual(self.page.run(items), wanted)
        self.assertFalse(self.page.run(text + ".checkVisibility()"))
        self.press("Draw the zones of zones")
        self.assertNotEqual(self.page.run(items), wanted)
        self.press("Done")
        self.assertEqual(self.page.run(items), wanted)
        self.page.run(text + ".closest('details').querySelector('summary').click()")
        self.page.run(text + ".select()")
        zones = json.dumps({"zones": [{"name": "typed", "stream": 1, "line": [[0, 0], [1, 1]]}]})
        self.page.call("Input.insertText", text=zones)
        self.keys(ENTER)
        self.wait_value(self.server, "zones.zones", zones)
        self.page.wait(f"{items}.join() === 'typed: line, 2 points, stream 1'")

    def test_changes(self):
        """Points and zones move, come and go; all else stays as it was written."""
        for way in WAYS:
            self.open(way)
            self.set_zones(ZONES)
            self.press("Draw the zones of zones")
            self.point((200, 200))
            self.point((300, 300), (350, 330), (400, 350))
            queue, gate = self.wait_zones(lambda zones: zones[0]["polygon"][2] != [300, 300])
            self.near(queue["polygon"][2], [400, 350])
            self.assertEqual([queue["polygon"][i] for i in (0, 1, 3)],
                             [[100.5, 100], [300, 100], [100, 300]])
            self.point((200, 100), (200, 80), (220, 60))
            queue, _ = self.wait_zones(lambda zones: len(zones[0]["polygon"]) == 5)
            self.near(queue["polygon"][1], [220, 60])
            self.press("Remove point")
            queue, _ = self.wait_zones(lambda zones: len(zones[0]["polygon"]) == 4)
            self.point((200, 230), (210, 260), (240, 250))
            queue, _ = self.wait_zones(lambda zones: zones[0]["polygon"][1] != [300, 100])
            self.near(queue["polygon"][1], [340, 120])
            self.near(queue["polygon"][0], [140, 120])
            self.point((480, 400))
            self.press("Swap in and out")
            queue, swapped = self.wait_zones(lambda zones: zones[1]["line"][0] == [560, 400])
            self.assertEqual(swapped, {**gate, "line": gate["line"][::-1]})
            self.page.run("""(() => {
              const field = document.querySelector('[aria-label="Name of queue"]');
              field.value = 'Kasse "1"';
              field.dispatchEvent(new Event('change'));
            })()""")
            queue, _ = self.wait_zones(lambda zones: zones[0]["name"] != "queue")
            self.assertEqual({**queue, "name": "queue", "polygon": None},
                             {**ZONES["zones"][0], "polygon": None})
            self.press('Delete Kasse "1"')
            self.assertEqual(self.wait_zones(lambda zones: len(zones) == 1), [swapped])
            self.assertEqual(json.loads(self.value(self.server, "zones.zones"))["units"], "pixels")

    def test_direction(self):
        """The arrow shows where objects go that visionzones counts as in."""
        self.open()
        self.press("Draw the zones of zones")
        for line in ([[100, 240], [540, 300]], [[300, 400], [340, 60]]):
            name = f"to {line[1][0]}"  # zones of other names have counts of their own
            self.set_zones({"units": "pixels", "zones": [{"name": name, "line": line}]})
            for total in (1, 2):
                tip = self.page.run("""(() => {
                  const [x, y] = document.querySelector('[data-arrow]').dataset.arrow
                    .split(' ').map(Number);
                  return [x * 640 / canvas.clientWidth, y * 480 / canvas.clientHeight];
                })()""")
                middle = [(line[0][i] + line[1][i]) / 2 for i in (0, 1)]
                track = self.server.n
                for t in (-2, -1, 1, 2, 2):
                    x, y = [round(m + t * (end - m)) - 10 for m, end in zip(middle, tip)]
                    self.push(self.server, (x, y, 20, 20), track=track)
                zone, = self.record()["zones"]
                self.assertEqual((zone["in"], zone["out"]), (total, 0))
                if total == 1:
                    self.page.run("document.querySelector('.zones li button').click()")
                    self.press("Swap in and out")
                    self.wait_zones(lambda zones: zones[0]["line"][0] == line[1])

    def test_refused(self):
        """The drawing stays until it is mended."""
        self.open()
        self.set_zones(ZONES)
        self.press("Draw the zones of zones")
        rename = """(() => {
          const field = document.querySelector('[aria-label="Name of %s"]');
          field.value = '%s';
          field.dispatchEvent(new Event('change'));
        })()"""
        self.page.run(rename % ("gate", "queue"))
        self.page.wait("document.getElementById('drawing-bar').innerText.includes("
                       "'names must differ')")
        self.says("These zones are not in force yet.")
        self.assertNotIn("100.5", self.page.run("document.body.innerText"))
        self.assertEqual(self.page.run(
            "[...document.querySelectorAll('.zones [type=text]')].map((one) => one.value)"),
            ["queue", "queue"])
        self.assertEqual(self.value(self.server, "zones.zones"), json.dumps(ZONES))
        self.page.run("document.querySelectorAll('.zones [type=text]')[1].id = 'second'")
        self.page.run(rename.replace("[aria-label=\"Name of %s\"]", "#%s") % ("second", "exit"))
        self.wait_zones(lambda zones: zones[1]["name"] == "exit")
        self.page.wait("!document.body.innerText.includes('not in force')")

    def test_undo(self):
        """Undo takes back points, and then changes; not those of others."""
        self.open()
        self.press("Draw the zones of zones")
        self.press("New polygon")
        for point in (100, 100), (500, 100), (300, 300), (60, 400):
            self.point(point)
        self.keys(UNDO, UNDO, REDO)
        self.keys(ENTER)
        zone, = self.wait_zones(lambda zones: len(zones) == 1)
        self.assertEqual(len(zone["polygon"]), 3)
        self.near(zone["polygon"][2], [300 / WIDTH, 300 / HEIGHT], 0.006)
        self.press("Delete zone")
        self.wait_zones(lambda zones: zones == [])
        self.press("Done")
        self.press("Undo")
        self.wait_zones(lambda zones: zones == [zone])
        self.keys(UNDO)
        self.wait_value(self.server, "zones.zones", "")
        self.press("Redo")
        self.wait_zones(lambda zones: zones == [zone])
        self.set_zones(ZONES)
        self.page.wait(f"{button('Undo')} === undefined")

    def test_escape(self):
        self.open()
        self.press("Draw the zones of zones")
        self.press("New polygon")
        self.point((100, 100))
        self.keys(ESCAPE)
        self.assertTrue(self.exists("New polygon"))
        self.assertFalse(self.page.run("document.getElementById('overlay').innerHTML"
                                       ".includes('handle')"))
        self.keys(ESCAPE)
        self.assertFalse(self.exists("New polygon"))
        self.assertEqual(self.value(self.server, "zones.zones") or "", "")

    def test_keyboard(self):
        """All of it without a pointer."""
        self.open()
        self.page.run(button("Draw the zones of zones") + ".focus()")
        self.keys(ENTER)
        self.page.run(button("New polygon") + ".focus()")
        self.keys(ENTER)
        self.keys(SPACE)
        self.key(self.page, *RIGHT, modifiers=LARGE_STEP)
        self.keys(SPACE, DOWN, SPACE, ENTER)
        self.key(self.page, *DOWN, modifiers=LARGE_STEP)
        self.keys(SPACE, ENTER)
        zone, = self.wait_zones(lambda zones: len(zones) == 1)
        self.near([c for point in zone["polygon"] for c in point],
                  [320 / WIDTH, 240 / HEIGHT, 330 / WIDTH, 240 / HEIGHT, 330 / WIDTH,
                   251 / HEIGHT], 0.00001)
        self.page.run("document.querySelector('#overlay [data-key=\"zone 0\"]').focus()")
        self.keys(TAB)
        self.assertEqual(self.page.run("document.activeElement.dataset.key"), "point 0 0")
        self.keys(RIGHT, RIGHT)
        self.wait_zones(lambda zones: abs(zones[0]["polygon"][0][0] - 322 / WIDTH) < 1e-5)
        self.keys(TAB, ENTER)
        self.wait_zones(lambda zones: len(zones[0]["polygon"]) == 4)
        self.keys(UNDO, UNDO)
        self.wait_zones(lambda zones: zones == [zone])
        self.page.run("document.querySelector('#overlay [data-key=\"point 0 0\"]').focus()")
        self.keys(DELETE)
        self.says("A polygon needs three points")
        self.page.run("document.querySelector('#overlay [data-key=\"zone 0\"]').focus()")
        self.keys(DELETE)
        self.wait_zones(lambda zones: zones == [])
        self.page.run(button("Draw the region of lines") + ".focus()")
        self.keys(ENTER)
        self.page.run("document.querySelector('[data-key=\"roi bottom right\"]').focus()")
        self.key(self.page, *RIGHT, modifiers=LARGE_STEP)
        self.keys(DOWN)
        self.wait_value(self.server, "lines.roi", "0,0,26,17")
        self.keys(DELETE)
        self.wait_value(self.server, "lines.roi", "")

    def test_streams(self):
        """One stream's zones are shown, and new ones belong to it."""
        self.open()
        self.set_zones({"zones": [
            {"name": "a", "stream": 0, "polygon": [[0.1, 0.1], [0.4, 0.1], [0.3, 0.4]]},
            {"name": "a", "stream": 1, "polygon": [[0.6, 0.6], [0.9, 0.6], [0.8, 0.9]]}]})
        self.press("Draw the zones of zones")
        self.page.run("""(() => {
          const choice = document.querySelector('.zones select');
          choice.value = '1';
          choice.dispatchEvent(new Event('change'));
        })()""")
        self.assertEqual(self.page.run("document.querySelectorAll('.zones li').length"), 1)
        self.press("New line")
        self.point((100, 100), (300, 100))
        zones = self.wait_zones(lambda zones: len(zones) == 3)
        self.assertEqual([zone["stream"] for zone in zones], [0, 1, 1])

    def test_zones_of_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(ZONES, file)
            file.flush()
            self.open()
            self.server.pipeline.get_by_name("zones").set_property("zones-location", file.name)
            self.assertEqual(len(self.record()["zones"]), 2)
            self.press("Draw the zones of zones")
            self.says("Zones that you draw replace them.")
            self.assertEqual(self.page.run("document.querySelectorAll('.zones li').length"), 0)
            self.press("New line")
            self.point((100, 100), (300, 100))
            self.wait_zones(lambda zones: len(zones) == 1)
            self.assertEqual([zone["zone"] for zone in self.record()["zones"]], ["line 1"])

    def test_outlines(self):
        """The editor shows zones in the place of the table zone_outlines."""
        self.open()
        self.set_zones(ZONES)
        shown = "canvas.getContext('2d').getImageData(480, 400, 1, 1).data[0] > 100"
        self.record()
        self.assertTrue(self.page.run(shown))
        self.press("Draw the zones of zones")
        self.assertFalse(self.page.run(shown))
        self.press("Done")
        self.assertTrue(self.page.run(shown))

    # ---- targets ----

    def calls(self):
        """Returns a list of the boxes with which set-target is called."""
        boxes = []
        self.server.pipeline.get_by_name("track").connect(
            "set-target", lambda element, *box: boxes.append(box) or 0)
        return boxes

    def test_target(self):
        for way in WAYS:
            self.open(way)
            boxes = self.calls()
            self.press("Draw the box of set-target")
            self.point((100, 120), (150, 150), (300, 220))
            wait_for(lambda: boxes, "set-target")
            self.near(boxes[0], [100, 120, 200, 100])

    def test_follow(self):
        """A click follows the smallest object below it."""
        for way in WAYS:
            self.open(way)
            boxes = self.calls()
            self.record(LARGE, SMALL)
            self.point((20, 20))
            self.point((220, 180))
            self.says("track follows this person as target ")
            self.point((350, 350))
            self.says("track does not follow this person: Box 100,80 300x300 ignored")
            self.assertEqual(boxes, [SMALL, LARGE])
            if not self.touch:
                self.assertEqual(self.page.run("canvas.style.cursor"), "pointer")
            self.press("Draw the region of lines")
            self.point((350, 350))
            self.keys(ESCAPE)
            self.assertEqual(len(boxes), 2)
        self.page.run("canvas.focus()")
        self.keys(RIGHT, RIGHT, ENTER)
        wait_for(lambda: len(boxes) == 3, "a call by keys")
        self.assertEqual(boxes[2], SMALL)

    # ---- the page ----

    def test_nothing_to_draw(self):
        """Nothing of it exists for users who may only look, or without such controls."""
        with tempfile.TemporaryDirectory() as folder:
            for controls, query in ((f"{CONTROLS} {make_tokens(folder)}", "?token=read-token"),
                                    ("controls=lines.canny-low", "")):
                self.touch = False
                self.server, self.page = self.connect(controls, query)
                self.record(LARGE)
                self.point((350, 350))
                self.keys(UNDO)
                self.assertEqual(self.page.run(
                    "[document.getElementById('overlay').textContent, canvas.style.cursor,"
                    " document.getElementById('drawing-bar'), canvas.tabIndex,"
                    " document.querySelectorAll('#overlay [class]').length]"),
                    ["", "", None, -1, 0])
                self.assertFalse(self.page.run("document.body.innerText.includes('Draw')"
                                               " || document.body.innerText.includes('Regions')"))

    def test_phone(self):
        """Nothing is too wide or too small to touch, and the page stays while a finger draws."""
        folder = os.environ.get("CUV_TEST_SHOTS")
        for way, theme in ((FINGER, "light"), (FINGER, "dark"), (MOUSE, "dark")):
            self.open(way)
            width = way["width"]
            self.page.call("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-color-scheme", "value": theme}])
            self.set_zones(ZONES)
            self.press("Draw the zones of zones")
            self.point((200, 200))
            self.page.wait(f"{button('Delete zone')} !== undefined")
            top = self.page.run("scrollY")
            self.point((200, 300), (200, 200), (200, 100))
            self.assertEqual(self.page.run("scrollY"), top)
            self.assertEqual(self.page.run("getComputedStyle(canvas).touchAction"), "none")
            self.assertEqual(self.page.run("""[...document.querySelectorAll(
              '#drawing-bar button, .zones button, .zones input, .zones select')].filter((one) => {
                const { width, height, right } = one.getBoundingClientRect();
                return width < 24 || height < 24 || right > innerWidth;
              }).map((one) => one.outerHTML)"""), [])
            self.page.wait(f"document.documentElement.scrollWidth <= {width}")
            if folder:
                self.page.shoot(os.path.join(folder, f"drawing-{width}-{theme}.png"))
            self.press("Done")
            self.assertEqual(self.page.run("getComputedStyle(canvas).touchAction"), "auto")
            self.set_zones({"zones": [{"name": 40 * "W", "line": [[0, 0], [1, 1]]}]})
            self.assertEqual(self.page.run("""[...document.querySelectorAll('.zones *')].filter(
              (one) => one.getBoundingClientRect().right
                > document.getElementById('controls').getBoundingClientRect().right)
              .map((one) => one.outerHTML)"""), [])
            if folder:
                self.page.shoot(os.path.join(folder, f"zones-{width}-{theme}.png"))


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("skipped: chromium is not installed")
        sys.exit(77)
    run()
