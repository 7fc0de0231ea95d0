#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the lines of a picture or video: read-appsink.py FILE"""
import sys

import gstcuvision

if len(sys.argv) != 2:
    sys.exit(__doc__)
try:
    for sample in gstcuvision.samples(f"filesrc location={gstcuvision.quote(sys.argv[1])} ! decodebin "
                                      "! videoconvert ! houghlines ! appsink name=sink sync=false"):
        for line in gstcuvision.table(sample, "lines"):
            print(*(round(line[name]) for name in ("x1", "y1", "x2", "y2")), line["votes"])
except RuntimeError as error:
    sys.exit(str(error))
