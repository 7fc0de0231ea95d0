#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Converts zones of other programs to the JSON of visionzones, on standard output.

    convert-zones.py nvdsanalytics config_nvdsanalytics.txt --labels labels.txt >zones.json
    convert-zones.py frigate config.yml --camera yard >zones.json
    convert-zones.py supervision zones.json --size 1920x1080 >converted.json

What visionzones has no counterpart for is reported on standard error. The exit status is 0, 1 if
the file is invalid, or 2 for an invalid option. docs/visionzones.md says what becomes what.
"""

import argparse
import configparser
import json
import math
import re
import sys

# limits of visionzones
MOST_POINTS = 256
MOST_ZONES = 1024
MOST_HYSTERESIS = 1000
MOST_PIXELS = 2**20


class Problem(Exception):
    """Why a file cannot be converted, and what to do."""


def note(text):
    print(f"convert-zones.py: {text}", file=sys.stderr)


def note_unused(where, values, used):
    """Reports the keys of a dictionary that are not converted."""
    for key, value in values.items():
        if key not in used:
            shown = json.dumps(value, default=str) if isinstance(value, (dict, list)) else value
            note(f"{where}: {key}={shown} is not converted: visionzones has no counterpart")


def mapping(where, value):
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Problem(f"{where}: expected keys and values, not {value!r:.60}")
    return value


def number(where, value, low=-math.inf, high=math.inf):
    try:
        result = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise Problem(f"{where}: {value!r:.60} is not a number")
    if not low <= result <= high:
        raise Problem(f"{where}: {value} is not from {low:g} to {high:g}")
    return int(result) if result.is_integer() else result


def points_of(where, values):
    """Returns pairs of x and y."""
    values = [number(where, value) for value in values]
    if len(values) % 2:
        raise Problem(f"{where}: {len(values)} numbers are not pairs of x and y: one is missing")
    return list(zip(values[::2], values[1::2]))


def choose(kind, names, wanted):
    """Returns the name of the camera to convert."""
    listed = ", ".join(names)
    if not names:
        raise Problem(f"no {kind} has zones")
    if wanted is None and len(names) > 1:
        raise Problem(f"the file has several {kind}s: choose one of {listed} with --camera")
    if wanted is not None and wanted not in names:
        raise Problem(f"no {kind} '{wanted}' has zones: expected one of {listed}")
    return names[0] if wanted is None else wanted


def side(a, b, point):
    """Returns a negative number if the point is left of the line from a to b: y points down."""
    return (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])


def check_shape(where, shape, points):
    least, most = (2, 2) if shape == "line" else (3, MOST_POINTS)
    if not least <= len(points) <= most:
        allowed = "two" if shape == "line" else f"{least} to {most}"
        raise Problem(f"{where}: a {shape} has {allowed} points, not {len(points)}")
    other = next((point for point in points if point != points[0]), None)
    if other is None:
        raise Problem(f"{where}: all points are the same")
    if shape == "polygon" and not any(side(points[0], other, point) for point in points):
        raise Problem(f"{where}: all points are on one line")


class Zones:
    """The converted zones."""

    def __init__(self):
        self.units = "normalized"
        self.zones = {}

    def unique(self, where, name):
        if len(self.zones) == MOST_ZONES:
            raise Problem(f"{where}: more than {MOST_ZONES} zones")
        new, count = name, 1
        while new in self.zones:
            count += 1
            new = f"{name} {count}"
        if new != name:
            note(f"{where}: another zone is called '{name}': this one becomes '{new}'")
        return new

    def add(self, where, name, shape, points, size, **rules):
        """shape: "polygon" or "line". size: width and height that coordinates refer to, or None to
        leave them in pixels. Rules that are None are omitted."""
        check_shape(where, shape, points)
        low, high = (-1, 2) if size else (-MOST_PIXELS, MOST_PIXELS)
        if size:
            points = [(round(x / size[0], 6), round(y / size[1], 6)) for x, y in points]
        else:
            self.units = "pixels"
        if not all(low <= value <= high for point in points for value in point):
            raise Problem(f"{where}: points are far outside the frame: correct them"
                          + (f", or the size {size[0]}x{size[1]}" if size else ""))
        for text in [name, *(rules.get("labels") or [])]:
            if not text or not text.isprintable():
                raise Problem(f"{where}: {text!r:.60} is not a name or label: use printable "
                              "characters")
        zone = {"name": self.unique(where, name), shape: points}
        zone.update({key: value for key, value in rules.items() if value is not None})
        self.zones[zone["name"]] = zone

    def write(self, file):
        if not self.zones:
            raise Problem("nothing was converted")
        zones = [json.dumps(zone, ensure_ascii=False) for zone in self.zones.values()]
        file.write(f'{{"units": "{self.units}", "zones": [\n  ' + ",\n  ".join(zones) + "\n]}\n")


# ---- nvdsanalytics of DeepStream ----


def load_ini(text):
    parser = configparser.ConfigParser(
        delimiters="=", comment_prefixes="#", interpolation=None, default_section="")
    parser.optionxform = str
    try:
        parser.read_string(text, "the file")
    except configparser.MissingSectionHeaderError as error:
        raise Problem(f"line {error.lineno}: expected a group such as [property]") from None
    except configparser.Error as error:
        raise Problem(" ".join(str(error).split())) from None
    return {name: dict(parser[name]) for name in parser.sections()}


def entries(group, prefix):
    """Returns names and numbers of keys such as roi-NAME=1;2;3."""
    for key, value in group.items():
        if key.startswith(prefix):
            texts = [text.strip() for text in value.removesuffix(";").split(";")]
            yield key, key.removeprefix(prefix), texts


def labels_of(where, group, labels):
    """Returns the names of a group's classes, or None for all."""
    ids = [text.strip() for text in group.get("class-id", "-1").split(";") if text.strip()]
    if "-1" in ids:
        return None
    if labels is None:
        note(f"{where}: class-id={group['class-id']} is not converted, all classes count: "
             "name the file with the classes' labels with --labels")
        return None
    for text in ids:
        if not text.isdecimal() or int(text) >= len(labels):
            raise Problem(f"{where}: class-id {text} has no label in the file --labels")
    return [labels[int(text)] for text in ids]


def inwards(where, points):
    """Returns the line, whose points follow those of the direction, in the order that makes this
    direction visionzones' `in`: to the left, seen from the first point."""
    if len(points) != 4:
        raise Problem(f"{where}: expected 8 numbers, two points of the direction and two of the "
                      f"line, not {2 * len(points)}")
    start, end, a, b = points
    turn = side(a, b, end) - side(a, b, start)
    if turn == 0:
        raise Problem(f"{where}: the direction is parallel to the line: correct one of them")
    return [a, b] if turn < 0 else [b, a]


def add_rois(zones, where, group, size, labels):
    if group.get("inverse-roi", "0") != "0":
        note(f"{where} is not converted: visionzones has no counterpart of inverse-roi")
        return
    crowd = None
    if "object-threshold" in group:
        crowd = number(f"{where} object-threshold", group["object-threshold"], 0, 1e6)
    for key, name, texts in entries(group, "roi-"):
        zones.add(f"{where} {key}", name, "polygon", points_of(f"{where} {key}", texts), size,
                  labels=labels, crowd=crowd)


def add_lines(zones, where, group, size, labels):
    if group.get("extended", "0") != "0":
        note(f"{where}: extended={group['extended']} is not converted: lines end at their points")
    for key, name, texts in entries(group, "line-crossing-"):
        line = inwards(f"{where} {key}", points_of(f"{where} {key}", texts))
        zones.add(f"{where} {key}", name, "line", line, size, labels=labels)


# kind of group: function, prefix of its keys of zones, other keys that it converts
GROUPS = {
    "roi-filtering": (add_rois, "roi-", {"inverse-roi", "object-threshold"}),
    "overcrowding": (add_rois, "roi-", {"inverse-roi", "object-threshold"}),
    "line-crossing": (add_lines, "line-crossing-", {"extended"}),
    "direction-detection": (None, None, None),
}


def convert_group(zones, where, group, kind, size, labels):
    add, prefix, used = GROUPS[kind]
    if group.get("enable", "1") == "0":
        note(f"{where} is disabled, and not converted")
    elif add is None:
        note(f"{where} is not converted: visionzones has no directions without a line")
    else:
        add(zones, where, group, size, labels_of(where, group, labels))
        rest = {key: value for key, value in group.items() if not key.startswith(prefix)}
        note_unused(where, rest, used | {"enable", "class-id"})


def config_size(group, args):
    keys = ["config-width", "config-height"]
    note_unused("[property]", group, {"enable", *keys})
    missing = [key for key in keys if key not in group]
    if missing and args.size is None:
        raise Problem(f"[property] has no {missing[0]}: add it, or give --size")
    return args.size if missing else [number(f"[property] {key}", group[key], 1) for key in keys]


def nvdsanalytics(text, args, zones):
    groups = load_ini(text)
    streams = {}
    for name, group in groups.items():
        match = re.fullmatch(r"(.*)-stream-(\d+)", name)
        if match and match[1] in GROUPS:
            streams.setdefault(match[2], {})[name] = group, match[1]
        elif name != "property":
            note(f"[{name}] is not converted: expected one of {', '.join(GROUPS)} with "
                 "-stream-NUMBER")
    stream = choose("stream", list(streams), args.camera)
    size = config_size(groups.get("property", {}), args)
    for name, (group, kind) in streams[stream].items():
        convert_group(zones, f"[{name}]", group, kind, size, args.labels)


# ---- Frigate ----


def load_yaml(text):
    try:
        import yaml
    except ImportError:
        raise Problem("PyYAML is missing: install Debian's package python3-yaml") from None

    class Loader(yaml.SafeLoader):
        """Refuses a key that is given twice, of which PyYAML would ignore the first."""

        def compose_mapping_node(self, anchor):
            node, seen = super().compose_mapping_node(anchor), []
            for key, _ in node.value:
                if key.value in seen:
                    raise yaml.MarkedYAMLError(
                        problem=f"'{key.value}' is given twice", problem_mark=key.start_mark)
                seen.append(key.value)
            return node

    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Problem(f"line {mark.line + 1}: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise Problem(" ".join(str(error).split())) from None


def list_of(value):
    """Returns a list of texts, which YAML may have as one text with commas."""
    texts = value if isinstance(value, list) else [] if value is None else [value]
    return [part.strip() for text in texts for part in str(text).split(",")]


def frigate_size(where, camera, document, args):
    """Returns the size of the frames that Frigate analyses."""
    for detect in (camera.get("detect"), document.get("detect")):
        detect = mapping("detect", detect)
        if "width" in detect and "height" in detect:
            return [number(f"detect {key}", detect[key], 1) for key in ("width", "height")]
    if args.size is None:
        raise Problem(f"{where}: coordinates are pixels, and the size is unknown: add width and "
                      "height to detect, or give --size")
    return args.size


def frigate_labels(zone, camera, document):
    """Returns the labels of a zone, or else those that Frigate tracks, or None."""
    for labels in (zone.get("objects"), mapping("objects", camera.get("objects")).get("track"),
                   mapping("objects", document.get("objects")).get("track")):
        labels = [label for label in list_of(labels) if label]
        if labels:
            return labels
    return None


def frigate_zone(zones, where, name, zone, camera, document, args):
    if zone.get("enabled", True) is False:
        note(f"{where} is disabled, and not converted")
        return
    points = points_of(f"{where}: coordinates", list_of(zone.get("coordinates")))
    size = (1, 1)
    if any(value > 1 for point in points for value in point):
        size = frigate_size(where, camera, document, args)
    rules = {}
    if "inertia" in zone:
        rules["hysteresis"] = number(f"{where}: inertia", zone["inertia"], 1, MOST_HYSTERESIS)
    if "loitering_time" in zone:
        rules["dwell"] = number(f"{where}: loitering_time", zone["loitering_time"], 0, 1e9)
    zones.add(where, name, "polygon", points, size, labels=frigate_labels(zone, camera, document),
              **rules)
    note_unused(where, zone, {"enabled", "coordinates", "objects", "inertia", "loitering_time"})


def frigate(text, args, zones):
    document = mapping("the file", load_yaml(text))
    cameras = mapping("cameras", document.get("cameras"))
    found = {str(name): mapping(f"camera '{name}'", camera) for name, camera in cameras.items()}
    camera = choose("camera", [name for name, camera in found.items() if camera.get("zones")],
                    args.camera)
    for name, zone in mapping(f"camera '{camera}': zones", found[camera]["zones"]).items():
        where = f"camera '{camera}': zone '{name}'"
        frigate_zone(zones, where, str(name), mapping(where, zone), found[camera], document, args)


# ---- supervision of Roboflow ----


def load_json(text):
    def unique(pairs):
        result = dict(pairs)
        if len(result) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise Problem(f"'{twice}' is given twice: rename one")
        return result

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise Problem(f"line {error.lineno}: {error.msg}") from None


def is_zone(value):
    """Returns whether a value is a single zone: its parameters, or the points of a polygon."""
    if isinstance(value, dict):
        return not value.keys().isdisjoint({"polygon", "start", "end"})
    return isinstance(value, list) and bool(value) and all(
        isinstance(point, list) and not any(isinstance(v, (list, dict)) for v in point)
        for point in value)


def named_zones(document):
    if is_zone(document):
        document = [document]
    if isinstance(document, dict):
        return document.items()
    if not isinstance(document, list):
        raise Problem("expected a list of polygons, [[[x, y], ...], ...], or zones by name")
    names = [zone.get("name") if isinstance(zone, dict) else None for zone in document]
    return [(str(name or f"zone {i}"), zone)
            for i, (name, zone) in enumerate(zip(names, document), 1)]


def point_of(where, value):
    if isinstance(value, dict):
        value = [value.get("x"), value.get("y")]
    if not isinstance(value, list) or len(value) != 2:
        raise Problem(f"{where}: {value!r:.60} is not a point [x, y]")
    return tuple(number(where, coordinate) for coordinate in value)


def anchor_of(where, zone):
    """Returns the part of a box that stands for it."""
    given = list_of(zone.get("triggering_anchors"))
    names = [name.rsplit(".", 1)[-1].upper() for name in given]
    if names == ["CENTER"]:
        return "center"
    if names and names != ["BOTTOM_CENTER"]:
        note(f"{where}: triggering_anchors {', '.join(names)} are not converted: the bottom centre "
             "of a box counts")
    elif not names and "polygon" not in zone:
        note(f"{where}: the bottom centre of a box counts, not its four corners: set "
             "triggering_anchors")
    return "bottom-center"


def supervision_zone(zones, where, name, zone, args):
    shape = "polygon" if "polygon" in zone else "line"
    if shape == "polygon":
        given = zone["polygon"] if isinstance(zone["polygon"], list) else [zone["polygon"]]
    elif "start" in zone and "end" in zone:
        given = [zone["start"], zone["end"]]
    else:
        raise Problem(f"{where}: expected a polygon, or start and end of a line")
    points = [point_of(where, point) for point in given]
    threshold = number(f"{where}: minimum_crossing_threshold",
                       zone.get("minimum_crossing_threshold", 1), 0, MOST_HYSTERESIS)
    zones.add(where, name, shape, points, args.size, anchor=anchor_of(where, zone),
              hysteresis=max(1, threshold))
    note_unused(where, zone, {"name", "polygon", "start", "end", "triggering_anchors",
                              "minimum_crossing_threshold"})


def supervision(text, args, zones):
    for name, zone in named_zones(load_json(text)):
        where = f"zone '{name}'"
        zone = {"polygon": zone} if isinstance(zone, list) else mapping(where, zone)
        supervision_zone(zones, where, name, zone, args)


# ---- command line ----


def size_of(text):
    match = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size: expected such as 1920x1080")
    return int(match[1]), int(match[2])


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=[read.__name__ for read in FORMATS])
    parser.add_argument("file", help="what to convert")
    parser.add_argument("--camera", metavar="NAME",
                        help="camera of Frigate, or number of a stream of nvdsanalytics")
    parser.add_argument("--size", type=size_of, metavar="WxH",
                        help="size of the frames that pixels refer to, if the file does not say")
    parser.add_argument("--labels", metavar="FILE",
                        help="labels of nvdsanalytics' classes, one a line, class 0 first")
    return parser.parse_args()


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise Problem(error.strerror) from None
    except UnicodeDecodeError:
        raise Problem("is not UTF-8 text") from None


FORMATS = (nvdsanalytics, frigate, supervision)


def main():
    args, zones, path = options(), Zones(), None
    try:
        if args.labels is not None:
            path = args.labels
            args.labels = read(path).splitlines()
        path = args.file
        {reader.__name__: reader for reader in FORMATS}[args.format](read(path), args, zones)
        zones.write(sys.stdout)
    except Problem as problem:
        sys.exit(f"convert-zones.py: {path}: {problem}")
    except RecursionError:
        sys.exit(f"convert-zones.py: {path}: is nested too deeply")


if __name__ == "__main__":
    main()
