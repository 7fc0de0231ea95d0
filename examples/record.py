#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records while objects are detected, each time into a new film:
record.py SOURCE FOLDER [MODEL [SECONDS]]

SOURCE is the start of a gst-launch-1.0 line: 'filesrc location=film.avi', v4l2src.
A film starts SECONDS (1) before the first detection and ends as long after the last."""
import collections, os, sys
from gstcuvision import Gst, objects, samples

class Film:
    def __init__(self, path, first):
        self.line = Gst.parse_launch("appsrc name=feed format=time ! videoconvert ! video/x-raw,format=I420 "
                                     f'! x264enc tune=zerolatency speed-preset=veryfast ! mp4mux ! filesink location="{path}"')
        self.feed, self.start = self.line.get_by_name("feed"), first.get_buffer().pts
        self.feed.set_property("caps", first.get_caps())
        self.line.set_state(Gst.State.PLAYING)

    def add(self, sample):
        flags = Gst.BufferCopyFlags  # shares the pixels
        frame = sample.get_buffer().copy_region(flags.FLAGS | flags.TIMESTAMPS | flags.META | flags.MEMORY, 0, 2**64 - 1)
        frame.pts -= self.start
        self.feed.emit("push-buffer", frame)

    def close(self):
        self.feed.emit("end-of-stream")
        self.line.bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        self.line.set_state(Gst.State.NULL)

if not 3 <= len(sys.argv) <= 5:
    sys.exit(__doc__)
source, folder, model, seconds = (sys.argv + ["lbpcascade_frontalface_improved.xml", "1"][len(sys.argv) - 3:])[1:5]
around = float(seconds) * Gst.SECOND
os.makedirs(folder, exist_ok=True)
line = (f'{source} ! decodebin ! videoconvert ! waldboostdetect model="{model}" '
        "! appsink name=sink sync=false max-buffers=4")
film, waiting, last = None, collections.deque(), 0
try:
    for number, sample in enumerate(samples(line)):
        time = sample.get_buffer().pts
        waiting.append(sample)
        while time - waiting[0].get_buffer().pts > around:
            waiting.popleft()
        if objects(sample):
            last = time
            film = film or Film(f"{folder}/{number:06}.mp4", waiting[0])
        while film and waiting:
            film.add(waiting.popleft())
        if film and time - last >= around:
            film = film.close()
except KeyboardInterrupt:  # the open film is completed below
    pass
if film:
    film.close()
