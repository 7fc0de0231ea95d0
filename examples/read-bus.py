#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the messages of an element: read-bus.py FILE"""
import gstcuvision, signal, sys
from gstcuvision import Gst

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler waits until C returns
file = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
Gst.init(None)
line = Gst.parse_launch(f"filesrc location={gstcuvision.quote(file)} ! decodebin ! videoconvert "
                        "! houghlines message=every-frame name=lines ! fakesink")
line.set_state(Gst.State.PLAYING)
kinds = Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR
while message := line.bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, kinds):
    if message.type != Gst.MessageType.ELEMENT:
        break
    print(message.src.get_name(), gstcuvision.fields(message.get_structure()))
print("stats", gstcuvision.fields(line.get_by_name("lines").get_property("stats")))
line.set_state(Gst.State.NULL)
sys.exit(message.parse_error().gerror.message if message.type == Gst.MessageType.ERROR else 0)
