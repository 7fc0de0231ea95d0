# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the results of gst-cuvision's elements: objects, lines, other tables.

A frame is a Gst.Sample or a Gst.Buffer. With a buffer, also give its caps if the size of
the frame matters.

    for face in gstcuvision.objects(buffer):
        print(face["roi_type"], face["x"], face["y"], face["w"], face["h"])
    lines = gstcuvision.table(buffer, "lines")
    print(len(lines), lines[0], lines["votes"])  # a row, a column
    lines.array()                                # NumPy
    gstcuvision.crop(sample, face)               # the pixels of a face

Needs PyGObject (gi), GStreamer 1.22 or later and the plugin of visionpublish. Only array(),
pictures(), picture() and crop() need NumPy. All functions may be called from any thread, and
keep no reference to a frame.
"""

import functools
import json
import os
import struct

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GLib, Gst  # noqa: E402

__all__ = ["Table", "add_object", "copy", "crop", "fields", "objects", "picture", "quote",
           "record", "samples", "table", "tables"]

# type codes of struct and of NumPy; a text is stored as its index in the
# table's texts
_TYPES = {
    "f32": ("f", "<f4"), "f64": ("d", "<f8"), "i32": ("i", "<i4"), "u32": ("I", "<u4"),
    "i64": ("q", "<i8"), "u64": ("Q", "<u8"), "u16": ("H", "<u2"), "u8": ("B", "u1"),
    "text": ("I", "<u4"),
}
_LAYOUT = ("kind", "version", "width", "height", "shape", "rows", "columns", "data", "key",
           "texts", "pictures", "picture_width", "picture_height", "metrics", "metrics_unit",
           "row_names")
# formats that are read without conversion: offsets of red, green and blue; bytes per pixel
_PIXELS = {
    "GRAY8": ((0,), 1), "RGB": ((0, 1, 2), 3), "BGR": ((2, 1, 0), 3),
    "RGBx": ((0, 1, 2), 4), "RGBA": ((0, 1, 2), 4), "BGRx": ((2, 1, 0), 4),
    "BGRA": ((2, 1, 0), 4), "xRGB": ((1, 2, 3), 4), "ARGB": ((1, 2, 3), 4),
    "xBGR": ((3, 2, 1), 4), "ABGR": ((3, 2, 1), 4),
}
_MAX_BUFFERS = 4  # for an appsink without max-buffers, which would have no limit


@functools.cache
def _reader():
    """Returns a visionpublish, whose signals read metadata: PyGObject cannot iterate over it."""
    Gst.init(None)
    element = Gst.ElementFactory.make("visionpublish")
    if element is None:
        raise RuntimeError("no element visionpublish: install gst-cuvision's"
                           " plugins, or set GST_PLUGIN_PATH to their folder")
    return element


def _parts(frame, caps):
    if isinstance(frame, Gst.Sample):
        if frame.get_buffer() is None:
            raise ValueError("the sample has no buffer")
        return frame.get_buffer(), caps or frame.get_caps()
    if not isinstance(frame, Gst.Buffer):
        raise TypeError(f"expected a Gst.Sample or Gst.Buffer, not {frame!r}")
    return frame, caps


def _time(frame):
    """Returns the stream time, as visionpublish writes it; None if the frame's
    segment is unknown."""
    segment = frame.get_segment() if isinstance(frame, Gst.Sample) else None
    if segment is None or segment.format != Gst.Format.TIME:
        return None
    time = segment.to_stream_time(Gst.Format.TIME, frame.get_buffer().pts)
    return None if time == Gst.CLOCK_TIME_NONE else time


def record(frame, caps=None):
    """Returns what visionpublish writes for the frame, without frame_num and wallclock.

    timestamp is the stream time of a sample, the PTS of a buffer."""
    buffer, caps = _parts(frame, caps)
    result = json.loads(_reader().emit("read-record", buffer, caps))
    time = _time(frame)
    if time is not None:
        result["timestamp"] = time
    return result


def objects(frame, caps=None):
    """Returns the objects, dictionaries as in visionpublish's records: x, y, w, h in pixels,
    region_id, roi_type (the label), detection, id (of the track), parent_id. Keys for which
    an object has no value are absent."""
    return json.loads(_reader().emit("read-objects", *_parts(frame, caps)))


def fields(structure):
    """Returns the fields of a Gst.Structure, such as that of a message or an element's stats, as a
    dictionary, which is empty for None."""
    return json.loads(_reader().emit("read-structure", structure)) if structure else {}


def _unique(names):
    """Renames repeated names to name_2 and so on, as in records."""
    taken = {}
    for name in names:
        unique, n = name, 1
        while unique in taken:
            n += 1
            unique = f"{name}_{n}"
        taken[unique] = True
    return tuple(taken)


def _take_bytes(structure):
    """Removes the fields that are bytes, and returns them: JSON would need base64."""
    names = [structure.nth_field_name(i) for i in range(structure.n_fields())]
    names = [name for name in names if structure.get_field_type(name) == GLib.Bytes.__gtype__]
    result = {name: structure.get_value(name) for name in names}
    for name in names:
        structure.remove_field(name)
    return {name: value.get_data() or b"" for name, value in result.items() if value is not None}


class Table:
    """Rows of one kind of result: lines, components, descriptors, matches or others.

    table[i] is a row, a dictionary; table["name"] a column, a list; a table iterates over
    its rows.

    kind, key: the kind of result, and its name in records, which is usually the
    same shape: "segments" (columns x1 y1 x2 y2), "points" (x y), "pictures" or
    "none" width, height: size in pixels of the frame that coordinates refer to
    columns: the names info: values for the whole table, a dictionary;
    "<key>_info" in records, but with bytes instead of base64"""

    def __init__(self, structure):
        known = _take_bytes(structure) | fields(structure)

        def optional(name, type, otherwise):  # one of another type counts as absent
            return known[name] if isinstance(known.get(name), type) else otherwise

        self._data, self._pictures = known["data"], optional("pictures", bytes, b"")
        self.kind, self.shape = known["kind"], known["shape"]
        self.key = optional("key", str, self.kind)
        self.version = known.get("version")
        self.width, self.height = known["width"], known["height"]
        self.info = {name: value for name, value in known.items() if name not in _LAYOUT}
        columns = [column.rsplit(":", 1) for column in known["columns"]]
        self.columns = _unique(name for name, _ in columns)
        self._types = [type for _, type in columns]
        self._layout = struct.Struct("<" + "".join(_TYPES[type][0] for type in self._types))
        self._texts = optional("texts", list, [])
        self._picture_shape = optional("picture_height", int, 0), optional("picture_width", int, 0), 3
        self._length = known["rows"]
        if not self.columns and not self._has_pictures():  # nothing limits the number of rows
            self._length = 0

    def __len__(self):
        return self._length

    def __repr__(self):
        return f"<Table {self.key}: {self._length} rows of {', '.join(self.columns)}>"

    def _has_pictures(self):
        height, width, depth = self._picture_shape
        return (min(self._length, height, width) > 0
                and len(self._pictures) == self._length * height * width * depth)

    def _text(self, number):
        text = self._texts[number] if number < len(self._texts) else None
        return text if isinstance(text, str) else None

    def __getitem__(self, which):
        if isinstance(which, str):
            i = self.columns.index(which) if which in self.columns else None
            if i is None:
                raise KeyError(f"no column {which!r}; columns are {', '.join(self.columns)}")
            return [self._cell(i, row[i]) for row in self._layout.iter_unpack(self._data)]
        if isinstance(which, slice):
            return [self[i] for i in range(*which.indices(self._length))]
        if not -self._length <= which < self._length:
            raise IndexError(f"row {which} of {self._length}")
        row = self._layout.unpack_from(self._data, which % self._length * self._layout.size)
        return {name: self._cell(i, row[i]) for i, name in enumerate(self.columns)}

    def _cell(self, column, value):
        return self._text(value) if self._types[column] == "text" else value

    def array(self):
        """Returns a NumPy array with a field for each column; texts are objects, str or None."""
        import numpy

        packed = [(name, _TYPES[type][1]) for name, type in zip(self.columns, self._types)]
        rows = numpy.frombuffer(self._data, packed) if self._data else numpy.zeros(0, packed)
        whole = [(name, object if type == "text" else _TYPES[type][1])
                 for name, type in zip(self.columns, self._types)]
        result = rows.astype(whole)  # a copy, which may be changed
        for name, type in zip(self.columns, self._types):
            if type == "text":
                result[name] = [self._text(number) for number in rows[name]]
        return result

    def pictures(self):
        """Returns a NumPy array of rows x height x width x RGB, or None if rows have no
        pictures."""
        import numpy

        if not self._has_pictures():
            return None
        shape = (self._length, *self._picture_shape)
        return numpy.frombuffer(self._pictures, numpy.uint8).reshape(shape)


def tables(frame):
    """Returns a list of all tables of the frame."""
    buffer, _ = _parts(frame, None)
    result = []
    while (structure := _reader().emit("read-table", buffer, len(result))) is not None:
        result.append(Table(structure))
    return result


def table(frame, name):
    """Returns the first table with this kind or key, such as "lines", or None if there is none."""
    for found in tables(frame):
        if name in (found.kind, found.key):
            return found
    return None


def quote(text):
    """Returns any text as the value of a string property in a pipeline:

        f"filesrc location={gstcuvision.quote(path)} ! decodebin"

    Without quote() the parser would interpret backslashes and quotes in the text."""
    return "".join(('\\"', *(f"\\\\{byte:03o}" for byte in os.fsencode(text)), '\\"'))


def _video():
    gi.require_version("GstVideo", "1.0")
    from gi.repository import GstVideo

    return GstVideo


def picture(frame, caps=None):
    """Returns the pixels as a NumPy array of height x width x RGB, or of height x width if the
    video is GRAY8. Other formats are converted to RGB. The array is a copy, which may be
    changed."""
    import numpy

    video = _video()
    buffer, caps = _parts(frame, caps)
    if not caps or caps.get_size() == 0 or not caps.get_structure(0).has_name("video/x-raw"):
        raise ValueError(f"not raw video: {caps.to_string() if caps else 'no caps'}")
    info = video.VideoInfo.new_from_caps(caps)
    if info.finfo.name not in _PIXELS:
        rgb = Gst.Caps.from_string("video/x-raw,format=RGB")
        in_host_memory = Gst.Caps.from_string(caps.get_structure(0).to_string())
        sample = Gst.Sample.new(buffer, in_host_memory, None, None)
        return picture(video.video_convert_sample(sample, rgb, 10 * Gst.SECOND))
    order, size = _PIXELS[info.finfo.name]
    layout = video.buffer_get_video_meta(buffer) or info  # rows may be padded
    pixels = numpy.ndarray((info.height, info.width, size), numpy.uint8,
                           buffer.extract_dup(0, buffer.get_size()), layout.offset[0],
                           (layout.stride[0], size, 1))
    return pixels.take(order, axis=2) if size > 1 else pixels[:, :, 0].copy()


def crop(frame, box, caps=None):
    """Returns the pixels in a box as picture() does. The box is an object or x, y, w, h in pixels;
    it is clipped to the frame."""
    x, y, w, h = (box[key] for key in "xywh") if isinstance(box, dict) else box
    pixels = picture(frame, caps)
    return pixels[max(y, 0):max(y + h, 0), max(x, 0):max(x + w, 0)].copy()


def copy(buffer):
    """Returns a new buffer that shares the pixels and has the same times and metadata. Unlike
    the buffer of a probe or a sample, it may get more metadata."""
    parts = Gst.BufferCopyFlags
    return buffer.copy_region(parts.FLAGS | parts.TIMESTAMPS | parts.META | parts.MEMORY, 0,
                              2**64 - 1)


def _is_writable(buffer):
    """Returns whether a buffer is writable. PyGObject has no function for this, and adds references
    of its own."""
    alone = Gst.Buffer()
    return buffer.mini_object.refcount <= alone.mini_object.refcount


def add_object(buffer, label, x, y, w, h, confidence=None, track=None, caps=None, **extra):
    """Adds an object as detectors do, for the elements downstream. Returns its id.

    buffer: a new one, or one from copy()
    x, y, w, h: pixels, not negative
    track: id of its track, 1 or more
    caps: the buffer's caps, for consumers that read boxes with coordinates from 0 to 1
    extra: more fields, numbers or text, which are extra_params in records"""
    if not _is_writable(buffer):
        raise ValueError("the buffer is shared with others: use copy(buffer)")
    ids = [found["region_id"] for found in objects(buffer)]
    number = max((id for id in ids if id < 2**30), default=-1) + 1
    detection = Gst.Structure.new_empty("detection")
    size = caps.get_structure(0) if caps else None
    if size:
        width, height = size.get_value("width"), size.get_value("height")
        extra |= {"x_min": x / width, "x_max": (x + w) / width, "y_min": y / height,
                  "y_max": (y + h) / height}
    if confidence is not None:
        extra["confidence"] = float(confidence)
    for name, value in ({"label_id": 0} | extra).items():
        detection.set_value(name, value)
    params = [detection]
    if track is not None:
        params.append(Gst.Structure.new_empty("object_id"))
        params[-1].set_value("id", int(track))
    # last, so that a failure leaves the buffer unchanged
    region = _video().buffer_add_video_region_of_interest_meta(
        buffer, label, int(x), int(y), int(w), int(h))
    region.id, region.parent_id = number, -1
    for param in params:
        region.add_param(param)
    return number


def _parse(line):
    Gst.init(None)
    try:
        return Gst.parse_launch(line)
    except GLib.Error as error:
        raise RuntimeError(f"{line}: {error.message}") from None


def _raise_errors(bus):
    """Raises an error that is on the bus. Takes all messages, because they would fill the
    memory."""
    while message := bus.pop():
        if message.type == Gst.MessageType.ERROR:
            error, debug = message.parse_error()
            cause = debug.splitlines()[-1] if debug else ""
            raise RuntimeError(f"{message.src.get_name()}: {error.message} {cause}")


def _play(pipeline, sink):
    is_live = pipeline.set_state(Gst.State.PAUSED) == Gst.StateChangeReturn.NO_PREROLL
    if sink.get_property("max-buffers") == 0:
        sink.set_property("max-buffers", _MAX_BUFFERS)
        sink.set_property("drop", is_live)
    pipeline.set_state(Gst.State.PLAYING)


def samples(line, idle=False):
    """Plays a pipeline, gst-launch-1.0 text or a Gst.Pipeline, that ends in "appsink name=sink",
    and yields each Gst.Sample. Raises RuntimeError if it fails, with element and cause. The
    pipeline is stopped when the loop ends, even by an exception.

    With sync=false on appsink, videos play as fast as possible, otherwise at
    their own speed. Unless max-buffers is set, up to 4 samples wait for a slow
    loop: a file then waits, too, and a live source loses the oldest. samples()
    reads all messages from the pipeline's bus.

    idle: also yields None after each 0.1 s without a sample."""
    pipeline = _parse(line) if isinstance(line, str) else line
    _reader()  # must exist before the first frame for results from other processes
    sink = pipeline.get_by_name("sink")
    if sink is None:
        raise RuntimeError(f"{line}: must end in appsink name=sink")
    try:
        _play(pipeline, sink)
        while True:
            # a short wait, because interrupts are only noticed between calls
            sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
            at_end = sink.get_property("eos")  # read first: errors are posted before the end
            _raise_errors(pipeline.bus)
            if sample:
                yield sample
            elif at_end:
                return
            elif idle:
                yield None
    finally:
        pipeline.set_state(Gst.State.NULL)
