# SPDX-License-Identifier: LGPL-2.1-or-later
"""A strict parser of Prometheus' text format 0.0.4, written from its specification. It also
demands what Prometheus only recommends: HELP and TYPE before each metric's samples."""

import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
NUMBER = re.compile(r"NaN|[+-]Inf|-?\d+(\.\d+)?(e[+-]\d+)?")
ESCAPES = {"n": "\n", "\\": "\\", '"': '"'}


class Metric:
    def __init__(self, name, kind, text):
        self.name, self.kind, self.help = name, kind, text
        self.samples = {}  # (name, sorted labels) -> value

    def names(self):
        """Returns the names that the samples may have."""
        return {self.name + end for end in ("_bucket", "_sum", "_count")} \
            if self.kind == "histogram" else {self.name}

    def value(self, **labels):
        """Returns the value of the only sample with at least these labels."""
        found = [value for (_, have), value in self.samples.items()
                 if set(labels.items()) <= set(have)]
        if len(found) != 1:
            raise ValueError(f"{len(found)} samples of {self.name} with {labels}")
        return found[0]


def parse_help(line):
    found = re.fullmatch(rf"# HELP ({NAME}) ((?:[^\\]|\\[\\n])+)", line)
    if found is None:
        raise ValueError(f"expected HELP: {line!r}")
    return found[1], found[2]


def parse_type(line, name):
    found = re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge|histogram)", line)
    if found is None or found[1] != name:
        raise ValueError(f"expected TYPE of {name}: {line!r}")
    return found[2]


def unescape(text):
    return re.sub(r"\\(.)", lambda found: ESCAPES[found[1]], text)


def parse_sample(line, metric):
    found = SAMPLE.fullmatch(line)
    if found is None or found[1] not in metric.names():
        raise ValueError(f"expected a sample of {metric.name}: {line!r}")
    labels = [(name, unescape(value))
              for name, value in re.findall(LABEL, found[2] or "")]
    if len({name for name, _ in labels}) < len(labels):
        raise ValueError(f"a label comes twice: {line!r}")
    value = found[found.re.groups]
    if not NUMBER.fullmatch(value):
        raise ValueError(f"not a number: {line!r}")
    key = found[1], tuple(sorted(labels))
    if key in metric.samples:
        raise ValueError(f"the sample comes twice: {line!r}")
    metric.samples[key] = float(value)


def check_histogram(metric):
    """Checks that buckets are cumulative, and end with +Inf, which equals the count."""
    buckets = [(float(dict(labels)["le"]), value)
               for (name, labels), value in metric.samples.items()
               if name.endswith("_bucket")]
    if buckets != sorted(buckets) or [n for _, n in buckets] != sorted(n for _, n in buckets):
        raise ValueError(f"buckets of {metric.name} are not cumulative: {buckets}")
    count, = [value for (name, _), value in metric.samples.items() if name.endswith("_count")]
    if buckets[-1] != (math.inf, count):
        raise ValueError(f"{metric.name} counts {count} but {buckets[-1]}")


def check_metric(metric):
    if not metric.samples:
        raise ValueError(f"{metric.name} has no sample")
    if (metric.kind == "counter") != metric.name.endswith("_total"):
        raise ValueError(f"{metric.name} is a {metric.kind}")
    if metric.kind == "histogram":
        check_histogram(metric)
    if metric.kind != "gauge" and min(metric.samples.values()) < 0:
        raise ValueError(f"{metric.name} is negative")


def parse(data):
    """Returns the metrics by name; raises ValueError if data is not valid."""
    text = data.decode("utf-8")
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    metrics, current = {}, None
    lines = iter(text[:-1].split("\n"))
    for line in lines:
        if not line.startswith("#"):
            if current is None:
                raise ValueError(f"a sample before its HELP: {line!r}")
            parse_sample(line, current)
            continue
        name, text = parse_help(line)
        if name in metrics:
            raise ValueError(f"{name} comes twice")
        current = metrics[name] = Metric(name, parse_type(next(lines, ""), name), text)
    for metric in metrics.values():
        check_metric(metric)
    return metrics


def check_progress(before, after):
    """Checks that no counter is less than before, and that none has gone."""
    for name, metric in before.items():
        for key, value in metric.samples.items():
            if metric.kind == "gauge":
                continue
            now = after[name].samples[key]
            if now < value:
                raise ValueError(f"{key} has fallen from {value} to {now}")
