#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests teaching from the clients' side: pictures that are kept, training with the real
cuvision-train and with programs in its place, and attacks. teaching.c tests the parts."""

import json
import os
import random
import resource
import signal
import stat as modes
import subprocess
import sys
import tempfile
import time

from client import Gst, Sink, get, run, wait_for
from controls import make_tokens
from teacher import DETECTOR, EMPTY, SOURCE, Case, Teacher, draw


class Teaching(Case):
    def test_from_boxes_to_a_detector(self):
        """The real cuvision-train learns objects, which the pipeline then finds."""
        server = self.start("teach=detect")
        teacher = self.teacher(server)
        self.assertEqual(teacher.expect("teach"), {
            "type": "teach", "detector": "detect", "labels": [], "counterexamples": 0,
            "report": None})
        for n in range(12):
            frame, box = teacher.show(n)
            self.assertEqual(teacher.keep(frame, [box])["value"], n + 1)
        self.assertIn("train it", teacher.ask("use", label="ring")["reason"])
        self.assertEqual(get(server.port, "/report/index.html").status, 404)
        self.assertEqual(teacher.ask("train", label="ring")["type"], "done")
        self.assertIn("stop it first", teacher.ask("train", label="ring")["reason"])
        teacher.sock.settimeout(600)
        running = teacher.expect("training")
        self.assertEqual((running["state"], running["label"]), ("running", "ring"))
        texts = []
        while (done := teacher.expect("training"))["state"] == "running":
            texts.append(done["text"])
        print(texts, done)
        self.assertTrue(any(" of " in text for text in texts))
        self.assertEqual(done["state"], "done")
        self.assertGreater(done["objects"], 0)
        self.assertGreaterEqual(done["recall"], 0)
        while not (text := teacher.expect("teach"))["labels"] or not text["labels"][0]["model"]:
            pass
        self.assertIsNotNone(text["report"])
        self.assertEqual(teacher.ask("use", label="ring")["type"], "done")
        detect = server.pipeline.get_by_name("detect")
        self.assertEqual(detect.get_property("model"), f"{self.folder}/ring.xml")
        self.assertEqual(detect.get_property("label"), "ring")
        self.check_found(teacher)
        page = get(server.port, "/report/index.html")
        self.assertIn(b"<svg", page.body)
        self.assertIn("sandbox", page.headers["content-security-policy"])
        report = json.loads(get(server.port, "/report/report.json").body)
        self.assertEqual(report["as_written"]["test"]["recall"]["value"], done["recall"])
        self.assertNotIn(self.folder, json.dumps(report))
        self.assertEqual(self.names(), ["annotations.json", "images", "report", "ring.xml"])

    def check_found(self, teacher):
        found = 0
        for seed in range(100, 110):
            data, (x, y, w, h) = draw(seed)
            self.server_push(teacher, data)
            objects = teacher.viewer.next()[0].get("objects", [])
            for item in objects:
                self.assertEqual(item["roi_type"], "ring")
                dx = abs(item["x"] + item["w"] / 2 - x - w / 2)
                dy = abs(item["y"] + item["h"] / 2 - y - h / 2)
                found += dx < w / 4 and dy < h / 4
        self.assertGreaterEqual(found, 5)

    @staticmethod
    def server_push(teacher, data):
        teacher.server.pipeline.get_by_name("source").emit(
            "push-buffer", Gst.Buffer.new_wrapped(data))

    def test_pictures_and_boxes(self):
        """Boxes are in the picture's pixels; a frame that is kept again has one picture."""
        teacher = self.teacher(self.start("max-width=80"))
        frame, (x, y, w, h) = teacher.show(1)
        self.assertEqual(teacher.keep(frame, [[0, 0, 9, 9]])["value"], 1)
        self.assertEqual(teacher.keep(frame, [[x, y, w, h], [-5, 100.5, 25, 90]])["value"], 1)
        self.assertEqual(teacher.keep(frame, [[x, y, w, h]], "other")["value"], 1)
        self.assertEqual(teacher.keep(frame, [], part=[40, 40, 30, 30])["value"], 1)
        self.assertEqual(self.read(), [
            ("images/ring-000001.jpg",
             {"ring": [[x / 2, y / 2, w / 2, h / 2], [0, 50.25, 10, 9.75]]}),
            ("images/other-000002.jpg", {"other": [[x / 2, y / 2, w / 2, h / 2]]}),
            ("images/ring-000003.jpg", {})])
        state = teacher.expect("teach", counterexamples=1)
        self.assertEqual(state["labels"], [
            {"label": "other", "pictures": 1, "boxes": 1, "model": False},
            {"label": "ring", "pictures": 1, "boxes": 2, "model": False}])

    def test_forgets_pictures_of_one_label(self):
        """The newest one first, counterexamples included; those of other labels stay."""
        teacher = self.teacher(self.start())
        frame, box = teacher.show(1)
        for label, boxes, part in (("ring", [box], {}), ("ring", [], {"part": [40, 40, 30, 30]}),
                                   ("other", [box], {})):
            teacher.keep(frame, boxes, label, **part)
        for left in 1, 0:
            self.assertEqual(teacher.ask("forget", label="ring")["value"], left)
            self.assertEqual(len(self.read()), left + 1)
        self.assertIn("no picture is kept for 'ring'", teacher.ask("forget", label="ring")["reason"])
        self.assertEqual([name for name, _ in self.read()], ["images/other-000003.jpg"])

    def test_held_frames(self):
        """A frame that is held can be kept after many others."""
        teacher = self.teacher(self.start())
        first, _ = teacher.show(0)
        held, box = teacher.show(1)
        self.assertEqual(teacher.ask("hold", frame=held)["type"], "done")
        for n in range(70):
            teacher.show(n)
        self.assertIn("no longer kept", teacher.ask("hold", frame=first)["reason"])
        self.assertIn("no longer kept", teacher.keep(first, [box])["reason"])
        self.assertEqual(teacher.keep(held, [box])["value"], 1)

    def test_held_frames_stay(self):
        """A page that was paused goes on after it was in the background."""
        server = self.start()
        teacher = self.teacher(server)
        recent, _ = teacher.show(0)
        held, box = teacher.show(1)
        teacher.ask("hold", frame=held)
        teacher.close()
        wait_for(lambda: b'cuvision_web_connections{path="/"} 1\n'
                 in get(server.port, "/metrics").body, "the end of its connections")
        teacher = self.teacher(server)
        self.assertIn("no longer kept", teacher.keep(recent, [box])["reason"])
        self.assertEqual(teacher.keep(held, [box])["value"], 1)

    def test_continues_a_folder(self):
        server = self.start()
        teacher = self.teacher(server)
        frame, box = teacher.show(0)
        teacher.keep(frame, [box])
        with open(os.path.join(self.folder, "images/ring-000002.jpg"), "wb"):
            pass  # a file that is not in annotations.json is not replaced
        server.stop()
        teacher = self.teacher(self.start())
        self.assertEqual(teacher.expect("teach")["labels"][0]["pictures"], 1)
        frame, box = teacher.show(1)
        self.assertEqual(teacher.keep(frame, [box])["value"], 2)
        os.remove(os.path.join(self.folder, "images/ring-000002.jpg"))
        self.assertEqual([name for name, _ in self.read()],
                         ["images/ring-000001.jpg", "images/ring-000003.jpg"])

    def test_two_clients(self):
        self.program("echo working >&2; exec sleep 100\n")
        with tempfile.TemporaryDirectory() as folder:
            server = self.start(make_tokens(folder))
            reader = self.teacher(server, "?token=read-token")
            one, other = (self.teacher(server, "?token=change-token") for _ in range(2))
            for client in one, other, reader:
                self.assertEqual(client.expect("teach")["labels"], [])
            for kind, members in (("keep", {"example": {}}), ("hold", {"frame": 1}),
                                  ("forget", {"label": "a"}), ("train", {"label": "a"}),
                                  ("stop", {}), ("use", {"label": "a"})):
                self.assertIn("looking only", reader.ask(kind, **members)["reason"])
            one.ask("train", label="a")
            for client in one, other, reader:
                self.assertEqual(client.expect("training", text="working")["label"], "a")
            late = self.teacher(server, "?token=read-token")
            self.assertEqual(late.expect("training")["text"], "working")
            self.assertEqual(other.ask("stop")["type"], "done")
            self.assertIn("no training", one.ask("stop")["reason"])
            for client in one, other, reader, late:
                client.expect("training", state="stopped")
            for status, token in ((401, ""), (404, "?token=read-token")):
                self.assertEqual(get(server.port, "/report/report.json" + token).status, status)


class Training(Case):
    """With a program in the place of cuvision-train."""

    SLEEP = "echo $$ >pid; echo one >&2; cd .training; cp annotations.json a.xml.state; " \
        "mkdir report; echo x >report/.x; exec sleep 100\n"

    def running(self, text=SLEEP):
        self.program(text)
        server = self.start("teach=detect")
        teacher = self.teacher(server)
        self.assertEqual(teacher.ask("train", label="a")["type"], "done")
        teacher.expect("training", text="one")
        with open(os.path.join(self.folder, "pid"), encoding="ascii") as file:
            return server, teacher, int(file.read())

    def check_gone(self, pid):
        self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.assertEqual(self.names(), ["images", "pid"])

    def test_stop(self):
        _, teacher, pid = self.running()
        self.assertEqual(os.getpriority(os.PRIO_PROCESS, pid), 19)
        start = time.monotonic()
        self.assertEqual(teacher.ask("stop")["type"], "done")
        self.assertLess(time.monotonic() - start, 20)
        teacher.expect("training", state="stopped")
        self.check_gone(pid)

    def test_the_sink_stops(self):
        server, _, pid = self.running()
        server.stop()
        self.check_gone(pid)

    def test_the_process_is_killed(self):
        self.program(self.SLEEP)
        process = subprocess.Popen([sys.executable, __file__, "--child", self.folder])
        path = os.path.join(self.folder, "pid")
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path) > 0, "a training")
        process.kill()
        process.wait()
        with open(path, encoding="ascii") as file:
            pid = int(file.read())
        wait_for(lambda: not is_running(pid), "its end")
        self.start()  # nobody holds the folder

    def test_failures(self):
        for text, reason in (("echo one >&2; echo 'cuvision-train: no luck' >&2; exit 1", "no luck"),
                             ("exit 3", "status 3"), ("kill -KILL $$", "signal 9"),
                             ("echo one >&2", "no model"),
                             ("printf '\\377 {\"a\"\\n' >&2; exit 1", "{\"a\""),
                             ("ln -s /etc/passwd .training/a.xml", "no model")):
            self.program(text + "\n")
            with Sink(f"save-folder={self.folder}", SOURCE) as server:
                teacher = Teacher(server)
                teacher.ask("train", label="a")
                try:
                    self.assertIn(reason, teacher.expect("training", state="failed")["reason"])
                finally:
                    teacher.close()
            self.assertEqual(self.names(), ["images"])

    def test_a_bad_report(self):
        self.program("cd .training; echo x >a.xml; mkdir report; cd report; echo '[1' >report.json; "
                     "ln -s /etc/passwd index.html\n")
        server = self.start("teach=detect")
        teacher = self.teacher(server)
        teacher.ask("train", label="a")
        done = teacher.expect("training", state="done")
        self.assertIsNone(done["recall"])
        self.assertIsNone(teacher.expect("teach")["report"])
        self.assertEqual(get(server.port, "/report/index.html").status, 404)
        answer = teacher.ask("use", label="a")
        self.assertIn("cannot be used", answer["reason"])
        detect = server.pipeline.get_by_name("detect")
        self.assertEqual(detect.get_property("model"), EMPTY)
        self.assertNotEqual(detect.get_property("label"), "a")

    def test_the_report_of_an_earlier_run(self):
        """Its address needs no token, and is valid for one sink until that stops."""
        os.makedirs(os.path.join(self.folder, "report"))
        for name in "index.html", "report.json":
            with open(os.path.join(self.folder, "report", name), "w", encoding="ascii") as file:
                file.write(name)
        earlier = "none"
        for _ in range(2):
            server = self.start(make_tokens(self.top))
            teacher = self.teacher(server, "?token=read-token")
            path = teacher.expect("teach")["report"].removesuffix("/index.html")
            teacher.close()
            for name in "index.html", "report.json":
                self.assertEqual(get(server.port, f"/{path}/{name}").body, name.encode())
                self.assertEqual(get(server.port, f"/report/{name}").status, 401)
                self.assertEqual(get(server.port, f"/{path}/{name}", Origin="http://evil").status,
                                 403)
            for wrong in earlier, path[:-1], path + "0", "report/", "report/%00":
                self.assertIn(get(server.port, f"/{wrong}/index.html").status, (400, 404), wrong)
            for other in "ws", "metrics", "record.json", "controls":
                self.assertEqual(get(server.port, f"/{path}/{other}").status, 404)
            server.stop()
            earlier = path

    def test_without_the_program(self):
        teacher = self.teacher(self.start())
        os.environ["PATH"] = "/nonexistent"
        if not os.path.exists("/usr/local/bin/cuvision-train"):
            self.assertIn("PATH", teacher.ask("train", label="a")["reason"])
        self.assertIn("property teach", teacher.ask("use", label="a")["reason"])


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Refusals(Case):
    def problem_of(self, properties, detector=DETECTOR):
        server = Sink(properties, SOURCE + detector)
        problem = server.problem()
        server.stop()
        return problem or ""

    def test_settings(self):
        save = f"save-folder={self.folder}"
        for properties, part in (
                ("teach=detect", "without save-folder"),
                (f"{save} address=0.0.0.0", "write to save-folder"),
                (f"{save} teach=source", "name of another element (appsrc): set it"),
                (f"save-folder={self.top}/a/b", "No such file"),
                (f"save-folder={EMPTY}", "Not a directory"),
                ("save-folder=/proc/self", "cannot be used")):
            self.assertIn(part, self.problem_of(properties), properties)
        server = self.start("teach=late")
        self.assertIn("teach=late: the pipeline has no element of this name. Set it to the name "
                      "of the waldboostdetect", server.problem(Gst.MessageType.WARNING))
        self.assertIn("another visionwebsink", self.problem_of(save))
        server.stop()
        both = self.start("teach=late controls=none.x,late.min-neighbors")
        self.assertIn("controls: none.x, late.min-neighbors. They work",
                      both.problem(Gst.MessageType.WARNING))

    def test_a_detector_that_comes_late(self):
        """It can be set when it is added; another element of that name cannot."""
        server = self.start("teach=late")
        server.problem(Gst.MessageType.WARNING)
        server.pipeline.add(Gst.ElementFactory.make("identity", "late"))
        self.assertIn("teach=late is the name of another element (identity)",
                      server.problem(Gst.MessageType.WARNING))

    def test_folders(self):
        """A folder that is not of this program is left as it is."""
        os.mkdir(self.folder)
        path = os.path.join(self.folder, "annotations.json")
        for text in ("", "x", "[]", "{}", '{"images":[],"annotations":[]}', "[" * 100000,
                     '{"images":[{"id":1}],"annotations":[],"categories":[]}'):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            self.assertIn("not COCO", self.problem_of(f"save-folder={self.folder}"), text)
            with open(path, encoding="ascii") as file:
                self.assertEqual(file.read(), text)
        os.remove(path)
        for kind in os.mkdir, os.mkfifo:
            kind(path)
            self.assertIn("cannot be read", self.problem_of(f"save-folder={self.folder}"))
            (os.rmdir if kind is os.mkdir else os.remove)(path)
        os.rmdir(os.path.join(self.folder, "images"))
        os.symlink(self.top, os.path.join(self.folder, "images"))
        self.assertIn("not a folder", self.problem_of(f"save-folder={self.folder}"))

    def test_links_are_not_followed(self):
        """Files outside the folder stay as they are."""
        outside = os.path.join(self.top, "outside")
        with open(outside, "w", encoding="ascii") as file:
            file.write('{"images":[],"annotations":[],"categories":[]}')
        os.makedirs(os.path.join(self.folder, "images"))
        for name in ".annotations.json.new", "images/ring-000001.jpg":
            os.symlink(outside, os.path.join(self.folder, name))
        for name in "annotations.json", "victim":
            with open(os.path.join(self.top, name), "w", encoding="ascii"):
                pass
        os.symlink(self.top, os.path.join(self.folder, ".training"))
        os.symlink(self.top, os.path.join(self.folder, "report"))
        server = self.start()
        teacher = self.teacher(server)
        frame, box = teacher.show(0)
        self.assertEqual(teacher.keep(frame, [box])["value"], 1)
        self.assertIn("not a folder", teacher.ask("train", label="a")["reason"])
        os.remove(os.path.join(self.folder, "images/ring-000001.jpg"))
        self.assertEqual(self.read()[0][0], "images/ring-000002.jpg")
        self.assertTrue(modes.S_ISREG(
            os.lstat(os.path.join(self.folder, "annotations.json")).st_mode))
        with open(outside, encoding="ascii") as file:
            self.assertEqual(file.read(), '{"images":[],"annotations":[],"categories":[]}')
        os.remove(os.path.join(self.folder, "report"))
        self.program("echo no >&2; exit 1\n")
        teacher.ask("train", label="a")
        teacher.expect("training", state="failed")
        self.assertEqual(self.names(), ["annotations.json", "images"])
        self.assertEqual(sorted(os.listdir(self.top)),
                         ["annotations.json", "bin", "outside", "taught", "victim"])
        self.assertEqual(os.path.getsize(os.path.join(self.top, "annotations.json")), 0)

    def test_forgets_only_its_own_files(self):
        os.makedirs(self.folder)
        names = ["../victim-000001.jpg", "images/../../victim-000001.jpg", "/etc/passwd",
                 "images/a-1.jpg", "images/a b-000001.jpg", "images/a-000001.png"]
        with open(os.path.join(self.top, "victim-000001.jpg"), "w", encoding="ascii"):
            pass
        with open(os.path.join(self.folder, "annotations.json"), "w", encoding="ascii") as file:
            json.dump({"images": [{"id": n, "file_name": name} for n, name in enumerate(names)],
                       "annotations": [], "categories": []}, file)
        teacher = self.teacher(self.start())
        for label in "victim", "a":
            self.assertEqual(teacher.ask("forget", label=label)["type"], "refused")
        self.assertTrue(os.path.exists(os.path.join(self.top, "victim-000001.jpg")))
        self.assertEqual(teacher.expect("teach")["counterexamples"], len(names))

    def test_a_full_disk(self):
        teacher = self.teacher(self.start())
        frame, box = teacher.show(0)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for limit in 0, 100, 5000:  # no picture, a part of it, no annotations
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            for _ in range(3 if limit < 5000 else 0):
                self.assertIn("cannot write", teacher.keep(frame, [box])["reason"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
        self.assertEqual(os.listdir(os.path.join(self.folder, "images")), [])
        self.assertEqual(teacher.keep(frame, [box])["value"], 1)
        self.read()

    def test_the_folder_goes(self):
        teacher = self.teacher(self.start())
        frame, box = teacher.show(0)
        os.rmdir(os.path.join(self.folder, "images"))
        os.rmdir(self.folder)
        self.assertIn("cannot write", teacher.keep(frame, [box])["reason"])
        self.assertIn("cannot", teacher.ask("train", label="a")["reason"])

    def test_attacks(self):
        server = self.start("teach=detect")
        teacher = self.teacher(server)
        frame, box = teacher.show(0)
        good = {"frame": frame, "label": "a", "boxes": [box]}
        numbers = (float("nan"), float("inf"), 1e300, -1e300, "1", None, [], {}, True)
        examples = [{**good, "label": label} for label in (
            "", "..", "a/b", "../a", "a\0b", "a" * 41, "\u00e4", 5, None, [], {})]
        examples += [{**good, "boxes": [[n, 0, 9, 9]]} for n in numbers]
        examples += [{**good, "boxes": [[0, 0, n, 9]]} for n in numbers]
        examples += [{**good, "boxes": boxes} for boxes in (
            [box] * 65, [box[:3]], [box + [1]], box, {}, "x", None, [[0, 0, -1, 5]],
            [[0, 0, 0, 5]], [[500, 500, 9, 9]], [[0, 0, 1.9, 9]])]
        examples += [{**good, "part": part} for part in (
            box[:3], [0, 0, 1, 1], [900, 0, 50, 50], None, 5, [[0, 0, 9, 9]])]
        examples += [{**good, "frame": n} for n in (-1, 1.5, "0", None, 1 << 62, [])]
        examples += [{**good, "x": 1}, {}, [], "x", None, 5]
        requests = [("keep", {"example": example}) for example in examples]
        requests += [(kind, {"label": label}) for kind in ("forget", "train", "use") for label in (
            "", "../a", "a/b", ".", "a" * 41, 5, None, ["a"], "none.xml")]
        requests += [("hold", {"frame": n}) for n in (-1, 1.5, "1", None, [], 1 << 62)]
        requests += [("keep", {}), ("stop", {"x": 1}), ("train", {"label": "a", "path": "/"}),
                     ("save", {"path": "/"}), ("teach", {}), ("keep", {"example": good, "x": 1})]
        random.shuffle(requests)
        for kind, members in requests:
            teacher.id += 1
            teacher.send(json.dumps({"type": kind, "id": teacher.id, **members}).encode())
            text = teacher.text()
            while text["type"] in ("access", "controls", "teach"):
                text = teacher.text()
            self.assertEqual(text["type"], "refused", (kind, members, text))
            self.assertGreater(len(text["reason"]), 5)
        self.assertEqual(self.names(), ["images"])
        for path in ("/annotations.json", "/report/", "/report", "/report/..%2fannotations.json",
                     "/report/../annotations.json", "/images/a-000001.jpg", "/a.xml"):
            self.assertIn(get(server.port, path).status, (400, 404), path)
        self.assertEqual(get(server.port, "/report/report.json", Origin="http://evil").status,
                         403)

    def test_a_flood(self):
        """Requests that the sink cannot carry out at once are refused, none is lost."""
        teacher = self.teacher(self.start())
        frame, box = teacher.show(0)
        example = {"frame": frame, "label": "a", "boxes": [box] * 64}
        for n in range(1, 401):
            teacher.send(json.dumps({"type": "keep", "id": n, "example": example}).encode())
        answers = set()
        while len(answers) < 400:
            text = teacher.text()
            if "id" in text:
                answers.add(text["id"])
        self.assertEqual(len(self.read()), 1)


def child(folder):
    """Starts a training and waits to be killed."""
    Gst.init(None)
    server = Sink(f"save-folder={folder}", SOURCE)
    teacher = Teacher(server)
    teacher.ask("train", label="a")
    signal.pause()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        run()
