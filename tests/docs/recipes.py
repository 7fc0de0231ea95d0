#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs docs/recipes.md and checks the output of each recipe.

usage: recipes.py SOURCE-FOLDER
"""

import collections
import csv
import functools
import glob
import http.server
import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

import cv2
import numpy

import docs

PAGE = "docs/recipes.md"
VIDEO = "/usr/share/doc/opencv-doc/examples/data/Megamind.avi"
VTEST = VIDEO.replace("Megamind", "vtest")
BOX = ("x", "y", "w", "h")
outputs = {}  # what the blocks of each recipe printed


def run_recipes(top, folder):
    with open(os.path.join(top, PAGE), encoding="utf-8") as file:
        lines = file.read().split("\n")
    docs.prepare(top, folder)
    for block in docs.blocks_of(top, PAGE):
        start = int(block.where.rsplit(":", 1)[1])
        title = [line[3:] for line in lines[:start] if line.startswith("## ")]
        output = docs.do_block(block, top, folder)
        outputs.setdefault(title[-1] if title else "", []).append(output)


def records(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def gstreamer_version():
    text = subprocess.check_output(["gst-launch-1.0", "--gst-version"], text=True)
    return tuple(int(number) for number in re.findall(r"\d+", text))


@functools.cache
def found():
    """Returns the number, time and boxes of each frame of the video."""
    return [
        (r["frame_num"], r["timestamp"],
         [tuple(o[key] for key in BOX) for o in r.get("objects", [])])
        for r in records("faces.jsonl")
    ]


def boxes():
    return [(number, time) + box for number, time, all in found() for box in all]


@functools.cache
def video():
    return list(frames_of(VIDEO))


def frames_of(path):
    reader = cv2.VideoCapture(path)
    while (frame := reader.read()[1]) is not None:
        yield frame


def correlation(a, b):
    """Returns the correlation of two pictures."""
    return numpy.corrcoef(a.ravel(), b.ravel())[0, 1]


def edges(picture):
    return cv2.Laplacian(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), cv2.CV_32F).std()


class Recipes(unittest.TestCase):
    def test_every_block_runs(self):
        self.assertEqual(docs.problems, [])
        self.assertGreater(len(boxes()), 200)
        # GStreamer 1.28 decodes all but the last frame
        self.assertEqual(len(video()) - len(found()), gstreamer_version() >= (1, 28))

    def test_every_recipe_is_checked(self):
        self.assertEqual(set(outputs) - {""}, {
            "An RTSP camera", "Several cameras", "Sound", "Boxes by RTSP",
            "Crops of detected objects", "Hidden faces", "Count",
            "Count people at a line", "pandas", "SQLite", "InfluxDB and Prometheus",
            "A browser, with HLS"})

    def test_rtsp(self):
        door = records("door.jsonl")
        self.assertGreater(len(door), 10)
        for record in door:
            self.assertEqual(record["source"], "door")
            self.assertEqual(record["resolution"], {"width": 720, "height": 528})
            self.assertGreaterEqual(len(record["objects"]), 1)

    def test_rtsp_without_a_server(self):
        """The wait for the address ends when the server exits."""
        with open(os.path.join(TOP, PAGE), encoding="utf-8") as file:
            wait = re.search(r"^until .*address.*$", file.read(), re.M)[0]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["bash", "-c", "false >address &\n" + wait], cwd=folder,
                           check=True, timeout=60)

    def test_cameras(self):
        frames = list(frames_of("wall.avi"))
        self.assertGreater(len(frames), 60)
        for frame in frames:
            self.assertEqual(frame.shape, (576, 720 + 768, 3))
        left, right = frames[50][:528, :720], frames[50][:, 720:]
        yard = itertools.islice(frames_of(VTEST), 30)  # 10 frames a second, not 24
        self.assertGreater(max(correlation(left, frame) for frame in video()[45:56]), 0.9)
        self.assertGreater(max(correlation(right, frame) for frame in yard), 0.9)
        first, second = records("first.jsonl"), records("second.jsonl")
        self.assertEqual({r["source"] for r in first}, {"door"})
        self.assertEqual({r["source"] for r in second}, {"yard"})
        self.assertEqual(
            [r["frame_num"] for r in first if r["frame_num"] < 60],
            [number for number, _, all in found()[:60] if all])

    def test_sound(self):
        # videorate may repeat the last frame
        self.assertIn(len(list(frames_of("spoken.mp4"))) - len(found()), (0, 1))
        streams = subprocess.check_output(["gst-discoverer-1.0", "spoken.mp4"], text=True,
                                          env=dict(os.environ, LC_ALL="C"))
        self.assertIn("audio #2: MPEG-4 AAC", streams)

    def test_boxes_by_rtsp(self):
        picture = cv2.imread("watched-29.jpg")
        self.assertEqual(picture.shape, video()[0].shape)
        best = min(video(), key=lambda frame: cv2.absdiff(picture, frame).mean())
        self.assertGreater(correlation(picture, best), 0.9)
        self.assertGreater(numpy.abs(picture.astype(int) - best).max(), 100)  # the box is drawn

    def test_crops(self):
        self.assertGreater(len(boxes()), 200)
        self.assertEqual(sorted(os.listdir("crops")), [f"{i:05}.jpg" for i in range(len(boxes()))])
        for i, (number, _, x, y, w, h) in enumerate(boxes()):
            # crops contain the box, and begin at even pixels because of chroma
            crop, w, h = cv2.imread(f"crops/{i:05}.jpg"), w + (x & 1), h + (y & 1)
            x, y = x & ~1, y & ~1
            self.assertEqual(crop.shape, (h, w, 3), i)
            self.assertGreater(correlation(crop, video()[number][y:y + h, x:x + w]), 0.9, i)

    def test_hidden(self):
        hidden = list(frames_of("hidden.avi"))
        self.assertEqual(len(hidden), len(found()))
        for number, all in ((number, all) for number, _, all in found() if all):
            clear = numpy.ones(hidden[number].shape[:2], bool)
            for x, y, w, h in all:
                inside = numpy.s_[y:y + h, x:x + w]
                if w >= 100:  # smaller faces are in the background, which is out of focus
                    self.assertLess(edges(hidden[number][inside]), edges(video()[number][inside]) / 2)
                clear[max(y - h // 2, 0):y + h + h // 2, max(x - w // 2, 0):x + w + w // 2] = False
            if clear.any():  # it is empty if a face fills the picture
                self.assertGreater(correlation(hidden[number][clear], video()[number][clear]), 0.9)

    def test_hidden_both(self):
        labels = collections.Counter(o["roi_type"] for r in records("both.jsonl") for o in r["objects"])
        self.assertEqual(set(labels), {"face", "profile"})
        for record, frame, hidden in zip(records("both.jsonl"), video()[1:], frames_of("hidden-both.avi")):
            self.assertGreater(len(record["objects"]), 0)
        self.assertEqual(len(list(frames_of("hidden-both.avi"))), len(found()))

    def test_influx_and_prometheus(self):
        counts = [len(all) for _, _, all in found()]
        with open("faces.influx", encoding="ascii") as file:
            rows = [re.fullmatch(r"faces,camera=door count=(\d+)i (\d{19})\n", row) for row in file]
        self.assertEqual([int(row[1]) for row in rows], counts)
        self.assertLess(abs(int(rows[-1][2]) / 1e9 - os.path.getmtime("faces.influx")), 60)
        with open("faces.prom", encoding="ascii") as file:
            self.assertEqual(file.read(), f'faces{{camera="door"}} {counts[-1]}\n')

    def test_count(self):
        faces = json.loads("[" + ",".join(re.findall(r"\{.*?\}", outputs["Count"][0])) + "]")
        most = {}
        for _, time, all in found():
            second = time // 10**9
            most[second] = max(most.get(second, 0), len(all))
        self.assertEqual({f["second"]: f["faces"] for f in faces}, most)
        self.assertEqual(int(outputs["Count"][0].split()[-1]), max(most.values()))

    def test_count_tracks(self):
        ids = {o["id"] for r in records("tracks.jsonl") for o in r["objects"] if "id" in o}
        self.assertEqual(int(outputs["Count"][1]), len(ids))
        self.assertGreaterEqual(len(ids), 2)

    def test_count_people(self):
        """Checks how many of the annotated people are found, as the page states. A person counts as
        found if half of the annotated box is covered."""
        with open(os.path.join(TOP, "tests/data/vtest-people.json"), encoding="utf-8") as file:
            marked = [box for person in json.load(file)["people"] for box in person["boxes"]]
        people = {r["frame_num"]: r["objects"] for r in records("people.jsonl")}
        marked = [box for box in marked if box["frame"] % 25 == 0]
        hits = sum(any(covered(box, o) > 0.5 for o in people.get(box["frame"], []))
                   for box in marked)
        with open(os.path.join(TOP, PAGE), encoding="utf-8") as file:
            stated = re.search(
                r"finds (\d+) of\s+(\d+)\s+annotated\s+people\s+in\s+this\s+video", file.read())
        self.assertEqual((hits, len(marked)), tuple(map(int, stated.groups())))

    def test_count_at_a_line(self):
        """Compares the totals with those that the page states, and with a count by eye: 32
        crossings of feet, with their second and column. A person whose feet only touch the line
        has not crossed it."""
        with open(os.path.join(TOP, "tests/data/vtest-crossings.json"), encoding="utf-8") as file:
            marked = [c["direction"] for c in json.load(file)["crossings"]]
        marked = [marked.count("up"), marked.count("down")]
        with open(os.path.join(TOP, PAGE), encoding="utf-8") as file:
            stated = re.search(
                r"counts (\d+) people in and (\d+) out.*?independent counts, (\d+) go in and\s+(\d+)"
                r" out", file.read(), re.DOTALL)
        counted = json.loads(outputs["Count people at a line"][0].split("\n")[-2])[1:]
        self.assertEqual(counted + marked, list(map(int, stated.groups())))
        for number, truth in zip(counted, marked):
            self.assertLessEqual(abs(number - truth), 0.15 * truth)

    def test_pandas(self):
        with open("faces.csv", newline="", encoding="utf-8") as file:
            self.assertEqual(len(list(csv.DictReader(file))), len(boxes()))
        rows = [line.split() for line in outputs["pandas"][1].splitlines()[2:]]
        wanted = {}
        for _, time, _, _, w, _ in boxes():
            wanted.setdefault(time // 10**9, []).append(w)
        self.assertEqual([(int(s), int(n)) for s, n, _ in rows],
                         [(s, len(w)) for s, w in sorted(wanted.items())])
        for (_, _, width), (_, w) in zip(rows, sorted(wanted.items())):
            self.assertAlmostEqual(float(width), sum(w) / len(w), places=4)

    def test_sqlite(self):
        base = sqlite3.connect("faces.db")
        rows = base.execute("select frame, time, x, y, w, h from faces").fetchall()
        self.assertEqual(rows, boxes())
        self.assertEqual(len(outputs["SQLite"][0].splitlines()),
                         2 + len({time // 10**9 for _, time, *_ in boxes()}))

    def test_hls(self):
        """Loads the files like a browser."""
        handler = functools.partial(Quiet, directory="web")
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever).start()
            try:
                self.load(f"http://127.0.0.1:{server.server_port}/")
            finally:
                server.shutdown()

    def load(self, address):
        def get(name):
            with urllib.request.urlopen(address + name) as answer:
                return answer.read()
        self.assertIn("faces.m3u8", get("").decode())
        playlist = get("faces.m3u8").decode()
        self.assertTrue(playlist.startswith("#EXTM3U"))
        self.assertIn("#EXT-X-ENDLIST", playlist)
        seconds = [float(s) for s in re.findall(r"#EXTINF:([\d.]+)", playlist)]
        pieces = re.findall(r"^\d+\.ts$", playlist, re.M)
        self.assertEqual(len(pieces), 6)
        self.assertLess(max(seconds), 2.1)
        self.assertAlmostEqual(sum(seconds), found()[-1][1] / 1e9, delta=0.1)
        n_frames = 0
        for piece in pieces:
            with open("piece.ts", "wb") as file:
                file.write(get(piece))
            frames = list(frames_of("piece.ts"))  # begins with a key frame
            self.assertEqual({frame.shape for frame in frames}, {(528, 720, 3)})
            n_frames += len(frames)
        self.assertEqual(n_frames, len(found()))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def covered(box, region):
    """Returns the fraction of the annotated box that is in the region."""
    width = min(box["x"] + box["width"], region["x"] + region["w"]) - max(box["x"], region["x"])
    height = min(box["y"] + box["height"], region["y"] + region["h"]) - max(box["y"], region["y"])
    return max(width, 0) * max(height, 0) / (box["width"] * box["height"])


if __name__ == "__main__":
    TOP = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        run_recipes(TOP, scratch)
        unittest.main(argv=sys.argv[:1])
