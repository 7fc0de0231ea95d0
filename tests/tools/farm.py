#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what happens to the cameras when workers, servers and pipelines die, stop or hang. Frames
are counted by their numbers.

usage: farm.py FARM [TEST...]
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error

sys.path.append(str(pathlib.Path(__file__).parents[1] / "elements" / "publish"))
import farmhand
from farmhand import LINE, PAUSE, RATE, Cameras, Farm, Nats, between, runs_of
from mosquitto import LONG, Broker, Subscriber, wait_until

PROGRAM = None
AT_A_TIME = 3
MOST = 10  # seconds that a camera may be without a worker, or with two
TEST = "videotestsrc is-live=true ! video/x-raw,width=16,height=16"


class Case(unittest.TestCase):
    cameras = 0
    nats_options = ()

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.nats = Nats(self.folder, *self.nats_options).start()
        self.addCleanup(self.nats.stop)
        self.farm = None

    def make(self, line=TEST + " ! fakesink", lines=None, **settings):
        lines = dict(lines or {}, line=line)
        self.farm = Farm(PROGRAM, self.folder, self.nats, lines, **settings)
        self.addCleanup(self.farm.stop)
        return self.farm

    def make_published(self, n_cameras, **settings):
        """Makes a farm with numbered cameras and a subscriber."""
        broker = Broker(self.folder).start()
        self.addCleanup(broker.stop, signal.SIGKILL)
        self.subscriber = Subscriber(broker).start()
        self.addCleanup(self.subscriber.stop)
        cameras = Cameras(n_cameras)
        self.addCleanup(cameras.stop)
        self.make(LINE % broker.port, **settings)
        return {f"camera-{i}": port for i, port in enumerate(cameras.ports)}

    def runs(self):
        return runs_of(self.subscriber.lines())

    def newest(self):
        """Returns for each camera the number of the newest frame that was analysed."""
        runs = self.runs()
        return {name: max(run.last() for run in runs[name]) for name in runs}

    def wait_for_new(self, names, what):
        """Waits until a new frame of each camera is analysed."""
        before = self.newest()

        def all_are_new():
            time.sleep(PAUSE)
            now = self.newest()
            return all(
                now.get(name, -1) > before.get(name, -1) + 2 for name in names
            )

        wait_until(all_are_new, what)

    def wait_for_share(self, *shares):
        wait_until(
            lambda: sorted(self.farm.playing().values()) == sorted(shares),
            f"cameras to be shared as {shares}",
        )

    def check_frames(self, names, begin=None):
        """Checks that no pipeline lost a record. Returns the frames in gaps and those analysed
        twice; begin: the frame numbers to start from."""
        runs = self.runs()
        self.assertEqual(sorted(runs), sorted(names))
        for name in names:
            for run in runs[name]:
                self.assertEqual(run.holes(), 0, (name, run.worker, run.frames))
        begin = begin or dict.fromkeys(names, 0)
        return {name: between(runs[name], begin[name]) for name in names}


class Shares(Case):
    def test_capacity(self):
        self.make(worker_capacity="2")
        for i in range(5):
            self.farm.put(f"camera.{i}")
        self.farm.start("a", "b")
        self.wait_for_share(2, 2)
        self.assertEqual(self.farm.metric("a", "cameras"), 5)
        self.assertEqual(self.farm.metric("b", "cameras_unassigned"), 1)
        self.farm.start("c")
        self.wait_for_share(1, 2, 2)
        for name in "abc":
            self.assertEqual(self.farm.log(name).count("connected to NATS"), 1)

    def test_late_worker(self):
        """A worker that comes later gets its share and no more, although a pipeline ends slowly;
        after its SIGTERM the others have all cameras."""
        self.make(
            TEST + " ! tee name=t ! queue ! fakesink"
            " t. ! queue ! valve drop=true ! fakesink async=false",
            worker_stop_timeout="3",
        )
        for i in range(3):
            self.farm.put(f"camera-{i}")
        self.farm.start("a")
        self.wait_for_share(3)
        self.farm.start("b")
        self.wait_for_share(1, 2)
        self.assertEqual(self.farm.log("a").count("handed over"), 1)
        self.farm.signal("a", signal.SIGTERM)
        self.assertEqual(self.farm.workers.pop("a").wait(LONG), 0)
        self.wait_for_share(3)


class Must(Case):
    """Tests the deaths of a worker and of the server."""

    def test_deaths(self):
        ports = self.make_published(12, worker_outage_grace="600")
        for name, port in list(ports.items())[1:]:
            self.farm.put(name, port=port)
        self.farm.start("a", "b", "c")
        # writes as `nats kv put` does while the workers run
        self.nats.put("camera-0", json.dumps({"port": ports["camera-0"]}))
        self.wait_for_share(4, 4, 4)
        self.wait_for_new(ports, "twelve cameras")
        self.kill_worker(ports)
        self.lose_server(ports, signal.SIGTERM)
        self.lose_server(ports, signal.SIGKILL)
        self.assertEqual(self.farm.stop(), [0, 0])
        self.assertFalse(any(self.farm.list().values()), "leases after SIGTERM")
        self.check(ports)

    def kill_worker(self, ports):
        lines = self.farm.lines_of("a")
        leases = self.farm.list()
        self.dead = {name for name in ports if leases[name]["worker"] == "a"}
        self.assertEqual(len(lines), 4)
        self.assertEqual(len(self.dead), 4)
        self.begin = self.newest() # cameras may have been redistributed before
        self.farm.kill("a")
        wait_until(lambda: not any(map(farmhand.alive, lines)), "the end of its pipelines")
        self.wait_for_share(6, 6)
        self.wait_for_new(ports, "the cameras of a dead worker")

    def lose_server(self, ports, number):
        """Ends the server, and checks that no pipeline ends. After SIGKILL its disk is lost,
        too."""
        lines = self.farm.lines_of("b") + self.farm.lines_of("c")
        self.nats.stop(number)
        self.wait_for_new(ports, "frames without a server")
        if number == signal.SIGKILL:
            shutil.rmtree(self.nats.folder)
        self.nats.start()
        self.wait_for_share(6, 6)
        self.wait_for_new(ports, "frames with the server back")
        self.assertEqual(
            lines, self.farm.lines_of("b") + self.farm.lines_of("c")
        )

    def check(self, ports):
        frames = self.check_frames(ports, self.begin)
        missing = [frames[name][0] for name in self.dead]
        print("frames missing of a dead worker's cameras:", missing)
        self.assertLessEqual(max(missing), MOST * RATE)
        for name, (missing, twice) in frames.items():
            self.assertEqual(missing > 0, name in self.dead, (name, missing))
            self.assertEqual(twice, 0, name)
        statuses = self.subscriber.statuses("camera-0")
        self.assertEqual(statuses[-1], "stopped") # an orderly end


class Outage(Case):
    def test_long(self):
        """Pipelines end when other workers might run them, and start again later."""
        ports = self.make_published(2)
        for name, port in ports.items():
            self.farm.put(name, port=port)
        self.farm.start("a", "b")
        self.wait_for_share(1, 1)
        self.wait_for_new(ports, "both cameras")
        self.nats.stop(signal.SIGKILL)
        wait_until(
            lambda: not self.farm.lines_of("a") + self.farm.lines_of("b"),
            "the end of pipelines without a server",
        )
        began = time.monotonic()
        self.nats.start()
        self.wait_for_share(1, 1)
        self.wait_for_new(ports, "both cameras again")
        back = time.monotonic() - began
        self.assertIn("could not be renewed in time", self.farm.log("a"))
        self.assertEqual(self.farm.stop(), [0, 0])
        frames = self.check_frames(ports)
        print("frames (missing, twice) of each camera:", list(frames.values()))
        for missing, twice in frames.values():
            self.assertGreater(missing, 0)
            self.assertEqual(twice, 0)
        self.assertLess(back, MOST)


class Stopped(Case):
    def test_sigstop(self):
        """A worker that is stopped for a while loses its cameras."""
        ports = self.make_published(2)
        for name, port in ports.items():
            self.farm.put(name, port=port)
        self.farm.start("a", "b")
        self.wait_for_share(1, 1)
        lines = self.farm.lines_of("b")
        self.farm.signal("b", signal.SIGSTOP)
        wait_until(lambda: not any(map(farmhand.alive, lines)), "the end of its pipeline")
        self.wait_for_share(2)
        self.wait_for_new(ports, "the camera of a stopped worker")
        self.farm.signal("b", signal.SIGCONT)
        wait_until(lambda: self.farm.metric("b", "leases_lost_total") == 1, "it")
        self.wait_for_share(1, 1)
        self.wait_for_new(ports, "both cameras")
        self.assertEqual(self.farm.stop(), [0, 0])
        frames = self.check_frames(ports)
        print("frames (missing, twice) of each camera:", list(frames.values()))
        for missing, twice in frames.values():
            self.assertLessEqual(missing, MOST * RATE)
            self.assertLessEqual(twice, MOST * RATE)


class Values(Case):
    def test_change_and_remove(self):
        path = pathlib.Path(self.folder)
        self.make(
            f"{TEST},framerate=100/1 ! visionpublish source={{text}}"
            f" add-empty-results=true file-format=json"
            f" file-path={self.folder}/{{text}}.json ! fakesink"
        )
        odd = "a b'c\\d!"  # a pipeline must get it unchanged
        self.farm.put("camera", text="first")
        self.farm.start("a")
        wait_until((path / "first.json").exists, "the line")
        self.farm.put("camera", text=odd)
        wait_until((path / f"{odd}.json").exists, "the changed pipeline")
        records = json.loads((path / "first.json").read_text())
        self.assertEqual(records[0]["source"], "first")
        self.farm.run("remove", "camera")
        wait_until(lambda: self.farm.metric("a", "leases_held") == 0, "the end")
        records = json.loads((path / f"{odd}.json").read_text())
        self.assertEqual(records[0]["source"], odd)
        self.assertEqual(self.farm.lines_of("a"), [])
        self.assertEqual(self.farm.list(), {})


class Erased(Case):
    def test_last_message(self):
        """A bucket whose last message was erased counts as complete without it."""
        self.make()
        for name in "camera", "old":
            self.farm.put(name)
        self.farm.run("remove", "old")
        self.nats.request(
            "$JS.API.STREAM.PURGE.KV_cameras", '{"filter":"$KV.cameras.old"}'
        )
        self.farm.start("a")
        self.wait_for_share(1)
        self.nats.stop()
        self.nats.start()
        wait_until(lambda: self.farm.metric("a", "nats_disconnects_total") == 1, "it")
        wait_until(self.is_ready, "a worker that is ready")

    def is_ready(self):
        try:
            return self.farm.fetch("a", "readyz") == "ready\n"
        except urllib.error.HTTPError:
            return False # 503


class Failures(Case):
    VALUES = {
        "good": "{}",
        "json": "{",
        "deep": "[" * 60000,
        "large": json.dumps({"a": "x" * 70000}),
        "array": '{"a": []}',
        "name": '{"line": "none"}',
        "absent": '{"line": "located"}',
        "control": '{"line": "located", "location": "a\\nb"}',
        "crash": '{"line": "crash"}',
        "parse": '{"line": "parse"}',
        "refused": '{"line": "located", "location": "/nowhere/film"}',
        "silent": '{"line": "silent"}',
        "stalled": '{"line": "stalled"}',
        "ended": '{"line": "ended"}',
    }
    LINES = {
        "line located": "filesrc location={location} ! fakesink",
        "line crash": f"{TEST} ! identity error-after=3 ! fakesink",
        "line parse": "videotestsrc ! nonsense ! fakesink",
        "line silent": "videotestsrc ! valve drop=true ! fakesink",
        "line stalled": f"{TEST} ! valve drop=true ! fakesink async=false",
        "line ended": "videotestsrc num-buffers=3 ! fakesink",
    }
    ERRORS = {
        "json": "not a JSON object",
        "deep": "nested more than",
        "large": "more than 65536 bytes",
        "array": '"a" must be text',
        "name": "no group [line none]",
        "absent": 'uses "location"',
        "control": 'No such file "a\nb"',
        "crash": "Failed after iterations",
        "parse": 'no element "nonsense"',
        "refused": "/nowhere/film",
        "silent": "not playing after 5 seconds",
        "stalled": "no buffers for 3 seconds",
        "ended": "the stream ended",
    }
    INVALID = {"json", "deep", "large", "array", "name", "absent"}

    def test_failures(self):
        """Each failing camera has its error, is tried again, and does not disturb others."""
        self.make(
            lines=self.LINES,
            restart_pause="0.2",
            restart_max_pause="60",
            restart_start_timeout="5",
            restart_stall_timeout="3",
        )
        self.farm.run("list") # creates the buckets
        self.nats.put("worker.deep", "[" * 900000, "camera-leases")
        for name, value in self.VALUES.items():
            self.nats.put(name, value)
        self.farm.start("a")
        wait_until(self.have_failed, "errors and restarts")
        leases = self.farm.list()
        for name, error in self.ERRORS.items():
            self.assertIn(error, leases[name].get("error", ""), name)
        for name in self.INVALID:
            self.assertEqual(leases[name]["restarts"], 0, name)
            self.assertEqual(leases[name]["state"], "invalid", name)
        self.assertEqual(leases["good"]["state"], "playing")
        self.assertEqual(leases["good"]["restarts"], 0)
        self.check_metrics(leases)
        self.nats.put("json", "{}")
        self.wait_for_playing("good", "json")

    def wait_for_playing(self, *names):
        wait_until(
            lambda: {"playing"}
            == {self.farm.list()[name].get("state") for name in names},
            f"{names} to play",
        )

    def have_failed(self):
        leases = self.farm.list()
        return all(
            name in self.INVALID | {"good"}
            and lease.get("state") in ("invalid", "playing")
            or lease.get("restarts", 0) >= 1
            for name, lease in leases.items()
        )

    def check_metrics(self, leases):
        self.assertEqual(self.farm.fetch("a", "healthz"), "ok\n")
        self.assertEqual(self.farm.fetch("a", "readyz"), "ready\n")
        text = self.farm.fetch("a")
        try:
            from prometheus_client.parser import text_string_to_metric_families
        except ImportError:
            print("metrics not parsed: install python3-prometheus-client")
            return
        found = {}
        for family in text_string_to_metric_families(text):
            self.assertTrue(family.documentation, family.name)
            for sample in family.samples:
                key = sample.name, sample.labels.get("camera")
                found[key] = found.get(key, 0) + sample.value
        up = "cuvision_farm_camera_up"
        self.assertEqual(found[up, "good"], 1)
        self.assertEqual(found[up, "json"], 0)
        self.assertGreater(found["cuvision_farm_camera_buffers_total", "good"], 0)
        restarts = found["cuvision_farm_camera_restarts_total", "crash"]
        self.assertGreaterEqual(restarts, leases["crash"]["restarts"])
        self.assertEqual(found["cuvision_farm_leases_held", None], len(leases))
        self.assertEqual(found["cuvision_farm_nats_connected", None], 1)


class Secrets(Case):
    nats_options = ("--user", "farm", "--pass", "s3cret")
    LINES = {
        "line file": "filesrc location={location}/{password} ! fakesink",
        "line caps": "videotestsrc ! video/x-raw,format=({password} ! fakesink",
    }

    def processes(self):
        """Returns what a list of processes shows of the worker and its pipelines."""
        shown = ""
        for pid in [self.farm.workers["a"].pid, *self.farm.lines_of("a")]:
            for name in "cmdline", "environ":
                try:
                    shown += pathlib.Path(f"/proc/{pid}/{name}").read_text()
                except OSError:
                    pass # this pipeline has failed in the meantime
        return shown

    def test_secrets(self):
        """Passwords of the server and of cameras are in no log and no list of
        processes."""
        secret = pathlib.Path(self.folder) / "secret"
        secret.write_text("s3cret\n", encoding="utf-8")
        self.make(
            f"{TEST} ! filesink location={self.folder}/{{password}}",
            self.LINES,
            nats_user="farm",
            nats_password_file=secret,
            restart_pause="0.2",
        )
        value = {"location": "rtsp://me:hunter2@camera", "password": "x!9 é9"}
        self.farm.run("put", "good", "-", input=json.dumps(value))
        value["line"] = "file"
        self.farm.run("put", "camera", "-", input=json.dumps(value))
        self.farm.put("caps", line="caps", password=value["password"])
        self.farm.start("a")
        wait_until(lambda: "camera caps: " in self.farm.log("a"), "its error")
        wait_until(
            lambda: self.farm.list()["camera"].get("restarts", 0) >= 2, "restarts"
        )
        shown = self.processes()
        self.assertIn("--run-line", shown)
        shown += self.farm.log("a") + self.farm.fetch("a")
        shown += self.farm.run("list").stdout + self.farm.run("list", "--json").stdout
        self.assertIn("rtsp://***@camera/***", shown)
        for word in ("hunter2", "x!9", "x\\!9", "s3cret"):
            self.assertNotIn(word, shown)
        secret.write_text("wr0ng", encoding="utf-8")
        refused = self.farm.run("list", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("check user, password", refused.stderr)
        self.assertNotIn("wr0ng", refused.stderr)


class Access(Case):
    nats_options = ("--auth", "t0ken")

    def test_token(self):
        self.make(nats_token_env="CUV_TEST_TOKEN")
        for token, status in ("t0ken", 0), ("wrong", 1):
            env = dict(os.environ, CUV_TEST_TOKEN=token)
            result = self.farm.run("list", check=False, env=env)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertNotIn(token, result.stderr)

    def test_tls(self):
        """The server's certificate and its name are verified."""
        for name, address in ("right", "IP:127.0.0.1"), ("other", "DNS:elsewhere"):
            self.make_certificate(name, address)
            self.nats.stop()
            self.nats.options = ("--tls", "--tlscert", f"{self.folder}/{name}.crt")
            self.nats.options += ("--tlskey", f"{self.folder}/{name}.key")
            self.nats.start()
            own = {"nats_tls_ca_file": f"{self.folder}/{name}.crt"}
            for settings, text in (
                ({"nats_tls": "verify"}, "check tls and tls-ca-file"),
                ({"nats_tls": "verify", **own}, "" if name == "right" else "mismatch"),
                ({"nats_tls": "insecure"}, ""),
            ):
                self.make(**settings)
                result = self.farm.run("list", check=False)
                self.assertEqual(result.returncode, 1 if text else 0, result.stderr)
                self.assertIn(text, result.stderr)

    def make_certificate(self, name, address):
        words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
        words += f" -nodes -days 1 -subj /CN={name} -addext subjectAltName={address}"
        words += f" -keyout {self.folder}/{name}.key -out {self.folder}/{name}.crt"
        subprocess.run(words.split(), check=True, capture_output=True, timeout=LONG)


class Commands(Case):
    def test_commands(self):
        self.make()
        self.farm.put("door", location="x", number=1.5)
        got = json.loads(self.farm.run("get", "door").stdout)
        self.assertEqual(got, {"location": "x", "number": 1.5})
        odd = '{"location": "/é\u2028"}\n'
        env = dict(os.environ, LC_ALL="C")
        self.farm.run("put", "odd", "-", input=odd, encoding="utf-8", env=env)
        got = self.farm.run("get", "odd", encoding="utf-8", env=env)
        self.assertEqual(got.stdout, odd)
        self.assertRegex(self.farm.run("list").stdout, "door +- +free")
        self.farm.run("remove", "door")
        for words, status, text in (
            (["get", "door"], 1, "no camera 'door'"),
            (["remove", "door"], 1, "no camera 'door'"),
            (["put", "door", "[]"], 1, "not a JSON object"),
            (["put", "a/b", "{}"], 1, "not a valid camera name"),
            (["put", "door"], 2, "takes 2 arguments"),
            (["paint"], 2, "the command must be"),
            ([], 2, "the command must be"),
            (["--nonsense"], 2, "--nonsense"),
            (["-n", "a b", "list"], 1, "not a valid name"),
        ):
            result = self.farm.run(*words, check=False)
            self.assertEqual(result.returncode, status, words)
            self.assertIn(text, result.stderr, words)

    def test_pages(self):
        """The manual has each command and option, docs/ each key and metric."""
        top = pathlib.Path(__file__).parents[2]
        manual = (top / "tools/farm/cuvision-farm.1").read_text(encoding="utf-8")
        manual = manual.replace("\\", "")
        shown = subprocess.run(
            [PROGRAM, "--help"], capture_output=True, text=True, check=True
        ).stdout
        words = re.findall(r"^  (?:-\w, )?(--\w+|\w+)", shown, re.M)
        self.assertGreater(len(words), 7)
        page = (top / "docs/cuvision-farm.md").read_text(encoding="utf-8")
        for word in words:
            self.assertIn(word, manual)
        source = (top / "tools/farm/farm-config.c").read_text(encoding="utf-8")
        lists = re.findall(r"known\[\] = \{(.*?)NULL", source, re.S)
        keys = re.findall(r'"([\w-]+)"', " ".join(lists))
        self.assertGreater(len(keys), 25)
        for key in keys:
            self.assertRegex(page, rf"`\[?{key}\]?`")
        self.make()
        self.farm.start("a")
        metrics = re.findall(r"# TYPE cuvision_farm_(\w+)", self.farm.fetch("a"))
        for metric in metrics:
            self.assertIn(f"`{metric}`", page)

    def test_configuration(self):
        self.make()
        path, before = self.farm.config, os.times().children_user
        for text, error in (
            ("[worker]\ncapacity = many\n", "capacity: 'many'"),
            ("[worker]\ncapacity = 1.5\n", "not a whole number"),
            ("[worker]\nlease-age = 0\n", "number from 1 to 3600"),
            ("[worker]\nrebalance = perhaps\n", "must be true or false"),
            ("[worker]\nspeed = 1\n", "unknown key 'speed'"),
            ("[speed]\n", "unknown group [speed]"),
            ("#\n" * 520000 + "[speed]\n", "unknown group [speed]"),
            ("[nats]\nservers = nats://a:b@c\n", "must not contain a password"),
            ("[nats]\nservers = ;\n", "'' is not a URL"),
            ("[nats]\nservers = http://a\n", "not a URL like nats://"),
            ("[nats]\ncredentials-file = /nowhere\n", "cannot read '/nowhere'"),
            ("[nats]\nuser = a\npassword-file = /dev/zero\n", "not a regular file"),
            ("[worker]\n# one \\\ncapacity = many\n", "capacity: 'many'"),
            ("[worker]\nname = a \\\n  b \\\n  # c\n", "'a b # c' is not a valid name"),
            ("[nats]\nuser = a\n", "both user and"),
            ("[nats]\ntoken-env = NO_SUCH\n", "NO_SUCH is not set"),
            ("[nats]\ntls = yes\n", "not none, verify"),
            ("[nats]\ncameras-bucket = a.b\n", "not a valid bucket name"),
            ("[nats]\ncameras-bucket = camera-leases\n", "are both"),
            ("[restart]\npause = 100\n", "less than pause"),
            ("[line]\n", "[line] needs the key"),
            ("[line]\nline = a\n[line]\nline = b\n", "[line] appears twice"),
            ("[nats]\n", "no group [line]"),
            ("[worker]\nlisten = nowhere:1\n[line]\nline = x\n", "'nowhere'"),
            ("nonsense", "farm.conf"),
        ):
            path.write_text(text, encoding="utf-8")
            result = self.farm.run("run", check=False)
            self.assertEqual(result.returncode, 1, text)
            self.assertIn(error, result.stderr, text)
        self.assertLess(os.times().children_user - before, 12)


def run_all():
    """Runs some tests at the same time, because they mostly wait for leases to run out."""
    names = [case.__name__ for case in Case.__subclasses__()]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        words = [[sys.executable, __file__, PROGRAM, name] for name in names]
        codes = list(pool.map(subprocess.call, words))
    return int(any(code != 0 for code in codes))


if __name__ == "__main__":
    PROGRAM = farmhand.take_program()
    if len(sys.argv) == 1:
        sys.exit(run_all())
    unittest.main(verbosity=2)
