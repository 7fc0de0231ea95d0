# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client that teaches, and a sink with a folder for it. Frames are noise with an object."""

import json
import os
import tempfile
import unittest

from client import Gst, Sink, WebSocket, stat, wait_for
from controls import Remote

WIDTH, HEIGHT = 160, 120
SOURCE = "appsrc name=source is-live=true format=time caps=video/x-raw,format=GRAY8," \
    f"width={WIDTH},height={HEIGHT},framerate=30/1"
EMPTY = os.path.join(os.path.dirname(__file__), "../../../models/cuvision-empty.xml")
DETECTOR = f" ! waldboostdetect name=detect model={EMPTY}"
SIZE = 40  # pixels of an object


def draw(seed):
    """Returns the pixels of a frame with an object, and the object's box."""
    import numpy as np

    numbers = np.random.default_rng(seed)
    frame = numbers.integers(60, 120, (HEIGHT, WIDTH), np.uint8)
    x, y = int(numbers.integers(0, WIDTH - SIZE)), int(numbers.integers(0, HEIGHT - SIZE))
    frame[y:y + SIZE, x:x + SIZE] = 220
    frame[y + 8:y + SIZE - 8, x + 8:x + SIZE - 8] = 20
    frame[y + 16:y + SIZE - 16, x + 16:x + SIZE - 16] = 220
    return frame.tobytes(), [x, y, SIZE, SIZE]


class Teacher(Remote):
    """A client that teaches."""

    def __init__(self, server, token=""):
        super().__init__(server.port, "/controls" + token)
        self.seen = []  # texts that were not answers
        self.viewer = None if token else WebSocket(server.port)
        self.server = server
        wait_for(lambda: token or stat(server.sink, "viewers") > 0, "a viewer")

    def ask(self, kind, **members):
        """Returns the answer to a message."""
        self.id += 1
        self.send(json.dumps({"type": kind, "id": self.id, **members}).encode())
        while (text := self.text())["type"] not in ("done", "refused"):
            self.seen.append(text)
        assert text["id"] == self.id, text
        return text

    def expect(self, kind, **members):
        """Returns the next text of this type with these members; others are kept."""
        def fits(text):
            return text["type"] == kind and members.items() <= text.items()

        for n, text in enumerate(self.seen):
            if fits(text):
                return self.seen.pop(n)
        while (text := self.text()) is not None:
            if fits(text):
                return text
            self.seen.append(text)
        raise AssertionError(f"no text of type {kind} with {members}")

    def show(self, seed):
        """Sends a frame through the pipeline; returns its number and its box."""
        data, box = draw(seed)
        self.server.pipeline.get_by_name("source").emit(
            "push-buffer", Gst.Buffer.new_wrapped(data))
        return self.viewer.next()[0]["frame_num"], box

    def keep(self, frame, boxes, label="ring", **members):
        return self.ask("keep", example={"frame": frame, "label": label, "boxes": boxes,
                                         **members})

    def close(self):
        super().close()
        if self.viewer is not None:
            self.viewer.close()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        self.folder = os.path.join(self.top, "taught")
        self.path = os.environ["PATH"]
        self.addCleanup(os.environ.update, PATH=self.path)

    def start(self, properties="", detector=DETECTOR):
        server = Sink(f"save-folder={self.folder} {properties}", SOURCE + detector)
        self.addCleanup(server.stop)
        if server.url is None:
            self.fail(server.problem())
        return server

    def teacher(self, server, token=""):
        teacher = Teacher(server, token)
        self.addCleanup(teacher.close)
        return teacher

    def program(self, text):
        """Puts a program in the place of cuvision-train."""
        folder = os.path.join(self.top, "bin")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "cuvision-train")
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        os.environ["PATH"] = f"{folder}:{self.path}"

    def read(self):
        """Reads annotations.json: [(file_name, boxes by label)], and checks the pictures."""
        import cv2

        with open(os.path.join(self.folder, "annotations.json"), encoding="utf-8") as file:
            coco = json.load(file)
        labels = {item["id"]: item["name"] for item in coco["categories"]}
        images = {}
        for item in coco["images"]:
            picture = cv2.imread(os.path.join(self.folder, item["file_name"]))
            self.assertEqual(picture.shape[:2], (item["height"], item["width"]))
            images[item["id"]] = item["file_name"], {}
        for item in coco["annotations"]:
            x, y, w, h = item["bbox"]
            self.assertEqual((item["iscrowd"], item["area"]), (0, w * h))
            images[item["image_id"]][1].setdefault(labels[item["category_id"]], []).append(
                [x, y, w, h])
        self.assertEqual(len({item["id"] for item in coco["annotations"]}),
                         len(coco["annotations"]))
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "images"))),
                         sorted(os.path.basename(name) for name, _ in images.values()))
        return list(images.values())

    def names(self):
        return sorted(os.listdir(self.folder))
