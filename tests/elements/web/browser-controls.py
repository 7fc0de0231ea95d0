#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the controls of visionwebsink's page in Chromium, as a user would work with them."""

import os
import shutil
import sys
import tempfile

from chromium import Page
from client import Gst, Sink, run
from controls import BALANCE, make_tokens
from user import UserTest

SOURCE = BALANCE + " ! rcdtrack name=track ! houghlines name=lines " \
    "max-lines=4 ! visionzones name=zones"
CONTROLS = "controls=balance.brightness,lines.blur,track.max-targets,track.set-target," \
    "track.clear-target,lines.nms,lines.roi,lines.canny-low,zones.zones,late.hue"


class Controls(UserTest):
    def start(self, controls=CONTROLS, query="", **kwargs):
        return self.serve(controls, SOURCE, query, **kwargs)

    def field(self, name):
        return f"document.getElementById('control {name}')"

    def message(self, name):
        row = f"{self.field(name)}.closest('.control')"
        return f"{row}.querySelector(':scope > .message').textContent"

    def test_each_kind(self):
        server, page = self.start()
        page.run(f"""(() => {{
          const slider = {self.field('balance.brightness')};
          slider.value = 0.5;
          slider.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }})()""")
        self.wait_value(server, "balance.brightness", 0.5)
        blurred = self.value(server, "lines.blur")
        page.run(self.field("lines.blur") + ".click()")
        self.wait_value(server, "lines.blur", not blurred)
        for name, value in (("lines.nms", "square"), ("lines.roi", "1,2,30,40"),
                            ("track.max-targets", "3")):
            page.run(f"""(() => {{
              const field = {self.field(name)};
              field.value = '{value}';
              field.dispatchEvent(new Event('input', {{ bubbles: true }}));
              field.dispatchEvent(new Event('change', {{ bubbles: true }}));
            }})()""")
        self.wait_value(server, "track.max-targets", 3)
        self.wait_value(server, "lines.roi", "1,2,30,40")
        self.assertEqual(self.value(server, "lines.nms").value_nick, "square")
        self.assertEqual(page.run(self.field("lines.canny-low") + ".max"), "80")
        self.assertEqual(page.complaints(), [])

    def test_sinks_of_a_port(self):
        """The page of each sink has the controls of its own sink."""
        first, page = self.start("controls=lines.roi")
        with Sink("path=/yard controls=lines.canny-low", SOURCE, port=first.port) as second:
            other = Page(self.browser, second.url)
            self.addCleanup(other.close)
            other.wait("document.querySelector('fieldset:enabled') !== null")
            for one, name in (page, "roi"), (other, "canny-low"):
                self.assertEqual(one.run("[...document.querySelectorAll('.control > label')]"
                                         ".map((label) => label.textContent)"), [name])

    def test_keyboard(self):
        """A value is typed, taken back with Escape, and set with Enter; arrows move a slider."""
        server, page = self.start()
        page.run(self.field("track.max-targets")
                 + ".closest('.control').querySelector('[type=number]').select()")
        self.key(page, "7", 55, "7")
        self.key(page, "Escape", 27)
        self.assertEqual(self.value(server, "track.max-targets"), 1)
        page.run("document.activeElement.select()")
        self.key(page, "5", 53, "5")
        self.key(page, "Enter", 13, "\r")
        self.wait_value(server, "track.max-targets", 5)
        page.wait(self.field("track.max-targets") + ".value === '5'")
        page.run(self.field("track.max-targets") + ".focus()")
        self.key(page, "ArrowRight", 39)
        self.wait_value(server, "track.max-targets", 6)

    def test_refused_values(self):
        """The page says why, and shows the value in force."""
        server, page = self.start()
        for name, value, part in (("lines.roi", "x", "expected left,top"),
                                  ("zones.zones", "{}", "Refused: ")):
            page.run(f"""(() => {{
              const field = {self.field(name)};
              field.focus();
              field.value = '{value}';
              field.dispatchEvent(new Event('input', {{ bubbles: true }}));
              field.blur();
              field.dispatchEvent(new Event('change', {{ bubbles: true }}));
            }})()""")
            page.wait(f"{self.message(name)}.includes('{part}')")
            self.assertEqual(page.run(self.field(name) + ".value"), "")
        page.run(f"""(() => {{
          const field = {self.field('track.max-targets')}.closest('.control')
            .querySelector('[type=number]');
          field.value = 99;
          field.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()""")
        page.wait(f"{self.message('track.max-targets')}.includes('from 1 to 16')")
        self.assertEqual(page.run(self.field("track.max-targets") + ".value"), "1")
        self.assertEqual(self.value(server, "track.max-targets"), 1)

    def test_values_of_others(self):
        """Values that the program sets appear, except in a field that is being edited."""
        server, page = self.start()
        lines = server.pipeline.get_by_name("lines")
        lines.set_property("roi", "1,2,30,40")
        page.wait(f"{self.field('lines.roi')}.value === '1,2,30,40'")
        page.run(self.field("lines.roi") + ".select()")
        self.key(page, "9", 57, "9")
        server.pipeline.get_by_name("balance").set_property("brightness", -0.25)
        lines.set_property("roi", "5,5,30,40")
        page.wait(f"{self.field('balance.brightness')}.value === '-0.25'")
        self.assertEqual(page.run(self.field("lines.roi") + ".value"), "9")
        self.key(page, "Escape", 27)
        page.wait(f"{self.field('lines.roi')}.value === '5,5,30,40'")
        page.run(self.field("balance.brightness")
                 + ".closest('.control').querySelector('.reset').click()")
        self.wait_value(server, "balance.brightness", 0)

    def test_signals(self):
        server, page = self.start()
        page.run("""(() => {
          const button = document.querySelector('[aria-label="Call set-target"]');
          [8, 8, 20, 20].forEach((value, i) => {
            document.querySelector(`[aria-label="set-target: argument ${i + 1}"]`)
              .value = value;
          });
          button.click();
        })()""")
        page.wait("document.body.innerText.includes('Returned 1.')")
        page.run("document.querySelector('[aria-label=\"Call clear-target\"]').click()")
        page.wait("document.body.innerText.includes('Called.')")

    def test_draws_a_target(self):
        """A rectangle is in pixels of the frame, also if pictures are smaller."""
        button = "document.querySelector('[aria-label=\"Draw the box of set-target\"]')"
        for more, size in (("", (1200, 800)), (" max-width=32", (360, 640))):
            server, page = self.start(CONTROLS + more, width=size[0], height=size[1])
            page.wait("document.getElementById('status').textContent === 'Live'")
            page.run(button + ".click()")
            self.key(page, "Escape", 27)
            self.drag(page, (0.25, 0.25), (0.5, 0.5))
            self.assertEqual(page.run(button + ".getAttribute('aria-pressed')"), "false")
            self.assertNotIn("Returned", page.run("document.body.innerText"))
            page.run(button + ".click()")
            self.drag(page, (0.75, 0.75), (0.3, 0.3), (0.25, 0.5))
            page.wait("document.body.innerText.includes('Returned 1.')")
            self.assertEqual(page.run("""[1, 2, 3, 4].map((i) => document.querySelector(
                `[aria-label="set-target: argument ${i}"]`).value)"""), ["16", "24", "32", "12"])
            self.assertEqual(page.complaints(), [])

    def test_large_text(self):
        """A text of 60000 bytes arrives in one piece."""
        server, page = self.start()
        page.run(f"""(() => {{
          const field = {self.field('zones.zones')};
          field.value = 'x'.repeat(60000);
          field.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()""")
        page.wait(f"{self.message('zones.zones')}.startsWith('Refused: ')")
        self.assertEqual(page.complaints(), [])

    def test_elements_come_and_go(self):
        server, page = self.start()
        page.wait("document.body.innerText.includes('This element is not in the pipeline now.')")
        late = Gst.ElementFactory.make("videobalance", "late")
        server.pipeline.add(late)
        page.wait(self.field("late.hue") + " !== null")
        late.set_state(Gst.State.NULL)
        server.pipeline.remove(late)
        page.wait(self.field("late.hue") + " === null")

    def test_may_only_look(self):
        with tempfile.TemporaryDirectory() as folder:
            server, page = self.start(f"{CONTROLS} {make_tokens(folder)}", "?token=read-token")
            page.wait("document.body.innerText.includes('Your token allows looking only.')")
            self.assertEqual(page.run("document.querySelectorAll('fieldset:enabled').length"), 0)
            server.pipeline.get_by_name("balance").set_property("brightness", -0.5)
            page.wait(f"{self.field('balance.brightness')}.value === '-0.5'")

    def test_sink_without_controls(self):
        server = Sink(source=SOURCE)
        self.addCleanup(server.stop)
        page = Page(self.browser, server.url)
        self.addCleanup(page.close)
        page.wait("document.getElementById('status').textContent === 'Live'")
        self.assertTrue(page.run("document.getElementById('controls').hidden"))
        self.assertEqual(page.complaints(), [])

    def test_widths(self):
        """Nothing is wider than its column, in light and dark."""
        folder = os.environ.get("CUV_TEST_SHOTS")
        for width in 360, 1200:
            for theme in "light", "dark":
                _, page = self.start(width=width, height=900)
                page.call("Emulation.setEmulatedMedia", features=[
                    {"name": "prefers-color-scheme", "value": theme}])
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
                self.assertEqual(page.run("""(() => {
                  const right = document.getElementById('controls').getBoundingClientRect().right;
                  return [...document.querySelectorAll('#controls *')].filter((node) =>
                    node.getBoundingClientRect().right > right).map((node) => node.outerHTML);
                })()"""), [])
                if folder:
                    page.shoot(os.path.join(folder, f"controls-{width}-{theme}.png"))


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("skipped: chromium is not installed")
        sys.exit(77)
    run()
