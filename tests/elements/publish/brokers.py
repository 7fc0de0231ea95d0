#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests visionpublish with a real MQTT broker, Debian's mosquitto, which is absent, killed,
stopped or restarted, with wrong certificates and passwords, and with topics that the broker
refuses. Also kills pipelines while their spool is in use."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from mosquitto import (
    FAST,
    LIVE,
    LONG,
    PUBLISH,
    Broker,
    Pipeline,
    WithFolder,
    answers,
    free_port,
    wait_until,
    without_repetitions,
)

# How long the broker is stopped.
STOP_SECONDS = float(os.environ.get("CUV_TEST_STOP_SECONDS", "2"))
KILLS = int(os.environ.get("CUV_TEST_KILLS", "50"))
SECRET = "kTh9-sesame-Qz4"


def rss_kib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


class Outages(WithFolder):
    """The broker's subscriber sees every record in order."""

    def test_all_records_and_status(self):
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        stats = self.pipeline("a", FAST % 300, "", broker).play().finish()
        self.expect_received(subscriber, "a", range(300))
        self.assertEqual(subscriber.records("a"), list(range(300)))
        wait_until(lambda: "stopped" in subscriber.statuses("a"), "the end")
        self.assertEqual(subscriber.statuses("a"), ["online", "stopped"])
        self.assertEqual(stats["acknowledged"], 300)
        self.assertEqual(stats["dropped"], 0)
        self.assertEqual(stats["queue"], 0)
        # a later subscriber gets the status, which is retained
        late = self.subscriber(broker, "--quiet")
        late.command[late.command.index("subscriber")] = "late"
        late.command += ["-W", "2"]
        late.file = late.file.with_suffix(".late")
        with open(late.file, "wb") as log:
            subprocess.run(late.command, stdout=log, check=False, timeout=LONG)
        self.assertEqual(
            late.lines(), ['1 cameras/a/status {"status":"stopped"}\n']
        )

    def test_absent_at_the_start(self):
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        subscriber.stop()
        broker.stop()
        pipeline = self.pipeline("a", LIVE % 200, "", broker).play()
        pipeline.wait_for(lambda s: s["frames"] >= 20, "frames")
        stats = pipeline.stats()
        self.assertLessEqual(stats["frames"] - stats["queue"], 1)
        self.assertFalse(stats["connected"])
        broker.start()
        subscriber.start()
        stats = pipeline.finish()
        self.expect_received(subscriber, "a", range(200))
        self.assertEqual(stats["acknowledged"], 200)
        self.assertRegex(
            pipeline.messages[0], "Cannot send to '127.0.0.1:[0-9]+': .*(refused|no connection): check"
        )

    def test_unsent_at_the_end(self):
        """If the broker is never started, unsent records are kept in the spool, or dropped and
        reported."""
        for spool, lost in ((f"spool-path={self.folder}/kept", False), ("", True)):
            pipeline = self.pipeline("a", LIVE % 5, spool, self.broker()).play()
            stats = pipeline.finish()
            texts = [text for text in pipeline.messages if "has not acknowledged 5 records" in text]
            self.assertEqual(len(texts), lost, pipeline.messages)
            self.assertEqual((stats["dropped"], stats["queue"]), (5, 0) if lost else (0, 5))

    def test_required_connection(self):
        broker = self.broker()
        pipeline = self.pipeline("a", LIVE % 200, "require-connection=true", broker)
        pipeline.play()
        self.assertTrue(pipeline.collect(LONG))
        self.assertRegex(pipeline.messages[0], "Cannot publish to mqtt .*(refused|no connection): check")
        pipeline.stop()
        broker.start()
        pipeline.play()
        pipeline.finish()
        self.assertEqual(len(pipeline.messages), 1)

    def test_restarted(self):
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        pipeline = self.pipeline("a", LIVE % 400, "", broker).play()
        for n in range(2):
            pipeline.wait_for(
                lambda s: s["acknowledged"] > 100 * n, "acknowledgements"
            )
            broker.stop()
            pipeline.wait_for(lambda s: not s["connected"], "the loss")
            broker.start()
        stats = pipeline.finish()
        self.expect_received(subscriber, "a", range(400))
        self.assertEqual(stats["acknowledged"], 400)
        self.assertEqual(stats["reconnects"], 2)

    def test_killed(self):
        """A killed mosquitto loses what it acknowledged; the rest arrives."""
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        pipeline = self.pipeline("a", LIVE % 300, "", broker).play()
        pipeline.wait_for(lambda s: s["acknowledged"] > 50, "acknowledgements")
        broker.stop(signal.SIGKILL)
        pipeline.wait_for(lambda s: not s["connected"], "the loss")
        acknowledged = pipeline.stats()["acknowledged"]
        # its session is lost, too: subscribe before the records arrive
        subscriber.stop()
        broker.port, port = free_port(), broker.port
        Broker.__init__(broker, broker.folder, port=broker.port)
        broker.start()
        subscriber.command[2] = str(broker.port)
        subscriber.start().stop()
        broker.stop()
        Broker.__init__(broker, broker.folder, port=port)
        broker.start()
        subscriber.command[2] = str(port)
        subscriber.start()
        stats = pipeline.finish()
        wait_until(lambda: 299 in subscriber.records("a"), "the last record")
        received = without_repetitions(subscriber.records("a"))
        self.assertEqual(received, sorted(received))
        self.assertEqual(
            [n for n in received if n >= acknowledged], list(range(acknowledged, 300))
        )
        self.assertEqual(stats["acknowledged"], 300)

    def test_stopped(self):
        """A broker that stops for a while, shorter or longer than the keep-alive, gets the
        records afterwards."""
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        n = 200 + int(STOP_SECONDS * 200)
        pipeline = self.pipeline("a", LIVE % n, "", broker).play()
        pipeline.wait_for(lambda s: s["acknowledged"] > 20, "acknowledgements")
        broker.send(signal.SIGSTOP)
        start, before = time.monotonic(), pipeline.stats()["frames"]
        pipeline.collect(STOP_SECONDS)
        seconds, frames = time.monotonic() - start, pipeline.stats()["frames"]
        broker.send(signal.SIGCONT)
        print(
            f"{(frames - before) / seconds:.2f} frames/s of 200 while the broker "
            f"was stopped for {seconds:.1f} s",
            file=sys.stderr,
        )
        stats = pipeline.finish()
        self.expect_received(subscriber, "a", range(n))
        self.assertEqual(stats["acknowledged"], n)

    def test_more_than_it_takes(self):
        """The broker is stopped nine tenths of the time, and there are ten times as many records as
        it can take. The queue stays within its bound, and all dropped records are counted."""
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        options = "queue-records=100 on-full=%s"
        for policy in ["drop-oldest", "drop-newest"]:
            source = policy
            pipeline = self.pipeline(source, LIVE % 400, options % policy, broker)
            pipeline.play()
            while not pipeline.collect(0.01):
                broker.send(signal.SIGSTOP)
                self.assertLessEqual(pipeline.stats()["queue"], 100)
                if pipeline.collect(0.5 if pipeline.stats()["frames"] < 400 else 0):
                    break
                broker.send(signal.SIGCONT)
            broker.send(signal.SIGCONT)
            stats = pipeline.stop()
            self.assertEqual(stats["acknowledged"] + stats["dropped"], 400)
            wait_until(
                lambda s=source: "stopped" in subscriber.statuses(s), "the end"
            )
            received = subscriber.records(source)
            self.assertEqual(received, sorted(received))
            self.assertEqual(len(received), stats["acknowledged"])

    def test_memory(self):
        """30 MB of records for a stopped broker stay in a queue of 1 MB."""
        broker = self.broker().start()
        tags = json.dumps({"text": "x" * 10000})
        pipeline = self.pipeline("a", FAST % 3000, "queue-bytes=1000000", broker)
        pipeline.element.props.tags = tags
        broker.send(signal.SIGSTOP)
        before = rss_kib()
        pipeline.play()
        pipeline.wait_for(lambda s: s["frames"] == 3000, "all frames")
        growth = rss_kib() - before
        self.assertLess(pipeline.stats()["queue"], 100)
        broker.send(signal.SIGCONT)
        stats = pipeline.finish()
        self.assertEqual(stats["acknowledged"] + stats["dropped"], 3000)
        self.assertLess(growth, 15000, "KiB")

    def test_block(self):
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        options = "queue-records=10 on-full=block"
        stats = self.pipeline("a", FAST % 2000, options, broker).play().finish()
        self.expect_received(subscriber, "a", range(2000))
        self.assertEqual(stats["dropped"], 0)
        # a pipeline that waits says why, and can be stopped
        pipeline = self.pipeline("b", FAST % 2000, options, broker)
        pipeline.play()
        broker.stop()
        pipeline.wait_for(lambda s: s["queue"] == 10, "a full queue")
        pipeline.wait_for(lambda _: pipeline.messages, "a warning")
        self.assertIn("Cannot send", pipeline.messages[0])
        pipeline.stop()

    def test_last_will(self):
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        line = LIVE % 100000 + PUBLISH % ("a", f"address=127.0.0.1:{broker.port}")
        process = subprocess.Popen(["gst-launch-1.0", "-q", *line.split()])
        wait_until(lambda: len(subscriber.records("a")) > 5, "records")
        process.kill()
        process.wait()
        wait_until(lambda: len(subscriber.statuses("a")) == 2, "the last will")
        self.assertEqual(subscriber.statuses("a"), ["online", "lost"])


class Refusals(WithFolder):
    def test_refused_topic(self):
        acl = pathlib.Path(self.folder) / "acl"
        acl.write_text("topic readwrite cameras/good/#\ntopic read #\n")
        broker = self.broker("allow_anonymous true", f"acl_file {acl}").start()
        subscriber = self.subscriber(broker).start()
        pipeline = self.pipeline("bad", FAST % 50, "mqtt-version=5", broker).play()
        stats = pipeline.finish()
        self.assertEqual((stats["acknowledged"], stats["dropped"]), (0, 50))
        self.assertRegex(pipeline.messages[0], "refused the topic.*Not authorized")
        options = "mqtt-version=5"
        stats = self.pipeline("good", FAST % 50, options, broker).play().finish()
        self.assertEqual((stats["acknowledged"], stats["dropped"]), (50, 0))
        self.expect_received(subscriber, "good", range(50))

    def password_options(self):
        passwords = pathlib.Path(self.folder) / "passwords"
        subprocess.run(
            ["mosquitto_passwd", "-b", "-c", passwords, "eve", SECRET],
            check=True,
            timeout=LONG,
            stderr=subprocess.DEVNULL,
        )
        (pathlib.Path(self.folder) / "right").write_text(SECRET + "\n")
        (pathlib.Path(self.folder) / "wrong").write_text(SECRET + "x")
        return ["allow_anonymous false", f"password_file {passwords}"]

    def test_password(self):
        broker = self.broker(*self.password_options()).start()
        wrong = f"user=eve password-file={self.folder}/wrong"
        pipeline = self.pipeline("a", FAST % 10, wrong, broker).play()
        stats = pipeline.finish()
        self.assertEqual((stats["acknowledged"], stats["dropped"]), (0, 10))
        self.assertRegex(pipeline.messages[0], "refused.*check user and password")
        right = f"user=eve password-file={self.folder}/right"
        stats = self.pipeline("a", FAST % 10, right, broker).play().finish()
        self.assertEqual(stats["acknowledged"], 10)
        os.environ["CUV_TEST_PASSWORD"] = SECRET
        right = "user=eve password-env=CUV_TEST_PASSWORD"
        stats = self.pipeline("a", FAST % 10, right, broker).play().finish()
        self.assertEqual(stats["acknowledged"], 10)

    def expect_no_secret(self, arguments, env):
        env = {
            **os.environ,
            "GST_DEBUG": "9",
            "GST_DEBUG_NO_COLOR": "1",
            "GST_DEBUG_DUMP_DOT_DIR": self.folder + "/dots",
            "G_MESSAGES_DEBUG": "all",
            **env,
        }
        run = subprocess.run(
            arguments, env=env, capture_output=True, timeout=LONG, check=False
        )
        dots = list(pathlib.Path(self.folder, "dots").iterdir())
        spools = list(pathlib.Path(self.folder).glob("spool*"))
        output = run.stdout + run.stderr
        for path in dots + spools:
            output += path.read_bytes()
        self.assertNotIn(SECRET.encode(), output)
        return output, len(dots)

    def test_password_is_shown_nowhere(self):
        broker = self.broker(*self.password_options()).start()
        pathlib.Path(self.folder, "dots").mkdir()
        for password in [
            f"password-file={self.folder}/right",
            f"password-file={self.folder}/wrong",
            "password-env=CUV_TEST_PASSWORD",
        ]:
            options = f"user=eve {password} spool-path={self.folder}/spool "
            options += f"address=127.0.0.1:{broker.port}"
            line = FAST % 3 + PUBLISH % ("a", options)
            output, n_dots = self.expect_no_secret(
                ["gst-launch-1.0", "-v", *line.split()],
                {"CUV_TEST_PASSWORD": SECRET},
            )
            self.assertIn(b"visionpublish", output)
            self.assertGreater(n_dots, 0)
        options = f"user=eve password-file={self.folder}/right address=127.0.0.1:1"
        line = FAST % 3 + PUBLISH % ("a", options)
        self.expect_no_secret(
            ["gst-launch-1.0", "-v", *line.replace("mqtt", "kafka").split()], {}
        )
        self.expect_no_secret(["gst-inspect-1.0", "visionpublish"], {})
        # an address with a password is refused, and not repeated
        options = f"address=eve:{SECRET}@127.0.0.1:{broker.port}"
        pipeline = Pipeline(FAST % 3 + PUBLISH % ("a", options)).play()
        self.assertTrue(pipeline.collect(LONG))
        self.assertNotIn(SECRET, pipeline.messages[0])
        self.assertIn("password-file", pipeline.messages[0])
        pipeline.stop()

    def openssl(self, *arguments):
        subprocess.run(
            ["openssl", *arguments],
            cwd=self.folder,
            check=True,
            timeout=LONG,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def make_authority(self, name):
        self.openssl(
            *"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority".split(),
            *f"-keyout {name}.key -out {name}.pem".split(),
        )

    def make_certificate(self, name, host):
        extension = pathlib.Path(self.folder, name + ".ext")
        extension.write_text(f"subjectAltName = {host}\n")
        self.openssl(
            *"req -newkey rsa:2048 -nodes -subj /CN=broker".split(),
            *f"-keyout {name}.key -out {name}.csr".split(),
        )
        self.openssl(
            *f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -days 2".split(),
            *f"-CAcreateserial -extfile {name}.ext -out {name}.pem".split(),
        )

    def tls_broker(self, name):
        return self.broker(
            "allow_anonymous true",
            f"certfile {self.folder}/{name}.pem",
            f"keyfile {self.folder}/{name}.key",
        ).start()

    def expect_tls(self, broker, options, problem):
        pipeline = self.pipeline("a", FAST % 10, options, broker).play()
        stats = pipeline.finish()
        self.assertEqual(stats["acknowledged"], 0 if problem else 10)
        if problem:
            self.assertRegex(pipeline.messages[0], problem)
        else:
            self.assertEqual(pipeline.messages, [])

    def test_tls(self):
        self.make_authority("ca")
        self.make_authority("other")
        self.make_certificate("good", "IP:127.0.0.1")
        self.make_certificate("elsewhere", "DNS:example.org")
        broker = self.tls_broker("good")
        ca = f"tls=verify tls-ca-file={self.folder}/ca.pem"
        other = f"tls=verify tls-ca-file={self.folder}/other.pem"
        self.expect_tls(broker, ca, None)
        self.expect_tls(broker, other, "certificate verify failed.*tls-ca-file")
        self.expect_tls(broker, "tls=verify", "certificate verify failed")
        self.expect_tls(broker, "tls=insecure", None)
        self.expect_tls(broker, "", "Cannot send.*expects TLS.*tls=verify")
        self.expect_tls(broker, "mqtt-version=5", "expects TLS.*tls=verify")
        kafka = LIVE % 100 + PUBLISH % ("a", f"address=127.0.0.1:{broker.port}")
        kafka = Pipeline(kafka.replace("mqtt", "kafka")).play()
        kafka.wait_for(lambda s: s["last-error"], "the broker")
        self.assertRegex(kafka.stats()["last-error"], "expects TLS.*tls=verify")
        kafka.stop()
        broker.stop()
        broker = self.tls_broker("elsewhere")
        self.expect_tls(broker, ca, "certificate")
        broker.stop()
        broker = self.broker().start()
        self.expect_tls(broker, ca, "speaks TLS")

    def expect_never_lost(self, broker, options):
        subscriber = self.subscriber(broker, *self.subscriber_tls).start()
        for n in range(26):
            pipeline = self.pipeline("a", LIVE % 1000, options, broker).play()
            time.sleep(n % 13 * 0.005)
            pipeline.stop()
        # the status of the orderly end is the last one
        self.pipeline("b", FAST % 1, options, broker).play().finish()
        wait_until(lambda: "stopped" in subscriber.statuses("b"), "the end")
        statuses = subscriber.statuses("a")
        self.assertNotIn("lost", statuses)
        self.assertIn(statuses[-1:], [[], ["stopped"]])

    def test_stopped_while_connecting(self):
        """An orderly end leaves no last will, however early it is."""
        self.make_authority("ca")
        self.make_certificate("good", "IP:127.0.0.1")
        broker = self.tls_broker("good")
        authority = f"{self.folder}/ca.pem"
        self.subscriber_tls = ["-h", "127.0.0.1", "--cafile", authority]
        for version in ["3.1.1", "5"]:
            tls = f"tls=verify tls-ca-file={authority} mqtt-version={version}"
            with self.subTest(tls):
                self.expect_never_lost(broker, tls)

    def test_key_of_another_certificate(self):
        self.make_authority("ca")
        for name in "one", "two":
            self.make_certificate(name, "IP:127.0.0.1")
        options = "address=h tls=verify tls-certificate-file=%s/one.pem" % self.folder
        options += " tls-key-file=%s/two.key" % self.folder
        for target in "mqtt", "kafka":
            line = (FAST % 3 + PUBLISH % ("a", options)).replace("mqtt", target)
            pipeline = Pipeline(line).play()
            self.assertTrue(pipeline.collect(LONG))
            self.assertRegex(pipeline.messages[0], "one.pem.*two.key.*the key must belong")
            pipeline.stop()

    def test_kafka_tls(self):
        """Checks Kafka's TLS handshake with a server that speaks only TLS."""
        self.make_authority("ca")
        self.make_authority("other")
        self.make_certificate("good", "IP:127.0.0.1")
        self.make_certificate("elsewhere", "DNS:example.org")
        refused = "verify failed|self.signed|certificate"
        for name, tls, problem in [
            ("good", "verify tls-ca-file=%s/ca.pem", None),
            ("good", "verify tls-ca-file=%s/other.pem", refused),
            ("elsewhere", "verify tls-ca-file=%s/ca.pem", refused),
            ("elsewhere", "insecure", None),
        ]:
            port = free_port()
            command = f"openssl s_server -quiet -accept 127.0.0.1:{port}"
            command += f" -cert {name}.pem -key {name}.key"
            server = subprocess.Popen(
                command.split(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            wait_until(lambda p=port: answers(p), "openssl")
            options = f"address=127.0.0.1:{port} tls=" + tls.replace("%s", self.folder)
            line = LIVE % 100 + PUBLISH % ("a", options)
            pipeline = Pipeline(line.replace("mqtt", "kafka")).play()
            pipeline.wait_for(lambda s: s["last-error"], "the server")
            error = pipeline.stats()["last-error"]
            pipeline.stop()
            server.kill()
            server.wait(LONG)
            with self.subTest(f"{name} {tls}"):
                (self.assertRegex if problem else self.assertNotRegex)(error, refused)

    def test_settings(self):
        for options, problem in [
            ("", "target needs an address"),
            ("address=h file-format=csv", "file-format=csv is for files"),
            ("address=h tls-ca-file=x", "set tls=verify"),
            ("address=h tls=verify tls-ca-file=/none", "tls-ca-file: cannot read '/none'"),
            ("address=mqtts://h", "address is a URI"),
            ("address=h tls=verify tls-key-file=x", "set both"),
            ("address=h user=u password-file=/none", "/none"),
            ("address=h user=u password-env=CUV_NONE", "variable 'CUV_NONE' (password-env) is not set"),
            ("address=h user=u password-env=A password-file=b", "set only one"),
            ("address=h password-env=A", "set user"),
            ("address=h topic=a/#", "topic 'a/#' is not valid"),
            ("address=h topic={kid}", "topic '{kid}' is not valid"),
            ("address=h spool-path=/none/x", "spool-path '/none/x'"),
            ("address=h:99999", "h:99999"),
            ("address=h queue-bytes=1000000000000000 spool-path=%s/spool" % self.folder, "cannot reserve"),
        ]:
            with self.subTest(options):
                pipeline = Pipeline(FAST % 3 + PUBLISH % ("a", options)).play()
                self.assertTrue(pipeline.collect(LONG))
                self.assertIn(problem, pipeline.messages[0])
                pipeline.stop()


class Kills(WithFolder):
    def test_spool(self):
        """Each pipeline writes a record to a file after it has passed the
        publisher. All records in the files arrive in order, although every pipeline is killed
        and the broker is stopped half of the time."""
        rng = random.Random(int(os.environ.get("CUV_TEST_SEED", "1")))
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        spool = f"address=127.0.0.1:{broker.port} spool-path={self.folder}/spool"
        for n in range(KILLS):
            broker.send(signal.SIGSTOP if rng.random() < 0.5 else signal.SIGCONT)
            line = LIVE % 100000 + (PUBLISH % (f"run{n}", spool)).replace(
                "! fakesink",
                "! visionpublish add-empty-results=true"
                f" file-path={self.folder}/run{n} ! fakesink",
            )
            process = subprocess.Popen(["gst-launch-1.0", "-q", *line.split()])
            wait_until(pathlib.Path(self.folder, f"run{n}").exists, "the start")
            time.sleep(rng.random() * 0.2)
            process.kill()
            process.wait()
        broker.send(signal.SIGCONT)
        last = self.pipeline(
            "last", FAST % 10, f"spool-path={self.folder}/spool", broker
        )
        last.play().finish()
        self.expect_received(subscriber, "last", range(10))
        total = 0
        for n in range(KILLS):
            with open(f"{self.folder}/run{n}", encoding="utf-8") as file:
                passed = [
                    json.loads(line)["frame_num"]
                    for line in file
                    if line.endswith("\n")
                ]
            received = without_repetitions(subscriber.records(f"run{n}"))
            self.assertEqual(received, list(range(len(received))))
            self.assertLessEqual(len(passed), len(received), f"run {n}")
            total += len(passed)
        print(f"{total} records of {KILLS} killed pipelines", file=sys.stderr)
        self.assertGreater(total, KILLS)


if __name__ == "__main__":
    missing = [
        name
        for name in ["mosquitto", "mosquitto_sub", "mosquitto_passwd", "openssl"]
        if shutil.which(name) is None
    ]
    if missing:
        print("not installed:", *missing)
        sys.exit(77)
    Gst.init(None)
    unittest.main()
