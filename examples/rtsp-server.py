#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves a video by RTSP on this machine, like a camera with sound: rtsp-server.py FILE [PORT]"""
import gi, os, signal, sys
gi.require_versions({"Gst": "1.0", "GstRtspServer": "1.0"})
from gi.repository import GLib, Gst, GstRtspServer

if not 2 <= len(sys.argv) <= 3 or not os.path.exists(sys.argv[1]):
    sys.exit(__doc__)
signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's handler waits until C returns
Gst.init(None)
factory = GstRtspServer.RTSPMediaFactory()
factory.set_launch(f'( filesrc location="{sys.argv[1]}" ! decodebin ! videoconvert '
                   '! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25 ! rtph264pay name=pay0 '
                   'audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay1 )')
port = (sys.argv + ["0"])[2]
server = GstRtspServer.RTSPServer(address="127.0.0.1", service=port)
server.get_mount_points().add_factory("/camera", factory)
if server.attach(None) == 0:
    sys.exit(f"port {port} of 127.0.0.1 is taken or invalid; use another, or omit it for a free one")
print(f"rtsp://127.0.0.1:{server.get_bound_port()}/camera", flush=True)
GLib.MainLoop().run()
