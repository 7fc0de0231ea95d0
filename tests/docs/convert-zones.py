#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests examples/convert-zones.py: what visionzones counts with converted zones is what the rules of
the other program say.

usage: convert-zones.py CONVERT-ZONES.PY
"""

import argparse
import contextlib
import functools
import importlib.util
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import cv2
import gstcuvision
import numpy
from gstcuvision import Gst

try:
    import yaml  # noqa: F401
except ImportError:
    yaml = None

WIDTH, HEIGHT, RATE = 640, 360, 10
CONFIG = 1920, 1080  # the size that nvdsanalytics' files are written for
PROPERTY = "[property]\nenable=1\nconfig-width=1920\nconfig-height=1080\n"
needs_yaml = unittest.skipUnless(yaml, "no PyYAML: install the package python3-yaml")


def load(path):
    spec = importlib.util.spec_from_file_location("convert_zones", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def convert(kind, text, *options):
    """Returns status, output and notes of the program, which runs in this process: that is faster."""
    output, notes, status = io.StringIO(), io.StringIO(), 0
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file, \
            contextlib.redirect_stdout(output), contextlib.redirect_stderr(notes), \
            unittest.mock.patch("sys.argv", [PROGRAM.__file__, kind, file.name, *options]):
        file.write(text)
        file.flush()
        try:
            PROGRAM.main()
        except SystemExit as end:
            status = end.code
    if isinstance(status, str):  # the interpreter prints it
        return 1, output.getvalue(), notes.getvalue() + status + "\n"
    return status, output.getvalue(), notes.getvalue()


def converted(kind, text, *options):
    status, output, notes = convert(kind, text, *options)
    if status != 0:
        raise AssertionError(notes)
    return output


def frames(tracks):
    """Yields frames with a small box on each point of the tracks, lists of (x, y) or None."""
    for number in range(max(map(len, tracks.values()))):
        frame = Gst.Buffer.new_allocate(None, 4, None)
        frame.pts, frame.duration = number * Gst.SECOND // RATE, Gst.SECOND // RATE
        for (track, label), points in tracks.items():
            point = points[number] if number < len(points) else None
            if point is not None:
                gstcuvision.add_object(frame, label, point[0] - 1, point[1] - 2, 2, 2, track=track)
        yield frame


def play(zones, tracks, settings="hysteresis=1"):
    """Returns events as a list of (event, zone, id, direction, frame), and the rows of the last
    frame."""
    pipeline = Gst.parse_launch(
        f"appsrc name=source format=time caps=video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},"
        f"framerate={RATE}/1 ! visionzones name=zones {settings} ! appsink name=sink sync=false"
        " max-buffers=1000")
    pipeline.get_by_name("zones").set_property("zones", zones)
    source, events, rows = pipeline.get_by_name("source"), [], []
    for frame in frames(tracks):
        source.emit("push-buffer", frame)
    source.emit("end-of-stream")
    for number, sample in enumerate(gstcuvision.samples(pipeline)):
        rows = list(gstcuvision.table(sample, "zones"))
        events += [(e["event"], e["zone"], e["id"], e["direction"], number)
                   for e in gstcuvision.table(sample, "zone_events") or []]
    return events, {row["zone"]: row for row in rows}


# ---- brute force ----


def normal(a, b):
    """Returns a vector to the right of the line, seen from a: y points down."""
    return numpy.array([-(b[1] - a[1]), b[0] - a[0]], float)


def crosses(a, b, before, now):
    """Returns whether the way from before to now crosses the line from a to b, or None if it is too
    close to an end, or an end of the way too close to the line, to tell."""
    a, b, before, now = (numpy.array(p, float) for p in (a, b, before, now))
    n = normal(a, b) / numpy.linalg.norm(b - a)
    left, right = (before - a) @ n, (now - a) @ n
    if min(abs(left), abs(right)) < 3:
        return None
    if left * right > 0:
        return False
    meeting = before + (now - before) * left / (left - right)
    at = (meeting - a) @ (b - a) / ((b - a) @ (b - a))
    margin = 3 / numpy.linalg.norm(b - a)
    return None if min(abs(at), abs(at - 1)) < margin else 0 < at < 1


def random_lines(numbers, n):
    """Returns n lines and n ways, each of two points in the frame."""
    def point():
        return numbers.randrange(4, WIDTH - 4), numbers.randrange(4, HEIGHT - 4)

    def far(a):
        while True:
            b = point()
            if abs(a[0] - b[0]) + abs(a[1] - b[1]) > 60:
                return b
    pairs = [(a, far(a)) for a in (point() for _ in range(2 * n))]
    return pairs[:n], pairs[n:]


class Lines(unittest.TestCase):
    def setUp(self):
        seed = int(os.environ.get("CUV_TEST_SEED", random.randrange(10**6)))
        print(f"seed {seed}")
        self.numbers = random.Random(seed)
        self.lines, self.ways = random_lines(self.numbers, 30)

    def check(self, zones, directions):
        """directions: a function of line and way that says what a crossing is called."""
        tracks = {(i + 1, "person"): way for i, way in enumerate(self.ways)}
        events, totals = play(zones, tracks)
        found = {(zone, track): direction for _, zone, track, direction, _ in events}
        counted = [0, 0]
        for k, line in enumerate(self.lines):
            for i, way in enumerate(self.ways):
                crossing = crosses(*line, *way)
                if crossing is not None:
                    wanted = directions(k, way) if crossing else None
                    self.assertEqual(found.get((f"line {k}", i + 1)), wanted, (line, way))
                    counted[wanted == "in"] += crossing
        self.assertGreater(min(counted), 3)
        self.assertEqual(sum(row["in"] + row["out"] for row in totals.values()), len(events))

    def test_supervision(self):
        """Its trigger() calls it `in` when the cross product of the line and the way to the object
        has become negative."""
        def direction(k, way):
            (x1, y1), (x2, y2) = self.lines[k]
            x, y = way[1]
            return "in" if (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) < 0 else "out"
        zones = {f"line {k}": {"start": a, "end": {"x": b[0], "y": b[1]}}
                 for k, (a, b) in enumerate(self.lines)}
        for options in [], ["--size", f"{WIDTH}x{HEIGHT}"]:
            self.check(converted("supervision", json.dumps(zones), *options), direction)

    def test_supervision_example(self):
        """A box that goes up through a line from left to right counts as `in`, as in the example of
        supervision's documentation."""
        zones = converted("supervision", '{"start": [0, 100], "end": [200, 100]}')
        _, totals = play(zones, {(1, "person"): [(15, 150), (15, 90)]})
        self.assertEqual((totals["zone 1"]["in"], totals["zone 1"]["out"]), (1, 0))

    def test_nvdsanalytics(self):
        """A crossing in the given direction is `in`, wherever the arrow lies."""
        scale = CONFIG[0] / WIDTH
        _, arrows = random_lines(self.numbers, len(self.lines))
        for k, (line, arrow) in enumerate(zip(self.lines, arrows)):
            if normal(*line) @ numpy.subtract(arrow[1], arrow[0]) == 0:
                arrows[k] = (0, 0), tuple(normal(*line))

        def direction(k, way):
            n = normal(*self.lines[k])
            same = (n @ numpy.subtract(way[1], way[0])) * (n @ numpy.subtract(*arrows[k][::-1])) > 0
            return "in" if same else "out"
        text = PROPERTY + "[line-crossing-stream-0]\nenable=1\n"
        for k, (line, arrow) in enumerate(zip(self.lines, arrows)):
            numbers = [round(v * scale) for point in arrow + line for v in point]
            text += f"line-crossing-line {k}={';'.join(map(str, numbers))}\n"
        self.check(converted("nvdsanalytics", text), direction)

    def test_minimum_crossing_threshold(self):
        line = {"start": [0, 100], "end": [200, 100], "minimum_crossing_threshold": 3}
        zones = converted("supervision", json.dumps(line))
        way = [(50, 150), (50, 90), (50, 90), (50, 150), (50, 90), (50, 90), (50, 90)]
        self.assertEqual(play(zones, {(1, "person"): way})[0], [("cross", "zone 1", 1, "in", 6)])


class Polygons(unittest.TestCase):
    POLYGON = numpy.array([[60, 40], [600, 80], [400, 200], [580, 330], [50, 300]])

    def check_inside(self, zones, name):
        """Compares with OpenCV which points of a grid are inside."""
        points = [(x, y) for x in range(5, WIDTH, 40) for y in range(5, HEIGHT, 40)]
        distance = [cv2.pointPolygonTest(self.POLYGON, point, True) for point in points]
        points = [point for point, d in zip(points, distance) if abs(d) > 3]
        inside = sum(d > 3 for d in distance)
        _, rows = play(zones, {(i + 1, "person"): [p] for i, p in enumerate(points)})
        self.assertGreater(inside, 20)
        self.assertEqual(rows[name]["inside"], inside)

    def test_supervision(self):
        self.check_inside(converted("supervision", json.dumps([self.POLYGON.tolist()])), "zone 1")
        self.check_inside(converted("supervision", json.dumps(self.POLYGON.tolist()), "--size",
                                    f"{WIDTH}x{HEIGHT}"), "zone 1")

    def test_nvdsanalytics(self):
        values = ";".join(str(v) for v in (self.POLYGON * CONFIG[0] // WIDTH).ravel())
        for group in "roi-filtering", "overcrowding":
            text = f"{PROPERTY}[{group}-stream-0]\nenable=1\nroi-yard={values};\nclass-id=-1\n"
            self.check_inside(converted("nvdsanalytics", text), "yard")

    @needs_yaml
    def test_frigate(self):
        relative = (self.POLYGON / (WIDTH, HEIGHT)).round(4)
        pairs = [f"{x},{y}" for x, y in relative]
        for coordinates in ",".join(pairs), json.dumps(pairs):
            text = f"cameras: {{a: {{zones: {{yard: {{coordinates: {json.dumps(coordinates)}}}}}}}}}"
            self.check_inside(converted("frigate", text.replace('"[', "[").replace(']"', "]")
                                        .replace('\\"', '"')), "yard")

    @needs_yaml
    def test_frigate_pixels(self):
        pixels = ",".join(str(v) for v in (self.POLYGON * 2).ravel())
        detect = f"detect: {{width: {2 * WIDTH}, height: {2 * HEIGHT}}}"
        zones = f"zones: {{yard: {{coordinates: '{pixels}'}}}}"
        for text in (f"{detect}\ncameras: {{a: {{{zones}}}}}",
                     f"detect: {{width: 9, height: 9}}\ncameras: {{a: {{{zones}, {detect}}}}}"):
            self.check_inside(converted("frigate", text), "yard")
        self.check_inside(converted("frigate", f"cameras: {{a: {{{zones}}}}}", "--size",
                                    f"{2 * WIDTH}x{2 * HEIGHT}"), "yard")


class Rules(unittest.TestCase):
    INSIDE, OUTSIDE = (100, 100), (500, 100)
    LEFT = "0,0,0.5,0,0.5,1,0,1"

    @needs_yaml
    def test_frigate(self):
        """Labels come from the zone, or from what the camera tracks; a key may be an alias."""
        text = f"""
objects: {{track: [person]}}
defaults: &defaults
  coordinates: {self.LEFT}
cameras:
  yard:
    zones:
      first: {{<<: *defaults, inertia: 2, loitering_time: 1, objects: [car, dog]}}
      second: {{<<: *defaults, objects: "person,car"}}
      third: *defaults
"""
        zones = converted("frigate", text)
        car = [self.INSIDE] * 12 + [self.OUTSIDE] * 3
        events, _ = play(zones, {(1, "car"): car})
        self.assertEqual(events, [
            ("enter", "first", 1, "in", 0), ("enter", "second", 1, "in", 0),
            ("dwell", "first", 1, "", 10), ("leave", "second", 1, "out", 12),
            ("leave", "first", 1, "out", 13)])
        _, rows = play(zones, {(1, "person"): [self.INSIDE], (2, "dog"): [self.INSIDE]})
        self.assertEqual({name: row["inside"] for name, row in rows.items()},
                         {"first": 1, "second": 1, "third": 1})

    def test_nvdsanalytics(self):
        """Labels come from class numbers, and a crowd from the threshold."""
        roi = "roi-hall=0;0;960;0;960;1080;0;1080\n"
        text = PROPERTY + f"[overcrowding-stream-0]\nenable=1\n{roi}object-threshold=2\nclass-id=0;2\n"
        with tempfile.NamedTemporaryFile("w") as labels:
            labels.write("person\nbag\nface\n")
            labels.flush()
            zones = converted("nvdsanalytics", text, "--labels", labels.name)
        tracks = {(1, "person"): [self.INSIDE] * 3, (2, "bag"): [self.INSIDE] * 3,
                  (3, "face"): [None, self.INSIDE, self.INSIDE]}
        events, _ = play(zones, tracks)
        self.assertEqual(events, [("enter", "hall", 1, "in", 0), ("enter", "hall", 3, "in", 1),
                                  ("crowd", "hall", -1, "", 1)])

    def test_supervision_anchor(self):
        """With `center`, a box whose feet are outside counts."""
        square = [[0, 0], [200, 0], [200, 100.5], [0, 100.5]]
        for anchors, inside in ((["CENTER"], 1), ("Position.CENTER", 1), (["BOTTOM_CENTER"], 0)):
            zone = {"polygon": square, "triggering_anchors": anchors}
            _, rows = play(converted("supervision", json.dumps(zone)), {(1, "person"): [(50, 101)]})
            self.assertEqual(rows["zone 1"]["inside"], inside, anchors)

    def test_streams(self):
        text = PROPERTY + "".join(f"[roi-filtering-stream-{i}]\nroi-{name}=0;0;9;0;9;9\n"
                                  for i, name in ((0, "door"), (3, "yard")))
        for stream, name in ("0", "door"), ("3", "yard"):
            zones = json.loads(converted("nvdsanalytics", text, "--camera", stream))["zones"]
            self.assertEqual([zone["name"] for zone in zones], [name])

    def test_same_names(self):
        roi = "roi-A=0;0;99;0;99;99\n"
        text = f"{PROPERTY}[roi-filtering-stream-0]\n{roi}[overcrowding-stream-0]\n{roi}"
        status, output, notes = convert("nvdsanalytics", text)
        self.assertEqual((status, [z["name"] for z in json.loads(output)["zones"]]), (0, ["A", "A 2"]))
        self.assertIn("'A 2'", notes)


ROI = "roi-A=0;0;99;0;99;99\n"
LINE = "line-crossing-L=0;0;0;9;0;5;9;5\n"
CAMERA = "cameras:\n  yard:\n    zones:\n      lawn:\n        "
SQUARE = '"polygon": [[0, 0], [9, 0], [9, 9]]'
# format, text, what has to be on standard error
NOTES = [
    ("nvdsanalytics", f"{PROPERTY}osd-mode=2\n[roi-filtering-stream-0]\n{ROI}", ["osd-mode"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\n{ROI}object-min-width=40\n",
     ["[roi-filtering-stream-0]", "object-min-width=40"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\n{ROI}class-id=2\n",
     ["class-id=2", "--labels"]),
    ("nvdsanalytics", f"{PROPERTY}[overcrowding-stream-0]\n{ROI}time-threshold=9\n",
     ["time-threshold=9"]),
    ("nvdsanalytics", f"{PROPERTY}[overcrowding-stream-0]\n{ROI}"
     f"[roi-filtering-stream-0]\n{ROI}inverse-roi=1\n", ["[roi-filtering-stream-0]", "inverse-roi"]),
    ("nvdsanalytics", f"{PROPERTY}[line-crossing-stream-0]\n{LINE}mode=strict\nextended=1\n",
     ["mode=strict", "extended=1"]),
    ("nvdsanalytics", f"{PROPERTY}[line-crossing-stream-0]\n{LINE}{ROI}object-threshold=3\n",
     ["roi-A", "object-threshold=3"]),
    ("nvdsanalytics", f"{PROPERTY}[line-crossing-stream-0]\n{LINE}"
     "[direction-detection-stream-0]\ndirection-S=0;0;0;9\n", ["[direction-detection-stream-0]"]),
    ("nvdsanalytics", f"{PROPERTY}[line-crossing-stream-0]\n{LINE}[overcrowding-stream-0]\nenable=0\n"
     f"{ROI}", ["[overcrowding-stream-0]", "disabled"]),
    ("nvdsanalytics", f"{PROPERTY}[line-crossing-stream-0]\n{LINE}[roi]\na=1\n", ["[roi]"]),
    ("frigate", f"{CAMERA}coordinates: 0,0,1,0,1,1\n        filters: {{person: {{min_area: 5}}}}\n"
     "        distances: 1,2,3,4\n        speed_threshold: 5\n        friendly_name: The lawn\n",
     ["'yard'", "'lawn'", "filters", "min_area", "distances", "speed_threshold", "friendly_name"]),
    ("frigate", f"{CAMERA}coordinates: 0,0,1,0,1,1\n      road:\n        enabled: false\n"
     "        coordinates: 0,0,1,0,1,1\n", ["'road'", "disabled"]),
    ("supervision", f'{{{SQUARE}, "triggering_anchors": ["TOP_LEFT"], "color": "red"}}',
     ["TOP_LEFT", "color=red"]),
    ("supervision", '{"start": [0, 0], "end": [9, 9]}', ["corners"]),
]
# format, text, what the error has to name
ERRORS = [
    ("nvdsanalytics", "enable=1\n", ["line 1", "[property]"]),
    ("nvdsanalytics", PROPERTY + "config-width=5\n", ["5", "config-width"]),
    ("nvdsanalytics", f"[property]\nconfig-width=9\n[roi-filtering-stream-0]\n{ROI}",
     ["config-height", "--size"]),
    ("nvdsanalytics", f"[property]\nconfig-width=0\nconfig-height=9\n[roi-filtering-stream-0]\n{ROI}",
     ["config-width", "0 is not from 1"]),
    ("nvdsanalytics", PROPERTY, ["no stream has zones"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\nenable=0\n{ROI}", ["nothing"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\n{ROI}[roi-filtering-stream-1]\n{ROI}",
     ["several streams", "0, 1", "--camera"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\nroi-A=0;0;9;x;9;9\n",
     ["[roi-filtering-stream-0] roi-A", "'x'"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\nroi-A=0;0;9;0;9\n", ["roi-A", "pairs"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\nroi-A=0;0;9;0\n", ["roi-A", "3 to 256"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\nroi-A=0;0;9;0;5;0\n", ["on one line"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\nroi-A=0;0;9;0;5;9999\n",
     ["roi-A", "1920x1080"]),
    ("nvdsanalytics", f"{PROPERTY}[roi-filtering-stream-0]\nroi-=0;0;9;0;5;9\n",
     ["roi-", "not a name"]),
    ("nvdsanalytics", f"{PROPERTY}[line-crossing-stream-0]\nline-crossing-L=0;5;9;5\n",
     ["line-crossing-L", "8 numbers", "not 4"]),
    ("nvdsanalytics", f"{PROPERTY}[line-crossing-stream-0]\nline-crossing-L=0;0;9;0;0;5;9;5\n",
     ["line-crossing-L", "parallel"]),
    ("frigate", "cameras: [\n", ["line 2"]),
    ("frigate", "cameras:\n  a: 1\n  b: 2\n  a: 3\n", ["line 4", "'a'", "twice"]),
    ("frigate", "password: !secret x\n", ["line 1", "!secret"]),
    ("frigate", "cameras: 5\n", ["cameras", "5"]),
    ("frigate", "cameras: {yard: {}}\n", ["no camera has zones"]),
    ("frigate", f"{CAMERA}objects: person\n", ["'yard'", "'lawn'", "3 to 256"]),
    ("frigate", f"{CAMERA}coordinates: 0,0,640,0,640,480\n",
     ["'lawn'", "pixels", "detect", "--size"]),
    ("frigate", f"{CAMERA}coordinates: 0,0,1,0,1,1\n        inertia: many\n", ["inertia", "'many'"]),
    ("frigate", f"{CAMERA}coordinates: 0,0,1,0,1,1\n        loitering_time: -1\n",
     ["loitering_time", "-1"]),
    ("frigate", "&a [*a]", ["the file"]),
    ("supervision", '{"a": [\n', ["line 2"]),
    ("supervision", f'{{"a": {{{SQUARE}}}, "a": {{{SQUARE}}}}}', ["'a'", "twice"]),
    ("supervision", "[[[0, 0], [9, 0]]]", ["'zone 1'", "3 to 256"]),
    ("supervision", '{"door": {"start": [0, 0]}}', ["'door'", "start and end"]),
    ("supervision", '{"door": {"start": [0, 0], "end": [0, 0]}}', ["'door'", "same"]),
    ("supervision", '{"door": {"start": [0, 0], "end": [0]}}', ["'door'", "[0]"]),
    ("supervision", '{"door": {"start": [0, 0], "end": [NaN, 1]}}', ["'door'", "nan"]),
    ("supervision", f'{{{SQUARE}, "name": "\\ud800"}}', ["not a name"]),
    ("supervision", "5", ["list of polygons"]),
    ("supervision", "[]", ["nothing"]),
    ("supervision", "[" * 3000, ["deep"]),
    ("frigate", "[" * 600, ["deep"]),
]


class Reports(unittest.TestCase):
    def test_notes(self):
        for kind, text, words in NOTES:
            if kind == "frigate" and not yaml:
                continue
            with self.subTest(text=text):
                status, output, notes = convert(kind, text)
                self.assertEqual(status, 0, notes)
                self.assertGreater(len(json.loads(output)["zones"]), 0)
                for word in words:
                    self.assertIn(word, notes)
                self.assertNotIn("Traceback", notes)

    def test_nothing_to_report(self):
        text = f"{PROPERTY}[roi-filtering-stream-0]\nenable=1\n{ROI}inverse-roi=0\nclass-id=-1\n" \
            f"[line-crossing-stream-0]\nenable=1\nextended=0\n{LINE}"
        self.assertEqual(convert("nvdsanalytics", text)[2], "")
        self.assertEqual(convert("supervision", "[[[0, 0], [9, 0], [9, 9]]]")[2], "")

    def test_errors(self):
        for kind, text, words in ERRORS:
            if kind == "frigate" and not yaml:
                continue
            with self.subTest(text=text[:80]):
                status, output, notes = convert(kind, text)
                self.assertEqual((status, output), (1, ""))
                self.assertEqual(notes.splitlines()[-1].split(":")[0], "convert-zones.py", notes)
                for word in words:
                    self.assertIn(word, notes.splitlines()[-1])

    def test_options(self):
        for options in (["--size", "0x5"], ["--size", "big"], ["--colour"]):
            self.assertEqual(convert("supervision", "[]", *options)[0], 2)
        self.assertEqual(convert("darknet", "")[0], 2)
        status, _, notes = convert("nvdsanalytics", PROPERTY, "--labels", "/nowhere")
        self.assertEqual(status, 1)
        self.assertIn("/nowhere: No such file", notes)
        text = f"{PROPERTY}[roi-filtering-stream-0]\n{ROI}class-id=1\n"
        self.assertIn("class-id 1 has no label",
                      convert("nvdsanalytics", text, "--labels", "/dev/null")[2])

    def test_processes(self):
        run = functools.partial(subprocess.run, text=True, capture_output=True, check=False)
        found = run([PROGRAM.__file__, "--help"])
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        for word in "nvdsanalytics", "frigate", "supervision", "--camera", "--size", "--labels":
            self.assertIn(word, found.stdout)
        found = run([PROGRAM.__file__, "supervision", "/nowhere"])
        self.assertEqual((found.returncode, found.stdout, found.stderr),
                         (1, "", "convert-zones.py: /nowhere: No such file or directory\n"))


class Mutations(unittest.TestCase):
    """Broken files cause errors, and what is converted is valid for visionzones."""

    def test_mutations(self):
        seed = int(os.environ.get("CUV_TEST_SEED", random.randrange(10**6)))
        print(f"seed {seed}")
        numbers, valid, failed = random.Random(seed), set(), 0
        texts = [(kind, text) for kind, text, _ in NOTES if yaml or kind != "frigate"]
        for _ in range(1200):
            kind, text = numbers.choice(texts)
            try:
                valid.add(self.converted(kind, self.mutated(numbers, text)))
            except (PROGRAM.Problem, RecursionError):
                failed += 1
        self.assertGreater(failed, 100)
        self.assertGreater(len(valid), 5)
        for zones in list(valid)[:30]:
            try:
                play(zones, {(1, "person"): [(50, 50)]})
            except RuntimeError as error:  # tiny zones, which depend on the frame's size
                self.assertIn(f"in frames of {WIDTH}x{HEIGHT}", str(error))

    @staticmethod
    def mutated(numbers, text):
        text = list(text)
        for _ in range(numbers.randrange(1, 4)):
            at = numbers.randrange(len(text))
            text[at:at + numbers.randrange(3)] = numbers.choice(
                ["", "0", "9", ";", ",", "-", ":", "\n", "[", "]", "{", "}", '"', "é", "\0", ".", "e9"])
        return "".join(text)

    @staticmethod
    def converted(kind, text):
        zones, file = PROGRAM.Zones(), io.StringIO()
        args = argparse.Namespace(camera=None, size=None, labels=["person"])
        with contextlib.redirect_stderr(io.StringIO()):
            getattr(PROGRAM, kind)(text, args, zones)
            zones.write(file)
        return file.getvalue()


if __name__ == "__main__":
    PROGRAM = load(os.path.abspath(sys.argv.pop(1)))
    Gst.init(None)
    unittest.main()
