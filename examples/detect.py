#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the objects in a video and the objects within them: detect.py FILE [MODEL [MODEL-INSIDE]]"""
import gi, gstcuvision, os, signal, sys
gi.require_version("Gst", "1.0")
from gi.repository import Gst

def print_objects(pad, info):
    for found in gstcuvision.objects(info.get_buffer()):
        confidence = found["detection"].get("confidence")
        print(*(found[key] for key in ("region_id", "roi_type", "x", "y", "w", "h")),
              "-" if confidence is None else f"{confidence:.3f}",
              f"in {found['parent_id']}" if "parent_id" in found else "")
    return Gst.PadProbeReturn.OK
if not 2 <= len(sys.argv) <= 4:
    sys.exit(__doc__)
models = ["haarcascade_frontalface_alt2.xml", "haarcascade_eye.xml"]
file, model, inside = map(gstcuvision.quote, sys.argv[1:] + models[len(sys.argv) - 2:])
for number in (signal.SIGINT, signal.SIGPIPE):  # Python's handlers wait until C returns
    signal.signal(number, signal.SIG_DFL)
os.environ.setdefault("GST_PLUGIN_FEATURE_RANK", "jpegparse:MAX")  # orientation of photographs
Gst.init(None)
line = Gst.parse_launch(
    f"filesrc location={file} ! decodebin ! videoconvert ! videoflip video-direction=auto "
    f"! waldboostdetect model={model} "
    f"! waldboostdetect name=last model={inside} inference-region=roi-list ! fakesink")
line.get_by_name("last").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, print_objects)
line.set_state(Gst.State.PLAYING)
end = line.bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
line.set_state(Gst.State.NULL)
sys.exit(f"{sys.argv[1]}: {end.parse_error().gerror.message}" if end.type == Gst.MessageType.ERROR else 0)
