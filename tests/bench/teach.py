#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Teaches detectors in the page of visionwebsink, as a user does, and measures them.

usage: teach.py [--keep FOLDER] [OBJECT...]   face, logo, toy; default: all

face: the woman of Megamind.avi. She is taught in the first half of the film, and looked for in 30
frames of the second half, annotated by hand in tests/data/megamind-face.json. logo: OpenCV's,
drawn into tree.avi; toy: HappyFish.jpg, drawn into vtest.avi. Both wander, turn and change their
size; they are taught in the first half, and looked for in the second.

The user of this script has a mouse: it draws a box around the object in the page, draws again if
the tracker has lost it, and clicks on wrong boxes. It knows where the object is in the frame that
it sees, but not in later ones. A box finds the object if their intersection over union is 0.5 or
more; every other one is a false positive. Needs Chromium, opencv-doc and python3-opencv; run it in
`meson devenv`.
"""
import argparse
import json
import math
import os
import sys
import tempfile
import threading
import time

import cv2
import gi
import numpy as np

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path[:0] = [os.path.join(TESTS, "elements", "web"), os.path.join(TESTS, "models", "waldboost")]
from boxes import overlap  # noqa: E402
from chromium import Chromium, Page  # noqa: E402

DATA = "/usr/share/doc/opencv-doc/examples/data/"
LINE = "appsrc name=film format=time max-bytes=1000000 block=true ! jpegdec ! videoconvert" \
    " ! waldboostdetect name=detect model=cuvision-empty.xml message=none" \
    " ! rcdtrack name=track max-distance=0.2 message=none" \
    " ! visionwebsink name=sink port=0 sync=true controls=track.set-target,track.clear-target" \
    " save-folder={folder} teach=detect"
PICTURES = 60  # that the user waits for
PATIENCE = 45  # seconds that the user draws and watches
CLICKS = 5  # on wrong boxes, at most


# ---- films ----

def read(name, scale=1):
    """Yields the frames of a film of opencv-doc."""
    film = cv2.VideoCapture(DATA + name)
    while (frame := film.read()[1]) is not None:
        yield cv2.resize(frame, None, fx=scale, fy=scale) if scale != 1 else frame


def write(path, frames):
    size = frames[0].shape[1::-1]
    film = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), 10, size)
    for frame in frames:
        film.write(frame)
    film.release()


def play(source, frames, rate):
    """Plays the frames again and again, until the pipeline stops."""
    height, width = frames[0].shape[:2]
    source.set_property("caps", Gst.Caps.from_string(
        f"image/jpeg,width={width},height={height},framerate={rate}/1"))
    pictures = [cv2.imencode(".jpg", frame, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
                for frame in frames]

    def push():
        n = 0
        while True:
            buffer = Gst.Buffer.new_wrapped(pictures[n % len(pictures)])
            buffer.pts = n * Gst.SECOND // rate
            buffer.duration = Gst.SECOND // rate
            if source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return
            n += 1

    threading.Thread(target=push, daemon=True).start()


def sprite(name, height):
    """Returns a picture of a thing and its opacity, of this height."""
    picture = cv2.imread(DATA + name, cv2.IMREAD_UNCHANGED)
    if picture.shape[2] == 4:
        opacity = picture[..., 3]
    else:
        _, opacity = cv2.threshold(picture.min(axis=2), 235, 255, cv2.THRESH_BINARY_INV)
        opacity = cv2.morphologyEx(opacity, cv2.MORPH_CLOSE, np.ones((9, 9)))
    x, y, width, high = cv2.boundingRect(opacity)
    cut = np.s_[y:y + high, x:x + width]
    size = round(width * height / high), height
    return (cv2.resize(picture[cut][..., :3], size, interpolation=cv2.INTER_AREA),
            cv2.resize(opacity[cut], size, interpolation=cv2.INTER_AREA))


def draw(frame, thing, t):
    """Draws the thing where it is at the time t; returns its box."""
    picture, opacity = thing
    height, width = frame.shape[:2]
    scale, angle = 1 + 0.25 * math.sin(0.031 * t), 8 * math.sin(0.047 * t)
    turn = cv2.getRotationMatrix2D((picture.shape[1] / 2, picture.shape[0] / 2), angle, scale)
    turn[:, 2] += (width / 2 + 0.33 * width * math.sin(0.019 * t) - picture.shape[1] / 2,
                   height / 2 + 0.3 * height * math.sin(0.027 * t + 1) - picture.shape[0] / 2)
    size = width, height
    mask = cv2.warpAffine(opacity, turn, size, flags=cv2.INTER_AREA)
    moved = cv2.warpAffine(picture, turn, size, flags=cv2.INTER_AREA)
    weight = mask[..., None] / 255
    frame[:] = np.uint8(np.round(frame * (1 - weight) + moved * weight))
    return cv2.boundingRect(np.uint8(mask > 128))


def drawn(name, scale, rate, thing):
    """Returns films with a drawn thing: to teach, and to test, each with its boxes; and the rate
    of the first one."""
    frames = list(read(name, scale))
    frames = [frames[i % len(frames)].copy() for i in range(max(len(frames), 400))]
    boxes = [draw(frame, thing, t) for t, frame in enumerate(frames)]
    half = len(frames) // 2
    order = list(range(half)) + list(range(half - 1, -1, -1))  # there and back again
    return ([frames[i] for i in order], [boxes[i] for i in order],
            frames[half:], dict(enumerate(boxes[half:])), rate)


def make_face():
    frames = list(read("Megamind.avi"))
    with open(os.path.join(TESTS, "data", "megamind-face.json"), encoding="utf-8") as file:
        truth = {box["frame"]: (box["x"], box["y"], box["width"], box["height"])
                 for box in json.load(file)["boxes"]}
    first = frames[1:135]  # frame 0 is black
    boxes = [(212, 140, 140, 190)] * 3 + [None] * (len(first) - 3)
    return first, boxes, [frames[i] for i in truth], dict(enumerate(truth.values())), 24


OBJECTS = {
    "face": make_face,
    "logo": lambda: drawn("tree.avi", 2, 15, sprite("opencv-logo.png", 90)),
    "toy": lambda: drawn("vtest.avi", 1, 10, sprite("HappyFish.jpg", 64)),
}


# ---- the user ----

class User:
    """A user of the page, who knows the boxes of a film's frames."""

    def __init__(self, browser, url, name, boxes):
        self.page = Page(browser, url, height=1000)
        self.boxes = boxes
        self.page.run("document.addEventListener('frame-shown',"
                      " ({ detail }) => { window.record = detail; })")
        self.page.wait("!document.getElementById('teach').hidden && window.record")
        self.page.run(f"""(() => {{
          const field = document.getElementById('teach-label');
          field.value = '{name}';
          field.dispatchEvent(new Event('input'));
        }})()""")

    def click(self, button):
        self.page.run(f"document.getElementById('{button}').click()")

    def text(self, node):
        return self.page.run(f"document.getElementById('{node}').textContent")

    def record(self):
        return self.page.run("window.record")

    def mouse(self, kind, x, y):
        """x, y: in pixels of the frame"""
        left, top, scale = self.page.run("""(() => {
          const { left, top, width, height } = canvas.getBoundingClientRect();
          const scale = Math.min(width / canvas.width, height / canvas.height);
          return [left + (width - canvas.width * scale) / 2,
            top + (height - canvas.height * scale) / 2,
            scale * canvas.width / window.record.resolution.width];
        })()""")
        self.page.call("Input.dispatchMouseEvent", type=kind, x=left + x * scale,
                       y=top + y * scale, button="left", buttons=1, clickCount=1)

    def box(self):
        """Waits for a frame whose box is known; returns it."""
        while (box := self.boxes[self.record()["frame_num"] % len(self.boxes)]) is None:
            time.sleep(0.01)
        return box

    def draw(self):
        self.click("teach-draw")
        x, y, width, height = self.box()
        self.mouse("mousePressed", x, y)
        box = self.boxes[self.record()["frame_num"] % len(self.boxes)]
        x, y, width, height = box or (x, y, width, height)
        self.mouse("mouseMoved", x + width / 2, y + height / 2)
        self.mouse("mouseReleased", x + width, y + height)

    def pictures(self):
        return int(self.text("teach-count").split()[0])

    def report(self, what):
        print(f"{what}: {self.text('teach-count')}; {self.text('teach-note')}; "
              f"{self.text('teach-outcome')}", file=sys.stderr, flush=True)

    def show(self):
        """Draws boxes until there are enough pictures; returns the number of boxes drawn."""
        n = 0
        end = time.monotonic() + PATIENCE
        while self.pictures() < PICTURES and time.monotonic() < end:
            if n == 0 or "lost" in self.text("teach-note"):
                self.draw()
                n += 1
                time.sleep(1)
                self.report(f"box {n}")
            time.sleep(0.2)
        return n

    def train(self):
        self.click("teach-train")
        self.page.wait("!document.getElementById('teach-stop').hidden")
        end = time.monotonic() + 300
        while self.page.run("!document.getElementById('teach-stop').hidden"):
            if time.monotonic() > end:
                raise AssertionError(self.text("teach-outcome"))
            time.sleep(0.2)
        self.report("training")
        if not self.text("teach-outcome").startswith("Trained"):
            raise AssertionError(self.text("teach-outcome"))
        self.click("teach-use")
        self.page.wait("document.getElementById('teach-note').textContent.includes('uses')")

    def reject(self):
        """Clicks on wrong boxes for some seconds; returns their number."""
        n = 0
        self.click("teach-not")
        end = time.monotonic() + 15
        while n < CLICKS and time.monotonic() < end:
            record = self.record()
            truth = self.boxes[record["frame_num"] % len(self.boxes)]
            for found in record.get("objects", []):
                box = found["x"], found["y"], found["w"], found["h"]
                if truth and overlap(box, truth) < 0.1:
                    self.mouse("mousePressed", box[0] + box[2] / 2, box[1] + box[3] / 2)
                    self.mouse("mouseReleased", box[0] + box[2] / 2, box[1] + box[3] / 2)
                    n += 1
                    time.sleep(0.5)
                    break
            time.sleep(0.05)
        self.click("teach-not")
        return n


def teach(browser, name, film, folder):
    """Returns how long the user worked, the trainings took, and how often it did what."""
    frames, boxes, rate = film
    pipeline = Gst.parse_launch(LINE.format(folder=folder))
    play(pipeline.get_by_name("film"), frames, rate)
    pipeline.set_state(Gst.State.PLAYING)
    url = pipeline.get_by_name("sink").get_property("url")
    user = User(browser, url, name, boxes)
    begin = time.monotonic()
    n_boxes = user.show()
    pictures, shown = user.pictures(), time.monotonic()
    user.train()
    trained = time.monotonic()
    wrong = user.reject()
    person = shown - begin + time.monotonic() - trained
    training = [trained - shown]
    if wrong > 0:
        again = time.monotonic()
        user.train()
        training.append(time.monotonic() - again)
    shot = os.path.join(folder, "page.png")
    user.page.shoot(shot)
    complaints = user.page.complaints()
    user.page.close()
    pipeline.set_state(Gst.State.NULL)
    return {"boxes": n_boxes, "pictures": pictures, "clicks": wrong, "person": round(person, 1),
            "training": [round(s, 1) for s in training], "complaints": complaints}


# ---- measuring ----

def measure(model, film, truth):
    """Returns recall and false positives per frame at the defaults, in frames with a box."""
    records = film + ".jsonl"
    pipeline = Gst.parse_launch(
        f"filesrc location={film} ! decodebin ! videoconvert ! waldboostdetect model={model}"
        f" message=none ! visionpublish file-path={records} ! fakesink")
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit(message.parse_error()[0].message)
    right = wrong = 0
    with open(records, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            found = False
            for box in record.get("objects", []):
                hit = not found and overlap(
                    (box["x"], box["y"], box["w"], box["h"]), truth[record["frame_num"]]) >= 0.5
                found |= hit
                wrong += not hit
            right += found
    return right / len(truth), wrong / len(truth)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--keep", help="folder that gets films, pictures and models")
    parser.add_argument("objects", nargs="*", help="face, logo, toy; default: all")
    options = parser.parse_args()
    Gst.init(None)
    browser = Chromium()
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.objects or OBJECTS:
            folder = os.path.join(options.keep or temporary, name)
            os.makedirs(folder, exist_ok=True)
            frames, boxes, others, truth, rate = OBJECTS[name]()
            test, save = (os.path.join(folder, each) for each in ("test.avi", "saved"))
            write(test, others)
            result = teach(browser, name, (frames, boxes, rate), save)
            recall, wrong = measure(os.path.join(save, name + ".xml"), test, truth)
            print(f"{name}: recall {recall:.2f}, {wrong:.2f} false positives a frame in "
                  f"{len(truth)} others; {result}", flush=True)
    browser.close()


if __name__ == "__main__":
    main()
