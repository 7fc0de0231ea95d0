#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a network with GStreamer's onnxinference and one of its tensor decoders, and checks that
its objects get ids, are counted and published.

usage: onnx.py DECODER

The network finds a person and a car. The brighter a frame is, the lower is the person.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

WIDTH, HEIGHT = 320, 240
N_FRAMES, STEP = 12, 10  # each frame is brighter by this than the one before
PERSON, CAR = (40, 24, 40, 60), (200, 100, 80, 50)  # x, y, width, height in a black frame
CLASSES, LABELS = (1, 3), "person\nperson\ncar\ncar\n"  # decoders count lines from 0 or from 1
CROSSING = 4  # the first frame in which the person's feet are below the line
ZONES = {"zones": [
    {"name": "gate", "line": [[0, 0.5], [1, 0.5]]},
    {"name": "right", "polygon": [[0.5, 0], [1, 0], [1, 1], [0.5, 1]]}]}
LINE = ("filesrc location=frames ! rawvideoparse format=rgb width=320 height=240 framerate=10/1"
        " ! onnxinference model-file=model.onnx ! %s ! visiontrack ! visionzones hysteresis=1"
        " zones-location=zones.json ! visionpublish file-path=out ! fakesink")

# ---- ONNX files, which consist of messages of Protocol Buffers ----

FLOAT, UINT8, INT64 = 1, 2, 7  # types of tensors


def varint(number):
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes(parts + [number])


def message(*fields):
    """Each field is its number and an integer, a text or bytes."""
    encoded = b""
    for number, value in fields:
        if isinstance(value, int):
            encoded += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            encoded += varint(number << 3 | 2) + varint(len(value)) + value
    return encoded


def constant(name, dims, values, kind=FLOAT):
    data = struct.pack("<%d%s" % (len(values), "f" if kind == FLOAT else "q"), *values)
    return message(*[(1, dim) for dim in dims], (2, kind), (8, name), (9, data))


def parameter(name, dims, kind=FLOAT):
    """An input or output of the network. A dimension that is a text is known at run time only."""
    shape = message(*[(1, message((1 if isinstance(dim, int) else 2, dim))) for dim in dims])
    return message((1, name), (2, message((1, message((1, kind), (2, shape))))))


def node(operation, inputs, output, **attributes):
    return message(*[(1, name) for name in inputs], (2, output), (4, operation),
                   *[(5, message((1, key), (3, value), (20, 2))) for key, value in attributes.items()])


def model(nodes, constants, outputs):
    graph = message(*[(1, each) for each in nodes], (2, "graph"), *[(5, each) for each in constants],
                    (11, parameter("image", [1, HEIGHT, WIDTH, 3], UINT8)),
                    *[(12, parameter(name, dims)) for name, dims in outputs.items()])
    return message((1, 8), (7, graph), (8, message((1, ""), (2, 13))))


# ---- networks ----


def moved(output):
    """Returns nodes that add the frame's brightness, times "slope", to "start"."""
    return [node("Cast", ["image"], "pixels", to=FLOAT),
            node("ReduceMax", ["pixels"], "brightness", keepdims=0),
            node("Mul", ["brightness", "slope"], "way"), node("Add", ["way", "start"], output)]


def corners(box):
    """Returns top, left, bottom and right, which the decoder rounds down to pixels."""
    x, y, w, h = (value + 0.5 for value in box)
    return [y / HEIGHT, x / WIDTH, (y + h - 0.5) / HEIGHT, (x + w - 0.5) / WIDTH]


def ssd():
    """The number of objects is known at run time only, as in real networks; GStreamer 1.28
    relies on it."""
    names = {"detection_boxes": [1, "n", 4], "detection_scores": [1, "n"], "detection_classes": [1, "n"]}
    nodes = moved("all_boxes") + [
        node("NonZero", ["present"], "indices"), node("Squeeze", ["indices", "axis"], "found"),
        node("Gather", ["all_boxes", "found"], "detection_boxes", axis=1),
        node("Gather", ["all_scores", "found"], "detection_scores", axis=1),
        node("Gather", ["all_classes", "found"], "detection_classes", axis=1),
        node("Identity", ["count"], "num_detections")]
    return model(nodes, [
        constant("start", [1, 2, 4], corners(PERSON) + corners(CAR)),
        constant("slope", [1, 2, 4], [1 / HEIGHT, 0, 1 / HEIGHT, 0, 0, 0, 0, 0]),
        constant("present", [2], [1, 1]), constant("axis", [1], [0], INT64),
        constant("all_scores", [1, 2], [0.875, 0.75]), constant("all_classes", [1, 2], CLASSES),
        constant("count", [1], [2])], names | {"num_detections": [1]})


def yolo():
    """Rows are x and y of the centre, width, height, and the confidence of each class."""
    boxes = [(x + w / 2, y + h / 2, w, h) for x, y, w, h in (PERSON, CAR)]
    rows = list(zip(*boxes)) + [(0, 0), (0.875, 0), (0, 0), (0, 0.75)]
    slope = [value for row in range(8) for value in (row == 1, 0)]
    return model(moved("output0"), [
        constant("start", [1, 8, 2], [value for row in rows for value in row]),
        constant("slope", [1, 8, 2], slope)], {"output0": [1, 8, 2]})


SSD_INFO = """
[detection_boxes]
id=ssd-mobilenet-v1-variant-1-out-boxes
type=float32
dims=1,-1,4
dir=output

[detection_scores]
id=ssd-mobilenet-v1-variant-1-out-scores
type=float32
dims=1,-1
dir=output

[detection_classes]
id=ssd-mobilenet-v1-variant-1-out-classes
type=float32
dims=1,-1
dir=output

[num_detections]
id=generic-variant-1-out-count
type=float32
dims=1
dir=output
"""
YOLO_INFO = """
[output0]
id=yolo-v8-out
type=float32
dims=1,8,2
dims-order=col-major
dir=output
"""
INFO = """[modelinfo]
version=1.0
group-id=%s

[image]
id=image
type=uint8
dims=1,240,320,3
ranges=0,255;0,255;0,255
dir=input
"""


# ---- the pipeline ----


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def run(decoder):
    """Returns what visionpublish writes."""
    is_yolo = decoder.startswith("yolo")
    write("model.onnx", yolo() if is_yolo else ssd())
    # GStreamer 1.28 reads the names of tensors from this file
    write("model.onnx.modelinfo", INFO % ("yolo-v8-out" if is_yolo else "ssd-mobilenet-v1-variant-1-out")
          + (YOLO_INFO if is_yolo else SSD_INFO))
    write("labels", LABELS)
    write("zones.json", json.dumps(ZONES))
    write("frames", b"".join(bytes([STEP * i]) * (3 * WIDTH * HEIGHT) for i in range(N_FRAMES)))
    labels = "" if decoder == "tensordecodebin" else " label-file=labels"
    done = subprocess.run(["gst-launch-1.0", "-q"] + (LINE % (decoder + labels)).split(),
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    with open("out", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Network(unittest.TestCase):
    def test_objects(self):
        self.assertEqual(len(records), N_FRAMES)
        for i, record in enumerate(records):
            person, car = record["objects"]
            x, y, w, h = PERSON
            self.assertEqual([person[key] for key in "xywh"], [x, y + STEP * i, w, h])
            self.assertEqual([car[key] for key in "xywh"], list(CAR))
            self.assertEqual([person["id"], car["id"]], [1, 2])
            self.assertEqual(person["detection"]["confidence"], 0.875)
            if decoder != "tensordecodebin":
                self.assertEqual([person["roi_type"], car["roi_type"]], ["person", "car"])

    def test_zones(self):
        events = [(i, event["event"], event["zone"], event["id"], event["direction"])
                  for i, record in enumerate(records) for event in record.get("zone_events", [])]
        self.assertEqual(events, [(0, "enter", "right", 2, "in"), (CROSSING, "cross", "gate", 1, "out")])
        gate, right = records[-1]["zones"]
        self.assertEqual((gate["in"], gate["out"], right["in"], right["inside"]), (0, 1, 1, 1))
        self.assertEqual([row["id"] for row in records[-1]["zone_objects"]], [2])


if __name__ == "__main__":
    decoder = sys.argv.pop(1)
    for element in ("onnxinference", decoder):
        if subprocess.run(["gst-inspect-1.0", "--exists", element], check=False).returncode:
            print("skipped: %s is not installed" % element)
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        records = run(decoder)
        os.chdir("/")
    unittest.main()
