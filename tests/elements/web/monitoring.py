#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests /health and /metrics of visionwebsink in pipelines that play. monitor.c tests what they
say of chosen frames."""

import datetime
import json
import shutil
import subprocess
import tempfile
import time
import unittest

import exposition
from client import Gst, SILENT, SOURCE, Sink, WebSocket, get, run, stat

LONG = "health-timeout=86400"  # no stall is seen, however slow this machine is
SHORT = "health-timeout=0.3"
PATIENCE = 60  # seconds until a test fails
WEB = "cuvision_web_"


def health(port, path="/health"):
    """Returns (HTTP status, parsed body)."""
    found = get(port, path)
    if found.headers["content-type"] != "application/json":
        raise AssertionError(found.headers)
    return found.status, json.loads(found.body)


def scrape(port, path="/metrics", **headers):
    found = get(port, path, **headers)
    if (found.status, found.headers["content-type"]) \
            != (200, "text/plain; version=0.0.4; charset=utf-8"):
        raise AssertionError((found.status, found.headers))
    return exposition.parse(found.body)


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {PATIENCE} s")
        time.sleep(0.02)


class Parser(unittest.TestCase):
    """The parser of these tests refuses what Prometheus' format forbids."""

    HEAD = "# HELP a A.\n# TYPE a gauge\n"
    TOTAL = "# HELP a_total A.\n# TYPE a_total counter\n"
    SUM = "# HELP h H.\n# TYPE h histogram\n"

    def test_valid(self):
        text = self.HEAD + 'a{b="x\\"\\\\\\n",c="é"} 1\na -2.5e-07\n' \
            + self.SUM + 'h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 3\nh_sum 4\nh_count 3\n'
        found = exposition.parse(text.encode())
        self.assertEqual(found["a"].value(b='x"\\\n', c="é"), 1)
        self.assertEqual(found["a"].samples["a", ()], -2.5e-7)

    def test_invalid(self):
        for text in ("a 1\n", self.HEAD, self.HEAD + "a 1", self.HEAD + "a x\n",
                     self.HEAD + "a 1 \n", self.HEAD + "b 1\n", self.HEAD + "a 1\na 2\n",
                     self.HEAD + 'a{b="x"y"} 1\n', self.HEAD + 'a{b="x\\y"} 1\n',
                     self.HEAD + 'a{b="1",b="2"} 1\n', self.HEAD + 'a{1b="1"} 1\n',
                     self.HEAD + "a 1\n" + self.HEAD + "a 1\n", "# HELP a A.\na 1\n",
                     self.HEAD.replace("gauge", "counter") + "a 1\n", self.TOTAL + "a_total -1\n",
                     self.TOTAL.replace("counter", "gauge") + "a_total 1\n",
                     self.SUM + 'h_bucket{le="1"} 2\nh_sum 4\nh_count 2\n',
                     self.SUM + 'h_bucket{le="1"} 3\nh_bucket{le="+Inf"} 2\nh_sum 4\nh_count 2\n',
                     self.SUM + 'h_bucket{le="+Inf"} 2\nh_sum 4\nh_count 3\n'):
            with self.assertRaises(ValueError, msg=text):
                exposition.parse(text.encode())

    def test_fall(self):
        before, after = (exposition.parse((self.TOTAL + f"a_total {n}\n").encode())
                         for n in (2, 1))
        exposition.check_progress(after, before)
        with self.assertRaises(ValueError):
            exposition.check_progress(before, after)


class Health(unittest.TestCase):
    def wait_for_status(self, server, status, code):
        """Returns the first body with this status. It may change right afterwards: a frame that
        prerolled is received before the pipeline plays, and then counts no longer."""
        answers = []
        wait_for(lambda: answers.append(health(server.port))
                 or answers[-1][1]["status"] == status, status)
        found, body = answers[-1]
        self.assertEqual(found, code)
        return body

    def check_time(self, text):
        """Checks that this is a time of the last minutes, in UTC."""
        self.assertRegex(text, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        then = datetime.datetime.fromisoformat(text[:-1] + "+00:00")
        age = datetime.datetime.now(datetime.timezone.utc) - then
        self.assertLess(abs(age.total_seconds()), 600)
        return then

    def test_stall(self):
        """The status becomes 503 when frames stop, and 200 when they are back."""
        with Sink(SHORT, SILENT) as server:
            body = self.wait_for_status(server, "stalled", 503)
            self.assertIsNone(body["last_frame"])
            server.sink.set_property("health-timeout", 86400)
            self.wait_for_status(server, "starting", 200)
            server.push()
            body = self.wait_for_status(server, "receiving", 200)
            self.assertEqual(self.check_time(body["since"]), self.check_time(body["last_frame"]))
            server.sink.set_property("health-timeout", 0.3)
            stalled = self.wait_for_status(server, "stalled", 503)
            self.assertEqual(self.check_time(stalled["since"]),
                             self.check_time(stalled["last_frame"]))
            self.assertEqual(scrape(server.port)[WEB + "healthy"].value(), 0)
            server.sink.set_property("health-timeout", 86400)
            self.wait_for_status(server, "receiving", 200)
            self.assertEqual(scrape(server.port)[WEB + "healthy"].value(), 1)

    def test_default(self):
        """By default the limit is 5 s."""
        with Sink() as server:
            self.assertEqual(server.sink.get_property("health-timeout"), 5)

    def test_receiving(self):
        with Sink(LONG) as server:
            before = self.wait_for_status(server, "receiving", 200)
            wait_for(lambda: health(server.port)[1]["last_frame"] > before["last_frame"],
                     "a newer frame")
            self.assertEqual(self.check_time(health(server.port)[1]["since"]),
                             self.check_time(before["since"]))

    def test_states(self):
        """A pipeline that is paused is healthy, live or not; one in READY is not."""
        for source in (SOURCE % (64, 48, 100), "videotestsrc"):
            with Sink(LONG, source) as server:
                self.wait_for_status(server, "receiving", 200)
                for state, status, code in ((Gst.State.PAUSED, "paused", 200),
                                            (Gst.State.PLAYING, "receiving", 200),
                                            (Gst.State.READY, "stopped", 503),
                                            (Gst.State.PAUSED, "paused", 200),
                                            (Gst.State.PLAYING, "receiving", 200)):
                    server.pipeline.set_state(state)
                    body = self.wait_for_status(server, status, code)
                    self.check_time(body["since"])
                    if status == "paused":
                        self.check_pause(server, body)

    def check_pause(self, server, body):
        """Checks that a pause longer than the limit is not a stall."""
        server.sink.set_property("health-timeout", 0.01)
        time.sleep(0.1)
        code, later = health(server.port)
        self.assertEqual((code, later["status"], later["since"]), (200, "paused", body["since"]))
        server.sink.set_property("health-timeout", 86400)

    def test_no_first_frame(self):
        """A pipeline that is to play but has no frame yet is not paused."""
        source = SILENT.replace("is-live=true", "is-live=false")
        with Sink(SHORT, source) as server:
            self.wait_for_status(server, "stalled", 503)
            server.pipeline.set_state(Gst.State.PAUSED)
            self.wait_for_status(server, "paused", 200)

    def test_end(self):
        with Sink(LONG, "videotestsrc num-buffers=3") as server:
            body = self.wait_for_status(server, "ended", 503)
            self.assertGreater(self.check_time(body["since"]), self.check_time(body["last_frame"]))
            server.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, 0)
            wait_for(lambda: health(server.port)[1]["status"] == "ended"
                     and health(server.port)[1]["since"] > body["since"], "a second end")

    def test_head(self):
        with Sink(SHORT, SILENT) as server:
            self.wait_for_status(server, "stalled", 503)
            self.assertEqual(get(server.port, "/health", "HEAD").status, 503)


class Metrics(unittest.TestCase):
    def test_counters(self):
        """Every page is valid, counters never decrease, and frames are counted as in stats."""
        with Sink(f'{LONG} source="d\\"o\\\\or" sync=false', SOURCE % (640, 480, 200)) as server:
            viewer = WebSocket(server.port)
            before = scrape(server.port)
            for _ in range(20):
                viewer.next()
                after = scrape(server.port)
                exposition.check_progress(before, after)
                before = after
            viewer.close()
            least = stat(server.sink, "frames")
            found = scrape(server.port)
            most = stat(server.sink, "frames")
            self.assertTrue(least <= found[WEB + "frames_total"].value() <= most)
            self.assertEqual(found[WEB + "info"].value(path="/", source='d"o\\or'), 1)
            self.assertGreaterEqual(found[WEB + "frames_sent_total"].value(), 20)
            for name in ("frames_encoded_total", "sent_bytes_total", "encode_seconds_total",
                         "render_seconds_total", "connections"):
                self.assertGreater(found[WEB + name].value(), 0, name)
            self.assertEqual(found[WEB + "status"].value(status="receiving"), 1)
            self.check_latency(server, found)

    def check_latency(self, server, found):
        latency = found[WEB + "latency_seconds"]
        labels = (("path", "/"),)
        count = latency.samples[WEB + "latency_seconds_count", labels]
        self.assertGreater(count, 0)
        self.assertLessEqual(count, found[WEB + "frames_total"].value())
        self.assertGreaterEqual(latency.samples[WEB + "latency_seconds_sum", labels], 0)

    def test_latency(self):
        """A delay of 3 s before the sink is in the buckets above 2.5 s and not below."""
        with Sink(f"{LONG} ts-offset=3000000000", SOURCE % (64, 48, 50)) as server:
            scrape(server.port)
            wait_for(lambda: stat(server.sink, "frames") > 5, "frames")
            wait_for(lambda: scrape(server.port)[WEB + "latency_seconds"]
                     .value(le="+Inf") > 2, "latencies")
            found = scrape(server.port)[WEB + "latency_seconds"]
            self.assertEqual(found.value(le="2.5"), 0)
            sums, = [v for (name, _), v in found.samples.items() if name.endswith("_sum")]
            self.assertGreaterEqual(sums, 3 * found.value(le="+Inf"))

    def test_promtool(self):
        """promtool, of Debian's package prometheus, has nothing to say."""
        promtool = shutil.which("promtool")
        if promtool is None:
            self.skipTest("no promtool: install the package prometheus")
        with Sink(f"{LONG} source=door") as server:
            scrape(server.port)
            wait_for(lambda: stat(server.sink, "frames") > 3, "frames")
            body = get(server.port, "/metrics").body
        found = subprocess.run([promtool, "check", "metrics"], input=body, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual((found.returncode, found.stdout), (0, b""))

    def test_prometheus_client(self):
        """Prometheus' parser for Python reads the same numbers."""
        try:
            from prometheus_client.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("no Python module: install the package python3-prometheus-client")
        with Sink(f'{LONG} source="a\\\\b"', SILENT) as server:
            body = get(server.port, "/metrics").body
        theirs = {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
                  for family in text_string_to_metric_families(body.decode())
                  for sample in family.samples}
        ours = {key: value for metric in exposition.parse(body).values()
                for key, value in metric.samples.items()}
        self.assertEqual(theirs, ours)

    def test_restart(self):
        """Counts begin again with the pipeline, as in stats."""
        with Sink(f"{LONG} sync=false", "videotestsrc num-buffers=5") as server:
            wait_for(lambda: health(server.port)[1]["status"] == "ended", "the end")
            self.assertEqual(scrape(server.port)[WEB + "frames_total"].value(), 5)
            server.pipeline.set_state(Gst.State.READY)
            server.pipeline.set_state(Gst.State.PLAYING)
            wait_for(lambda: health(server.port)[1]["status"] == "ended", "a second end")
            self.assertEqual(scrape(server.port)[WEB + "frames_total"].value(), 5)

    def test_many_requests(self):
        """Neither the pipeline nor the server waits for the other."""
        with Sink(f"{LONG} sync=false", SOURCE % (64, 48, 100)) as server:
            for _ in range(200):
                scrape(server.port)
                health(server.port)
            self.assertIsNone(server.problem())
            frames = stat(server.sink, "frames")
            wait_for(lambda: stat(server.sink, "frames") > frames, "a frame")


class Access(unittest.TestCase):
    def test_token(self):
        """Metrics need the token, health does not."""
        with tempfile.NamedTemporaryFile("w", suffix=".token") as token:
            token.write("secret\n")
            token.flush()
            with Sink(f"{LONG} token-file={token.name}") as server:
                self.assertEqual(get(server.port, "/metrics").status, 401)
                self.assertEqual(get(server.port, "/metrics?token=wrong").status, 401)
                self.assertEqual(get(server.port, "/metrics", "HEAD").status, 401)
                scrape(server.port, "/metrics?token=secret")
                scrape(server.port, Authorization="Bearer secret")
                wait_for(lambda: health(server.port)[1]["status"] == "receiving", "a frame")
                self.assertEqual(set(health(server.port)[1]), {"status", "since", "last_frame"})

    def test_other_pages(self):
        with Sink(LONG) as server:
            for path in "/metrics", "/health":
                self.assertEqual(get(server.port, path, Origin="http://evil.example").status, 403)
                self.assertEqual(get(server.port, path, Sec_Fetch_Site="cross-site").status, 403)
                self.assertEqual(get(server.port, path, Host="evil.example").status, 421)
                self.assertEqual(get(server.port, path, "POST").status, 405)
                self.assertEqual(get(server.port, path).headers["cache-control"], "no-store")

    def test_viewers(self):
        """Neither counts as a viewer."""
        with Sink(f"{LONG} max-viewers=1", SILENT) as server:
            viewer = WebSocket(server.port)
            wait_for(lambda: stat(server.sink, "viewers") == 1, "a viewer")
            self.assertEqual(scrape(server.port)[WEB + "viewers"].value(), 1)
            self.assertEqual(health(server.port)[0], 200)
            viewer.close()

    def test_paths(self):
        """Each path has its own, whose samples have the path."""
        with Sink(f"{LONG} path=/door source=door") as server:
            with Sink(f"{SHORT} path=/yard", SILENT, server.port) as other:
                self.assertEqual(get(server.port, "/health").status, 404)
                self.assertEqual(get(server.port, "/metrics").status, 404)
                wait_for(lambda: health(other.port, "/yard/health")[0] == 503, "the stall")
                wait_for(lambda: health(server.port, "/door/health")[1]["status"] == "receiving",
                         "a frame")
                for path in "/door", "/yard":
                    for metric in scrape(server.port, path + "/metrics").values():
                        for _, labels in metric.samples:
                            self.assertIn(("path", path), labels)


if __name__ == "__main__":
    run()
