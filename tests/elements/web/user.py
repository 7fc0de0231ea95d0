# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a user does in the page of a visionwebsink with controls: keys, mouse and fingers."""

import time
import unittest

from chromium import Chromium, Page
from client import Sink

PLACES = """(() => {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const scale = Math.min(width / canvas.width, height / canvas.height);
  return %s.map(([x, y]) => [left + width / 2 + (x - 0.5) * canvas.width * scale,
    top + height / 2 + (y - 0.5) * canvas.height * scale]);
})()"""


class UserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def serve(self, controls, source, query="", keep=False, **kwargs):
        """Returns a sink, and its page in the browser when it knows what may be changed.
        keep: for further tests of the class."""
        server = Sink(controls, source)
        (self.addClassCleanup if keep else self.addCleanup)(server.stop)
        page = Page(self.browser, server.url + query, **kwargs)
        if not keep:
            self.addCleanup(page.close)
        page.wait("document.querySelectorAll('fieldset:enabled').length > 0"
                  " || document.getElementById('control-note').textContent !== ''")
        return server, page

    def value(self, server, name):
        element, member = name.split(".")
        return server.pipeline.get_by_name(element).get_property(member)

    def wait_value(self, server, name, wanted):
        """Waits for a value, or until wanted(value) is true."""
        matches = wanted if callable(wanted) else lambda value: value == wanted
        end = time.monotonic() + 60
        while not matches(self.value(server, name)):
            self.assertLess(time.monotonic(), end, f"{name} is {self.value(server, name)}")
            time.sleep(0.01)
        return self.value(server, name)

    def key(self, page, key, code, text="", modifiers=0):
        for kind in "keyDown", "keyUp":
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, modifiers=modifiers,
                      text=text if kind == "keyDown" else "")

    def mouse(self, page, kind, place, buttons=1):
        page.call("Input.dispatchMouseEvent", type="mouse" + kind, x=place[0], y=place[1],
                  button="left" if buttons else "none", buttons=buttons, clickCount=1)

    def drag(self, page, *points, touch=False):
        """Drags from the first point of the canvas to the last; points are parts of its picture.
        One point is a click or a tap."""
        places = page.run(PLACES % [list(point) for point in points])
        if not touch:
            self.mouse(page, "Moved", places[0], 0)
            for i, place in enumerate(places):
                self.mouse(page, "Moved" if i else "Pressed", place)
            self.mouse(page, "Released", places[-1])
            return
        for i, (x, y) in enumerate(places):
            page.call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart",
                      touchPoints=[{"x": x, "y": y}])
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
