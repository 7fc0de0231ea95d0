#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how well local derivative patterns distinguish classes of pictures.

usage: ldp-roc.py FOLDER [PROPERTY=VALUE...]

FOLDER has a subfolder of pictures for each class. Each picture is compared with all
others: pairs of the same class should be similar, others not. Properties are those
of ldpindexsink, such as order=2.

It prints the numbers of correctly and wrongly classified pairs at the threshold
whose rates are nearest to the ideal (TPR 1, FPR 0); the area under the ROC curve;
precision at 1 and 10, the fraction of the most similar pictures that have the same
class; and mean average precision.
"""
import json
import math
import os
import sys
import tempfile

import gi
gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst

ERROR, EOS = Gst.MessageType.ERROR, Gst.MessageType.EOS
LIMIT = 60 * Gst.SECOND


def launch(line):
    try:
        return Gst.parse_launch(line)
    except GLib.Error as error:
        sys.exit(error.message)


def error_of(bus, types=ERROR, limit=0):
    """Returns the text of a posted error, or None."""
    message = bus.timed_pop_filtered(limit, types)
    return message.parse_error().gerror.message if message and message.type == ERROR else None


def decode(path):
    """Returns the picture as a sample. On failure prints an error and returns None."""
    pipeline = launch("filesrc name=file ! decodebin ! videoconvert"
                      " ! video/x-raw,format=RGB ! appsink name=out sync=false")
    pipeline.get_by_name("file").set_property("location", path)
    pipeline.set_state(Gst.State.PLAYING)
    bus, sample, error = pipeline.get_bus(), None, None
    out = pipeline.get_by_name("out")
    for _ in range(100):
        sample = out.emit("try-pull-sample", Gst.SECOND // 10)
        error = error_of(bus)
        if sample or error or out.get_property("eos"):
            break
    if sample is None:
        print(f"{path}: {error or 'no picture in it'}", file=sys.stderr)
    pipeline.set_state(Gst.State.NULL)
    return sample


def feed(paths, line):
    """Feeds pictures of any sizes into one pipeline; returns the paths that could be decoded."""
    pipeline = launch("appsrc name=in format=time ! " + line)
    pipeline.set_state(Gst.State.PLAYING)
    source, bus, fed = pipeline.get_by_name("in"), pipeline.get_bus(), []
    error = error_of(bus)
    for path in paths:
        sample = decode(path) if error is None else None
        if sample is not None:
            source.emit("push-sample", sample)
            fed.append(path)
        while error is None and source.get_property("current-level-buffers") > 1:
            error = error_of(bus, ERROR, Gst.SECOND // 100)
    source.emit("end-of-stream")
    error = error or error_of(bus, ERROR | EOS, LIMIT)
    pipeline.set_state(Gst.State.NULL)
    if error is not None:
        sys.exit(error)
    return fed


def compare(paths, properties):
    """Returns the paths that could be decoded, and for each the similarities and numbers of the
    others."""
    with tempfile.TemporaryDirectory() as folder:
        index, found = os.path.join(folder, "all.ldp"), os.path.join(folder, "found.jsonl")
        paths = feed(paths, f'ldpindexsink location="{index}" {" ".join(properties)}'
                     " thumbnail-width=0 thumbnail-height=0")
        feed(paths, f'ldpretrieve index="{index}" k={len(paths)} skip-late=false'
             f' ! visionpublish file-path="{found}" ! fakesink sync=false')
        with open(found) as lines:
            records = [json.loads(line) for line in lines]
    return paths, [[(match["similarity"], match["entry"]) for match in record["matches"]
                    if match["entry"] != i] for i, record in enumerate(records)]


def curve(pairs):
    """Returns TP, FP and threshold for each distinct similarity, in descending order."""
    tp = fp = 0
    points = [(0, 0, math.inf)]
    pairs = sorted(pairs, reverse=True)
    for i, (similarity, same) in enumerate(pairs):
        tp, fp = tp + same, fp + (not same)
        if i + 1 == len(pairs) or pairs[i + 1][0] != similarity:
            points.append((tp, fp, similarity))
    return points


def report(pairs):
    points = curve(pairs)
    positives, negatives = points[-1][0], points[-1][1]
    area = sum((b[1] - a[1]) * (a[0] + b[0]) / 2 for a, b in zip(points, points[1:]))
    tp, fp, threshold = min(
        points, key=lambda p: math.hypot(1 - p[0] / positives, p[1] / negatives))
    print(f"threshold {threshold:.4f}: TP {tp} FN {positives - tp} FP {fp} TN {negatives - fp}"
          f" TPR {tp / positives:.3f} FPR {fp / negatives:.3f}")
    print(f"AUC {area / positives / negatives:.4f}")


def precision(same, k):
    return sum(same[:k]) / len(same[:k])


def average_precision(same):
    hits = [precision(same, i + 1) for i, hit in enumerate(same) if hit]
    return sum(hits) / len(hits) if hits else 0


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder, properties = sys.argv[1], sys.argv[2:]
    if not any(p.startswith("descriptor-") for p in properties):
        properties = ["descriptor-width=256", "descriptor-height=256"] + properties
    Gst.init(None)
    paths = sorted(os.path.join(place, name)
                   for place, _, names in os.walk(folder) if place != folder for name in names)
    if not paths:
        sys.exit(f"{folder}: no subfolder with pictures")
    paths, found = compare(paths, properties)
    classes = [os.path.relpath(path, folder).split(os.sep)[0] for path in paths]
    if len(set(classes)) < 2 or len(set(classes)) == len(paths):
        sys.exit(f"{folder}: at least two subfolders are needed, one with at least two pictures")
    same = [[classes[entry] == classes[i] for _, entry in others]
            for i, others in enumerate(found)]
    print(f"{len(paths)} pictures, {len(set(classes))} classes")
    report([(similarity, classes[entry] == classes[i])
            for i, others in enumerate(found) for similarity, entry in others])
    for k in 1, 10:
        print(f"precision at {k}: {sum(precision(s, k) for s in same) / len(same):.3f}")
    print(f"mean average precision: {sum(average_precision(s) for s in same) / len(same):.3f}")


main()
