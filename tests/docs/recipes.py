#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs docs/recipes.md and checks the output of each recipe.

usage: recipes.py SOURCE-FOLDER
"""

import collections
import contextlib
import csv
import functools
import glob
import http.server
import itertools
import json
import os
import re
import shutil
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
# Of the video's 270 frames: enough for all recipes but those that serve it, and the one that also
# finds profiles, which begin in frame 130. Neither film needs frames after its end to be decoded.
N_FRAMES = 71
N_PROFILE_FRAMES = 138
BOX = ("x", "y", "w", "h")
outputs = {}  # what the blocks of each recipe printed


def write_start(path, n_frames):
    """Writes the first frames of the video."""
    with open(VIDEO, "rb") as file:
        content = file.read()
    frames = [found.start() for found in re.finditer(b"00dc", content)]
    with open(path, "wb") as file:
        file.write(content[:frames[n_frames]])


def film_of(recipe):
    if "rtsp" in recipe:  # the video of a server must not end too early
        return VIDEO
    return "profiles.avi" if "labels=face,profile" in recipe else "short.avi"


def use_film(path):
    os.remove("film.avi")
    os.symlink(path, "film.avi")


def run_recipes(top, folder):
    with open(os.path.join(top, PAGE), encoding="utf-8") as file:
        lines = file.read().split("\n")
    docs.prepare(top, folder)
    write_start("short.avi", N_FRAMES)
    write_start("profiles.avi", N_PROFILE_FRAMES)
    for block in docs.blocks_of(top, PAGE):
        if os.path.lexists("film.avi"):
            use_film(film_of(block.text))
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
    return list(frames_of("short.avi"))


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
        self.assertGreater(len(boxes()), 100)
        self.assertEqual(len(video()), N_FRAMES)
        # GStreamer 1.28 decodes all but the last frame
        self.assertEqual(len(video()) - len(found()), gstreamer_version() >= (1, 28))

    def test_every_recipe_is_checked(self):
        self.assertEqual(set(outputs) - {""}, {
            "An RTSP camera", "Several cameras", "Sound", "Boxes by RTSP",
            "Crops of detected objects", "Hidden faces", "Count",
            "Count people at a line", "Who stays longer than a minute", "A table per hour",
            "Behind a network's detector", "pandas", "SQLite", "InfluxDB and Prometheus",
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
        best = min(frames_of(VIDEO), key=lambda frame: cv2.absdiff(picture, frame).mean())
        self.assertGreater(correlation(picture, best), 0.9)
        self.assertGreater(numpy.abs(picture.astype(int) - best).max(), 100)  # the box is drawn

    def test_crops(self):
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
        for record in records("both.jsonl"):
            self.assertGreater(len(record["objects"]), 0)
        n_lost = len(video()) - len(found())
        self.assertEqual(len(list(frames_of("hidden-both.avi"))), N_PROFILE_FRAMES - n_lost)

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

    def test_stay(self):
        """One person stands at the sign for ten seconds: the message and the record say when, and
        from then on back to the arrival, the record has this person in the polygon."""
        message, event = outputs["Who stays longer than a minute"][0].splitlines()
        time, zone, track, dwell = json.loads(event)
        self.assertEqual(zone, "sign")
        self.assertGreaterEqual(dwell, 10)
        for part in ("event=(string)dwell", "zone=(string)sign", f"id=(gint64){track}",
                     f"dwell=(guint64){round(dwell * 1e9)}"):
            self.assertIn(part, message)
        stay = {r["timestamp"] / 1e9: r["objects"] for r in records("stay.jsonl")}
        boxes = [(second, o) for second, all in stay.items() for o in all
                 if o.get("id") == track and time - dwell <= second <= time]
        self.assertGreater(len(boxes), 50)
        inside = [0.42 * 768 <= o["x"] + o["w"] / 2 <= 0.62 * 768
                  and 0.35 * 576 <= o["y"] + o["h"] <= 0.52 * 576 for _, o in boxes]
        self.assertTrue(inside[0] and inside[-1])
        self.assertGreater(sum(inside), 0.9 * len(inside))

    def test_table_per_hour(self):
        """The table has the totals of the last records."""
        with contextlib.closing(sqlite3.connect("counts.db")) as base:
            rows = base.execute("select source, zone, sum(count_in), sum(count_out) from counts"
                                " group by source, zone order by zone").fetchall()
            hours = base.execute("select distinct hour from counts").fetchall()
        last = [records(path)[-1] for path in ("line.jsonl", "stay.jsonl")]
        self.assertEqual(rows, [("yard", zone["zone"], zone["in"], zone["out"])
                                for record in last for zone in record["zones"]])
        made = {record["wallclock"][:13] for path in ("line.jsonl", "stay.jsonl")
                for record in records(path)}
        self.assertLessEqual({hour[:13] for hour, in hours}, made)

    def test_prometheus(self):
        served = outputs["A table per hour"][-1].splitlines()
        self.assertEqual({line.split("{")[0] for line in served},
                         {f"cuvision_table_zones_{name}" for name in
                          ("inside", "in_total", "out_total")})
        with open("hours.yml", encoding="utf-8") as file:
            used = set(re.findall(r"cuvision_\w+", file.read()))
        self.assertLess(used, {line.split("{")[0] for line in served})

    def test_promtool(self):
        """Prometheus accepts the configuration, and computes 30 from a counter that goes to 20, begins
        again, and goes to 10."""
        promtool = shutil.which("promtool")
        if promtool is None:
            self.skipTest("no promtool: install the package prometheus")
        with open("hours-test.yml", "w", encoding="utf-8") as file:
            json.dump({"rule_files": ["hours.yml"], "evaluation_interval": "1h", "tests": [{
                "interval": "6m",
                "input_series": [{"series": "cuvision_table_zones_in_total{instance='a',zone='b'}",
                                  "values": "0+4x5 0+2.5x4"}],
                "promql_expr_test": [{"expr": "zone:in:1h", "eval_time": "1h", "exp_samples": [
                    {"labels": 'zone:in:1h{instance="a",zone="b"}', "value": 30}]}]}]}, file)
        for command in ("check", "config", "prometheus.yml"), ("test", "rules", "hours-test.yml"):
            run = subprocess.run([promtool, *command], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_network(self):
        """Of two boxes that start at 190 + 40 and 10 + 40 and move 3 pixels per frame, the feet cross
        the middle, 120, in frames 37 and 24; a crossing counts two frames later."""
        events = [line.split() for line in outputs["Behind a network's detector"][-1].splitlines()]
        self.assertEqual([(label, direction) for _, _, label, direction in events],
                         [("person", "out"), ("person", "in")])
        self.assertEqual([round(float(time) * 30) for time, *_ in events], [26, 39])
        self.assertEqual(len({track for _, track, _, _ in events}), 2)

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
        self.assertEqual(len(pieces), 2)
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
