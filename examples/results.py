# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads frames of a pipeline, and their regions and tables, in Python."""
import gi, numpy, sys
gi.require_versions({"Gst": "1.0", "GstVideo": "1.0"})
from gi.repository import GLib, Gst, GstVideo

Gst.init(None)
TYPES = dict(f32="<f4", f64="<f8", i32="<i4", u32="<u4", i64="<i8", u64="<u8", u16="<u2", u8="u1", text="<u4")

def samples(line):
    """Plays a line that ends in "appsink name=sink"; exits on errors."""
    try:
        pipeline = Gst.parse_launch(line)
    except GLib.Error as error:
        sys.exit(f"{line}: {error.message}")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            if sample := sink.emit("try-pull-sample", Gst.SECOND // 10):
                yield sample
            elif message := pipeline.bus.pop_filtered(Gst.MessageType.ERROR):
                error = message.parse_error()
                sys.exit(f"{message.src.get_name()}: {error.gerror.message} {error.debug.splitlines()[-1]}")
            elif sink.get_property("eos"):
                return
    finally:
        pipeline.set_state(Gst.State.NULL)

def regions(buffer):
    id = 0  # ids count up from 0
    while region := GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, id):
        yield region
        id += 1

def strings(fields, name):
    found, array = fields.get_array(name)
    return [array.get_nth(i) for i in range(array.n_values)] if found else []

def table(buffer, kind):
    """The table of this kind as an array with a field per column, or None."""
    meta = buffer.get_custom_meta(f"GstCuv{kind[0].upper()}{kind[1:]}Meta")
    if meta is None:
        return None
    fields = meta.get_structure()
    columns = [column.rsplit(":", 1) for column in strings(fields, "columns")]
    rows = numpy.frombuffer(fields.get_value("data").get_data(), [(name, TYPES[type]) for name, type in columns])
    texts = numpy.array(strings(fields, "texts") + [None], object)  # other indices mean the last
    whole = rows.astype([(name, object if type == "text" else TYPES[type]) for name, type in columns])
    for name, type in columns:
        if type == "text":
            whole[name] = texts[numpy.minimum(rows[name], len(texts) - 1)]
    return whole
