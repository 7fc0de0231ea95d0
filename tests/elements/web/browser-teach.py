#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the panel Teach of visionwebsink's page in Chromium, as a user would work with it: an object
moves on the video, and the test knows where."""

import json
import math
import os
import shutil
import sys
import tempfile
import threading
import time

import cv2
import numpy as np

from client import Gst, get, run, wait_for
from controls import make_tokens
from user import PLACES, UserTest

WIDTH, HEIGHT, SIZE, RATE = 320, 240, 48, 25
EMPTY = os.path.join(os.path.dirname(__file__), "../../../models/cuvision-empty.xml")
# A busy machine has fewer frames, all of which are analysed.
SOURCE = "appsrc name=source is-live=true do-timestamp=true format=time block=true" \
    " max-bytes=500000 caps=video/x-raw," \
    f"format=BGR,width={WIDTH},height={HEIGHT},framerate={RATE}/1" \
    f" ! waldboostdetect name=detect model={EMPTY} skip-late=false message=none" \
    " ! rcdtrack name=track max-targets=2 max-distance=0.3 request-detections=false" \
    " skip-late=false message=none"
CONTROLS = "controls=track.set-target,track.clear-target"
TRUTH = 0.6  # intersection over union of a good box
TRAINING = 600  # seconds: it has the lowest priority, and the machine may be busy


def box_at(frame):
    """Returns the object's box: x, y, width, height."""
    t = frame / RATE
    return (round(WIDTH / 2 - SIZE / 2 + 100 * math.sin(0.6 * t)),
            round(HEIGHT / 2 - SIZE / 2 + 70 * math.sin(0.37 * t)), SIZE, SIZE)


def overlap(a, b):
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    common = max(width, 0) * max(height, 0)
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def make_folder(saved, label):
    """Writes what a sink has saved that has trained a model."""
    os.makedirs(os.path.join(saved, "report"))
    for name, text in ((f"{label}.xml", "model"), ("report/report.json", '{"all": "figures"}'),
                       ("report/index.html", "<a href='report.json'>all figures</a>"),
                       ("annotations.json", json.dumps({
                           "images": [{"id": 1, "file_name": f"images/{label}-000001.jpg"}],
                           "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}],
                           "categories": [{"id": 1, "name": label}]}))):
        with open(os.path.join(saved, name), "w", encoding="ascii") as file:
            file.write(text)


class Film:
    """Pushes frames until it is ended."""

    def __init__(self, source):
        self.background = np.random.default_rng(1).integers(
            90, 120, (HEIGHT, WIDTH, 3), np.uint8)
        self.thing = np.zeros((SIZE, SIZE, 3), np.uint8)
        self.thing[..., 2] = 200
        self.thing[8:24, 8:40] = 255, 60, 20
        self.thing[30:44, 20:30] = 30, 220, 240
        self.source, self.ended = source, threading.Event()
        self.thread = threading.Thread(target=self.push)
        self.thread.start()

    def push(self):
        n = 0
        while not self.ended.wait(1 / RATE):
            frame = self.background.copy()
            x, y, width, height = box_at(n)
            frame[y:y + height, x:x + width] = self.thing
            self.source.emit("push-buffer", Gst.Buffer.new_wrapped(frame.tobytes()))
            n += 1

    def end(self):
        self.ended.set()
        self.thread.join()


class Teach(UserTest):
    def start(self, query="", controls=CONTROLS, more="", earlier=None, **kwargs):
        """earlier: a label that was taught before."""
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        saved = os.path.join(self.folder, "saved")
        if earlier:
            make_folder(saved, earlier)
        controls += f" save-folder={saved} teach=detect {more}"
        server, page = self.serve(controls, SOURCE, query, **kwargs)
        film = Film(server.pipeline.get_by_name("source"))
        self.addCleanup(film.end)
        page.run("document.addEventListener('frame-shown', ({ detail }) => { record = detail; })")
        page.wait("document.getElementById('status').textContent === 'Live'")
        page.wait("window.record")
        return server, page

    def press(self, page, button):
        page.run(f"document.getElementById('teach-{button}').click()")

    def text(self, page, name):
        return page.run(f"document.getElementById('teach-{name}').textContent")

    def says(self, page, name, part, **kwargs):
        page.wait(f"document.getElementById('teach-{name}').textContent.includes('{part}')",
                  **kwargs)

    def draw(self, page, touch=False):
        """Draws a box around the object, which the picture shows while it is drawn."""
        self.press(page, "draw")
        x, y, width, height = box_at(page.run("record.frame_num"))
        self.drag(page, (x / WIDTH, y / HEIGHT),
                  ((x + width) / WIDTH, (y + height) / HEIGHT), touch=touch)

    def kept(self):
        """Returns {frame's picture: boxes} of annotations.json."""
        path = os.path.join(self.folder, "saved", "annotations.json")
        with open(path, encoding="utf-8") as file:
            coco = json.load(file)
        return {image["id"]: [item["bbox"] for item in coco["annotations"]
                              if item["image_id"] == image["id"]] for image in coco["images"]}

    def stops(self, page):
        """Keeps nothing by itself any more."""
        page.run("document.getElementById('teach-follow').checked"
                 " && document.getElementById('teach-follow').click()")

    def pictures(self, page):
        return int(self.text(page, "count").split()[0])

    def test_follows_trains_and_uses(self):
        """From a model that finds nothing to one that finds the object, in the same pipeline."""
        server, page = self.start()
        self.draw(page)
        self.says(page, "note", "Following it")
        end = time.monotonic() + 60
        while self.pictures(page) < 12:
            self.assertLess(time.monotonic(), end)
            if "lost" in self.text(page, "note"):
                self.draw(page)
            time.sleep(0.1)
        self.stops(page)
        boxes = [box for list_ in self.kept().values() for box in list_]
        self.assertTrue(all(box[2] > SIZE / 2 and box[3] > SIZE / 2 for box in boxes), boxes)
        self.press(page, "train")
        self.says(page, "outcome", "Trained in", timeout=TRAINING)
        server.pipeline.get_by_name("track").emit("clear-target")
        self.press(page, "use")
        self.says(page, "note", "detect uses object.xml now")
        self.assertTrue(server.pipeline.get_by_name("detect").get_property("model")
                        .endswith("/saved/object.xml"))
        page.wait("(record.objects ?? []).some(({ roi_type: label }) => label === 'object')")
        link = page.run("document.getElementById('teach-report').getAttribute('href')")
        self.assertEqual(get(server.port, "/" + link).status, 200)
        self.assertEqual(page.complaints(), [])

    def test_the_picture_stands_still(self):
        """The box belongs to the frame that was shown when it was begun."""
        _, page = self.start(more="max-width=160")
        self.stops(page)
        self.press(page, "draw")
        page.run("""document.getElementById('canvas').addEventListener(
            'pointerdown', () => { begun = record.frame_num; })""")
        first, last = page.run(PLACES % [[0.25, 0.25], [0.5, 0.75]])
        self.mouse(page, "Moved", first, 0)
        self.mouse(page, "Pressed", first)
        time.sleep(0.5)  # in which the object moves by 25 pixels, elsewhere
        self.mouse(page, "Moved", last)
        self.mouse(page, "Released", last)
        self.says(page, "count", "1 picture with 1 box")
        self.assertEqual(list(self.kept().values()), [[[40, 30, 40, 60]]])  # of the picture
        begun = page.run("begun")
        (name,) = os.listdir(os.path.join(self.folder, "saved", "images"))
        picture = cv2.imread(os.path.join(self.folder, "saved", "images", name)).astype(int)
        rows, columns = np.nonzero(picture[..., 2] > picture[..., 1] + 60)
        x, y, *_ = box_at(begun)
        self.assertLess(abs(columns.min() - x / 2) + abs(rows.min() - y / 2), 5)
        page.wait(f"record.frame_num > {begun}")
        # a second box on a paused frame belongs to the same picture
        page.run("document.getElementById('pause').click()")
        for left in 0.25, 0.6:
            self.press(page, "draw")
            self.drag(page, (left, 0.25), (left + 0.25, 0.5))
            time.sleep(0.1)
        self.says(page, "count", "2 pictures with 3 boxes")
        self.press(page, "undo")
        self.says(page, "count", "1 picture with 1 box")
        # what was removed or refused, or has another label, does not come back
        self.press(page, "draw")
        self.drag(page, (0.25, 0.25), (0.25 + 1.2 / WIDTH, 0.5))
        self.says(page, "note", "less than 2 pixels")
        for label in "object", "pen":
            page.run(f"""(() => {{
              const field = document.getElementById('teach-label');
              field.value = '{label}';
              field.dispatchEvent(new Event('input'));
            }})()""")
            self.press(page, "draw")
            self.drag(page, (0.25, 0.25), (0.5, 0.5))
            self.says(page, "count", "2 pictures" if label == "object" else "1 picture with")
        self.assertEqual(sorted(len(boxes) for boxes in self.kept().values()), [1, 1, 1])

    def test_keys_freeze_too(self):
        """A box that is drawn with keys, slowly, belongs to the frame on which it was begun."""
        _, page = self.start()
        self.stops(page)
        self.press(page, "draw")
        page.run("document.getElementById('canvas').focus()")
        self.key(page, " ", 32, " ")
        time.sleep(0.5)
        begun = page.run("record.frame_num")
        for _ in range(5):
            for code, key in (39, "ArrowRight"), (40, "ArrowDown"):
                self.key(page, key, code)
        time.sleep(0.5)
        self.assertEqual(page.run("record.frame_num"), begun)
        self.key(page, " ", 32, " ")
        self.says(page, "count", "1 picture with 1 box")

    def test_what_is_followed_counts_elsewhere(self):
        """Boxes that are drawn elsewhere come with the object; wrong boxes elsewhere do not."""
        server, page = self.start()
        self.draw(page)
        self.says(page, "note", "Following it")
        page.wait("(record.objects ?? []).length === 1")
        self.stops(page)
        self.press(page, "draw")
        self.drag(page, (0.01, 0.01), (0.1, 0.12))
        page.wait("document.getElementById('teach-note').textContent === ''")
        wait_for(lambda: [0, 0] in [[len(boxes) - 2, 0] for boxes in self.kept().values()],
                 "a picture with both")
        self.assertEqual(server.pipeline.get_by_name("track").get_property("max-targets"), 2)
        server.pipeline.get_by_name("track").emit("set-target", 5, 5, 30, 30)
        page.wait("(record.objects ?? []).length === 2")
        self.press(page, "not")
        self.drag(page, (20 / WIDTH, 20 / HEIGHT))
        self.says(page, "note", "Kept as a counterexample")

    def test_lost_targets_make_room(self):
        """A tracker that is full of targets that nobody sees follows the new box all the same."""
        server, page = self.start()
        track = server.pipeline.get_by_name("track")
        for x in 10, 60:
            track.emit("set-target", x, 10, 40, 40)
        page.wait("record.objects?.length === 2")
        self.draw(page)
        self.says(page, "note", "Following it")
        page.wait("record.objects?.length === 1")

    def test_a_box_that_the_object_left(self):
        """The page tells boxes with the object from others, elsewhere, when it is larger, and at the
        border."""
        _, page = self.start()
        shares = page.run("""import('./match.js').then(({ Look }) => {
          const paint = (x, y, size) => {
            const canvas = new OffscreenCanvas(320, 240), context = canvas.getContext('2d');
            context.fillStyle = '#576';
            context.fillRect(0, 0, 320, 240);
            context.fillStyle = '#c22';
            context.fillRect(x, y, size, size);
            context.fillStyle = '#fe4';
            context.fillRect(x + size / 4, y + size / 4, size / 2, size / 3);
            return canvas;
          };
          const box = (x, y, size) => ({ x, y, width: size, height: size });
          const look = new Look(paint(100, 80, 40), box(100, 80, 40));
          const later = paint(230, 150, 52);
          const border = paint(-6, 214, 40), large = paint(60, 20, 200);
          return [[later, box(230, 150, 52)], [later, box(236, 145, 50)], [border, box(-6, 214, 40)],
            [large, box(60, 20, 200)],
            [later, box(264, 180, 52)], [later, box(100, 80, 40)], [later, box(-5, 190, 40)],
            [later, box(285, 205, 50)], [later, box(60, 20, 200)], [later, box(0, 0, 320)]]
            .map(([picture, each]) => look.isIn(picture, each));
        })""")
        self.assertEqual(shares, 4 * [True] + 6 * [False])

    def test_not_this(self):
        """A click on a wrong box keeps it with its surroundings, as a picture without boxes."""
        server, page = self.start()
        self.stops(page)
        server.pipeline.get_by_name("track").emit("set-target", 20, 30, 40, 50)
        page.wait("record.objects?.length === 1")
        self.press(page, "not")
        self.assertTrue(page.run("canvas.matches('.drawing')"))
        self.below(page, "Click on boxes that are wrong")
        self.drag(page, (0.9, 0.9))
        self.below(page, "No box there")
        x, y, width, height = page.run("(({ x, y, w, h }) => [x, y, w, h])(record.objects[0])")
        self.drag(page, ((x + width / 2) / WIDTH, (y + height / 2) / HEIGHT))
        self.below(page, "Kept as a counterexample")
        self.says(page, "count", "1 counterexample")
        self.assertEqual(list(self.kept().values()), [[]])
        self.key(page, "Escape", 27)
        self.assertEqual(page.run(
            "document.getElementById('teach-not').getAttribute('aria-pressed')"), "false")
        self.assertFalse(page.run("canvas.matches('.drawing')"))
        self.assertEqual(self.text(page, "note"), "")

    def below(self, page, part):
        """Waits until the bar below the picture says so."""
        page.wait(f"document.getElementById('drawing-bar')?.innerText.includes('{part}')")

    def test_label_of_what_is_followed(self):
        """The page shows the object's label; the record has the tracker's."""
        _, page = self.start()
        page.run("document.getElementById('teach-label').value = 'cup'")
        self.draw(page)
        self.says(page, "note", "Following it")
        page.wait("record.objects?.[0].roi_type === 'target'")
        count = "[...document.querySelectorAll('#labels label')].some(" \
            "(label) => label.textContent === '%s1')"
        page.wait(count % "cup")
        self.press(page, "undo")
        page.wait(count % "target")

    def test_refusals(self):
        _, page = self.start()
        self.stops(page)
        page.run("document.getElementById('teach-label').value = '../x'")
        self.draw(page)
        self.says(page, "note", "A-Z")
        self.assertEqual(os.listdir(os.path.join(self.folder, "saved")), ["images"])
        page.run("document.getElementById('teach-label').value = 'cup'")
        self.draw(page)
        self.says(page, "count", "1 picture ")
        self.press(page, "train")
        self.says(page, "outcome", "Training failed", timeout=TRAINING)
        self.says(page, "outcome", "at least 7")

    def test_on_a_phone(self):
        _, page = self.start(width=360, height=700)
        page.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.stops(page)
        self.draw(page, touch=True)
        self.says(page, "count", "1 picture with 1 box")
        (box,), = self.kept().values()
        self.assertGreater(overlap(box, (box[0], box[1], SIZE, SIZE)), TRUTH)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 360)

    def test_goes_on_after_a_restart(self):
        """The page knows label, model and report of an earlier run."""
        _, page = self.start(earlier="cup")
        self.says(page, "count", "1 picture with 1 box")
        for name in "use", "report":
            self.assertFalse(page.run(f"document.getElementById('teach-{name}').hidden"))

    def test_report_with_a_token(self):
        """The report and its link work, and the token is not in their addresses."""
        with tempfile.TemporaryDirectory() as folder:
            _, page = self.start("?token=change-token", more=make_tokens(folder), earlier="cup")
            page.wait("!document.getElementById('teach-report').hidden")
            page.go(page.run("document.getElementById('teach-report').href"))
            self.assertEqual(page.run("document.body.innerText"), "all figures")
            self.mouse(page, "Moved", (20, 20), 0)
            self.mouse(page, "Pressed", (20, 20))
            self.mouse(page, "Released", (20, 20))
            page.wait("document.body.innerText.includes('\"all\"')")
            history = page.call("Page.getNavigationHistory")["entries"]
            self.assertIn("/report.json", history[-1]["url"])
            self.assertNotIn("token", "".join(entry["url"] for entry in history[-2:]))

    def test_widths(self):
        """Nothing of the panel is wider than it or too small to touch, in light and dark."""
        folder = os.environ.get("CUV_TEST_SHOTS")
        _, page = self.start(earlier=40 * "W")
        self.says(page, "count", "1 picture")
        page.run("""document.getElementById('teach-stop').hidden = false;
          for (const text of document.querySelectorAll('#teach .message')) {
            text.textContent = 'Training failed: ' + '/long'.repeat(20);
          }""")
        for theme in "light", "dark":
            page.call("Emulation.setEmulatedMedia", features=[
                {"name": "prefers-color-scheme", "value": theme}])
            for width in 360, 1200:
                page.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                          deviceScaleFactor=1, mobile=False)
                if folder:
                    page.shoot(os.path.join(folder, f"teach-{width}-{theme}.png"))
                self.check_fits(page, width)

    def check_fits(self, page, width):
        self.assertEqual(page.run("""(() => {
          const panel = document.getElementById('teach').getBoundingClientRect();
          return [...document.querySelectorAll('#teach *')].filter((one) => {
            const { left, right, width, height } = one.getBoundingClientRect();
            return width > 0 && (left < panel.left || right > panel.right
              || one.scrollWidth > Math.ceil(width) && !one.matches('input')
              || one.matches('button, a, input:not([type=checkbox])')
                && (width < 24 || height < 24));
          }).map((one) => one.outerHTML);
        })()"""), [])
        # the canvas to draw on gets the picture's new size with the next frame of the screen
        page.wait(f"document.documentElement.scrollWidth <= {width}")

    def test_looking_only(self):
        with tempfile.TemporaryDirectory() as folder:
            tokens = make_tokens(folder)
            _, page = self.start("?token=read-token", more=tokens)
            page.wait("document.body.innerText.includes('Your token allows looking only.')")
            self.assertTrue(page.run("document.getElementById('teach').hidden"))


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("skipped: chromium is not installed")
        sys.exit(77)
    run()
