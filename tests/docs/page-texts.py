#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the buttons and panels that docs/visionwebsink.md names are texts of the page.

usage: page-texts.py SOURCE-FOLDER

Names of the page are emphasised and begin with a capital letter, as *Draw a box*.
"""

import glob
import os
import re
import sys

top = sys.argv[1]
texts = set()
for path in glob.glob(os.path.join(top, "elements/web/page/*.html")) \
        + glob.glob(os.path.join(top, "elements/web/page/*.js")):
    with open(path, encoding="utf-8") as file:
        for found in re.findall(r">([^<>]+)</|'([^'\n]+)'", file.read()):
            texts.add("".join(found).strip())
with open(os.path.join(top, "docs/visionwebsink.md"), encoding="utf-8") as file:
    page = re.sub(r"(?s)```.*?```|`[^`]*`", "", file.read())
names = {" ".join(name.split())
         for name in re.findall(r"(?<![*\w])\*([A-Z][^*]*)\*(?![*\w])", page)}
missing = sorted(names - texts)
for name in missing:
    print(f"docs/visionwebsink.md: the page has no text '{name}'")
print(f"{len(names)} names")
sys.exit(bool(missing) or len(names) < 20)  # fewer: they were not found
