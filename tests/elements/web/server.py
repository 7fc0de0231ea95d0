#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests visionwebsink from the clients' side: pages, frames, access and paths."""

import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import bombs
from client import (FILES, FRAMES, Gst, Response, SILENT, SOURCE, Sink, TIMEOUT, check_growth,
                    connect, decode, get, request_text, rss_kib, run, stat, wait_for,
                    websocket_status)

SECURITY = {
    "cross-origin-resource-policy": "same-origin", "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff", "x-frame-options": "DENY"}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Sink("source=door")
        cls.port = cls.server.port

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_files(self):
        for path, kind in FILES.items():
            found = get(self.port, path)
            self.assertEqual(found.status, 200, path)
            self.assertEqual(found.headers["content-type"].split(";")[0], kind)
            self.assertGreater(len(found.body), 100)
            for name, value in SECURITY.items():
                self.assertEqual(found.headers[name], value)
            self.assertIn("default-src 'none'",
                          found.headers["content-security-policy"])
            self.assertNotIn("access-control-allow-origin", found.headers)
            head = get(self.port, path, "HEAD")
            self.assertEqual((head.status, head.headers["content-length"]),
                             (200, str(len(found.body))))

    def test_nothing_inline(self):
        """The page has no inline scripts or styles, because its policy forbids them."""
        page = get(self.port, "/").body.decode()
        self.assertNotRegex(page, r"<style|\sstyle=|\son\w+=|<script(?![^>]*src=)")
        self.assertNotRegex(page, r"(src|href)=\"(https?:)?//")

    def test_record(self):
        found = get(self.port, "/record.json")
        record = json.loads(found.body)
        self.assertEqual(record["resolution"], {"width": 64, "height": 48})
        self.assertEqual(record["source"], "door")
        self.assertEqual(found.headers["content-type"], "application/json")

    def test_frame(self):
        self.assertEqual(decode(get(self.port, "/frame.jpg").body).shape, (48, 64, 3))
        head = get(self.port, "/frame.jpg", "HEAD")
        self.assertEqual((head.status, head.headers["content-type"]),
                         (200, "image/jpeg"))

    def test_events(self):
        numbers = []
        with connect(self.port) as sock, sock.makefile("rb") as stream:
            sock.sendall(request_text(self.port, "/events"))
            self.assertEqual(Response(stream).headers["content-type"],
                             "text/event-stream")
            while len(numbers) < 5:
                data, blank = stream.readline(), stream.readline()
                self.assertTrue(data.startswith(b"data: ") and blank == b"\n")
                numbers.append(json.loads(data[6:])["frame_num"])
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_stream(self):
        with connect(self.port) as sock, sock.makefile("rb") as stream:
            sock.sendall(request_text(self.port, "/stream.mjpg"))
            self.assertIn("boundary=frame", Response(stream).headers["content-type"])
            self.assertEqual(stream.readline(), b"--frame\r\n")
            for _ in range(5):
                self.assertEqual(stream.readline(), b"Content-Type: image/jpeg\r\n")
                size = int(stream.readline().split(b":")[1])
                self.assertEqual(stream.readline(), b"\r\n")
                self.assertEqual(decode(stream.read(size)).shape, (48, 64, 3))
                self.assertEqual(stream.readline(), b"\r\n")
                # in the same part: a browser shows a picture when it reads this
                self.assertEqual(stream.readline(), b"--frame\r\n")

    def test_stream_shows_the_last_frame(self):
        """A frame is sent even if no other follows."""
        with Sink(source=SILENT) as server, connect(server.port) as sock, \
                sock.makefile("rb") as stream:
            sock.sendall(request_text(server.port, "/stream.mjpg"))
            wait_for(lambda: stat(server.sink, "viewers") == 1, "a viewer")
            server.push()
            while stream.readline() != b"--frame\r\n":
                pass
            while stream.readline() != b"--frame\r\n":
                pass

    def test_half_closed(self):
        """A client that has closed its sending side still gets its answer."""
        with Sink(source=SILENT) as server, connect(server.port) as sock, \
                sock.makefile("rb") as stream:
            sock.sendall(request_text(server.port, "/frame.jpg"))
            sock.shutdown(socket.SHUT_WR)
            wait_for(lambda: stat(server.sink, "viewers") == 1, "a viewer")
            time.sleep(2.2)  # the server checks its viewers once a second
            server.push()
            self.assertEqual(Response(stream).status, 200)

    def test_one_request_for_a_connection(self):
        for path in ("/page.css", "/frame.jpg", "/nothing", "/"):
            with connect(self.port) as sock, sock.makefile("rb") as stream:
                sock.sendall(request_text(self.port, path))
                self.assertEqual(Response(stream).headers["connection"], "close")
                self.assertEqual(stream.read(), b"")

    def test_other_paths(self):
        for path in ("/nothing", "/page.js/", "//", "/ws/x", "/index.html", "/door",
                     "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc",
                     "/%00", "/page.js%00.css", "/web/index.html"):
            found = get(self.port, path)
            self.assertIn(found.status, (400, 404), path)
            self.assertNotIn(b"root:", found.body)

    def test_other_methods(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            found = get(self.port, "/", method)
            self.assertEqual((found.status, found.headers["allow"]),
                             (405, "GET, HEAD"), method)

    def test_bodies(self):
        """Requests need no body: a short one is refused, a long one is cut off and not kept."""
        for method, status in (("POST", 405), ("GET", 413)):
            with connect(self.port) as sock, sock.makefile("rb") as stream:
                sock.sendall(request_text(self.port, "/", method,
                                          {"Content-Length": 5}) + b"12345")
                self.assertEqual(Response(stream).status, status)
        with Sink("timeout=1") as server, connect(server.port) as sock:
            sock.sendall(request_text(server.port, "/", "POST",
                                      {"Content-Length": 1 << 40}))
            memory, chunk = rss_kib(), bytes(1 << 20)
            try:
                while True:
                    sock.sendall(chunk)
            except OSError:
                pass
            check_growth(self, memory)

    def test_memory(self):
        with Sink(source=SILENT) as server:
            port = server.port
            for path in "/page.js", "/ws", "/nothing":
                get(port, path)  # allocates what only the first request needs
            bombs.check(self, os.getpid(), port, "/page.js", "/ws")

    def test_ranges(self):
        """Ranges are not served: the whole file is sent."""
        whole = get(self.port, "/page.js")
        found = get(self.port, "/page.js", Range="bytes=0-3,5-9")
        self.assertEqual((found.status, found.body), (200, whole.body))

    def test_not_a_websocket(self):
        self.assertEqual(get(self.port, "/ws").status, 400)


class Runs(unittest.TestCase):
    COUNTS = ("frames", "encoded", "sent", "bytes", "render-microseconds",
              "encode-microseconds")

    def check_run(self, server):
        """Checks a run of the sink in which a viewer gets a frame."""
        with connect(server.port) as sock, sock.makefile("rb") as stream:
            sock.sendall(request_text(server.port, "/record.json"))
            wait_for(lambda: stat(server.sink, "viewers") == 1, "a viewer")
            server.push()
            self.assertEqual(json.loads(Response(stream).body)["frame_num"], 0)
        for name, value in ("frames", 1), ("encoded", 1), ("viewers", 0):
            wait_for(lambda: stat(server.sink, name) == value, name)
        self.assertEqual(stat(server.sink, "sent"), 1)
        self.assertGreater(stat(server.sink, "bytes"), 0)

    def test_stats_begin_with_each_run(self):
        """Statistics start at 0 in each run, even if the sink stays open between two runs."""
        with Sink(source=SILENT) as server:
            self.check_run(server)
            for state in Gst.State.READY, Gst.State.NULL:
                server.pipeline.set_state(state)
                self.assertEqual(stat(server.sink, "frames"), 1)
                server.pipeline.set_state(Gst.State.PLAYING)
                server.open()
                self.assertEqual({stat(server.sink, n) for n in self.COUNTS}, {0})
                self.check_run(server)


class Access(unittest.TestCase):
    def test_hosts(self):
        with Sink("allowed-hosts=cam.example,Other.Example") as server:
            port = server.port
            for host, status in (("127.0.0.1", 200), (f"localhost:{port}", 200),
                                 ("[::1]:80", 200), ("cam.example", 200),
                                 ("OTHER.example:443", 200), ("evil.example", 421),
                                 ("127.0.0.1.evil.example", 421), ("", 421),
                                 ("cam.example.evil", 421)):
                for path in ("/", "/frame.jpg"):
                    self.assertEqual(get(port, path, Host=host).status, status, host)
                self.assertEqual(websocket_status(port, Host=host),
                                 101 if status == 200 else status, host)
            # libsoup 3.8 answers 400 itself
            self.assertIn(get(port, "/", Host="a@127.0.0.1").status, (400, 421))
            self.assertIn(websocket_status(port, Host="a@127.0.0.1"), (400, 421))

    def test_origins(self):
        with Sink("allowed-hosts=cam.example,other.example") as server:
            port = server.port
            own = f"127.0.0.1:{port}"
            for host, origin, status in (
                    (own, f"http://{own}", 101), (own, "http://evil.example", 403),
                    (own, "null", 403), (own, "http://127.0.0.1:1", 403),
                    (own, "https://cam.example", 403), (own, "", 403),
                    (own, f"http://{own}.evil", 403),
                    ("cam.example", "https://cam.example", 101),  # TLS of a proxy
                    ("cam.example", "http://cam.example", 101),
                    ("cam.example:8080", "http://cam.example:8080", 101),
                    ("cam.example:8080", "http://cam.example", 403),
                    ("cam.example", "https://cam.example:444", 403),
                    ("cam.example", "https://other.example", 403),
                    ("cam.example", "http://cam.example.evil", 403)):
                self.assertEqual(websocket_status(port, Host=host, Origin=origin),
                                 status, (host, origin))
            for path in FRAMES[1:]:
                self.assertEqual(get(port, path, Origin="http://evil").status, 403)
                self.assertEqual(
                    get(port, path, Sec_Fetch_Site="cross-site").status, 403)
            self.assertEqual(get(port, "/frame.jpg", Sec_Fetch_Site="cross-site",
                                 Sec_Fetch_Mode="navigate").status, 200)

    def test_two_of_a_header(self):
        """A repeated header is refused, whichever of its values comes first."""
        with Sink() as server:
            own = f"127.0.0.1:{server.port}"
            for name, good, bad, status in (
                    ("Host", own, "evil.example", 421),
                    ("Origin", f"http://{own}", "http://evil.example", 403)):
                for pair in (good, bad), (bad, good):
                    text = "GET /frame.jpg HTTP/1.1\r\n"
                    text += f"Host: {own}\r\n" if name == "Origin" else ""
                    text += "".join(f"{name}: {value}\r\n" for value in pair)
                    with connect(server.port) as sock, sock.makefile("rb") as stream:
                        sock.sendall(text.encode() + b"\r\n")
                        # newer versions of libsoup answer 400 to two Host headers
                        self.assertIn(Response(stream).status, (status, 400), pair)

    def check_token(self, port):
        for path in FRAMES:
            for query, header, wrong in (
                    ("", None, True), ("?token=", None, True), ("?token=s3", None, True),
                    ("?token=s3cret-x", None, True), ("", "Bearer s3cre", True),
                    ("", "Basic s3cret", True), ("?token=s3cret", "Bearer x", True),
                    ("?token=s3cret", None, False), ("", "Bearer s3cret", False)):
                headers = {"Authorization": header} if header else {}
                if path == "/ws":
                    status = websocket_status(port, path + query, **headers)
                    self.assertEqual(status, 401 if wrong else 101, query)
                else:
                    found = get(port, path + query, "HEAD", **headers)
                    self.assertEqual(found.status, 401 if wrong else 200, query)

    def test_token_file(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("s3cret\n")
            file.flush()
            with Sink(f"token-file={file.name}") as server:
                self.check_token(server.port)
                self.assertEqual(get(server.port, "/").status, 200)

    def test_token_env(self):
        os.environ["CUV_TEST_TOKEN"] = "s3cret"
        with Sink("token-env=CUV_TEST_TOKEN") as server:
            self.check_token(server.port)

    def test_token_is_secret(self):
        """Neither logs nor -v nor dot files contain the token, whatever is requested."""
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, CUV_TEST_TOKEN="s3cret-t0ken", GST_DEBUG="*:6",
                       GST_DEBUG_DUMP_DOT_DIR=folder, G_MESSAGES_DEBUG="all",
                       GST_DEBUG_FILE=os.path.join(folder, "log"))
            child = subprocess.Popen(
                ["gst-launch-1.0", "-v"] + (SOURCE % (64, 48, 30)).split()
                + "! visionwebsink port=0 token-env=CUV_TEST_TOKEN".split(),
                env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            said = ""
            while (found := re.search(r"url = http://127.0.0.1:(\d+)", said)) is None:
                line = child.stdout.readline()
                self.assertTrue(line, said)
                said += line
            port = int(found[1])
            self.assertEqual(get(port, "/frame.jpg?token=s3cret-t0ken").status, 200)
            self.assertEqual(get(port, "/ws?token=s3cret-t0ken").status, 400)
            child.send_signal(2)
            said += child.communicate(timeout=TIMEOUT)[0]
            names = os.listdir(folder)
            self.assertTrue(any(name.endswith(".dot") for name in names))
            for name in names:
                with open(os.path.join(folder, name), errors="replace") as file:
                    said += file.read()
            self.assertIn("visionwebsink", said)
            self.assertNotIn("s3cret-t0ken", said)

    def make_certificate(self, folder, kind="rsa:2048"):
        """Makes a certificate and its key, and returns their paths."""
        name = kind.split()[0].replace(":", "-")
        pem = [os.path.join(folder, f"{name}-{part}.pem") for part in ("cert", "key")]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", *kind.split(), "-nodes", "-out",
             pem[0], "-keyout", pem[1], "-subj", "/CN=localhost", "-addext",
             "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        return pem

    def test_tls_key_of_another_certificate(self):
        with tempfile.TemporaryDirectory() as folder:
            pems = [self.make_certificate(folder, kind)
                    for kind in ("rsa:2048", "rsa:2049",
                                 "ec -pkeyopt ec_paramgen_curve:prime256v1")]
            for i, (certificate, own) in enumerate(pems):
                for key in (own, pems[i - 1][1]):
                    server = Sink(f"tls-certificate-file={certificate} "
                                  f"tls-key-file={key}")
                    problem = server.problem()
                    server.stop()
                    if key == own:
                        self.assertIsNone(problem)
                    else:
                        self.assertIn(f"'{certificate}' and '{key}' cannot be used for TLS", problem)

    def test_tls_handshakes_that_wait(self):
        """Waiting handshakes lock nobody out, although GLib has few threads for them."""
        with tempfile.TemporaryDirectory() as folder:
            pem = self.make_certificate(folder)
            with Sink(f"tls-certificate-file={pem[0]} tls-key-file={pem[1]}") as server, \
                    contextlib.ExitStack() as idle:
                for _ in range(100):
                    sock = idle.enter_context(connect(server.port))
                    sock.sendall(b"\x16\x03\x01\x02\x00\x01")
                sock = connect(server.port)
                sock.settimeout(10 * TIMEOUT)  # the sink's is 20 s
                context = ssl.create_default_context(cafile=pem[0])
                sock = context.wrap_socket(sock, server_hostname="127.0.0.1")
                self.assertEqual(get(server.port, "/", sock=sock).status, 200)

    def test_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            pem = self.make_certificate(folder)
            with Sink(f"tls-certificate-file={pem[0]} tls-key-file={pem[1]}") as server:
                self.assertTrue(server.url.startswith("https://"))
                context = ssl.create_default_context(cafile=pem[0])
                for path in ("/", "/frame.jpg"):
                    sock = context.wrap_socket(connect(server.port),
                                               server_hostname="127.0.0.1")
                    self.assertEqual(get(server.port, path, sock=sock).status, 200)
                for scheme, status in (("https", 200), ("http", 403)):
                    sock = context.wrap_socket(connect(server.port),
                                               server_hostname="127.0.0.1")
                    self.assertEqual(
                        get(server.port, "/frame.jpg", sock=sock,
                            Origin=f"{scheme}://127.0.0.1:{server.port}").status, status)
                with connect(server.port) as sock:
                    sock.sendall(request_text(server.port, "/"))
                    try:
                        self.assertNotIn(b"HTTP/1.1 200", sock.recv(1000))
                    except ConnectionResetError:
                        pass


class Sharing(unittest.TestCase):
    def test_paths_of_one_port(self):
        with Sink("path=/door source=door") as door, \
                Sink("path=/door/yard source=yard", port=door.port) as yard, \
                Sink("source=root", port=door.port) as root:
            self.assertEqual((door.path, yard.path, root.path),
                             ("/door/", "/door/yard/", "/"))
            for server in (door, yard, root):
                found = json.loads(get(door.port, server.path + "record.json").body)
                self.assertEqual(found["source"], server.sink.get_property("source"))
                self.assertEqual(get(door.port, server.path).status, 200)
            found = get(door.port, "/door?token=x")
            self.assertEqual(found.status, 301)
            self.assertRegex(found.headers["location"], r"/door/\?token=x$")
            yard.stop()
            self.assertEqual(get(door.port, "/door/yard/ws").status, 404)
            root.stop()
            self.assertEqual(get(door.port, "/ws").status, 404)
            self.assertEqual(get(door.port, "/door/frame.jpg").status, 200)
        self.assertRaises(OSError, connect, door.port)

    def test_what_must_agree(self):
        with Sink() as first:
            for properties, part in (("", "path '/'"), ("timeout=7 path=/b", "timeout"),
                                     ("token-env=HOME path=/b", "the token"),
                                     ("allowed-hosts=x path=/b", "allowed-hosts")):
                second = Sink(properties, port=first.port)
                self.assertIn(part, second.problem())
                second.stop()
            self.assertEqual(get(first.port, "/frame.jpg").status, 200)

    def test_port_is_taken(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            server = Sink(port=other.getsockname()[1])
            self.assertRegex(server.problem(), "in use.*set another port")
            server.stop()


if __name__ == "__main__":
    run()
