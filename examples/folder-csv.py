#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the objects in all pictures of folders as CSV: folder-csv.py MODEL FOLDER... > objects.csv"""
import csv, cuvision, cv2, os, sys

if len(sys.argv) < 3:
    sys.exit(__doc__)
classifier = cuvision.CascadeClassifier(sys.argv[1])
if classifier.empty():
    sys.exit(f"folder-csv.py: {classifier.error}")
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(["file", "x", "y", "width", "height", "windows"])
for top in sys.argv[2:]:
    if not os.path.isdir(top):
        sys.exit(f"folder-csv.py: '{top}' is not a folder")
    for folder, folders, files in os.walk(top):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            picture = cv2.imread(path) if cv2.haveImageReader(path) else None
            if picture is None:
                print(f"skipped: {path} is not a picture", file=sys.stderr)
                continue
            boxes, windows = classifier.detectMultiScale2(picture)
            out.writerows([path, *box, n] for box, n in zip(boxes, windows))
