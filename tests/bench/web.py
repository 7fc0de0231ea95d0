#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times visionwebsink with frames of 1080p: microseconds in the streaming thread and
milliseconds in the encoder's thread, for each number of viewers.

usage: web.py [--cuda | --metrics] [SECONDS]

--cuda: frames in CUDA memory
--metrics: microseconds of small frames with objects, with and without requests for /metrics
Needs the element in GST_PLUGIN_PATH_1_0 and loopback."""

import os
import sys
import threading
import time

import gi

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "elements", "web"))
from client import Gst, SILENT, Sink, WebSocket, get, stat

gi.require_version("GstVideo", "1.0")
from gi.repository import GstVideo

CAPS = "video/x-raw,format=%s,width=1920,height=1080,framerate=30/1"


def view(viewer, stop):
    while not stop.is_set() and viewer.next() is not None:
        pass
    viewer.close()


def measure(caps, upload, n_viewers, seconds):
    source = "videotestsrc num-buffers=1 ! %s ! imagefreeze is-live=true ! %s%s" % (
        caps, caps, upload)
    with Sink("max-viewers=200", source) as server:
        stop = threading.Event()
        for _ in range(n_viewers):
            threading.Thread(target=view, daemon=True,
                             args=(WebSocket(server.port), stop)).start()
        time.sleep(seconds)
        frames, encoded = (stat(server.sink, n) for n in ("frames", "encoded"))
        render, encode, sent = (stat(server.sink, n) for n in (
            "render-microseconds", "encode-microseconds", "sent"))
        stop.set()
        error = server.problem()
        if error:
            sys.exit(error)
        if upload:
            pad = server.sink.get_static_pad("sink")
            if "CUDAMemory" not in pad.get_current_caps().to_string():
                sys.exit("the frames are not in CUDA memory")
    return (frames, render / max(frames, 1), encoded, encode / max(encoded, 1) / 1000,
            sent)


def measure_metrics(n_objects, asked, seconds):
    """Returns microseconds per frame in the streaming thread."""
    buffer = Gst.Buffer.new_wrapped(bytes(64 * 48))
    for i in range(n_objects):
        GstVideo.buffer_add_video_region_of_interest_meta(buffer, f"label {i % 4}", i, i, 9, 9)
    with Sink("sync=false", SILENT + " block=true max-buffers=8") as server:
        source = server.pipeline.get_by_name("source")
        end = time.monotonic() + seconds
        scrape = 0
        while (now := time.monotonic()) < end:
            if asked and now > scrape:
                get(server.port, "/metrics")
                scrape = now + 1
            source.emit("push-buffer", buffer)
        return stat(server.sink, "render-microseconds") / max(stat(server.sink, "frames"), 1)


def print_metrics(seconds):
    print("| objects | render, us | with /metrics once a second, us |")
    print("|---|---|---|")
    for n_objects in 0, 10, 100:
        row = [measure_metrics(n_objects, asked, seconds) for asked in (False, True)]
        print("| %d | %.2f | %.2f |" % (n_objects, *row), flush=True)


def main():
    arguments = sys.argv[1:]
    cuda = "--cuda" in arguments
    seconds = float(next((a for a in arguments if not a.startswith("-")), 10))
    Gst.init(None)
    if "--metrics" in arguments:
        print_metrics(seconds)
        return
    print("| format | viewers | frames | render, us | encoded | encode, ms | sent |")
    print("|---|---|---|---|---|---|---|")
    for name in ("NV12", "I420", "YUY2", "RGB", "BGRx"):
        for n_viewers in (0, 1, 50):
            row = measure(CAPS % name, " ! cuvcudaupload" if cuda else "", n_viewers,
                          seconds)
            print("| %s | %d | %d | %.1f | %d | %.1f | %d |" % ((name, n_viewers) + row),
                  flush=True)


if __name__ == "__main__":
    main()
