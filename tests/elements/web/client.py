# SPDX-License-Identifier: LGPL-2.1-or-later
"""A visionwebsink in this process, and clients for it: sockets, HTTP and WebSocket. They are
written from the RFCs, so that they can also do what libraries forbid."""

import base64
import json
import os
import re
import socket
import struct
import sys
import time
import unittest

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

SOURCE = "videotestsrc is-live=true ! video/x-raw,format=I420,width=%d,height=%d," \
    "framerate=%d/1"
SILENT = "appsrc name=source is-live=true format=time caps=video/x-raw,format=GRAY8," \
    "width=64,height=48,framerate=30/1"  # a frame comes when push() is called
TIMEOUT = 6  # seconds until a test fails
SCRIPTS = ("bar", "controls", "download", "draw", "editors", "follow", "history", "match", "offer",
           "page", "pick", "remote", "roi", "scene", "settings", "teach", "zone-shapes", "zone-tool",
           "zones", "zones-text")
FILES = {"/": "text/html", "/page.css": "text/css", "/drawing.css": "text/css",
         "/icon.svg": "image/svg+xml",
         **{f"/{name}.js": "text/javascript" for name in SCRIPTS}}
REPORTS = ("/health", "/metrics", "/controls.json")
FRAMES = ("/ws", "/stream.mjpg", "/events", "/frame.jpg", "/record.json")


def stat(sink, name):
    return sink.get_property("stats").get_value(name)


class Sink:
    """A pipeline with a visionwebsink at a free port."""

    def __init__(self, properties="", source=SOURCE % (64, 48, 100), port=0,
                 state=Gst.State.PLAYING):
        self.pipeline = Gst.parse_launch(
            f"{source} ! visionwebsink name=sink port={port} {properties}")
        self.sink = self.pipeline.get_by_name("sink")
        self.pipeline.set_state(state)
        self.open()

    def open(self):
        """Returns the port if it is open."""
        self.url = self.sink.get_property("url")
        if self.url:
            found = re.match(r"(https?)://127\.0\.0\.1:(\d+)(/.*)", self.url)
            self.port = int(found[2])
            self.path = found[3]
            return self.port
        return None

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)

    def push(self):
        self.pipeline.get_by_name("source").emit(
            "push-buffer", Gst.Buffer.new_wrapped(bytes(64 * 48)))

    def problem(self, kind=Gst.MessageType.ERROR):
        """Returns the text of the next error or warning, or None if there is none."""
        message = self.pipeline.get_bus().timed_pop_filtered(
            TIMEOUT * Gst.SECOND if kind == Gst.MessageType.WARNING else 0, kind)
        if message is None:
            return None
        parse = message.parse_error if kind == Gst.MessageType.ERROR \
            else message.parse_warning
        return parse()[0].message

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()


def connect(port, buffer=None):
    sock = socket.socket()
    if buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    sock.settimeout(TIMEOUT)
    sock.connect(("127.0.0.1", port))
    return sock


def request_text(port, path, method="GET", headers=None):
    fields = {"Host": f"127.0.0.1:{port}", **(headers or {})}
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join(lines + ["", ""]).encode()


class Response:
    def __init__(self, stream, head=False):
        status = stream.readline()
        if not status:
            raise EOFError("no response")
        self.status = int(status.split()[1])
        self.headers = {}
        while (line := stream.readline().strip()):
            name, value = line.decode().split(":", 1)
            self.headers[name.lower()] = value.strip()
        size = self.headers.get("content-length")
        self.body = stream.read(int(size)) if size and not head else b""


def get(port, path, method="GET", sock=None, **headers):
    """Sends a request and returns the answer. Headers header_name become Header-Name."""
    own = sock or connect(port)
    with own:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        own.sendall(request_text(port, path, method, fields))
        with own.makefile("rb") as stream:
            return Response(stream, method == "HEAD")


class WebSocket:
    """A client of RFC 6455, as far as a viewer needs it."""

    def __init__(self, port, path="/ws", buffer=None, **headers):
        self.sock = connect(port, buffer)
        fields = {"Upgrade": "websocket", "Connection": "Upgrade",
                  "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
                  "Sec-WebSocket-Version": "13"}
        fields.update((n.replace("_", "-"), v) for n, v in headers.items())
        self.sock.sendall(request_text(port, path, "GET", fields))
        self.stream = self.sock.makefile("rb")
        self.status = Response(self.stream).status

    def send(self, data, opcode=1):
        mask = os.urandom(4)
        if len(data) < 126:
            size = bytes([0x80 | len(data)])
        elif len(data) < 1 << 16:
            size = b"\xfe" + struct.pack(">H", len(data))
        else:
            size = b"\xff" + struct.pack(">Q", len(data))
        masked = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
        self.sock.sendall(bytes([0x80 | opcode]) + size + mask + masked)

    def frame(self):
        """Returns (opcode, payload) of the next frame, or None at the end."""
        head = self.stream.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 127
        if size == 126:
            size, = struct.unpack(">H", self.stream.read(2))
        elif size == 127:
            size, = struct.unpack(">Q", self.stream.read(8))
        return head[0] & 15, self.stream.read(size)

    def message(self):
        """Returns (record, JPEG) of the next frame that is shown, or None at the end."""
        while (found := self.frame()) is not None and found[0] != 8:
            opcode, data = found
            if opcode == 9:
                self.send(data, 10)
            elif opcode == 2:
                size, = struct.unpack_from("<I", data)
                return json.loads(data[4:4 + size]), data[4 + size:]
        return None

    def next(self):
        """Receives a frame and asks for the next one."""
        found = self.message()
        if found is not None:
            self.send(b"next")
        return found

    def close(self):
        self.stream.close()
        self.sock.close()


def websocket_status(port, path="/ws", **headers):
    viewer = WebSocket(port, path, **headers)
    viewer.close()
    return viewer.status


def rss_kib():
    with open("/proc/self/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


def n_sockets():
    """Returns the number of open sockets of this process, including those of the server."""
    n = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            n += os.readlink("/proc/self/fd/" + name).startswith("socket:")
        except FileNotFoundError:
            pass
    return n


def wait_for(condition, what):
    end = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {TIMEOUT} s")
        time.sleep(0.01)


def decode(jpeg):
    import cv2
    import numpy as np

    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)


def check_growth(test, before, now=None):
    """Checks that memory has not grown much, except with AddressSanitizer, which keeps freed
    memory."""
    growth = (now or rss_kib()) - before
    print(f"memory grew by {growth} KiB")
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        test.assertLess(growth, 10000)


def run():
    Gst.init(None)
    if Gst.ElementFactory.find("visionwebsink") is None:
        sys.exit("no element visionwebsink in GST_PLUGIN_PATH_1_0")
    unittest.main(verbosity=2)
