#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the objects that a camera sees. The key q ends it."""
import argparse, cuvision, cv2, sys

arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument("model", nargs="?", default="haarcascade_frontalface_alt2.xml")
arguments.add_argument("source", nargs="?", default="0", help="number of a camera, or a video")
options = arguments.parse_args()
classifier = cuvision.CascadeClassifier(options.model)
if classifier.empty():
    sys.exit(f"webcam.py: {classifier.error}")
source = int(options.source) if options.source.isdecimal() else options.source
camera = cv2.VideoCapture(source)
if not camera.isOpened():
    sys.exit(f"webcam.py: cannot open '{source}': is it a camera's number or a video?")
while True:
    ok, picture = camera.read()
    if not ok:
        break
    for x, y, w, h in classifier.detectMultiScale(picture, minSize=(40, 40)):
        cv2.rectangle(picture, (x, y), (x + w, y + h), (0, 255, 0), 2)
    cv2.imshow("cuvision", picture)
    if cv2.waitKey(1) == ord("q"):
        break
