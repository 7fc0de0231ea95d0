#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests examples/detect.c, boxes.c, mainloop.c, detect.py and read-*.py.

usage: examples.py DETECT BOXES MAINLOOP DETECT.PY

Their output is compared with that of a gst-launch-1.0 pipeline for each picture or video.
"""

import csv
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import cv2
import numpy

DATA = "/usr/share/doc/opencv-doc/examples/data/"
PICTURES = [DATA + name for name in ("messi5.jpg", "basketball1.png", "board.jpg")]
VIDEO = DATA + "Megamind.avi"
FRAMES = 20
MODEL = "haarcascade_frontalface_alt2.xml"
BOX = ("x", "y", "w", "h")
DECODE = "filesrc location={} ! decodebin ! videoconvert ! "


def run(*command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != status:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stderr}")
    return done


def detect(*arguments, status=0):
    return run(DETECT, *arguments, status=status)


def launch(line):
    return run("gst-launch-1.0", "-q", *line.split()).stdout


def records_of(path, frames, detector=f"waldboostdetect model={MODEL}"):
    """Returns the records of all frames, written by gst-launch-1.0."""
    out = launch(
        DECODE.format(path)
        + f"{detector} ! visionpublish add-empty-results=true"
        f" ! identity eos-after={frames + 1} ! fakesink"
    )
    return [json.loads(line) for line in out.splitlines()[:frames]]


def expected(path, frames=1):
    """Returns the objects of all frames."""
    return [
        [
            tuple(found[key] for key in BOX) + (found["detection"]["confidence"],)
            for found in record.get("objects", [])
        ]
        for record in records_of(path, frames)
    ]


def objects_of(rows):
    return [
        tuple(int(row[key]) for key in BOX) + (float(row["confidence"]),)
        for row in rows
        if row["kind"] == "object"
    ]


def video_frames(path):
    video, frames = cv2.VideoCapture(path), []
    while (frame := video.read()[1]) is not None:
        frames.append(frame)
    return frames


def fitted(path, height, width):
    """Returns the picture scaled to fit a video of this size, with black borders."""
    picture = cv2.imread(path)
    scale = min(height / picture.shape[0], width / picture.shape[1])
    h, w = (round(side * scale) for side in picture.shape[:2])
    frame = numpy.zeros((height, width, 3), numpy.uint8)
    y, x = (height - h) // 2, (width - w) // 2
    frame[y : y + h, x : x + w] = cv2.resize(
        picture, (w, h), interpolation=cv2.INTER_AREA
    )
    return frame


def rows_by_frame(path):
    frames = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            frames.setdefault(int(row["frame_num"]), []).append(row)
    return [frames[number] for number in sorted(frames)]


class AllFiles(unittest.TestCase):
    """Checks a single run over pictures of three sizes, invalid files, and a video."""

    @classmethod
    def setUpClass(cls):
        with open("broken.jpg", "w", encoding="utf-8") as file:
            file.write("this is not a picture\n")
        cls.done = detect(
            "--model", MODEL, "--csv", "all.csv", "--output", "all", "--timing",
            "--survivors", "--frames", str(FRAMES), PICTURES[0], "broken.jpg",
            *PICTURES[1:], "missing.jpg", VIDEO, status=1,
        )
        cls.frames = rows_by_frame("all.csv")
        cls.expected = [expected(path)[0] for path in PICTURES]
        cls.expected += expected(VIDEO, FRAMES)

    def test_reports_bad_files(self):
        errors = self.done.stderr.splitlines()
        self.assertEqual(len(errors), 2, errors)
        self.assertIn("broken.jpg: ", errors[0])
        self.assertIn("missing.jpg: ", errors[1])

    def test_finds_the_same_as_separate_pipelines(self):
        self.assertEqual(len(self.frames), len(PICTURES) + FRAMES)
        self.assertEqual([objects_of(rows) for rows in self.frames], self.expected)
        self.assertEqual([len(e) > 0 for e in self.expected[:3]], [True, True, False])
        self.assertGreater(sum(map(len, self.expected[3:])), FRAMES)

    def test_csv_names_file_and_size(self):
        sources = [rows[0]["source"] for rows in self.frames]
        self.assertEqual(sources, PICTURES + FRAMES * [VIDEO])
        for path, rows in zip(PICTURES, self.frames):
            height, width = cv2.imread(path).shape[:2]
            self.assertEqual({r["width"] for r in rows}, {str(width)})
            self.assertEqual({r["height"] for r in rows}, {str(height)})

    def test_timestamps_continue_across_files(self):
        times = [int(rows[0]["timestamp"]) for rows in self.frames]
        start = len(PICTURES) * 10**9  # each picture lasts a second
        video = [start + record["timestamp"] for record in records_of(VIDEO, FRAMES)]
        self.assertEqual(times, list(range(0, start, 10**9)) + video)

    def test_draws_boxes_only(self):
        names = sorted(os.listdir("all"))
        self.assertEqual(len(names), len(self.frames))
        for name, path, found in zip(names, PICTURES, self.expected):
            self.assertIn(os.path.basename(path), name)
            launch(DECODE.format(path) + "pngenc ! filesink location=plain.png")
            plain, drawn = cv2.imread("plain.png"), cv2.imread(f"all/{name}")
            changed = (plain != drawn).any(axis=2)
            self.assertEqual(changed.any(), bool(found), path)
            for x, y, w, h, _ in found:
                edges = numpy.concatenate(
                    (changed[y, x : x + w], changed[y + h - 1, x : x + w])
                )
                self.assertGreater(edges.mean(), 0.9, path)

    def test_prints_times(self):
        numbers = r" microseconds (\d+)" + "".join(
            rf" microseconds-{step} (\d+)" for step in ("pyramid", "scan", "group")
        )
        lines = re.findall(f"^(.*):{numbers}$", self.done.stdout, re.M)
        self.assertEqual(len(lines), len(self.frames) + 1)
        means = [int(number) for number in lines[-1][1:]]
        self.assertIn(f"mean of {len(self.frames)} frames", lines[-1][0])
        for column, mean in enumerate(means, 1):
            sums = sum(int(line[column]) for line in lines[:-1])
            self.assertAlmostEqual(mean, sums / len(self.frames), delta=1.1)
        self.assertGreater(means[1], 0)
        self.assertGreater(means[2], 0)
        total = sum(map(len, self.expected))
        self.assertRegex(self.done.stdout, rf"\n{total} objects, [\d.]+ frames/s")

    def test_prints_survivors(self):
        lines = re.findall(r"^(.*): windows (\d+)(, after .*)$", self.done.stdout, re.M)
        self.assertEqual([line[0] for line in lines], PICTURES + FRAMES * [VIDEO])
        for (_, windows, rest), found in zip(lines, self.expected):
            after = re.findall(r", after (\d+) (\d+)", rest)
            ends = [int(pair[0]) for pair in after]
            counts = [int(windows)] + [int(pair[1]) for pair in after]
            self.assertEqual(ends, sorted(set(ends)))
            self.assertEqual(counts, sorted(counts, reverse=True))
            self.assertGreater(counts[0], 100 * counts[-1])
            if found:
                self.assertGreater(counts[-1], 0)


class Orientation(unittest.TestCase):
    """Checks photographs with EXIF orientations."""

    def test_faces_are_upright(self):
        # the second box is not a face; the rounding of the JPEG decides if it is found
        upright = expected(PICTURES[0])[0][:1]
        run(sys.executable, os.path.join(os.path.dirname(__file__), "orientation.py"),
            PICTURES[0], ".", "decodebin")
        names = sorted(glob.glob("turned-*.jpg"))
        self.assertIn("turned-1.jpg", names)
        for name in names:
            shown = detect("--csv", "-", "--model", MODEL, name).stdout
            found = objects_of(csv.DictReader(shown.splitlines()))
            printed = run(PYTHON, name, MODEL).stdout
            for box in upright:
                near = [f for f in found if max(abs(a - b) for a, b in zip(f, box)) < 4]
                self.assertEqual(len(near), 1, (name, box, found))
                self.assertIn(" {} {} {} {} ".format(*near[0]), printed)


class Options(unittest.TestCase):
    def test_list_and_objects_on_standard_output(self):
        with open("list.txt", "w", encoding="utf-8") as file:
            file.write("\r\n\n".join(PICTURES) + "\n")
        out = detect("--list", "list.txt", "--model", MODEL, PICTURES[1]).stdout
        lines = [
            f"{path}: frontalface_alt2 {w}x{h} at {x},{y} confidence {confidence:.3f}"
            for path in PICTURES + PICTURES[1:2]
            for x, y, w, h, confidence in expected(path)[0]
        ]
        self.assertEqual(out.splitlines(), lines)

    def test_csv_on_standard_output(self):
        out = detect("--csv", "-", "--timing", "--model", MODEL, PICTURES[0]).stdout
        rows = list(csv.DictReader(out.splitlines()))
        self.assertEqual(objects_of(rows), expected(PICTURES[0])[0])

    def test_video_with_boxes(self):
        detect("--frames", "5", "--output", "boxes.avi", VIDEO)
        n = len(video_frames("boxes.avi"))
        self.assertIn(n, (4, 5))  # two frames have the same timestamp

    def test_video_of_pictures(self):
        """Each picture lasts a second and is scaled to fit the first one's size."""
        grey = DATA + "left01.jpg"
        for files in ([PICTURES[0]], PICTURES + [grey, PICTURES[0]], PICTURES[1::-1]):
            detect("--output", "list.avi", *files)
            frames = video_frames("list.avi")
            self.assertEqual(len(frames), 25 * len(files))
            height, width = cv2.imread(files[0]).shape[:2]
            for number, frame in enumerate(frames):
                wanted = fitted(files[number // 25], height, width)
                self.assertEqual(frame.shape, wanted.shape)
                difference = cv2.absdiff(frame, wanted).mean()
                self.assertLess(difference, 8, files[number // 25])

    def test_video_of_videos_and_pictures(self):
        size = cv2.VideoCapture(VIDEO).read()[1].shape
        detect("--frames", "24", "--output", "mixed.avi", VIDEO, PICTURES[0])
        frames = video_frames("mixed.avi")
        self.assertEqual({frame.shape for frame in frames}, {size})
        self.assertAlmostEqual(len(frames), 24 + 24, delta=2)  # 23.976 per second
        for frame in frames[-20:]:
            wanted = fitted(PICTURES[0], *size[:2])
            self.assertLess(cv2.absdiff(frame, wanted).mean(), 8)

    def test_interrupt_completes_files(self):
        """Ctrl-C leaves a complete video and table."""
        command = [DETECT, "--timing", "--csv", "stop.csv", "--output", "stop.avi"]
        with subprocess.Popen(
            command + 20 * [VIDEO], stdout=subprocess.PIPE, text=True
        ) as running:
            for _ in range(20):
                running.stdout.readline()
            running.send_signal(signal.SIGINT)
            rest = running.stdout.read()
        self.assertEqual(running.returncode, -signal.SIGINT)
        frames, rows = video_frames("stop.avi"), rows_by_frame("stop.csv")
        self.assertGreaterEqual(len(rows), 20)
        self.assertLess(len(rows), 270)
        self.assertAlmostEqual(len(frames), len(rows), delta=2)
        counted = cv2.VideoCapture("stop.avi").get(cv2.CAP_PROP_FRAME_COUNT)
        self.assertEqual(counted, len(frames))
        self.assertIn(f"mean of {len(rows)} frames:", rest)

    def test_names_with_any_character(self):
        name = 'a "b" ! 100%d.jpg'
        shutil.copy(PICTURES[0], name)
        detect("--model", MODEL, "--output", "%s ! o", "--csv", "c !.csv", name)
        self.assertEqual(os.listdir("%s ! o"), [f"000000-{name}.png"])
        self.assertEqual(rows_by_frame("c !.csv")[0][0]["source"], name)

    def test_scan_and_rearrangement(self):
        boxes = [
            detect("--model", MODEL, "--scan", "dense", "--mode", mode,
                   "--block-size", size, "--device", "cpu", PICTURES[0]).stdout
            for mode, size in (("none", "8"), ("prefix-sum", "32"))
        ]
        self.assertEqual(boxes[0], boxes[1])
        plain = detect("--model", MODEL, PICTURES[0]).stdout
        self.assertNotEqual(boxes[0], plain)
        finer = detect("--model", MODEL, "--set", "min-neighbors=0", PICTURES[0]).stdout
        self.assertGreater(len(finer.splitlines()), len(plain.splitlines()))

    def test_gpu_results_are_equal(self):
        arguments = ["--model", MODEL, *PICTURES, VIDEO, "--frames", "5", "--device"]
        command = [DETECT, *arguments, "gpu"]
        gpu = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if "No GPU" in gpu.stderr:
            self.skipTest("no GPU")
        self.assertEqual(gpu.stdout, detect(*arguments, "cpu").stdout)

    def test_errors(self):
        with open("cut.jpg", "wb") as file:  # decoders wait for the missing rest
            file.write(b"\xff\xd8\xff\xe0 and no more")
        for status, text, *arguments in (
            (2, "no files"),
            (2, "nowhere.txt", "--list", "nowhere.txt"),
            (2, "--nonsense", "--nonsense", PICTURES[0]),
            (2, "--device", "--device", "nonsense", PICTURES[0]),
            (2, "--frames", "--frames", "-1", PICTURES[0]),
            (2, "NAME=VALUE", "--set", "nonsense", PICTURES[0]),
            (2, "cannot be used together", "--show", "--output", "o", PICTURES[0]),
            (1, "nonsense", "--mode", "nonsense", PICTURES[0]),
            (1, "gst-inspect-1.0", "--block-size", "7", PICTURES[0]),
            (1, "no property", "--set", "nonsense=1", PICTURES[0]),
            (1, "cannot be used", "--model", "nonsense", PICTURES[0]),
            (1, "Cannot write", "--csv", "nowhere/all.csv", PICTURES[0]),
            (1, "No such file", "--output", "nowhere/o.avi", PICTURES[0]),
            (1, "Not a directory", "--output", "cut.jpg", PICTURES[0]),
            (1, "No such file", "--output", "o.avi", "missing.jpg"),
            (1, "cut.jpg: cannot be decoded", "cut.jpg"),
            (1, "directory", "."),
        ):
            error = detect(*arguments, status=status).stderr
            self.assertIn(text, error)
            self.assertEqual(len(error.splitlines()), 1, error)

    def test_reports_missing_plugins(self):
        done = subprocess.run(
            [DETECT, PICTURES[0]], capture_output=True, text=True, timeout=60,
            env=os.environ | {
                "GST_PLUGIN_PATH_1_0": "", "GST_PLUGIN_SYSTEM_PATH_1_0": "",
                "GST_REGISTRY_1_0": "none",
            },
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("GST_PLUGIN_PATH", done.stderr)

    def test_exits_on_closed_pipe(self):
        with subprocess.Popen(
            [DETECT, "--timing"] + 20 * [VIDEO],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as running:
            running.stdout.readline()
            running.stdout.close()
            self.assertEqual(running.stderr.read(), "")
        self.assertEqual(running.returncode, -signal.SIGPIPE)

    def test_reports_full_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [DETECT, "--timing", *PICTURES], stdout=full,
                stderr=subprocess.PIPE, text=True, timeout=60,
            )
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Boxes(unittest.TestCase):
    def test_prints_the_same_boxes(self):
        for path in PICTURES:
            lines = run(BOXES, path).stdout.splitlines()
            self.assertEqual(
                lines, ["face {},{} {}x{}".format(*box) for box in expected(path)[0]])

    def test_says_what_is_wrong(self):
        self.assertIn("missing.jpg: Resource not found", run(BOXES, "missing.jpg", status=1).stderr)
        self.assertIn("usage", run(BOXES, status=2).stderr)

    def test_main_loop(self):
        """mainloop counts objects as a pipeline does, and exits at EOS, on Ctrl-C and on an
        error."""
        records = [json.loads(line) for line in launch(
            DECODE.format(VIDEO) + "waldboostdetect model=haarcascade_frontalface_alt2.xml"
            " ! visionpublish add-empty-results=true ! fakesink").splitlines()]
        last = run(MAINLOOP, VIDEO).stdout.splitlines()[-1]
        faces = sum(len(record.get("objects", [])) for record in records)
        self.assertEqual(last, f"{len(records)} frames, {faces} faces")
        process = subprocess.Popen([MAINLOOP, VIDEO], stdout=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        self.assertRegex(process.communicate(timeout=60)[0], r"\d+ frames, \d+ faces\n")
        self.assertEqual(process.returncode, 0)
        self.assertIn("Resource not found", run(MAINLOOP, "missing.avi", status=1).stderr)
        self.assertIn("usage", run(MAINLOOP, status=2).stderr)


class Readers(unittest.TestCase):
    """Checks the short programs that demonstrate the Python module."""

    @staticmethod
    def example(name, *arguments, status=0):
        path = os.path.join(os.path.dirname(PYTHON), name)
        return run("/usr/bin/python3", path, *arguments, status=status)

    def test_appsink(self):
        (record,) = records_of(DATA + "sudoku.png", 1, "houghlines")
        wanted = [" ".join(str(round(line[key])) for key in ("x1", "y1", "x2", "y2", "votes"))
                  for line in record["lines"]]
        self.assertGreater(len(wanted), 10)
        self.assertEqual(self.example("read-appsink.py", DATA + "sudoku.png").stdout.splitlines(), wanted)

    def test_probe(self):
        lines = self.example("read-probe.py", PICTURES[0]).stdout.splitlines()
        self.assertEqual([tuple(map(float, line.split())) for line in lines], expected(PICTURES[0])[0])

    def test_bus(self):
        messages = self.example("read-bus.py", DATA + "sudoku.png").stdout.splitlines()
        (record,) = records_of(DATA + "sudoku.png", 1, "houghlines")
        self.assertEqual([line.split()[0] for line in messages], ["lines", "stats"])
        self.assertEqual(messages[0].count("'votes'"), len(record["lines"]))
        self.assertIn("'frames': 1", messages[1])

    def test_they_say_what_is_wrong(self):
        for name in ("appsink", "probe", "bus"):
            for arguments, text in ((["missing.jpg"], "not found"), ([], "FILE")):
                error = self.example(f"read-{name}.py", *arguments, status=1).stderr
                self.assertIn(text, error)
                self.assertNotIn("Traceback", error)

    def test_they_are_short(self):
        for name in ("appsink", "probe", "bus"):
            with open(os.path.join(os.path.dirname(PYTHON), f"read-{name}.py"), encoding="utf-8") as file:
                self.assertLessEqual(len(file.readlines()) - 2, 20, name)  # without the licence


class Python(unittest.TestCase):
    @staticmethod
    def regions(*arguments):
        out = run("/usr/bin/python3", PYTHON, *arguments).stdout
        return [line.split() for line in out.splitlines()]

    def test_prints_the_same_boxes(self):
        for path in PICTURES:
            outer = [words for words in self.regions(path, MODEL) if "in" not in words]
            self.assertEqual(
                [tuple(map(int, words[2:6])) + (words[6],) for words in outer],
                [box[:4] + (f"{box[4]:.3f}",) for box in expected(path)[0]],
            )

    def test_prints_the_enclosing_region(self):
        regions = self.regions(PICTURES[0], MODEL, MODEL)
        self.assertEqual([words[0] for words in regions], ["0", "1", "2"])
        outer, inner = regions[0], regions[2]
        self.assertEqual(inner[7:], ["in", outer[0]])
        x, y, w, h = map(int, outer[2:6])
        left, top, width, height = map(int, inner[2:6])
        self.assertTrue(x <= left and left + width <= x + w, regions)
        self.assertTrue(y <= top and top + height <= y + h, regions)

    def test_exits_at_once(self):
        """The program exits at once on Ctrl-C, and when its pipe is closed."""
        for number in (signal.SIGINT, signal.SIGPIPE):
            with subprocess.Popen(
                ["/usr/bin/python3", "-u", PYTHON, VIDEO],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            ) as running:
                running.stdout.readline()
                if number == signal.SIGINT:
                    running.send_signal(number)
                running.stdout.close()
                self.assertEqual(running.stderr.read(), "")
            self.assertEqual(running.returncode, -number)

    def test_says_what_is_wrong(self):
        for arguments, text in (
            ([], "detect.py FILE"),
            (["missing.jpg"], "missing.jpg: Resource not found"),
            ([PICTURES[0], "nonsense.xml"], "cannot be used"),
        ):
            done = subprocess.run(
                ["/usr/bin/python3", PYTHON, *arguments],
                capture_output=True, text=True, timeout=60,
            )
            self.assertEqual(done.returncode, 1)
            self.assertNotIn("Traceback", done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    DETECT, BOXES, MAINLOOP, PYTHON = (os.path.abspath(path) for path in sys.argv[1:5])
    sys.path.insert(0, os.path.dirname(PYTHON))
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        unittest.main(argv=sys.argv[:1])
