#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the page of visionwebsink in Chromium. Frames show their number in black and white, and
their object jumps. The test reads back what the canvas shows."""

import glob
import http.server
import json
import os
import shutil
import sys
import threading
import time
import unittest

import numpy as np

from chromium import TIMEOUT, Chromium, Page
from client import Gst, SILENT, SOURCE, Sink, WebSocket, run, stat

import gi

gi.require_version("GstVideo", "1.0")
from gi.repository import GstVideo

N_FRAMES = 300
WIDTH, HEIGHT, RATE = 480, 320, 40
BIT, N_BITS = 24, 16  # width of a bit of the number in pixels; number of bits
SIZE = 48  # size of the object in pixels
CAPS = f"video/x-raw,format=RGB,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
GREEN = (0, 200, 0)  # colour of the object; its box has another colour
FOREIGN = """<!DOCTYPE html><title>foreign</title><script>
const tried = {};
const base = location.hash.slice(1);
function answer(name, promise) {
  tried[name] = 'waits';
  promise.then((text) => tried[name] = 'got ' + text, () => tried[name] = 'refused');
}
for (const path of ['frame.jpg', 'record.json', 'events', 'page.js', '']) {
  answer(path, fetch(base + path).then((r) => r.text()));
}
answer('opaque', fetch(base + 'record.json', {mode: 'no-cors'}).then((r) => r.type));
for (const path of ['frame.jpg', 'stream.mjpg']) {
  answer('img ' + path, new Promise((yes, no) => {
    const img = new Image();
    img.onload = () => yes('picture');
    img.onerror = no;
    img.src = base + path;
  }));
}
answer('ws', new Promise((yes, no) => {
  const socket = new WebSocket(base.replace('http', 'ws') + 'ws');
  socket.onmessage = () => yes('message');
  socket.onclose = no;
}));
</script>"""

# Reads the canvas when the page has drawn a frame.
READ = """
window.seen = [];
function extent(pixels, width, height, match) {
  let box = [width, height, -1, -1];
  for (let y = %(bit)d; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = 4 * (y * width + x);
      if (match(pixels[at], pixels[at + 1], pixels[at + 2])) {
        box = [Math.min(box[0], x), Math.min(box[1], y),
          Math.max(box[2], x), Math.max(box[3], y)];
      }
    }
  }
  return box;
}
document.addEventListener('frame-shown', ({ detail: record }) => {
  const canvas = document.getElementById('canvas');
  const { width, height } = canvas;
  const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  let number = 0;
  for (let bit = 0; bit < %(bits)d; bit++) {
    number += (pixels[4 * (width * 12 + bit * %(bit)d + 12)] > 127) << bit;
  }
  seen.push({ record, number, width, height,
    object: extent(pixels, width, height,
      (r, g, b) => r < 60 && g > 140 && b < 60),
    box: extent(pixels, width, height,
      (r, g, b) => r === %(r)d && g === %(g)d && b === %(b)d) });
});
true
"""


def place(number):
    """Returns the object's position, which is far from those in the neighbouring frames."""
    return (number * 7919 % (WIDTH - SIZE - 8) + 4,
            number * 104729 % (HEIGHT - SIZE - 56) + 50)


def numbered(number):
    pixels = np.full((HEIGHT, WIDTH, 3), 96, np.uint8)
    for bit in range(N_BITS):
        pixels[:BIT, bit * BIT:(bit + 1) * BIT] = 255 * (number >> bit & 1)
    x, y = place(number)
    pixels[y:y + SIZE, x:x + SIZE] = GREEN
    buffer = Gst.Buffer.new_wrapped(pixels.tobytes())
    buffer.pts = number * Gst.SECOND // RATE
    GstVideo.buffer_add_video_region_of_interest_meta(buffer, "target", x, y, SIZE, SIZE)
    return buffer


class Numbered(Sink):
    """A sink whose frame N is frame N of the video."""

    def __init__(self):
        self.number = 0
        super().__init__("source=numbered jpeg-quality=95",
                         f"appsrc name=source is-live=true format=time caps={CAPS}")

    def push(self, *unused):
        self.pipeline.get_by_name("source").emit("push-buffer", numbered(self.number))
        self.number += 1

    def __enter__(self):
        self.running = True
        self.thread = threading.Thread(target=self.play)
        self.thread.start()
        return self

    def play(self):
        start = time.monotonic()
        while self.running:
            self.push()
            time.sleep(max(0, start + self.number / RATE - time.monotonic()))

    def __exit__(self, *unused):
        self.running = False
        self.thread.join()
        self.stop()


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Chromium()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, url, **kwargs):
        page = Page(self.browser, url, **kwargs)
        self.addCleanup(page.close)
        return page

    def wait_live(self, page):
        page.wait("document.getElementById('status').textContent === 'Live'")

    def check_frame(self, seen):
        number = seen["number"]
        x, y = place(number)
        want = [x, y, x + SIZE - 1, y + SIZE - 1]
        self.assertEqual(seen["record"]["frame_num"], number)
        self.assertEqual((seen["width"], seen["height"]), (WIDTH, HEIGHT))
        for what, most in (("object", 3), ("box", 2)):
            off = max(abs(a - b) for a, b in zip(seen[what], want))
            self.assertLessEqual(off, most, f"{what} of frame {number}: "
                                 f"{seen[what]}, expected {want}")

    def test_boxes_lie_on_their_pixels(self):
        """Boxes match in each of 300 frames, while another viewer takes one frame per second."""
        with Numbered() as server:
            page = self.open(server.url)
            self.wait_live(page)
            for layer in ("Labels", "Confidences", "Track ids", "Trails"):
                self.click_switch(page, layer)
            color = page.run("import('./scene.js').then((s) => s.colorOf('target'))")
            r, g, b = bytes.fromhex(color[1:])
            slow = WebSocket(server.port)
            done = threading.Event()
            thread = threading.Thread(target=lambda: [
                slow.next() for _ in iter(lambda: done.wait(1), True)])
            thread.start()
            page.run(READ % {"bit": BIT, "bits": N_BITS, "r": r, "g": g, "b": b})
            page.wait(f"seen.length > {N_FRAMES}")
            done.set()
            thread.join()
            slow.close()
            seen = page.run("seen")
            for frame in seen:
                self.check_frame(frame)
            numbers = [frame["number"] for frame in seen]
            self.assertEqual(numbers, sorted(set(numbers)))
            print(f"{len(seen)} frames shown of {numbers[-1] - numbers[0] + 1}")
            self.assertEqual(page.complaints(), [])

    def click_switch(self, page, text):
        self.assertTrue(page.run(
            "[...document.querySelectorAll('.switches label')].filter((l) => "
            f"l.textContent.startsWith('{text}')).map((l) => l.click()).length"), text)

    def count(self, page, color):
        """Returns how many pixels of the canvas have the colour, in a frame drawn after the
        call."""
        return page.run("""new Promise((done) => document.addEventListener(
            'frame-shown', () => {
              const canvas = document.getElementById('canvas');
              const pixels = canvas.getContext('2d').getImageData(
                0, 0, canvas.width, canvas.height).data;
              let n = 0;
              for (let i = 0; i < pixels.length; i += 4) {
                n += ((pixels[i] << 16) + (pixels[i + 1] << 8) + pixels[i + 2])
                  === parseInt('%s', 16);
              }
              done(n);
            }, { once: true }))""" % color[1:])

    def test_switches(self):
        with Numbered() as server:
            page = self.open(server.url)
            self.wait_live(page)
            color = page.run("import('./scene.js').then((s) => s.colorOf('target'))")
            page.wait("!document.getElementById('found').hidden")
            everything = self.count(page, color)
            self.click_switch(page, "Labels")
            boxes = self.count(page, color)
            self.assertTrue(0 < boxes < everything, f"{boxes} of {everything}")
            self.click_switch(page, "Boxes")
            self.assertEqual(self.count(page, color), 0)
            self.click_switch(page, "Boxes")
            self.click_switch(page, "target")
            self.assertEqual(self.count(page, color), 0)
            self.click_switch(page, "target")
            self.assertEqual(self.count(page, color), boxes)

    def test_pause_and_still(self):
        with Numbered() as server:
            page = self.open(server.url)
            self.wait_live(page)
            self.browser.call("Browser.setDownloadBehavior", behavior="allow",
                              downloadPath=self.browser.folder)
            page.run("document.getElementById('pause').click()")
            self.wait_stat(server, "viewers", 0)
            page.run("document.getElementById('save').click()")
            end = time.monotonic() + TIMEOUT
            names = []
            while len(names) < 2 and time.monotonic() < end:
                time.sleep(0.05)
                names = [name for name in glob.glob(self.browser.folder + "/numbered-*")
                         if name.endswith((".png", ".json"))]
            self.assertEqual(len(names), 2, os.listdir(self.browser.folder))
            with open(next(n for n in names if n.endswith(".json")),
                      encoding="utf-8") as file:
                record = json.load(file)
            self.assertEqual(record["objects"][0]["x"], place(record["frame_num"])[0])
            page.run("document.getElementById('pause').click()")
            self.wait_live(page)

    def test_pauses_while_a_picture_is_decoded(self):
        with Numbered() as server:
            page = self.open(server.url)
            self.wait_live(page)
            page.run("""(() => {
              const decode = createImageBitmap;
              window.decoded = 0;
              window.createImageBitmap = async (blob) => {
                const picture = await decode(blob);
                await new Promise((done) => setTimeout(done, 300));
                setTimeout(() => window.decoded++, 100);
                return picture;
              };
            })()""")
            page.wait("decoded > 1")
            before = page.run("document.getElementById('pause').click(), decoded")
            page.wait(f"decoded > {before}")
            self.assertEqual(
                page.run("document.getElementById('status').textContent"), "Paused")

    def test_video_that_stands_still(self):
        with Sink(source=SILENT) as server:
            page = self.open(server.url)
            self.wait_stat(server, "viewers", 1)
            for _ in range(2):
                server.push()
                self.wait_live(page)
                page.wait("document.getElementById('status').textContent"
                          ".startsWith('No frame for')")
                self.assertEqual(
                    page.run("document.getElementById('rate').textContent"), "–")

    def wait_stat(self, server, name, value):
        end = time.monotonic() + TIMEOUT
        while stat(server.sink, name) != value:
            self.assertLess(time.monotonic(), end, f"{name} is never {value}")
            time.sleep(0.01)

    def test_comes_back(self):
        """An open page connects to the next pipeline by itself."""
        server = Sink()
        page = self.open(server.url)
        self.wait_live(page)
        server.stop()
        page.wait("document.getElementById('status').textContent"
                  ".startsWith('Disconnected')")
        with Sink(port=server.port):
            self.wait_live(page)

    def test_token(self):
        os.environ["CUV_TEST_TOKEN"] = "s3 cret&"
        with Sink("token-env=CUV_TEST_TOKEN") as server:
            page = self.open(server.url)
            page.wait("!document.getElementById('ask').hidden")
            self.assertIn("A token is needed.", page.run("document.body.innerText"))
            self.assertNotIn("Live", page.run("document.body.innerText"))
            page.run("token.value = 'wrong', ask.requestSubmit()")
            page.wait("document.getElementById('status').textContent"
                      ".startsWith('The token is wrong')")
            page.run("token.value = 's3 cret&', ask.requestSubmit()")
            self.wait_live(page)
            other = self.open(server.url + "?token=s3%20cret%26")
            self.wait_live(other)
            self.assertEqual(other.run("document.body.innerText").count("Live"), 1)
            self.assertEqual(other.run("location.href"), server.url)

    def test_foreign_page(self):
        """A page of another origin gets nothing; the same requests succeed from the server's
        page."""
        class Foreign(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(FOREIGN.encode())

            def log_message(self, *unused):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as other, Sink() as server:
            threading.Thread(target=other.serve_forever, daemon=True).start()
            page = self.open(f"http://localhost:{other.server_port}/#{server.url}")
            try:
                page.wait("Object.values(tried).length === 9"
                          " && !Object.values(tried).includes('waits')")
            finally:
                tried = page.run("tried")
                print(tried)
            self.assertEqual(set(tried.values()), {"refused"}, tried)
            other.shutdown()
            own = self.open(server.url)
            self.assertEqual(own.run("fetch('record.json').then((r) => r.status)"), 200)

    def test_widths(self):
        """Nothing is wider than the screen, even a small one, or than its column."""
        with Sink("source=a-very-long-name-of-a-source-" + 60 * "x",
                  SOURCE % (1280, 720, 30)) as server:
            for width in (360, 1200):
                page = self.open(server.url, width=width, height=640)
                page.run("document.getElementById('details').open = true")
                self.wait_live(page)
                page.wait("document.getElementById('record').textContent !== ''")
                self.assertLessEqual(
                    page.run("document.documentElement.scrollWidth"), width)
                self.assertLessEqual(page.run(
                    "Math.max(...[...document.querySelectorAll('aside > *')].map("
                    "(box) => box.getBoundingClientRect().right))"), width)
                self.assertEqual(page.complaints(), [])


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("skipped: chromium is not installed")
        sys.exit(77)
    run()
