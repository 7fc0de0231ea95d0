#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""rtsp-server.py FILM: a camera that shows a film at rtsp://127.0.0.1:PORT/film;
prints the port. Needs gir1.2-gst-rtsp-server-1.0."""
import sys

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstRtspServer', '1.0')
from gi.repository import GLib, Gst, GstRtspServer

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address('127.0.0.1')
server.set_service('0')
film = GstRtspServer.RTSPMediaFactory()
film.set_launch(f'( filesrc location="{sys.argv[1]}" ! decodebin ! videoconvert '
                '! x264enc tune=zerolatency speed-preset=ultrafast '
                '! rtph264pay name=pay0 '
                'audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay1 )')
server.get_mount_points().add_factory('/film', film)
server.attach(None)
print('port', server.get_bound_port(), flush=True)
GLib.MainLoop().run()
