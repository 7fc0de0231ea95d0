#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures rate and latency of a live pipeline while a user teaches a detector in the page of
visionwebsink: before, while boxes are drawn, while it trains, and when the page is closed again.

usage: teach-live.py

The film is vtest.avi with a toy, as of teach.py, at 10 frames a second, decoded from JPEG. Latency is
that of frames at the sink. Needs what teach.py needs; run it in `meson devenv`."""
import os
import tempfile
import threading
import time

from teach import Chromium, Gst, LINE, OBJECTS, User, cv2

Gst.init(None)


class Pipeline:
    def __init__(self, folder):
        line = LINE.format(folder=os.path.join(folder, "saved"))
        line = line.replace("max-bytes=1000000 block=true", "is-live=true do-timestamp=true")
        self.pipeline = Gst.parse_launch(line.replace("sync=true", "sync=false"))
        frames, self.boxes, _, _, self.rate = OBJECTS["toy"]()
        self.pictures = [cv2.imencode(".jpg", frame)[1].tobytes() for frame in frames]
        height, width = frames[0].shape[:2]
        self.element("film").set_property("caps", Gst.Caps.from_string(
            f"image/jpeg,width={width},height={height},framerate={self.rate}/1"))
        self.latencies = []
        self.element("sink").get_static_pad("sink").add_probe(
            Gst.PadProbeType.BUFFER, self.count)
        self.pipeline.set_state(Gst.State.PLAYING)
        threading.Thread(target=self.push, daemon=True).start()

    def element(self, name):
        return self.pipeline.get_by_name(name)

    def push(self):
        start, n = time.monotonic(), 0
        while True:
            time.sleep(max(start + n / self.rate - time.monotonic(), 0))
            buffer = Gst.Buffer.new_wrapped(self.pictures[n % len(self.pictures)])
            if self.element("film").emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return
            n += 1

    def count(self, _, info):
        now = self.pipeline.get_clock().get_time() - self.pipeline.get_base_time()
        self.latencies.append((now - info.get_buffer().pts) / Gst.MSECOND)
        return Gst.PadProbeReturn.OK

    def skipped(self):
        return sum(self.element(name).get_property("stats").get_value("skipped")
                   for name in ("detect", "track"))

    def measure(self, what, work):
        """Prints rate and latency while a function runs."""
        before, begin = self.skipped(), time.monotonic()
        self.latencies = []
        work()
        found, seconds = sorted(self.latencies), time.monotonic() - begin
        print(f"{what}: {len(found) / seconds:.2f} frames a second, latency median "
              f"{found[len(found) // 2]:.1f} ms, 95 % {found[len(found) * 95 // 100]:.1f} ms, "
              f"{self.skipped() - before} skipped, {seconds:.0f} s", flush=True)


def train(user):
    user.click("teach-train")
    user.page.wait("!document.getElementById('teach-stop').hidden")
    user.page.wait("document.getElementById('teach-stop').hidden", timeout=300)


def main():
    with tempfile.TemporaryDirectory() as folder:
        pipeline = Pipeline(folder)
        time.sleep(2)
        pipeline.measure("nobody watches", lambda: time.sleep(20))
        user = User(Chromium(), pipeline.element("sink").get_property("url"), "toy",
                    pipeline.boxes)
        pipeline.measure("boxes are drawn", user.show)
        pipeline.measure("the page watches, a target is followed", lambda: time.sleep(15))
        pipeline.measure("a training runs", lambda: train(user))
        user.page.close()
        pipeline.measure("nobody watches, a target is followed", lambda: time.sleep(15))
        pipeline.pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
