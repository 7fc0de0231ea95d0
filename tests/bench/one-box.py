#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Trains a detector of a face from one box in one frame of Megamind.avi.

usage: one-box.py [PROPERTY=VALUE...]   of waldboosttrain, such as seed=2

rcdtrack follows the box through the first half of the video, frames 1 to 134, of which 96 show the
face. The detector is then run on 30 frames of the second half, annotated by hand in
tests/data/megamind-face.json. A box finds the face if its intersection over union with the
annotated one is 0.5 or more; all others are false positives. Prints the recall and the false
positives per frame at the model's own threshold, and the best recall at 0, 0.1 and 1 false
positives per frame. Needs the plugins in GST_PLUGIN_PATH.
"""
import json
import os
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                                "models", "waldboost"))
from boxes import overlap  # noqa: E402

VIDEO = "/usr/share/doc/opencv-doc/examples/data/Megamind.avi"
TRUTH = os.path.join(os.path.dirname(__file__), "../data/megamind-face.json")
FIRST, HALF = 1, 135  # frame 0 is black
BOX = "object-initial-x=212 object-initial-y=140 object-initial-width=140 object-initial-height=190"
# the detector does not learn from frames with a doubtful match
TRACK = f'rcdtrack message=none max-distance=0.2 scales="<0.9,1.0,1.1>" {BOX}'


def run(line, wanted, visit=None):
    """Plays the given frames of the video; returns the last element message."""
    pipeline = Gst.parse_launch(f"filesrc location={VIDEO} ! decodebin ! videoconvert"
                                f" ! identity name=gate ! {line}")
    number = -1

    def enter(pad, info):
        nonlocal number
        number += 1
        return Gst.PadProbeReturn.OK if number in wanted else Gst.PadProbeReturn.DROP

    def leave(pad, info):
        visit(number, info.get_buffer())
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name("gate").get_static_pad("sink").add_probe(
        Gst.PadProbeType.BUFFER, enter)
    if visit:
        pipeline.get_by_name("end").get_static_pad("sink").add_probe(
            Gst.PadProbeType.BUFFER, leave)
    pipeline.set_state(Gst.State.PLAYING)
    result = None
    while True:
        message = pipeline.get_bus().timed_pop_filtered(
            Gst.CLOCK_TIME_NONE,
            Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message.type == Gst.MessageType.ERROR:
            sys.exit(message.parse_error()[0].message)
        if message.type == Gst.MessageType.EOS:
            break
        result = message.get_structure().copy()
    pipeline.set_state(Gst.State.NULL)
    return result


def regions(buffer):
    metas = []
    while meta := GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, len(metas)):
        score = meta.get_param("detection").get_value("score")
        metas.append((score, (meta.x, meta.y, meta.w, meta.h)))
    return sorted(metas, reverse=True)


def detect(model, truth, threshold):
    """Returns the scores of the faces that are found, and of the false positives."""
    right, wrong = [], []

    def judge(frame, buffer):
        found = False
        for score, box in regions(buffer):
            hit = not found and overlap(box, truth[frame]) >= 0.5
            found |= hit
            (right if hit else wrong).append(score)

    run(f"waldboostdetect message=none model={model} final-threshold={threshold}"
        " ! fakesink name=end", truth, judge)
    return right, sorted(wrong, reverse=True)


def main():
    Gst.init(None)
    with open(TRUTH, encoding="utf-8") as file:
        truth = {box["frame"]: (box["x"], box["y"], box["width"], box["height"])
                 for box in json.load(file)["boxes"]}
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "face.xml")
        learnt = run(f"{TRACK} ! waldboosttrain progress-interval=0 model={model} "
                     + " ".join(sys.argv[1:]), range(FIRST, HALF))
        print(f"{learnt.get_value('frames')} frames, {learnt.get_value('weak')} weak classifiers, "
              f"{learnt.get_value('seconds'):.0f} s; on frames of the first half: recall "
              f"{learnt.get_value('recall'):.2f}, "
              f"{learnt.get_value('false-positives'):.2f} false positives a frame")
        right, wrong = detect(model, truth, 0)
        print(f"second half: recall {len(right) / len(truth):.2f}, "
              f"{len(wrong) / len(truth):.2f} false positives a frame")
        right, wrong = detect(model, truth, -40)
    for limit in (0, 0.1, 1):
        allowed = int(limit * len(truth))
        threshold = wrong[allowed] if allowed < len(wrong) else -1
        recall = sum(score > threshold for score in right) / len(truth)
        print(f"at most {limit} false positives a frame: recall {recall:.2f}, "
              f"final-threshold={threshold - 40:.2f}")


if __name__ == "__main__":
    main()
