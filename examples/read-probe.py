#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the faces of a picture or video: read-probe.py FILE"""
import gstcuvision, signal, sys
from gstcuvision import Gst

def print_objects(pad, info):
    for face in gstcuvision.objects(info.get_buffer()):
        print(face["x"], face["y"], face["w"], face["h"], face["detection"]["confidence"])
    return Gst.PadProbeReturn.OK
signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler waits until C returns
file = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
Gst.init(None)
line = Gst.parse_launch(f"filesrc location={gstcuvision.quote(file)} ! decodebin ! videoconvert "
                        "! waldboostdetect model=haarcascade_frontalface_alt2.xml name=faces ! fakesink")
line.get_by_name("faces").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, print_objects)
line.set_state(Gst.State.PLAYING)
end = line.bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
line.set_state(Gst.State.NULL)
sys.exit(end.parse_error().gerror.message if end.type == Gst.MessageType.ERROR else 0)
