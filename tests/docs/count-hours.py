#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests examples/count-hours.py with made-up records of pipelines that start again, of readers that
are killed, and of files that are read twice.

usage: count-hours.py COUNT-HOURS.PY
"""

import collections
import datetime
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import unittest

START = datetime.datetime(2026, 3, 1, 22, 50)


def record(source, number, time, counts):
    zones = [{"zone": zone, "type": "line", "inside": 0, "in": n_in, "out": n_out}
             for zone, (n_in, n_out) in counts.items()]
    return json.dumps({"frame_num": number, "source": source, "zones": zones,
                       "wallclock": time.isoformat(timespec="microseconds") + "Z"})


def random_runs(numbers, source, zones):
    """Returns the records of several runs, and what they count: (hour, source, zone) -> [in, out]."""
    lines, truth, time = [], collections.defaultdict(lambda: [0, 0]), START
    for _ in range(numbers.randrange(2, 5)):
        counts = {zone: [0, 0] for zone in zones}
        for number in range(numbers.randrange(3, 60)):
            time += datetime.timedelta(seconds=numbers.randrange(1, 300))
            for zone, count in counts.items():
                direction, n = numbers.randrange(2), numbers.choice([0, 0, 1, 2])
                if number > 0:  # counts are 0 in the first frame
                    count[direction] += n
                    truth[time.strftime("%Y-%m-%dT%H:00Z"), source, zone][direction] += n
            lines.append(record(source, number, time, counts))
        time += datetime.timedelta(seconds=numbers.randrange(7200))
    return lines, truth


class Hours(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = os.path.join(folder.name, "counts.db")
        self.folder = folder.name

    def count(self, lines, *files):
        text = None if files else "".join(line + "\n" for line in lines)
        return subprocess.run([PROGRAM, self.base, *files], input=text, text=True,
                              capture_output=True, check=False)

    def rows(self):
        with sqlite3.connect(self.base) as base:
            found = base.execute("select hour, source, zone, count_in, count_out from counts")
            return {tuple(row[:3]): list(row[3:]) for row in found if any(row[3:])}

    def write(self, name, lines):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
        return path

    def test_runs(self):
        """Every count is in its hour once, however often records are read."""
        seed = int(os.environ.get("CUV_TEST_SEED", random.randrange(10**6)))
        print(f"seed {seed}")
        numbers = random.Random(seed)
        door, truth = random_runs(numbers, "door", ["in", "exit"])
        yard, more = random_runs(numbers, "yard", ["in"])
        truth = {key: value for key, value in (truth | more).items() if any(value)}
        files = self.write("door.jsonl", door), self.write("yard.jsonl", yard)
        for part in range(3):  # readers that end somewhere
            self.assertEqual(self.count(door[:len(door) * part // 3]).returncode, 0)
        for _ in range(2):
            self.assertEqual(self.count([], *files).returncode, 0)
            self.assertEqual(self.rows(), truth)
        self.assertGreater(len({hour for hour, _, _ in truth}), 1)

    def test_missed_records(self):
        """A reader that was away counts what it missed, also the beginning of a run."""
        self.count([record("door", 70, START, {"a": [5, 1]})])
        self.count([record("door", 90, START + datetime.timedelta(minutes=1), {"a": [7, 1]})])
        self.count([record("door", 30, START + datetime.timedelta(minutes=2), {"a": [9, 1]})])
        self.assertEqual(self.rows(), {("2026-03-01T22:00Z", "door", "a"): [16, 2]})

    def test_bad_lines(self):
        """Lines that are not records are reported, and of a broken record nothing counts."""
        broken = json.loads(record("door", 1, START, {"a": [1, 1], "b": [1, 1]}))
        del broken["zones"][1]["in"]
        after = START + datetime.timedelta(seconds=1)
        run = self.count(["{", "5", json.dumps(broken), '{"frame_num": 1}',
                          record("door", 2, after, {"a": [1, 1], "b": [1, 0]})])
        self.assertEqual(run.returncode, 1)
        self.assertEqual([line.split(":")[1] for line in run.stderr.splitlines()], ["1", "2", "3"])
        self.assertEqual(self.rows(), {("2026-03-01T22:00Z", "door", "a"): [1, 1],
                                       ("2026-03-01T22:00Z", "door", "b"): [1, 0]})

    def test_errors(self):
        for files, words in ((["/nowhere"], "/nowhere: No such file"), ([self.folder], "directory")):
            run = self.count([], *files)
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1))
            self.assertIn(words, run.stderr)
        with open(self.base, "w", encoding="ascii") as file:
            file.write("not a database, but long enough to look like one" * 100)
        self.assertIn("counts.db: file is not a database", self.count([]).stderr)
        self.assertEqual(subprocess.run([PROGRAM], capture_output=True, check=False).returncode, 2)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
