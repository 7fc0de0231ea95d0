#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the metrics that visionpublish has a real MQTT broker, Debian's mosquitto, retain: the
counts of visionzones from boxes, and their descriptions for Home Assistant."""

import json
import signal
import shutil
import subprocess
import sys
import time
import unittest

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo

import discovery
from mosquitto import FAST, LONG, PUBLISH, Pipeline, WithFolder, wait_until

WIDTH, HEIGHT = 64, 48
LINE = (
    "appsrc name=source format=time is-live=true"
    f" caps=video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate=25/1"
    " ! visionzones name=zones hysteresis=1 max-lost-frames=0"
    " ! visionpublish name=p target=mqtt source=door metrics=only metrics-interval=0 %s"
    " ! fakesink"
)
QUEUE = {"name": "queue", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}
GATE = {"name": "gate", "line": [[0.75, 0], [0.75, 1]]}
QUEUE_TOPIC = "cameras/door/metrics/zones/queue"
STATUS = {"status": "online"}


def named(name):
    return {**QUEUE, "name": name}


def read_retained(broker):
    """Returns the retained messages by topic, as a subscriber that comes late gets them."""
    command = ["mosquitto_sub", "-p", str(broker.port), "-W", str(LONG), "-q", "1", "-t", "#"]
    with subprocess.Popen(
        [*command, "-F", "%r %t %p"], stdout=subprocess.PIPE, text=True
    ) as late:
        mark = subprocess.Popen(
            ["sh", "-c", f"while mosquitto_pub -q 1 -p {broker.port} -t mark -m x; do sleep .05; done"])
        found = {}
        for line in late.stdout:
            retained, topic, payload = line.rstrip("\n").split(" ", 2)
            if topic == "mark":  # follows what is retained
                break
            if retained == "1":
                found[topic] = json.loads(payload)
        mark.kill()
        mark.wait(LONG)
        late.kill()
    return found


class Camera(Pipeline):
    """A pipeline of frames with given objects."""

    def __init__(self, broker, zones, options="", line=LINE):
        super().__init__(line % f"address=127.0.0.1:{broker.port} {options}")
        self.zones = self.pipeline.get_by_name("zones")
        self.set_zones(*zones)
        self.number = 0
        self.play()

    def set_zones(self, *zones):
        self.zones.props.zones = json.dumps({"zones": zones})

    def push(self, *objects):
        """Pushes a frame with objects (label, track, x) and waits until it has passed."""
        buffer = Gst.Buffer.new_allocate(None, WIDTH * HEIGHT, None)
        buffer.pts = self.number * Gst.SECOND // 25
        for label, track, x in objects:
            region = GstVideo.buffer_add_video_region_of_interest_meta(
                buffer, label, x - 2, 20, 4, 8)
            region.id = track
            region.add_param(Gst.Structure.new_from_string(f"object_id, id={track}"))
        self.pipeline.get_by_name("source").emit("push-buffer", buffer)
        self.number += 1
        self.wait_for(lambda stats: stats["frames"] == self.number, "the frame")

    def end(self):
        self.pipeline.get_by_name("source").emit("end-of-stream")
        return self.finish()


class WithCamera(WithFolder):
    def camera(self, broker, *zones, options="", line=LINE):
        camera = Camera(broker, zones, options, line)
        self.addCleanup(camera.pipeline.set_state, Gst.State.NULL)
        return camera

    def expect_retained(self, broker, expected):
        """Waits until the broker retains exactly these messages, except those of discovery."""
        def states():
            return {topic: value for topic, value in read_retained(broker).items()
                    if not topic.startswith("homeassistant/")}

        end = time.monotonic() + LONG
        while (found := states()) != expected and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(found, expected)

    def sensors(self, broker, prefix="homeassistant"):
        """Returns the valid discovery messages by topic."""
        return {topic: discovery.check(topic, config, prefix)
                for topic, config in read_retained(broker).items()
                if topic.startswith(prefix + "/")}

    def wait_for_sensors(self, broker, names):
        def found():
            return sorted(config["name"] for config in self.sensors(broker).values())

        wait_until(lambda: found() == sorted(names), names)


def state(zone, inside, entered, left, kind="polygon"):
    return {"zone": zone, "type": kind, "inside": inside, "in": entered, "out": left}


def count(zone, label, entered, left):
    return {"zone": zone, "label": label, "in": entered, "out": left}


class States(WithCamera):
    def test_late_subscriber(self):
        broker = self.broker().start()
        camera = self.camera(broker, QUEUE, GATE)
        camera.push(("person", 1, 10))
        expected = {
            "cameras/door/status": STATUS,
            QUEUE_TOPIC: state("queue", 1, 1, 0),
            "cameras/door/metrics/zones/gate": state("gate", 0, 0, 0, "line"),
            "cameras/door/metrics/zone_counts/queue/person": count("queue", "person", 1, 0),
        }
        self.expect_retained(broker, expected)
        camera.push(("person", 1, 60), ("car", 2, 10))  # to the right: "in" of the gate
        expected[QUEUE_TOPIC] = state("queue", 1, 2, 1)
        expected["cameras/door/metrics/zones/gate"] = state("gate", 0, 1, 0, "line")
        expected["cameras/door/metrics/zone_counts/queue/person"] = count("queue", "person", 1, 1)
        expected["cameras/door/metrics/zone_counts/queue/car"] = count("queue", "car", 1, 0)
        expected["cameras/door/metrics/zone_counts/gate/person"] = count("gate", "person", 1, 0)
        self.expect_retained(broker, expected)
        stats = camera.end()
        self.assertEqual((stats["records"], stats["metrics"]), (0, 5))
        expected["cameras/door/status"] = {"status": "stopped"}
        self.expect_retained(broker, expected)

    def test_only_changes(self):
        """An object that walks about inside, leaves and comes back."""
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        camera = self.camera(broker, QUEUE)
        n_messages = 0
        for xs in [10, 10, *range(10, 30)], [50] * 20, [10] * 20:
            for x in xs:
                camera.push(("person", 1, x))
            n_messages += 2  # those of queue and of queue/person
            camera.wait_for(lambda stats: stats["metrics-sent"] == n_messages, "the change")
        stats = camera.end()
        begin = f"0 {QUEUE_TOPIC} "
        wait_until(lambda: any("stopped" in line for line in subscriber.lines()), "the end")
        states = [json.loads(line[len(begin):]) for line in subscriber.lines()
                  if line.startswith(begin)]
        changes = [state("queue", 1, 1, 0), state("queue", 0, 1, 1), state("queue", 1, 2, 1)]
        self.assertEqual(states, changes)
        self.assertEqual(stats["metrics-sent"], n_messages)

    def test_interval(self):
        """The newest state is sent after the interval, without another frame, and at the end."""
        broker = self.broker().start()
        subscriber = self.subscriber(broker).start()
        camera = self.camera(broker, QUEUE, options="metrics-interval=0.5")
        start = time.monotonic()
        for n in range(100):
            camera.push(*[("person", n, 10)] * (n % 2))
        self.expect_retained(broker, {
            "cameras/door/status": STATUS,
            QUEUE_TOPIC: state("queue", 1, 50, 49),
            "cameras/door/metrics/zone_counts/queue/person": count("queue", "person", 50, 49)})
        n_states = sum(line.startswith(f"0 {QUEUE_TOPIC} ") for line in subscriber.lines())
        self.assertLessEqual(n_states, (time.monotonic() - start) / 0.5 + 1)
        self.assertGreater(n_states, 1)
        # flushed at the end, long before the interval has passed
        camera = self.camera(broker, named("other"), options="metrics-interval=86400")
        camera.push()
        camera.wait_for(lambda stats: stats["metrics-sent"] == 1, "the first state")
        camera.push(("person", 1, 10))
        camera.end()
        self.assertEqual(
            read_retained(broker)["cameras/door/metrics/zones/other"], state("other", 1, 1, 0))

    def test_with_records(self):
        broker = self.broker().start()
        line = LINE.replace("metrics=only", "metrics=with-records")
        camera = self.camera(broker, QUEUE, line=line)
        camera.push(("person", 1, 10))
        stats = camera.end()
        self.assertEqual((stats["records"], stats["metrics"]), (1, 2))
        self.expect_retained(broker, {
            "cameras/door/status": {"status": "stopped"},
            QUEUE_TOPIC: state("queue", 1, 1, 0),
            "cameras/door/metrics/zone_counts/queue/person": count("queue", "person", 1, 0)})

    def test_topic(self):
        broker = self.broker().start()
        camera = self.camera(broker, QUEUE, options="topic=site/{kind}/of/{source}")
        camera.push()
        camera.end()
        self.assertEqual(read_retained(broker)["site/metrics/zones/queue/of/door"],
                         state("queue", 0, 0, 0))

    def test_removed_zones(self):
        broker = self.broker().start()
        camera = self.camera(broker, QUEUE, GATE, options="discovery=homeassistant")
        camera.push(("person", 1, 10), ("person", 2, 60))
        camera.push(("person", 1, 60), ("person", 2, 10))
        both = {
            "cameras/door/status": STATUS,
            QUEUE_TOPIC: state("queue", 1, 2, 1),
            "cameras/door/metrics/zones/gate": state("gate", 0, 1, 1, "line"),
            "cameras/door/metrics/zone_counts/queue/person": count("queue", "person", 2, 1),
            "cameras/door/metrics/zone_counts/gate/person": count("gate", "person", 1, 1)}
        self.expect_retained(broker, both)
        self.assertEqual(len(self.sensors(broker)), 10)
        camera.set_zones(GATE)
        camera.push()
        self.expect_retained(
            broker, {topic: value for topic, value in both.items() if "queue" not in topic})
        self.wait_for_sensors(
            broker, ["gate inside", "gate in", "gate out", "gate person in", "gate person out"])
        self.assertEqual(camera.stats()["metrics"], 7)
        camera.set_zones(GATE, QUEUE)
        camera.push()
        wait_until(lambda: QUEUE_TOPIC in read_retained(broker), "the zone")
        self.assertEqual(read_retained(broker)[QUEUE_TOPIC], state("queue", 0, 0, 0))

    def test_killed_broker(self):
        """A killed mosquitto has lost what it retained: all is there again after the reconnect."""
        broker = self.broker().start()
        camera = self.camera(broker, QUEUE, options="discovery=homeassistant")
        camera.push(("person", 1, 10))
        camera.wait_for(lambda stats: stats["metrics-sent"] == 7, "all messages")
        before = read_retained(broker)
        self.assertEqual(len(before), 8)
        broker.stop(signal.SIGKILL)
        camera.wait_for(lambda stats: not stats["connected"], "the loss")
        camera.push(("person", 1, 50))  # the broker does not run
        broker.start()
        wait_until(lambda: len(read_retained(broker)) == 8, "all messages")
        after = read_retained(broker)
        self.assertEqual(after.pop(QUEUE_TOPIC), state("queue", 0, 1, 1))
        self.assertEqual(after.pop("cameras/door/metrics/zone_counts/queue/person"),
                         count("queue", "person", 1, 1))
        self.assertEqual(after, {topic: before[topic] for topic in after})
        camera.end()

    def test_hostile_names(self):
        names = ["a/b", "a+b", "a#b", "a b", "a_b", "a%2Fb", "a\"b'c\\d", "{{ 1 }}", "\n\t", "#",
                 "+", "$SYS", " ", "\u00fcber \u96e8", "\ufffe", "x" * 1000, "queue", "Queue"]
        broker = self.broker().start()
        camera = self.camera(broker, *map(named, names), options="discovery=homeassistant")
        camera.push()
        camera.wait_for(lambda stats: stats["metrics-sent"] == 4 * len(names), "all messages")
        states = {topic: value for topic, value in read_retained(broker).items()
                  if topic.startswith("cameras/door/metrics/zones/")}
        self.assertEqual(sorted(value["zone"] for value in states.values()), sorted(names))
        for topic in states:
            self.assertEqual(topic.count("/"), 4, topic)
            self.assertNotRegex(topic, "[ +#]")
        self.assertIn("cameras/door/metrics/zones/a%20b", states)
        sensors = self.sensors(broker)
        self.assertEqual(len({config["unique_id"] for config in sensors.values()}), 3 * len(names))
        self.assertEqual(len(sensors), 3 * len(names))
        self.assertEqual({config["state_topic"] for config in sensors.values()}, set(states))
        camera.end()
        self.assertEqual(camera.messages, [])

    def test_too_long_name(self):
        broker = self.broker().start()
        camera = self.camera(broker, named("x" * 1100), QUEUE)
        camera.push()
        camera.push()
        camera.end()
        self.assertIn(QUEUE_TOPIC, read_retained(broker))
        self.assertEqual(len(camera.messages), 1)
        self.assertRegex(camera.messages[0], "not published.*1024 bytes.*shorter names")

    def test_many(self):
        """200 zones with 3 classes: one message for each state and each sensor, and later only for
        what changes."""
        broker = self.broker().start()
        zones = [named(f"zone {n}") for n in range(200)]
        camera = self.camera(broker, *zones, options="discovery=homeassistant")
        objects = [("person", 1, 10), ("car", 2, 10), ("dog", 3, 10)]
        for _ in range(20):
            camera.push(*objects)
        expected = 200 * (1 + 3) + 200 * (3 + 3 * 2)
        camera.wait_for(lambda stats: stats["metrics-sent"] == expected, "all messages")
        self.assertEqual(camera.stats()["metrics"], expected)
        camera.push(*objects[:2], ("dog", 3, 50))
        camera.wait_for(lambda stats: stats["metrics-sent"] == expected + 400, "the changes")
        self.assertEqual(len(self.sensors(broker)), 1800)
        camera.end()


class HomeAssistant(WithCamera):
    def start(self, options=""):
        self.running = self.broker().start()
        camera = self.camera(
            self.running, QUEUE, GATE, options="discovery=homeassistant " + options)
        camera.push(("person", 1, 10))
        camera.wait_for(lambda stats: stats["metrics-sent"] == 11, "all messages")
        return camera

    def test_sensors(self):
        camera = self.start()
        retained = read_retained(self.running)
        sensors = self.sensors(self.running)
        values = {}
        for topic, config in sensors.items():
            self.assertIn(f"/{config['unique_id']}/", topic)
            self.assertTrue(discovery.is_available(config, STATUS))
            for status in "stopped", "lost":
                self.assertIs(discovery.is_available(config, {"status": status}), False)
            self.assertEqual(retained[config["availability_topic"]], STATUS)
            values[config["name"]] = discovery.render(
                config["value_template"], retained[config["state_topic"]])
            self.assertEqual(config["state_class"], "measurement"
                             if config["name"].endswith(" inside") else "total_increasing")
            self.assertEqual(config["unit_of_measurement"], "objects")
            self.assertEqual(config["device"]["name"], "door")
        self.assertEqual(values, {
            "queue inside": 1, "queue in": 1, "queue out": 0, "gate inside": 0, "gate in": 0,
            "gate out": 0, "queue person in": 1, "queue person out": 0})
        self.assertEqual(len({str(config["device"]) for config in sensors.values()}), 1)
        camera.end()
        # the ids are the same at the next start, and others with another topic
        self.running.stop(signal.SIGKILL)
        self.start().end()
        self.assertEqual(self.sensors(self.running), sensors)
        options = "discovery=homeassistant topic=site/{source}/{kind}"
        other = self.camera(self.running, QUEUE, GATE, options=options)
        other.push(("person", 1, 10))
        other.end()
        both = self.sensors(self.running)
        self.assertEqual(len(both), 16)
        self.assertEqual(len({config["device"]["identifiers"] for config in both.values()}), 2)

    def test_birth(self):
        """Home Assistant removes the messages of a device that the user deletes. When it starts, it
        gets them again."""
        camera = self.start("discovery-prefix=ha")
        sensors = self.sensors(self.running, "ha")
        self.assertEqual(len(sensors), 8)
        publish = ["mosquitto_pub", "-p", str(self.running.port), "-q", "1"]
        for topic in sensors:
            subprocess.run([*publish, "-t", topic, "-r", "-n"], check=True, timeout=LONG)
        self.assertEqual(self.sensors(self.running, "ha"), {})
        subprocess.run([*publish, "-t", "ha/status", "-m", "offline"], check=True, timeout=LONG)
        subprocess.run([*publish, "-t", "ha/status", "-m", "online"], check=True, timeout=LONG)
        camera.wait_for(lambda stats: stats["metrics-sent"] == 22, "all messages")
        self.assertEqual(self.sensors(self.running, "ha"), sensors)
        camera.end()

    def test_refused(self):
        """A broker whose access rules deny the prefix."""
        acl = self.folder + "/acl"
        with open(acl, "w", encoding="ascii") as file:
            file.write("topic readwrite cameras/#\ntopic readwrite mark\ntopic read #\n")
        broker = self.broker("allow_anonymous true", f"acl_file {acl}").start()
        camera = self.camera(broker, QUEUE, options="discovery=homeassistant mqtt-version=5")
        camera.push()
        camera.end()
        self.assertRegex(camera.messages[0], "'homeassistant/sensor/[^']*': .*Not authorized.*access")
        self.assertIn(QUEUE_TOPIC, read_retained(broker))


class Settings(unittest.TestCase):
    def test_problems(self):
        mqtt = "target=mqtt address=h "
        for options, problem in [
            ("metrics=only", "set target=mqtt and address"),
            ("metrics=only target=kafka address=h", "set target=mqtt"),
            ("discovery=homeassistant", "set metrics=only or metrics=with-records"),
            (mqtt + "discovery=homeassistant", "set metrics=only or metrics=with-records"),
            (mqtt + "metrics=only topic=a/{source}", "add {kind} to topic"),
            *[(mqtt + "metrics=only discovery=homeassistant discovery-prefix=" + prefix,
               "discovery-prefix is not the beginning of a topic")
              for prefix in ("a/#", "+", "$SYS", "a/")],
        ]:
            with self.subTest(options):
                line = FAST % 3 + PUBLISH.replace("target=mqtt", "") % ("a", options)
                pipeline = Pipeline(line).play()
                self.assertTrue(pipeline.collect(LONG))
                self.assertIn(problem, pipeline.messages[0])
                pipeline.stop()


if __name__ == "__main__":
    if shutil.which("mosquitto") is None or shutil.which("mosquitto_sub") is None:
        print("not installed: mosquitto or mosquitto_sub")
        sys.exit(77)
    Gst.init(None)
    unittest.main()
