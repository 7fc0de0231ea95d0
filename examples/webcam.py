#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows the objects that a camera sees: webcam.py [MODEL [CAMERA OR VIDEO]]. The key q ends it."""
import cuvision, cv2, sys

model, source = (sys.argv[1:] + ["haarcascade_frontalface_alt2.xml", "0"][len(sys.argv) - 1:])[:2]
classifier = cuvision.CascadeClassifier(model)
if classifier.empty():
    sys.exit(f"webcam.py: {classifier.error}")
camera = cv2.VideoCapture(int(source) if source.isdecimal() else source)
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
