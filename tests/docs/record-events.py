#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests examples/record-events.py with videos whose frames show their number.

usage: record-events.py RECORD-EVENTS.PY
"""

import glob
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import cv2
import numpy

DATA = "/usr/share/doc/opencv-doc/examples/data/"
RATE, WIDTH, HEIGHT, BITS, CELL = 25, 320, 240, 10, 32
MODEL = "haarcascade_frontalface_alt2.xml"
# the numbers of frames change all the time
MOTION = r'visionmotion mask="{\"polygons\": [[[0, 0.85], [1, 0.85], [1, 1], [0, 1]]]}"'


def face():
    """Returns a face that the detector finds."""
    video = cv2.VideoCapture(DATA + "Megamind.avi")
    video.set(cv2.CAP_PROP_POS_FRAMES, 30)
    return cv2.resize(video.read()[1][170:350, 200:380], (120, 120))


def picture(number, with_face, patch):
    frame = numpy.full((HEIGHT, WIDTH, 3), 128, numpy.uint8)
    for bit in range(BITS):
        frame[HEIGHT - CELL :, bit * CELL : (bit + 1) * CELL] = 255 * (number >> bit & 1)
    if with_face:
        frame[20:140, 100:220] = patch
    return frame


def number_of(frame):
    row = frame[HEIGHT - CELL // 2, CELL // 2 :: CELL, 0]
    return sum(int(value > 128) << bit for bit, value in enumerate(row[:BITS]))


def write_video(path, n, events):
    """Writes a video of frames 0 to n - 1, with a face in the frames of events, which are ranges of
    numbers."""
    writer = cv2.VideoWriter(path, cv2.VideoWriter_fourcc(*"MJPG"), RATE, (WIDTH, HEIGHT))
    patch = face()
    for number in range(n):
        writer.write(picture(number, any(number in event for event in events), patch))
    writer.release()


def write_moving_video(path, n, events):
    """The same with a square that moves, as H.264 with a key frame per second."""
    writer = cv2.VideoWriter("moving.avi", cv2.VideoWriter_fourcc(*"MJPG"), RATE, (WIDTH, HEIGHT))
    for number in range(n):
        frame = picture(number, False, None)
        if any(number in event for event in events):
            x = 4 * (number % 50)
            frame[40:100, x : x + 60] = 255
        writer.write(frame)
    writer.release()
    encode("filesrc location=moving.avi ! avidemux ! jpegdec ! videoconvert", "tune=zerolatency", path)


def encode(source, options, path):
    """Encodes a source to H.264, with sound."""
    muxer = "mpegtsmux" if path.endswith(".ts") else "matroskamux"
    line = (f"audiotestsrc num-buffers=50 ! opusenc ! {muxer} name=mux ! filesink location={path}"
            f" {source} ! x264enc key-int-max={RATE} {options} ! h264parse ! mux.")
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True, timeout=60)


def frames_of(path):
    """Yields the decoded frames, and their times in milliseconds."""
    reader = cv2.VideoCapture(path)
    while (frame := reader.read()[1]) is not None:
        yield frame, reader.get(cv2.CAP_PROP_POS_MSEC)


def read_clip(path):
    """Returns the numbers of the decoded frames, and their times in milliseconds."""
    frames = [(number_of(frame), time) for frame, time in frames_of(path)]
    return [number for number, _ in frames], [time for _, time in frames]


def records_of(path):
    with open(os.path.splitext(path)[0] + ".jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Events(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # the second event is part of the first one's clip, the third is not
        cls.events = range(100, 110), range(145, 150), range(270, 272)
        write_video("events.avi", 320, cls.events)
        write_video("face.avi", 260, [range(260)])
        write_video("slow.avi", 600, [range(600)])

    def record(self, folder, *options, source="events.avi", status=0, **arguments):
        done = subprocess.run(
            [sys.executable, PROGRAM, f"filesrc location={source}", folder,
             "--detector", f"waldboostdetect model={MODEL} label=face", *options],
            capture_output=True, text=True, timeout=100, **arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done

    def clips(self, folder, extension=".mp4"):
        """Returns the number, time and record of each frame of each clip."""
        paths = sorted(glob.glob(f"{folder}/*{extension}"))
        self.assertEqual(len(os.listdir(folder)), 2 * len(paths), os.listdir(folder))
        for path in paths:
            numbers, times = read_clip(path)
            records = records_of(path)
            self.assertEqual(len(records), len(numbers), path)
            self.assertEqual([record["frame_num"] for record in records], list(range(len(numbers))))
            for i, time in enumerate(times):
                self.assertAlmostEqual(time, i * 1000 / RATE, delta=2)
                self.assertAlmostEqual(records[i]["timestamp"] / 1e6, i * 1000 / RATE, delta=1)
                self.assertEqual(records[i]["resolution"], {"width": WIDTH, "height": HEIGHT})
            yield numbers, records

    def check_events(self, folder, extension, label="face"):
        (first, first_records), (second, second_records) = self.clips(folder, extension)
        for numbers, seen in (first, range(100, 150)), (second, range(270, 272)):
            self.assertEqual(numbers, list(range(numbers[0], seen[-1] + RATE + 1)))
            self.assertLessEqual(numbers[0], seen[0] - RATE)
            self.assertGreaterEqual(numbers[0], seen[0] - RATE - 40, folder)  # a key frame per second
        for numbers, records in (first, first_records), (second, second_records):
            for number, record in zip(numbers, records):
                with_face = any(number in event for event in self.events)
                self.assertEqual([o["roi_type"] for o in record.get("objects", [])], [label] * with_face, number)

    def test_seconds_before_and_after(self):
        """Records with each encoder that is installed."""
        for encoder, extension in (
                ("x264enc tune=zerolatency", ".mp4"), ("openh264enc", ".mp4"), ("jpegenc", ".mkv"),
                ("videoscale ! avenc_mjpeg", ".mkv"), ("vp8enc deadline=1 cpu-used=8", ".mkv"),
                ("vp9enc deadline=1 cpu-used=8 lag-in-frames=0", ".mkv")):
            folder = encoder.split("! ")[-1].split()[0]
            found = subprocess.run(["gst-inspect-1.0", "--exists", folder], check=False)
            self.assertEqual(found.returncode, 0, f"{folder} is missing: scripts/setup.sh test")
            done = self.record(folder, "--before=1", "--after=1", "--encoder", encoder)
            self.assertEqual(done.stdout.count(" frames\n"), 2)
            self.assertEqual([line for line in done.stderr.splitlines() if "[OpenH264]" not in line], [])
            self.check_events(folder, extension)

    def test_copy(self):
        """Records what moves, with the frames of the source as they were encoded."""
        for source in "moving.mkv", "moving.ts":
            write_moving_video(source, 320, self.events)
            folder = source.replace(".", "-")
            self.record(folder, "--copy", "--before=1", "--after=1", "--detector", MOTION, source=source)
            self.check_events(folder, ".mp4", "motion")
            all = [frame for frame, _ in frames_of(source)]
            for path in glob.glob(f"{folder}/*.mp4"):
                for frame, _ in frames_of(path):
                    self.assertTrue((frame == all[number_of(frame)]).all(), path)

    def test_copy_refuses(self):
        encode("videotestsrc num-buffers=30", "bframes=2 b-adapt=false", "reordered.mkv")
        for source, problem in (
                ("filesrc location=slow.avi ! decodebin", "is not encoded"),
                (f"filesrc location={DATA}vtest.avi", "needs timestamps"),
                ("filesrc location=reordered.mkv", "no B-frames")):
            done = subprocess.run([sys.executable, PROGRAM, source, "bad", "--copy", "--detector", "visionmotion"],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(problem, done.stderr)
        self.assertIn("--encoder", self.record("bad", "--copy", "--encoder=jpegenc", status=2).stderr)

    def test_length(self):
        self.record("long", "--before=0.5", "--after=0.5", "--longest=3", source="face.avi")
        clips = [numbers for numbers, _ in self.clips("long")]
        self.assertGreater(len(clips), 3)
        self.assertEqual(sum(clips, []), list(range(260)))
        for numbers in clips[:-1]:
            self.assertLessEqual(len(numbers), 3 * RATE)
            self.assertGreater(len(numbers), RATE)

    def test_labels(self):
        self.record("none", "--labels=car,person")
        self.assertFalse(os.path.exists("none"))

    def test_unwritable_folder(self):
        done = self.record("events.avi/folder", "--before=1", "--after=1")
        self.assertEqual(done.stderr.count("Not a directory"), 2)  # once per event

    def test_full_disk(self):
        """After an error, what was written can be played."""
        limit = 24 << 10
        # otherwise Python 3.11 truncates the bytecode of modules that it writes
        env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        done = self.record("full", "--before=1", "--after=1", env=env,
                           preexec_fn=lambda: resource.setrlimit(
                               resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertGreaterEqual(done.stderr.count("is not complete: "), 1)
        for path in glob.glob("full/*.mp4"):
            numbers, _ = read_clip(path)
            self.assertGreater(len(numbers), RATE)
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def stop(self, number, folder, size):
        """Sends the signal when `size` bytes of records are written. Returns exit status and
        output."""
        with subprocess.Popen(
            [sys.executable, PROGRAM, "filesrc location=slow.avi ! decodebin ! identity sync=true", folder,
             "--before=1", "--after=1"], stdout=subprocess.PIPE, text=True) as running:
            while not any(os.path.getsize(path) > size for path in glob.glob(f"{folder}/*.jsonl")):
                self.assertIsNone(running.poll())
                time.sleep(0.02)
            running.send_signal(number)
            out = running.stdout.read()
        return running.returncode, out

    def interrupt(self, number, folder):
        status, out = self.stop(number, folder, 5000)
        self.assertEqual(status, 0)
        self.assertIn(" frames\n", out)
        ((numbers, _),) = self.clips(folder)
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertLess(len(numbers), 600)

    def test_interrupt(self):
        """Ends a live source by Ctrl-C and by SIGTERM."""
        self.interrupt(signal.SIGINT, "interrupted")
        self.interrupt(signal.SIGTERM, "terminated")

    def test_killed(self):
        """The clip of a killed program lacks at most its last two seconds."""
        self.stop(signal.SIGKILL, "killed", 25000)
        (path,) = glob.glob("killed/*.mp4")
        numbers, _ = read_clip(path)
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertGreater(len(numbers), len(records_of(path)) - 2 * RATE - 5)
        self.assertGreater(len(numbers), RATE)

    def test_stalled_source(self):
        """The clip is closed while the source stalls; later frames are in the next clip."""
        with open("face.avi", "rb") as file:
            video = file.read()
        with subprocess.Popen([sys.executable, PROGRAM, "fdsrc", "stalled", "--before=1", "--after=1"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
            running.stdin.write(video[: len(video) // 2])
            running.stdin.flush()
            try:
                self.assertTrue(select.select([running.stdout], [], [], 60)[0], "the clip stays open")
                self.assertIn(b" frames", running.stdout.readline())
                running.stdin.write(video[len(video) // 2 :])
            finally:
                running.stdin.close()
                running.wait(60)
        self.assertEqual(running.returncode, 0)
        clips = [numbers for numbers, _ in self.clips("stalled")]
        self.assertGreater(len(clips), 1)  # 2, unless the machine stalls
        self.assertEqual(sum(clips, []), list(range(260)))

    def test_live_source(self):
        """Each frame of a live source is in a clip."""
        subprocess.run(
            [sys.executable, PROGRAM, "videotestsrc is-live=true num-buffers=40 pattern=ball", "live",
             "--detector", "rcdtrack object-initial-x=100 object-initial-y=60 object-initial-width=60"
             " object-initial-height=60", "--before=1", "--after=1"], check=True, timeout=60)
        (path,) = glob.glob("live/*.mp4")
        self.assertEqual(len(records_of(path)), len(read_clip(path)[0]))
        self.assertGreater(len(records_of(path)), 30)

    def test_says_what_is_wrong(self):
        self.assertIn("missing.avi", self.record("bad", source="missing.avi", status=1).stderr)
        self.assertIn("nonsense", self.record("bad", "--detector", "nonsense", status=1).stderr)
        self.assertIn("theoraenc: must contain", self.record("bad", "--encoder=theoraenc", status=1).stderr)
        self.assertIn("--longest", self.record("bad", "--longest=1", status=2).stderr)
        self.assertFalse(os.path.exists("bad"))


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        unittest.main(argv=sys.argv[:1] + sys.argv[2:])
