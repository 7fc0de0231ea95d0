#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the rate of a live pipeline of 200 frames per second, each with a record, and the
longest pause between two frames, while something is wrong with the broker.

usage: broker-rate.py [SECONDS]
GST_PLUGIN_PATH must be the folder of the plugin, and mosquitto must be installed."""

import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "elements" / "publish"))
import brokers
from mosquitto import LIVE, Gst

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 20


class Times:
    """Records when frames pass an element."""

    def __init__(self, element):
        self.times = []
        pad = element.get_static_pad("src")
        pad.add_probe(Gst.PadProbeType.BUFFER, self.on_frame)

    def on_frame(self, pad, info):
        self.times.append(time.monotonic())
        return Gst.PadProbeReturn.OK

    def print(self, name, stats):
        times = [t for t in self.times if t > self.times[0] + 1]  # without the first second
        rate = (len(times) - 1) / (times[-1] - times[0])
        pause = max(b - a for a, b in zip(times, times[1:]))
        print(
            f"{name}: {rate:.2f} frames/s, longest pause {pause * 1e3:.1f} ms,"
            f" {stats['frames']} records, {stats['acknowledged']} acknowledged,"
            f" {stats['dropped']} dropped",
            flush=True,
        )


class Rates(brokers.Refusals):
    """Uses the brokers and certificates of the tests."""

    def rate(self, name, broker, options="", disturb=None):
        line = LIVE % (200 * SECONDS)
        pipeline = self.pipeline("a", line, options, broker)
        times = Times(pipeline.element)
        pipeline.play()
        end = time.monotonic() + SECONDS + 15
        while not pipeline.collect(0.1) and time.monotonic() < end:
            if disturb is not None:
                disturb(pipeline)
        if broker.process is not None:
            broker.send(signal.SIGCONT)
        times.print(name, pipeline.stop())

    def stop_and_go(self, broker):
        def disturb(pipeline):
            broker.send(signal.SIGSTOP)
            time.sleep(0.9)
            broker.send(signal.SIGCONT)

        return disturb

    def run_all(self):
        self.setUp()
        broker = self.broker()
        self.rate("absent", broker)
        broker.start()
        self.rate("there", broker)
        self.rate("with a spool", broker, f"spool-path={self.folder}/spool")
        self.rate(
            "stopped nine tenths of the time, queue of 50 records",
            broker,
            "queue-records=50",
            self.stop_and_go(broker),
        )
        self.rate("stopped", broker, "", lambda _: broker.send(signal.SIGSTOP))
        self.rate("killed", broker, "", lambda _: broker.process.kill())
        broker.process.wait()
        broker = self.broker(*self.password_options()).start()
        self.rate("wrong password", broker, f"user=eve password-file={self.folder}/wrong")
        broker.stop()
        acl = pathlib.Path(self.folder) / "acl"
        acl.write_text("topic read #\n")
        broker = self.broker("allow_anonymous true", f"acl_file {acl}").start()
        self.rate("refused topic", broker)
        broker.stop()
        self.make_authority("ca")
        self.make_authority("other")
        self.make_certificate("good", "IP:127.0.0.1")
        broker = self.tls_broker("good")
        ca = f"tls=verify tls-ca-file={self.folder}/other.pem"
        self.rate("wrong certificate", broker, ca)
        self.doCleanups()


os.environ.setdefault("G_DEBUG", "fatal-criticals")
Gst.init(None)
Rates("run_all").run_all()
