#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records what a detector finds: each event, with the seconds before and after it, in a clip
of its own, and the results of its frames in a file beside it.

SOURCE is the start of a gst-launch-1.0 pipeline: 'filesrc location=video.avi', v4l2src. With --copy
clips have the frames of the source as they were encoded, which saves encoding them again. Ctrl-C
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
MP4 = (".mp4",  # if the program is killed, only the last two seconds are lost
       "mp4mux fragment-duration=1000 fragment-mode=first-moov-then-finalise")
CONTAINERS = {"video/x-h264": ("h264parse", *MP4), "video/x-h265": ("h265parse", *MP4)}
OTHER = ("identity", ".mkv", "matroskamux")
VIDEO = ";".join(f"video/{name}" for name in (  # a source may have sound, too
    "x-h264", "x-h265", "x-vp8", "x-vp9", "x-av1", "mpeg", "x-divx", "x-raw")) + ";image/jpeg"
OTHER_ENCODERS = ("jpegenc", "avenc_mjpeg", "vp8enc", "vp9enc")
STALL_SECONDS = 1  # a clip is closed after --after and this time without a frame
Frame = collections.namedtuple("Frame", "number time buffer caps is_key record")


def container(caps):
    """Returns the parser of encoded video, the extension of its clips and their muxer."""
    return CONTAINERS.get(caps.get_structure(0).get_name(), OTHER)


def segment_of(pad):
    return pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()


def time_of(buffer, segment):
    return segment.to_running_time(Gst.Format.TIME, buffer.pts)


def record_of(buffer, caps):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return gstcuvision.record(buffer, caps) | {"wallclock": now}


def say(text):
    print(text, file=sys.stderr, flush=True)


def error_text(message):
    error, debug = message.parse_error()
    return f"{error.message} {debug.splitlines()[-1] if debug else ''}"


class Clip:
    """A video that is being written, and its records. Only close() waits for the disk."""

    MAX_QUEUE = 64 << 20  # bytes that wait for the disk
    CLOSE_SECONDS = 10

    def __init__(self, path, first):
        parser, _, muxer = container(first.caps)
        self.path, self.caps, self.start = path, first.caps, first.time
        self.error, self.records, self.n = None, None, 0
        self.line = Gst.parse_launch(
            f"appsrc name=feed format=time max-bytes=0 ! {parser} ! mux.video_0 {muxer} name=mux ! filesink name=file")
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

    def __init__(self, options):
        self.options = options
        self.before, self.after, self.longest = (
            round(seconds * Gst.SECOND) for seconds in (options.before, options.after, options.longest))
        self.found = collections.deque()  # (time, record) of frames that are being encoded
        self.encoded = collections.deque()  # (time, buffer, caps) of frames that are being decoded
        self.copy_problem = None
        self.ring = collections.deque()  # encoded frames; the first one is a key frame
        self.n = 0  # frames so far
        self.written = -1  # the number of the last frame that was handled
        self.clip, self.seen, self.failed = None, None, False
        self.key_time, self.key_asked, self.closing = 0, False, []
        self.busy, self.stopping = False, False
        # time of the last frame; number of records without a frame
        self.taken, self.unmatched = 0, 0

    def on_frame(self, pad, info):
        """Called with each frame before it is encoded, which loses the metadata."""
        buffer = info.get_buffer()
        self.found.append((time_of(buffer, segment_of(pad)), record_of(buffer, pad.get_current_caps())))
        return Gst.PadProbeReturn.OK

    def on_encoded(self, pad, info):
        """Called with each frame of the source before it is decoded."""
        buffer = info.get_buffer()
        time, caps = time_of(buffer, segment_of(pad)), pad.get_current_caps()
        if caps.get_structure(0).get_name() == "video/x-raw":
            self.copy_problem = "the source is not encoded: omit --copy"
        elif time == Gst.CLOCK_TIME_NONE or (self.encoded and time < self.encoded[-1][0]):
            self.copy_problem = "--copy needs timestamps, and no B-frames: omit it"
        self.encoded.append((time, buffer, caps))
        return Gst.PadProbeReturn.OK

    def found_at(self, time):
        """Returns the time and the record of the next encoded frame."""
        if time != Gst.CLOCK_TIME_NONE:
            while self.found and self.found[0][0] < time:  # the encoder dropped their frames
                self.found.popleft()
                self.unmatched += 1
        # h264parse omits the time of a frame that has that of the previous
        # frame
        unknown = time == Gst.CLOCK_TIME_NONE
        return self.found.popleft() if self.found and (unknown or self.found[0][0] == time) else (time, {})

    def take(self, sample):
        """Takes the next frame that was encoded, or with --copy decoded again."""
        self.taken = monotonic()
        buffer, caps = sample.get_buffer(), sample.get_caps()
        time = time_of(buffer, sample.get_segment())
        if not self.options.copy:
            time, record = self.found_at(time)
            self.add(time, buffer, caps, record)
            return
        if self.copy_problem:
            raise RuntimeError(self.copy_problem)
        record = record_of(buffer, caps)
        while self.encoded and self.encoded[0][0] <= time:
            encoded_time, buffer, caps = self.encoded.popleft()
            self.add(encoded_time, buffer, caps, record if encoded_time == time else {})

    def add(self, time, buffer, caps, record):
        """Adds an encoded frame."""
        if time == Gst.CLOCK_TIME_NONE:
            raise RuntimeError("the frames of this source have no timestamps")
        is_key = not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)
        frame = Frame(self.n, time, buffer, caps, is_key, record)
        self.n += 1
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
                self.clip = Clip(self.new_path(frame), frame)
            if self.clip:
                self.clip.add(frame)
                if self.clip.error:
                    self.failed = True  # until the next event
                    self.end_clip()
            self.written = frame.number

    def new_path(self, frame):
        time, n = frame.record.get("wallclock", "clip")[:19].replace(":", "-"), 1
        _, extension, _ = container(frame.caps)
        while True:
            path = os.path.join(self.options.folder, f"{time}-{n:02}")
            if not any(os.path.lexists(path + end) for end in (extension, ".jsonl")):
                return path + extension
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
        if not self.options.copy and not self.key_asked and (
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
    parser.add_argument("--copy", action="store_true", help="write the frames of the source as they were encoded")
    options = parser.parse_args()
    if min(options.before, options.after) < 0 or options.longest < options.before + 2 * KEY_SECONDS:
        parser.error(f"--before and --after must not be negative, and --longest must be at least"
                     f" {2 * KEY_SECONDS} seconds more than --before")
    if options.copy and options.encoder:
        parser.error("--copy does not encode: omit it, or --encoder")
    return options


def repeat_parameters(_, parser):
    """Has a parser repeat the encoder's parameters at each key frame: a clip may begin there."""
    if parser.find_property("config-interval"):
        parser.set_property("config-interval", -1)


def copying_line(options):
    return (f"{options.source} ! parsebin name=encoded ! {VIDEO} ! identity name=parsed ! decodebin ! videoconvert"
            f" ! {options.detector} ! appsink name=sink sync=false max-buffers=4")


def encoding_line(options):
    encoder = options.encoder or next(
        (line for line in ENCODERS if Gst.ElementFactory.find(line.split()[0])), None)
    if encoder is None:
        sys.exit("no encoder found: install gstreamer1.0-plugins-ugly (x264enc) or -good (jpegenc)")
    names = [part.split()[0] for part in encoder.split("!") if part.strip()]
    is_h264 = any("264" in name for name in names)
    if not is_h264 and not set(names) & set(OTHER_ENCODERS):
        sys.exit(f"--encoder {encoder}: must contain an H.264 encoder, or one of {', '.join(OTHER_ENCODERS)}")
    parser = "h264parse ! video/x-h264,stream-format=avc,alignment=au" if is_h264 else "identity"
    return (f"{options.source} ! decodebin ! videoconvert ! {options.detector} ! identity name=found"
            f" ! videoconvert ! video/x-raw,format=I420 ! {encoder} ! {parser}"
            " ! appsink name=sink sync=false max-buffers=4")


def make_pipeline(options, recorder):
    Gst.init(None)
    line = copying_line(options) if options.copy else encoding_line(options)
    try:
        pipeline = Gst.parse_launch(line)
    except gstcuvision.GLib.Error as error:
        sys.exit(f"{line}: {error.message}")
    name, probe = ("parsed", recorder.on_encoded) if options.copy else ("found", recorder.on_frame)
    pipeline.get_by_name(name).get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, probe)
    if options.copy:
        pipeline.get_by_name("encoded").connect("element-added", repeat_parameters)
    return pipeline


def main():
    options = read_options()
    recorder = Recorder(options)
    pipeline = make_pipeline(options, recorder)
    pad = pipeline.get_by_name("sink").get_static_pad("sink")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, recorder.stop)
    status = 0
    try:
        for sample in gstcuvision.samples(pipeline, idle=True):
            recorder.busy = True
            if sample:
                recorder.take(sample)
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
