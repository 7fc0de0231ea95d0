#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up the counts of visionzones per hour in an SQLite database.

    gst-launch-1.0 -q ... ! visionzones ... ! visionpublish source=door ! fakesink | count-hours.py counts.db
    count-hours.py counts.db door.jsonl yard.jsonl

Counts begin at 0 with each run of a pipeline; the table `counts` has the sum of all runs, for each
hour (UTC), source and zone. Records that were read before are not counted again.
"""

import argparse
import fileinput
import json
import signal
import sqlite3
import sys

SCHEMA = """
create table if not exists counts (hour text, source text, zone text, count_in int, count_out int,
  primary key (hour, source, zone)) without rowid;
create table if not exists seen (source text, zone text, wallclock text, frame int, count_in int,
  count_out int, primary key (source, zone)) without rowid;
"""
ADD = """
insert into counts values (:hour, :source, :zone, :add_in, :add_out)
  on conflict do update set count_in = count_in + :add_in, count_out = count_out + :add_out
"""
REMEMBER = "replace into seen values (:source, :zone, :wallclock, :frame, :in, :out)"


class Hours:
    def __init__(self, path):
        self.base = sqlite3.connect(path)
        self.base.executescript(SCHEMA)
        self.seen = {(source, zone): last for source, zone, *last in
                     self.base.execute("select * from seen")}

    def add(self, record):
        """Adds what was counted since the last record of the same source: all zones, or none."""
        new = {}
        with self.base:
            for zone in record.get("zones", []):
                key = record.get("source", ""), zone["zone"]
                new[key] = [record["wallclock"], record["frame_num"], zone["in"], zone["out"]]
                self.add_zone(key, self.seen.get(key, ["", 0, 0, 0]), new[key])
        self.seen |= {key: now for key, now in new.items() if now > self.seen.get(key, [])}

    def add_zone(self, key, last, now):
        restarted = any(a < b for a, b in zip(now[1:], last[1:]))
        if now[0] <= last[0] or (now[2:] == last[2:] and not restarted):
            return  # read before, or nothing new
        counted = [0, 0] if restarted else last[2:]
        row = {"source": key[0], "zone": key[1], "hour": now[0][:13] + ":00Z",
               "wallclock": now[0], "frame": now[1], "in": now[2], "out": now[3],
               "add_in": now[2] - counted[0], "add_out": now[3] - counted[1]}
        self.base.execute(ADD, row)
        self.base.execute(REMEMBER, row)


def count(path, lines):
    """Adds records. Returns the number of lines that are not records."""
    hours, skipped = Hours(path), 0
    for line in lines:
        try:
            hours.add(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):
            skipped += 1
            print(f"{lines.filename()}:{lines.filelineno()}: skipped: not a record of visionpublish",
                  file=sys.stderr)
    return skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", help="file, created if it does not exist")
    parser.add_argument("records", nargs="*", help="JSON lines of visionpublish; none: stdin")
    args = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with fileinput.input(args.records, encoding="utf-8", errors="replace") as lines:
            sys.exit(1 if count(args.database, lines) else 0)
    except sqlite3.Error as error:
        sys.exit(f"count-hours.py: {args.database}: {error}")
    except OSError as error:
        sys.exit(f"count-hours.py: {error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
