#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the panel "Settings" of visionwebsink's page in Chromium."""

import json
import os
import shlex
import shutil
import sys
import tempfile
import unittest

from chromium import Chromium, Page
from client import Gst, Sink, run, wait_for
from controls import BALANCE, make_tokens

SOURCE = BALANCE + " ! houghlines name=lines ! visionzones name=zones"
CONTROLS = "controls=balance.brightness,balance.hue,lines.nms,lines.roi,zones.zones"


class Settings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, more="", query="", **kwargs):
        server = Sink(f"{CONTROLS} {more}", SOURCE)
        self.addCleanup(server.stop)
        page = Page(self.browser, server.url + query, **kwargs)
        self.addCleanup(page.close)
        page.wait("!document.getElementById('settings').hidden")
        page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder)
        return server, page

    def value(self, server, element, name):
        return server.pipeline.get_by_name(element).get_property(name)

    def click(self, page, name):
        page.run(f"document.getElementById('{name}').click()")

    def visible(self, page):
        return page.run("[...document.querySelectorAll('#settings button')]"
                        ".filter((button) => !button.hidden).map((button) => button.textContent)")

    def note(self, page, part):
        page.wait(f"document.getElementById('settings-note').textContent.includes({part!r})")

    def saved(self, page):
        """Returns the path of the file that "Save settings" makes."""
        path = os.path.join(self.folder, "Video-settings.json")
        page.wait("document.title.length > 0")
        self.click(page, "save-settings")
        wait_for(lambda: os.path.exists(path), "the download")
        return path

    def load(self, page, path):
        node = page.call("DOM.getDocument")["root"]["nodeId"]
        found = page.call("DOM.querySelector", nodeId=node, selector="#settings-file")
        page.call("DOM.setFileInputFiles", files=[path], nodeId=found["nodeId"])

    def test_saves_and_loads(self):
        server, page = self.start()
        self.assertEqual(self.visible(page), ["Save settings", "Load settings", "Show the command line"])
        server.pipeline.get_by_name("balance").set_property("brightness", 0.25)
        server.pipeline.get_by_name("lines").set_property("roi", "1,2,30,40")
        page.wait("document.getElementById('control lines.roi').value === '1,2,30,40'")
        page.wait("document.getElementById('control balance.brightness').value === '0.25'")
        path = self.saved(page)
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
        self.assertEqual(saved, {"visionwebsink": 1, "values": {
            "balance.brightness": 0.25, "balance.hue": 0, "lines.nms": "dominant",
            "lines.roi": "1,2,30,40", "zones.zones": ""}})
        server.pipeline.get_by_name("balance").set_property("brightness", -0.5)
        page.wait("document.getElementById('control balance.brightness').value === '-0.5'")
        self.load(page, path)
        self.note(page, "5 of 5 values loaded")
        self.assertEqual(self.value(server, "balance", "brightness"), 0.25)
        self.assertEqual(page.complaints(), [])
        # the sink reads the same file
        with Sink(f"{CONTROLS} settings-file={path}", SOURCE) as again:
            self.assertEqual(self.value(again, "lines", "roi"), "1,2,30,40")

    def test_refused_values(self):
        server, page = self.start()
        path = os.path.join(self.folder, "bad.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump({"visionwebsink": 1, "values": {
                "balance.brightness": 7, "balance.hue": 0.5, "zones.zones": "{}",
                "none.x": 1, "<b>": 1}}, file)
        self.load(page, path)
        self.note(page, "1 of 5 values loaded")
        reasons = page.run("[...document.querySelectorAll('#settings-refused li')]"
                           ".map((item) => item.textContent)")
        self.assertEqual(len(reasons), 4)
        self.assertIn("balance.brightness: expected a number from -1 to 1", reasons[0])
        self.assertIn("zones.zones: ", reasons[1])
        self.assertEqual(reasons[2:], ["none.x: the sink has no such control now",
                                       "<b>: the sink has no such control now"])
        self.assertEqual(self.value(server, "balance", "hue"), 0.5)
        for text in "x", "[]", "null", '{"visionwebsink": 2, "values": {}}':
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            page.run("document.getElementById('settings-note').textContent = ''")
            self.load(page, path)
            self.note(page, "bad.json cannot be loaded")

    def test_next_start(self):
        path = os.path.join(self.folder, "start.json")
        server, page = self.start(f"settings-file={path}")
        self.assertIn("Save for the next start", self.visible(page))
        server.pipeline.get_by_name("balance").set_property("hue", 0.5)
        self.click(page, "keep-settings")
        self.note(page, "Saved. The next start")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["values"]["balance.hue"], 0.5)
        server.pipeline.get_by_name("balance").set_property("hue", 0.25)
        self.note(page, "changed since they were saved")
        self.click(page, "save-settings")
        self.note(page, "Saved to a file")
        server.pipeline.get_by_name("lines").set_property("roi", "1,2,30,40")
        self.note(page, "changed since they were saved")
        os.remove(path)
        os.mkdir(path)
        self.click(page, "keep-settings")
        self.note(page, "Not saved: ")

    def test_line_with_a_file(self):
        """The dialog says which values the next start takes, if there may be others."""
        for more, hidden in ("", True), (f"settings-file={self.folder}/s.json", False):
            _, page = self.start(more)
            self.click(page, "show-line")
            page.wait("document.getElementById('line').open")
            self.assertEqual(page.run("document.getElementById('line-note').hidden"), hidden)

    def test_line(self):
        server, page = self.start()
        self.click(page, "show-line")
        page.wait("document.getElementById('line').open")
        text = page.run("document.getElementById('line-text').textContent")
        self.assertTrue(text.startswith("gst-launch-1.0 videotestsrc "))
        Gst.parse_launchv(shlex.split(text, comments=True)[1:])
        self.click(page, "copy-line")
        page.wait("document.getElementById('copy-line').textContent !== 'Copy'")
        self.assertEqual(page.run("getSelection().toString()"), text)
        for kind in "keyDown", "keyUp":
            page.call("Input.dispatchKeyEvent", type=kind, key="Escape", code="Escape",
                      windowsVirtualKeyCode=27)
        page.wait("!document.getElementById('line').open")

    def test_may_only_look(self):
        _, page = self.start(f"settings-file={self.folder}/s.json {make_tokens(self.folder)}",
                             "?token=read-token")
        self.assertEqual(self.visible(page), ["Save settings"])

    def test_widths(self):
        """Nothing is wider than the page, in light and dark."""
        folder = os.environ.get("CUV_TEST_SHOTS")
        for width in 360, 1200:
            for theme in "light", "dark":
                _, page = self.start(f"settings-file={self.folder}/s.json",
                                     width=width, height=900)
                page.call("Emulation.setEmulatedMedia", features=[
                    {"name": "prefers-color-scheme", "value": theme}])
                if folder:
                    page.shoot(os.path.join(folder, f"settings-{width}-{theme}.png"))
                self.click(page, "show-line")
                page.wait("document.getElementById('line').open")
                for part in "document.documentElement", "document.getElementById('line')":
                    page.wait(f"{part}.scrollWidth <= {width}")
                if folder:
                    page.shoot(os.path.join(folder, f"line-{width}-{theme}.png"))


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("skipped: chromium is not installed")
        sys.exit(77)
    run()
