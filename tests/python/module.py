#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the Python module reads the same from frames as visionpublish writes about them."""

import ctypes
import gc
import json
import math
import os
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import warnings

import gi
import numpy

import gstcuvision

gi.require_versions({"GstApp": "1.0", "GstVideo": "1.0"})
from gi.repository import GLib, GObject, Gst, GstApp, GstVideo  # noqa: E402,F401

DATA = "/usr/share/doc/opencv-doc/examples/data/"
FACES = "waldboostdetect model=lbpcascade_frontalface.xml"


def read_records(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def published(path):
    """Returns the records without the fields that only a stream has."""
    return [{key: value for key, value in record.items() if key not in ("frame_num", "wallclock")}
            for record in read_records(path)]


def strings(structure, field, texts):
    array = GObject.ValueArray.new(0)
    for text in texts:
        array.append(text)
    structure.set_array(field, array)


def add_meta(buffer, name, fields):
    """Adds a custom meta through C functions, because PyGObject's structure of a meta is a copy."""
    gst = ctypes.CDLL("libgstreamer-1.0.so.0")
    for function in (gst.gst_buffer_add_custom_meta, gst.gst_custom_meta_get_structure,
                     gst.gst_structure_get_value):
        function.restype = ctypes.c_void_p
    at = gst.gst_custom_meta_get_structure(ctypes.c_void_p(gst.gst_buffer_add_custom_meta(
        ctypes.c_void_p(hash(buffer)), name.encode())))
    for i in range(fields.n_fields()):
        field = fields.nth_field_name(i).encode()
        gst.gst_structure_set_value(ctypes.c_void_p(at), field, ctypes.c_void_p(
            gst.gst_structure_get_value(ctypes.c_void_p(hash(fields)), field)))


def add_table(buffer, kind, columns, rows, n_rows=None, **scalars):
    """Adds a table as a program without our library would."""
    name = f"GstCuv{kind[0].upper()}{kind[1:]}Meta"
    if Gst.Meta.get_info(name) is None:
        Gst.Meta.register_custom(name, [], None, None)
    fields = Gst.Structure.new_empty(name)
    fields.set_value("kind", kind)
    fields.set_value("shape", scalars.pop("shape", "none"))
    for field, number in (("version", 1), ("width", scalars.pop("width", 64)), ("height", 48),
                          ("rows", len(rows) if n_rows is None else n_rows)):
        fields.set_value(field, GObject.Value(GObject.TYPE_UINT, number))
    strings(fields, "columns", columns)
    code = "<" + "".join(gstcuvision._TYPES[column.rsplit(":", 1)[1]][0] for column in columns)
    fields.set_value("data", GLib.Bytes.new(b"".join(struct.pack(code, *row) for row in rows)))
    if "texts" in scalars:
        strings(fields, "texts", scalars.pop("texts"))
    for field, value in scalars.items():
        fields.set_value(field, value)
    add_meta(buffer, name, fields)


def frame():
    return Gst.Buffer.new_allocate(None, 64 * 48, None)


def everything():
    """Returns a buffer with all types of columns, two tables of a kind, names that are used twice,
    and foreign regions."""
    buffer = frame()
    for label, box in ("face", (1, 2, 30, 40)), ("face", (3, 4, 5, 6)), ("eye", (1, 1, 2, 2)):
        region = GstVideo.buffer_add_video_region_of_interest_meta(buffer, label, *box)
        region.id = 0  # GStreamer's own elements set no other id
    region.add_param(Gst.Structure.new_from_string(
        "detection, confidence=0.5, x_min=0.1, x_max=0.2, y_min=0.1, y_max=0.2, raw=(float)0.1"))
    region.add_param(Gst.Structure.new_from_string("age, label=old, model_name=m, confidence=0.25"))
    region.add_param(Gst.Structure.new_from_string("object_id, id=9"))
    types = ["f32", "f64", "i32", "u32", "i64", "u64", "u16", "u8", "text"]
    rows = [(0.1, 0.1, -7, 4294967295, -2**63, 2**64 - 1, 65535, 255, 1),
            (math.inf, math.nan, 0, 0, 0, 0, 0, 0, 5)]
    add_table(buffer, "blobs", [f"c-{type}:{type}" for type in types], rows, texts=["a", "b\u00fc\""],
              key="objects", edges=3, ratio=0.25, name="thing", blob=GLib.Bytes.new(b"\0\1\2"),
              pictures=GLib.Bytes.new(bytes(range(12))), width=10,
              picture_width=GObject.Value(GObject.TYPE_UINT, 2),
              picture_height=GObject.Value(GObject.TYPE_UINT, 1))
    for rows in [], [(-1, 2), (3, 4)]:
        add_table(buffer, "spots", ["x:i32", "x:u8"], rows, shape="points")
    return buffer


def error_message(source):
    return Gst.Message.new_error(source, GLib.Error.new_literal(
        Gst.resource_error_quark(), "no disk", Gst.ResourceError.WRITE), "")


def video(rgb, name, padding):
    """Returns a buffer of these pixels in a format, with padding before and after rows, and its
    caps."""
    height, width, _ = rgb.shape
    order = [name.lower().find(colour) for colour in "rgb"]
    size = 1 if name == "GRAY8" else len(name)
    rows = numpy.full((height, width * size + padding), 99, numpy.uint8)
    pixels = rows[:, :width * size].reshape(height, width, size)
    if size == 1:
        rows[:, :width] = rgb[:, :, 0]
    else:
        for colour in range(3):
            pixels[:, :, order[colour]] = rgb[:, :, colour]
        rows[:, :width * size] = pixels.reshape(height, -1)
    buffer = Gst.Buffer.new_wrapped(bytes(7) + rows.tobytes())
    GstVideo.buffer_add_video_meta_full(
        buffer, 0, GstVideo.VideoFormat.from_string(name), width, height, 1, [7, 0, 0, 0],
        [rows.shape[1], 0, 0, 0])
    return buffer, Gst.Caps.from_string(f"video/x-raw,format={name},width={width},height={height}")


class Pictures(unittest.TestCase):
    rgb = numpy.random.default_rng(1).integers(0, 256, (47, 63, 3), numpy.uint8)

    def test_formats(self):
        for name in gstcuvision._PIXELS:
            for padding in 0, 5:
                buffer, caps = video(self.rgb, name, padding)
                got = gstcuvision.picture(Gst.Sample.new(buffer, caps, None, None))
                wanted = self.rgb[:, :, 0] if name == "GRAY8" else self.rgb
                numpy.testing.assert_array_equal(got, wanted, name)
                numpy.testing.assert_array_equal(gstcuvision.picture(buffer, caps), wanted)
                got[0] = 0  # the array may be changed: it has its own memory
                numpy.testing.assert_array_equal(gstcuvision.picture(buffer, caps), wanted)

    def test_rows_of_gstreamer(self):
        line = ("videotestsrc num-buffers=1 pattern=%s ! video/x-raw,format=%s,width=63,height=47"
                " ! appsink name=sink")
        for pattern in "white", "red", "black":
            for name in "RGB", "BGR", "NV12", "I420", "GRAY8":
                for sample in gstcuvision.samples(line % (pattern, name)):
                    got = gstcuvision.picture(sample).astype(int)
                wanted = {"white": (255, 255, 255), "red": (255, 0, 0), "black": (0, 0, 0)}[pattern]
                if name == "GRAY8":
                    self.assertEqual(got.shape, (47, 63))
                else:
                    self.assertEqual(got.shape, (47, 63, 3))
                    self.assertLess(abs(got - wanted).max(), 5, (pattern, name))

    def test_crop(self):
        buffer, caps = video(self.rgb, "BGRx", 4)
        box = {"x": 3, "y": 5, "w": 10, "h": 20, "roi_type": "face"}
        numpy.testing.assert_array_equal(gstcuvision.crop(buffer, box, caps), self.rgb[5:25, 3:13])
        for x, y, w, h in (-5, -5, 10, 10), (60, 40, 50, 50), (0, 0, 63, 47), (70, 0, 5, 5), (-9, 0, 5, 5):
            wanted = self.rgb[max(y, 0):max(y + h, 0), max(x, 0):max(x + w, 0)]
            numpy.testing.assert_array_equal(gstcuvision.crop(buffer, (x, y, w, h), caps), wanted)

    def test_not_video(self):
        for caps in None, Gst.Caps.from_string("audio/x-raw"), Gst.Caps.from_string("image/jpeg"):
            with self.assertRaisesRegex(ValueError, "not raw video"):
                gstcuvision.picture(Gst.Buffer.new_allocate(None, 9, None), caps)
        with self.assertRaises((ValueError, TypeError)):  # too short
            gstcuvision.picture(Gst.Buffer.new_allocate(None, 9, None),
                                Gst.Caps.from_string("video/x-raw,format=RGB,width=9,height=9"))


class OwnObjects(unittest.TestCase):
    def test_fields(self):
        caps = Gst.Caps.from_string("video/x-raw,format=GRAY8,width=64,height=48")
        buffer = frame()
        self.assertEqual(gstcuvision.add_object(buffer, "a", 1, 2, 3, 4), 0)
        self.assertEqual(gstcuvision.add_object(buffer, "b", 16, 12, 32, 24, 0.5, track=9, caps=caps,
                                                label_id=3, note="n", depth=2.5), 1)
        self.assertEqual(gstcuvision.objects(buffer), [
            {"region_id": 0, "roi_type": "a", "x": 1, "y": 2, "w": 3, "h": 4,
             "detection": {"label": "a", "label_id": 0}},
            {"region_id": 1, "roi_type": "b", "x": 16, "y": 12, "w": 32, "h": 24, "id": 9,
             "detection": {"label": "b", "label_id": 3, "confidence": 0.5, "bounding_box": {
                 "x_min": 0.25, "x_max": 0.75, "y_min": 0.25, "y_max": 0.75}},
             "extra_params": {"note": "n", "depth": 2.5}}])

    def test_bad_values(self):
        """An object that cannot be added leaves the buffer unchanged."""
        buffer = frame()
        for bad in ({"x": -1}, {"note": 2**40}, {"track": 2**40}, {"track": "a"}, {"confidence": "a"}):
            with self.subTest(bad), self.assertRaises((OverflowError, TypeError, ValueError)):
                gstcuvision.add_object(buffer, "a", **{"x": 1, "y": 2, "w": 3, "h": 4} | bad)
            self.assertEqual(gstcuvision.objects(buffer), [])

    def test_copy(self):
        buffer = everything()
        buffer.pts = 17
        before = gstcuvision.record(buffer)
        copy = gstcuvision.copy(buffer)
        self.assertEqual(gstcuvision.record(copy), before)
        self.assertEqual(gstcuvision.add_object(copy, "own", 1, 2, 3, 4), 1)
        self.assertEqual(gstcuvision.record(buffer), before)
        self.assertEqual(len(gstcuvision.objects(copy)), 4)

    def test_elements_take_them(self):
        line = Gst.parse_launch(
            "appsrc name=source format=time caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
            " ! rcdtrack confirm-detections=0 ! appsink name=sink")
        source, sink = line.get_by_name("source"), line.get_by_name("sink")
        line.set_state(Gst.State.PLAYING)
        buffer = Gst.Buffer.new_wrapped(
            numpy.random.default_rng(1).integers(0, 256, 64 * 48, numpy.uint8).tobytes())
        buffer.pts = 0
        gstcuvision.add_object(buffer, "own", 20, 10, 20, 24, 0.75)
        source.emit("push-buffer", buffer)
        (found,) = gstcuvision.objects(sink.emit("pull-sample"))
        line.set_state(Gst.State.NULL)
        self.assertEqual((found["roi_type"], found["id"], found["x"]), ("own", 1, 20))

    def test_not_writable(self):
        script = ("import gstcuvision as g\nfor s in g.samples('videotestsrc num-buffers=1 ! appsink name=sink'):\n"
                  "  try: g.add_object(s.get_buffer(), 'a', 1, 2, 3, 4)\n"
                  "  except ValueError as error: print(error)")
        done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"G_DEBUG": ""},
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stdout, "the buffer is shared with others: use copy(buffer)\n", done.stderr)


class SameAsPublished(unittest.TestCase):
    def compare(self, line):
        """Plays the pipeline and checks that each frame gives the same record. Returns the
        samples."""
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/records"
            all = list(gstcuvision.samples(
                f"{line} ! visionpublish add-empty-results=true file-path={path}"
                " ! appsink name=sink sync=false"))
            wanted = published(path)
        self.assertEqual([gstcuvision.record(sample) for sample in all], wanted)
        for sample, record in zip(all, wanted):
            self.assertEqual(gstcuvision.objects(sample), record.get("objects", []))
            self.compare_tables(gstcuvision.tables(sample), record)
        return all, wanted

    def compare_tables(self, tables, record):
        for table in tables:
            rows = record[table.key]
            self.assertEqual([dict(row) for row in table], [
                {name: struct.unpack("f", struct.pack("f", value))[0]
                 if "f32" == table._types[i] else value
                 for i, (name, value) in enumerate((n, row[n]) for n in table.columns)}
                for row in rows])
            wanted = dict(record.get(f"{table.key}_info", {}))
            self.assertEqual({name: value for name, value in table.info.items()
                              if not isinstance(value, bytes)},
                             {name: value for name, value in wanted.items()
                              if not isinstance(table.info.get(name), bytes)})

    def test_several_detectors(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = f"filesrc location={DATA}%s ! decodebin ! videoconvert"
            index = f"{folder}/two.ldp"
            for name in ("messi5.jpg", "sudoku.png"):
                subprocess.run(
                    ["gst-launch-1.0", "-q"] + (picture % name).split()
                    + f"! ldpindexsink location={index} entry-name=the-{name}".split()
                    + ["descriptor-width=64", "descriptor-height=64"], check=True, timeout=60)
            samples, records = self.compare(
                picture % "messi5.jpg" + f" ! {FACES} ! {FACES} inference-region=roi-list ! rcdtrack confirm-detections=0 ! houghlines threshold=60"
                f" ! ldpdescriptor descriptor-width=64 descriptor-height=64 ! ldpretrieve index={index}")
        (record,) = records
        self.assertEqual({"objects", "lines", "descriptor", "matches"} - set(record), set())
        self.assertTrue(any("parent_id" in found for found in record["objects"]))
        self.assertTrue(any("id" in found for found in record["objects"]))
        self.assertEqual(record["matches"][0]["name"], "the-messi5.jpg")
        matches = gstcuvision.table(samples[0], "matches")
        self.assertEqual(matches["name"][0], "the-messi5.jpg")
        self.assertEqual(matches.array()["name"][0], "the-messi5.jpg")
        self.assertEqual(gstcuvision.table(samples[0], "ldp").key, "descriptor")

    def test_video(self):
        samples, records = self.compare(
            f"filesrc location={DATA}Megamind.avi ! avidemux ! identity eos-after=13 ! decodebin ! videoconvert"
            f" ! {FACES} ! rcdtrack")
        self.assertGreater(len(records), 8)
        self.assertGreater(records[5]["timestamp"], 0)

    def test_no_results(self):
        samples, records = self.compare("videotestsrc num-buffers=3 pattern=black ! houghlines")
        self.assertEqual(set(records[0]), {"lines", "lines_info", "resolution", "timestamp"})
        samples, records = self.compare("videotestsrc num-buffers=3")
        self.assertEqual(set(records[0]), {"resolution", "timestamp"})
        self.assertEqual(gstcuvision.tables(samples[0]), [])
        self.assertIsNone(gstcuvision.table(samples[0], "lines"))

    def test_tables_of_unknown_kinds(self):
        with tempfile.TemporaryDirectory() as folder:
            line = Gst.parse_launch(
                "appsrc name=source format=time caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"
                f" ! visionpublish name=p file-path={folder}/records ! appsink name=sink")
            line.set_state(Gst.State.PLAYING)
            line.get_by_name("source").emit("push-buffer", everything())
            sample = line.get_by_name("sink").emit("pull-sample")
            line.get_by_name("source").emit("end-of-stream")
            line.bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS)
            line.set_state(Gst.State.NULL)
            (wanted,) = published(f"{folder}/records")
        self.assertEqual(gstcuvision.record(sample), wanted)
        self.assertEqual(len(wanted["objects"]), 3)
        self.assertEqual(gstcuvision.objects(sample), wanted["objects"])
        blobs, first, second = gstcuvision.tables(sample)
        self.assertEqual([list(first), list(second)], [wanted["spots"], wanted["spots_2"]])
        self.assertEqual(wanted["spots_2"], [{"x": -1, "x_2": 2}, {"x": 3, "x_2": 4}])
        self.assertEqual(wanted["objects_2"][0]["c-u64"], 2**64 - 1)
        for name, value in wanted["objects_2"][0].items():
            self.assertAlmostEqual(blobs[0][name], value, places=6) if "f" in name \
                else self.assertEqual(blobs[0][name], value)
        self.assertEqual(blobs["c-text"], ["b\u00fc\"", None])
        self.assertEqual(blobs.info, {"edges": 3, "ratio": 0.25, "name": "thing", "blob": b"\0\1\2"})
        self.assertEqual((blobs.width, blobs.height, len(blobs)), (10, 48, 2))
        self.assertEqual(blobs.pictures().tolist(), [[[[0, 1, 2], [3, 4, 5]]], [[[6, 7, 8], [9, 10, 11]]]])
        self.assertTrue(math.isnan(blobs[-1]["c-f64"]))
        array = blobs.array()
        self.assertEqual(array["c-i64"].tolist(), [-2**63, 0])
        self.assertEqual(array["c-u64"].dtype, numpy.uint64)
        self.assertEqual(array["c-text"].tolist(), ["b\u00fc\"", None])


class Table(unittest.TestCase):
    def setUp(self):
        self.buffer = everything()
        self.table = gstcuvision.table(self.buffer, "blobs")

    def test_indices(self):
        self.assertEqual(len(self.table[0:9]), 2)
        self.assertEqual(self.table[-2], self.table[0])
        for which in (2, -3):
            with self.assertRaisesRegex(IndexError, f"row {which} of 2"):
                self.table[which]
        with self.assertRaisesRegex(KeyError, "no column 'votes'; columns are c-f32"):
            self.table["votes"]
        self.assertEqual(repr(self.table)[:33], "<Table objects: 2 rows of c-f32, ")

    def test_without_rows(self):
        buffer = frame()
        add_table(buffer, "spots", ["x:i32"], [])
        add_table(buffer, "bare", [], [], level=3)
        add_table(buffer, "bare", [], [], n_rows=4000000000)
        for table in gstcuvision.tables(buffer):
            self.assertEqual((list(table), len(table.array()), table.pictures()), ([], 0, None))
        self.assertEqual(gstcuvision.table(buffer, "bare").info, {"level": 3})

    def test_broken_tables_are_passed_over(self):
        buffer = frame()
        add_table(buffer, "spots", ["x:i32"], [(1,)], n_rows=2)
        add_table(buffer, "spots", ["x:u8"], [(1,)])
        self.assertEqual([list(table) for table in gstcuvision.tables(buffer)], [[{"x": 1}]])

    def test_fields_of_other_types_are_absent(self):
        two = GObject.Value(GObject.TYPE_UINT, 2)
        for width, pixels in ("2", bytes(12)), (-2, bytes(12)), (two, "x" * 12):
            pictures = GLib.Bytes.new(pixels) if isinstance(pixels, bytes) else pixels
            buffer = frame()
            add_table(buffer, "spots", ["t:text"], [(0,), (1,)], key=3, pictures=pictures,
                      picture_width=width, picture_height=GObject.Value(GObject.TYPE_UINT, 1))
            (table,) = gstcuvision.tables(buffer)
            self.assertEqual((table["t"], table.pictures(), table.key), ([None, None], None, "spots"))
        structure = gstcuvision._reader().emit("read-table", buffer, 0)
        structure.set_value("texts", 5)
        self.assertEqual(gstcuvision.Table(structure).array()["t"].tolist(), [None, None])

    def test_pictures_without_columns(self):
        two = GObject.Value(GObject.TYPE_UINT, 2)
        buffer = frame()
        add_table(buffer, "spots", [], [(), ()], pictures=GLib.Bytes.new(bytes(24)),
                  picture_width=two, picture_height=two)
        table = gstcuvision.table(buffer, "spots")
        self.assertEqual((list(table), table.pictures().shape), ([{}, {}], (2, 2, 2, 3)))


class Quote(unittest.TestCase):
    """Checks that a property gets the quoted text byte for byte."""

    def test_texts(self):
        chars = "\\\\\"'! \n\t=(){},;aNULL7\x01\x7fä漢🎥"
        random = numpy.random.default_rng()
        texts = ["", "NULL", '"a"', "ends in \\", *(
            "".join(random.choice(list(chars), random.integers(12))) for _ in range(500))]
        for text in texts:
            line = Gst.parse_launch(f"tcpclientsrc name=a host={gstcuvision.quote(text)}"
                                    ' ! tcpclientsink name=b host="b c"')
            self.assertEqual(line.get_by_name("a").get_property("host"), text)
            self.assertEqual(line.get_by_name("b").get_property("host"), "b c")


class Use(unittest.TestCase):
    def test_sizes_come_from_caps(self):
        buffer = everything()
        caps = Gst.Caps.from_string("video/x-raw,width=10,height=48")
        self.assertNotIn("resolution", gstcuvision.record(buffer))
        self.assertEqual(gstcuvision.record(buffer, caps)["resolution"], {"width": 10, "height": 48})
        self.assertNotIn("width", gstcuvision.record(buffer, caps)["objects_2_info"])

    def test_says_what_is_wrong(self):
        with self.assertRaisesRegex(TypeError, "Gst.Sample or Gst.Buffer"):
            gstcuvision.objects(None)
        for read in gstcuvision.objects, gstcuvision.tables, gstcuvision.record:
            with self.assertRaisesRegex(ValueError, "no buffer"):
                read(Gst.Sample.new(None, None, None, None))
        for line, text in (("filesrc location=missing.jpg ! appsink name=sink", "missing.jpg"),
                           ("nonsense ! appsink name=sink", "nonsense"),
                           ("videotestsrc ! fakesink", "appsink name=sink")):
            with self.assertRaisesRegex(RuntimeError, text):
                list(gstcuvision.samples(line))

    def test_error_of_another_branch(self):
        """An error of another branch ends the loop, although frames keep arriving."""
        line = Gst.parse_launch("videotestsrc ! appsink name=sink sync=false")
        with self.assertRaisesRegex(RuntimeError, "no disk"):
            for n, _ in enumerate(gstcuvision.samples(line)):
                if n == 0:
                    line.bus.post(error_message(line))
                self.assertLess(n, 100)

    def test_error_at_the_end(self):
        """An error that is posted just before the sink is at EOS is raised."""
        line = unittest.mock.Mock(bus=Gst.Bus())
        sink = line.get_by_name.return_value
        sink.emit.return_value = None
        error = error_message(Gst.ElementFactory.make("fakesink"))
        sink.get_property.side_effect = lambda name: name != "eos" or line.bus.post(error)
        with self.assertRaisesRegex(RuntimeError, "no disk"):
            list(gstcuvision.samples(line))

    def test_messages_do_not_pile_up(self):
        line = Gst.parse_launch("videotestsrc num-buffers=200 ! houghlines message=every-frame"
                                " ! appsink name=sink sync=false")
        waiting = [sum(1 for _ in iter(line.bus.pop, None)) for n, _ in enumerate(gstcuvision.samples(line))
                   if n == 150]
        self.assertLess(waiting[0], 50)

    def test_samples_that_wait(self):
        for line, wanted in (("videotestsrc ! appsink name=sink", (4, False)),
                             ("videotestsrc is-live=true ! appsink name=sink", (4, True)),
                             ("videotestsrc is-live=true ! appsink name=sink max-buffers=7", (7, False))):
            pipeline = Gst.parse_launch(line)
            sink = pipeline.get_by_name("sink")
            for _ in gstcuvision.samples(pipeline):
                self.assertEqual((sink.get_property("max-buffers"), sink.get_property("drop")), wanted)
                break

    def test_idle(self):
        line = "videotestsrc num-buffers=1 ! appsink name=sink"
        self.assertNotIn(None, list(gstcuvision.samples(line)))
        for sample in gstcuvision.samples("appsrc ! appsink name=sink", idle=True):
            self.assertIsNone(sample)
            break

    def alone(self, script, **environment):
        return subprocess.run([sys.executable, "-c", script], env=os.environ | environment,
                              capture_output=True, text=True, timeout=60, check=False)

    def test_without_the_plugins(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.alone("import gstcuvision as g; g.Gst.init(None); g.objects(g.Gst.Buffer())",
                              GST_PLUGIN_PATH="", GST_PLUGIN_PATH_1_0="", GST_REGISTRY_1_0=f"{folder}/r")
        self.assertIn("RuntimeError: no element visionpublish", done.stderr)

    def test_without_numpy(self):
        done = self.alone(
            "import sys; sys.modules['numpy'] = None\nimport gstcuvision as g\n"
            "for s in g.samples('videotestsrc num-buffers=1 ! houghlines ! appsink name=sink'):\n"
            "  print(g.objects(s), len(g.table(s, 'lines')['votes']) > 0)")
        self.assertEqual(done.stdout, "[] True\n", done.stderr)

    def test_messages_and_stats(self):
        structure = Gst.Structure.new_from_string("s, a=<1,2>, b={x,y}, f=1/2, t=(structure)[u,v=4]")
        self.assertEqual(gstcuvision.fields(structure),
                         {"a": [1, 2], "b": ["x", "y"], "f": "1/2", "t": {"v": 4}})
        self.assertEqual(gstcuvision.fields(None), {})

    def test_threads(self):
        buffer, seen = everything(), []
        wanted = gstcuvision.record(buffer)

        def read():
            seen.append(all(gstcuvision.record(buffer) == wanted for _ in range(200)))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(seen, [True] * 4)

    @unittest.skipIf("CUV_CHECK_FEW" in os.environ, "sanitizers keep freed memory")
    def test_10000_frames_do_not_grow(self):
        def read(n):
            buffer = everything()
            add_table(buffer, "large", ["x:u8"], [(1,)] * 1000, other=GLib.Bytes.new(bytes(1000)))
            for _ in range(n):
                gstcuvision.objects(buffer), gstcuvision.tables(buffer), gstcuvision.record(buffer)
                gstcuvision.fields(Gst.Structure.new_empty("s"))
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB

        before = read(1000)
        self.assertLess(read(10000) - before, 1024)  # 10 000 structures alone are 2 MiB


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)  # about GObject.ValueArray
    Gst.init(None)
    unittest.main(warnings="ignore")
