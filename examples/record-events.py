#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records what a detector finds: each event, with the seconds before and after it, in a clip
of its own, and the results of its frames in a file beside it.

SOURCE is the start of a gst-launch-1.0 pipeline: 'filesrc location=video.avi', v4l2src. Ctrl-C
completes the open clip. If a clip cannot be written, that is reported, and recording continues with
the next event."""
import argparse
import collections
import datetime
import json
import os
import signal
import sys
import threading
from time import monotonic

import gi
import gstcuvision
from gstcuvision import Gst

gi.require_version("GstVideo", "1.0")
from gi.repository import GstVideo  # noqa: E402

KEY_SECONDS = 1  # time between key frames; clips begin at one
ENCODERS = (  # the first one installed is used; without B-frames all frames stay in order
    "x264enc tune=zerolatency speed-preset=veryfast",
    "openh264enc bitrate=4000000",
    "jpegenc quality=90",
)
H264 = ("h264parse ! video/x-h264,stream-format=avc,alignment=au", ".mp4",
        # if the program is killed, only the last two seconds are lost
        "mp4mux fragment-duration=1000 fragment-mode=first-moov-then-finalise")
OTHER = ("identity", ".mkv", "matroskamux")
OTHER_ENCODERS = ("jpegenc", "avenc_mjpeg", "vp8enc", "vp9enc")
STALL_SECONDS = 1  # a clip is closed after --after and this time without a frame
Frame = collections.namedtuple("Frame", "number time buffer caps is_key record")


def say(text):
    print(text, file=sys.stderr, flush=True)


def error_text(message):
    error, debug = message.parse_error()
    return f"{error.message} {debug.splitlines()[-1] if debug else ''}"


class Clip:
    """A video that is being written, and its records. Only close() waits for the disk."""

    MAX_QUEUE = 64 << 20  # bytes that wait for the disk
    CLOSE_SECONDS = 10

    def __init__(self, path, muxer, first):
        self.path, self.caps, self.start = path, first.caps, first.time
        self.error, self.records, self.n = None, None, 0
        self.line = Gst.parse_launch(
            f"appsrc name=feed format=time max-bytes=0 ! mux.video_0 {muxer} name=mux ! filesink name=file")
        self.line.get_by_name("file").set_property("location", path)
        self.feed = self.line.get_by_name("feed")
        self.feed.set_property("caps", first.caps)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self.records = open(os.path.splitext(path)[0] + ".jsonl", "x", encoding="utf-8", buffering=1)
        except OSError as error:
            self.error = error
            return
        self.line.set_state(Gst.State.PLAYING)

    def add(self, frame):
        if self.error:
            return
        time = frame.time - self.start
        record = frame.record | {"frame_num": self.n, "timestamp": time}
        flags = Gst.BufferCopyFlags  # shares the bytes
        buffer = frame.buffer.copy_region(flags.FLAGS | flags.TIMESTAMPS | flags.MEMORY, 0, 2**64 - 1)
        buffer.pts = buffer.dts = time
        self.feed.emit("push-buffer", buffer)
        try:
            self.records.write(json.dumps(record, sort_keys=True, separators=(",", ":")) + "\n")
        except OSError as error:
            self.error = error
        if message := self.line.bus.pop_filtered(Gst.MessageType.ERROR):
            self.error = error_text(message)
        elif self.feed.get_property("current-level-bytes") > self.MAX_QUEUE:
            self.error = "the disk is too slow"
        self.n += 1

    def close(self):
        if not self.error:
            self.feed.emit("end-of-stream")
            end = self.line.bus.timed_pop_filtered(
                self.CLOSE_SECONDS * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
            if end is None:
                self.error = f"the disk is too slow: closing took more than {self.CLOSE_SECONDS} seconds"
            elif end.type == Gst.MessageType.ERROR:
                self.error = error_text(end)
        self.line.set_state(Gst.State.NULL)
        try:
            if self.records:
                self.records.close()
        except OSError as error:
            self.error = self.error or error
        if self.error:
            say(f"{self.path} is not complete: {self.error}")
        else:
            print(f"{self.path} {self.n} frames", flush=True)


class Recorder:
    """Keeps the frames of the last seconds, and decides which clip a frame belongs to."""

    def __init__(self, options, extension, muxer):
        self.options, self.extension, self.muxer = options, extension, muxer
        self.before, self.after, self.longest = (
            round(seconds * Gst.SECOND) for seconds in (options.before, options.after, options.longest))
        self.found = collections.deque()  # (time, record) of frames that are being encoded
        self.ring = collections.deque()  # encoded frames; the first one is a key frame
        self.written = -1  # the number of the last frame that was handled
        self.clip, self.seen, self.failed = None, None, False
        self.key_time, self.key_asked, self.closing = 0, False, []
        self.busy, self.stopping = False, False
        # time of the last frame; number of records without a frame
        self.taken, self.unmatched = 0, 0

    def on_frame(self, pad, info):
        """Called with each frame before it is encoded, which loses the metadata."""
        buffer = info.get_buffer()
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        record = gstcuvision.record(buffer, pad.get_current_caps())
        record["wallclock"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.found.append((segment.to_running_time(Gst.Format.TIME, buffer.pts), record))
        return Gst.PadProbeReturn.OK

    def record_of(self, time):
        """Returns the time and the record of the next encoded frame."""
        if time != Gst.CLOCK_TIME_NONE:
            while self.found and self.found[0][0] < time:  # the encoder dropped their frames
                self.found.popleft()
                self.unmatched += 1
        # h264parse omits the time of a frame that has that of the previous
        # frame
        unknown = time == Gst.CLOCK_TIME_NONE
        return self.found.popleft() if self.found and (unknown or self.found[0][0] == time) else (time, {})

    def take(self, number, sample):
        """Takes the next encoded frame."""
        self.taken = monotonic()
        buffer = sample.get_buffer()
        time, record = self.record_of(sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts))
        if time == Gst.CLOCK_TIME_NONE:
            raise RuntimeError("the frames of this source have no timestamps")
        is_key = not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)
        frame = Frame(number, time, buffer, sample.get_caps(), is_key, record)
        if is_key:
            self.key_time, self.key_asked = time, False
        if self.ring and not frame.caps.is_equal(self.ring[-1].caps):
            self.end_clip()
            self.ring.clear()
        if self.ring or is_key:
            self.ring.append(frame)
            self.decide(frame)

    def decide(self, frame):
        labels = self.options.labels
        if any(not labels or found.get("roi_type") in labels for found in frame.record.get("objects", ())):
            self.seen = frame.time
        self.drop_old(frame.time - self.before)
        if self.seen is not None and frame.time <= self.seen + self.after:
            self.write()
        elif self.ring[0].number > self.written:  # another event would have continued the clip until now
            self.end_clip()
            self.failed = False

    def drop_old(self, start):
        """Drops the frames before the last key frame that is not after start."""
        keys = [i for i, frame in enumerate(self.ring) if frame.is_key and frame.time <= start]
        for _ in range(keys[-1] if keys else 0):
            self.ring.popleft()

    def write(self):
        for frame in [frame for frame in self.ring if frame.number > self.written]:
            if self.clip and frame.is_key and \
                    frame.time + KEY_SECONDS * Gst.SECOND - self.clip.start > self.longest:
                self.end_clip()
            if self.clip is None and not self.failed:
                self.clip = Clip(self.new_path(frame), self.muxer, frame)
            if self.clip:
                self.clip.add(frame)
                if self.clip.error:
                    self.failed = True  # until the next event
                    self.end_clip()
            self.written = frame.number

    def new_path(self, frame):
        time, n = frame.record.get("wallclock", "clip")[:19].replace(":", "-"), 1
        while True:
            path = os.path.join(self.options.folder, f"{time}-{n:02}")
            if not any(os.path.lexists(path + end) for end in (self.extension, ".jsonl")):
                return path + self.extension
            n += 1

    def end_clip(self):
        """Closes the clip in a separate thread, so that a slow disk does not delay frames."""
        self.closing = [thread for thread in self.closing if thread.is_alive()]
        if self.clip:
            self.closing.append(threading.Thread(target=self.clip.close))
            self.closing[-1].start()
        self.clip = None

    def stop(self, *_):
        """Handles a signal: stops only between two frames, so that each has its record."""
        self.stopping = True
        if not self.busy:
            raise KeyboardInterrupt

    def wait(self, pad):
        """Called while no frame comes: a stalled camera does not keep the clip open."""
        if self.clip and monotonic() > self.taken + self.options.after + STALL_SECONDS:
            self.end_clip()
            self.ring.clear()
            self.seen = None
            self.ask_for_key(pad)

    def finish(self):
        self.end_clip()
        for thread in self.closing:
            thread.join()
        if self.unmatched:
            say(f"{self.unmatched} records were lost: the encoder dropped or reordered their frames")

    def ask_for_key(self, pad):
        if not self.key_asked and (
                not self.ring or self.ring[-1].time >= self.key_time + KEY_SECONDS * Gst.SECOND):
            self.key_asked = pad.push_event(GstVideo.video_event_new_upstream_force_key_unit(
                Gst.CLOCK_TIME_NONE, True, 0))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SOURCE")
    parser.add_argument("folder", metavar="FOLDER", help="folder of the clips, created if missing")
    parser.add_argument("--detector", metavar="LINE", help="elements that find objects; default: %(default)s",
                        default="waldboostdetect model=haarcascade_frontalface_alt2.xml label=face")
    parser.add_argument("--labels", metavar="A,B", type=lambda text: set(text.split(",")),
                        help="labels of the objects that count; default: all")
    for name, seconds, text in (("before", 2, "seconds to keep before the first object"),
                                ("after", 2, "seconds to keep after the last object"),
                                ("longest", 300, "maximum length of a clip in seconds; the next clip continues it")):
        parser.add_argument(f"--{name}", metavar="SECONDS", type=float, default=seconds,
                            help=f"{text}; default: %(default)s")
    parser.add_argument("--encoder", metavar="LINE", help="default: the first installed one of "
                        + ", ".join(line.split()[0] for line in ENCODERS))
    options = parser.parse_args()
    if min(options.before, options.after) < 0 or options.longest < options.before + 2 * KEY_SECONDS:
        parser.error(f"--before and --after must not be negative, and --longest must be at least"
                     f" {2 * KEY_SECONDS} seconds more than --before")
    return options


def make_pipeline(options):
    """Returns the pipeline, the extension of clips and their muxer."""
    Gst.init(None)
    encoder = options.encoder or next(
        (line for line in ENCODERS if Gst.ElementFactory.find(line.split()[0])), None)
    if encoder is None:
        sys.exit("no encoder found: install gstreamer1.0-plugins-ugly (x264enc) or -good (jpegenc)")
    names = [part.split()[0] for part in encoder.split("!") if part.strip()]
    is_h264 = any("264" in name for name in names)
    if not is_h264 and not set(names) & set(OTHER_ENCODERS):
        sys.exit(f"--encoder {encoder}: must contain an H.264 encoder, or one of {', '.join(OTHER_ENCODERS)}")
    parser, extension, muxer = H264 if is_h264 else OTHER
    line = (f"{options.source} ! decodebin ! videoconvert ! {options.detector} ! identity name=found"
            f" ! videoconvert ! video/x-raw,format=I420 ! {encoder} ! {parser}"
            " ! appsink name=sink sync=false max-buffers=4")
    try:
        return Gst.parse_launch(line), extension, muxer
    except gstcuvision.GLib.Error as error:
        sys.exit(f"{line}: {error.message}")


def main():
    options = read_options()
    pipeline, extension, muxer = make_pipeline(options)
    recorder = Recorder(options, extension, muxer)
    pipeline.get_by_name("found").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, recorder.on_frame)
    pad = pipeline.get_by_name("sink").get_static_pad("sink")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, recorder.stop)
    status = 0
    try:
        for number, sample in enumerate(gstcuvision.samples(pipeline, idle=True)):
            recorder.busy = True
            if sample:
                recorder.take(number, sample)
                recorder.ask_for_key(pad)
            else:
                recorder.wait(pad)
            recorder.busy = False
            if recorder.stopping:
                break
    except KeyboardInterrupt:
        pass
    except RuntimeError as error:
        say(error)
        status = 1
    recorder.busy = True  # a second signal must not interrupt finish()
    recorder.finish()
    sys.exit(status)


main()
