#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times OpenCV's detectMultiScale and ours with the same picture, model, scales and
threads.

usage: bench-opencv.py DETECT [PICTURE [MODEL...]]

Without PICTURE: 1920x1080, a frame of opencv-doc's vtest.avi with faces of
skimage's astronaut. Both get the picture in grey, so that both do the same work.
Without MODEL: a face model with LBP and one with Haar features. Prints JSON lines:
milliseconds of the fastest of 15 rounds and the ratio."""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np

MODELS = ['/usr/share/opencv4/lbpcascades/lbpcascade_frontalface_improved.xml',
          '/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml']
VIDEO = '/usr/share/doc/opencv-doc/examples/data/vtest.avi'
FACTOR = 1.1
ROUNDS = 15


def make_picture():
    import skimage
    folder = os.path.join(os.path.dirname(skimage.__file__), 'data')
    face = cv2.imread(os.path.join(folder, 'astronaut.png'))[20:240, 100:320]
    video = cv2.VideoCapture(VIDEO)
    for _ in range(60):
        ok, frame = video.read()
        assert ok, VIDEO
    picture = cv2.resize(frame, (1920, 1080), interpolation=cv2.INTER_CUBIC)
    random = np.random.RandomState(7)
    for _ in range(14):
        size = random.randint(40, 260)
        x, y = random.randint(0, 1920 - size), random.randint(0, 1080 - size)
        picture[y:y + size, x:x + size] = cv2.resize(
            face, (size, size), interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)


def time_opencv(grey, model, threads):
    cv2.setNumThreads(threads)
    cascade = cv2.CascadeClassifier(model)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        cascade.detectMultiScale(grey, FACTOR, 3)
        times.append((time.perf_counter() - start) * 1e3)
    return min(times[1:])


def time_ours(detect, path, model, threads, mask):
    out = subprocess.run(
        [detect, 'time', model, path, str(FACTOR), str(threads), str(ROUNDS)],
        check=True, capture_output=True, text=True,
        env=dict(os.environ, CUV_CPU_MASK=mask)).stdout
    return min([float(line) for line in out.split()][1:])


def main():
    detect = sys.argv[1]
    if len(sys.argv) > 2:
        grey = cv2.imread(sys.argv[2], cv2.IMREAD_GRAYSCALE)
    else:
        grey = make_picture()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'picture.pgm')
        cv2.imwrite(path, grey)
        for model, threads in itertools.product(sys.argv[3:] or MODELS, (1, 2)):
            theirs = time_opencv(grey, model, threads)
            for name, mask in (('c', '0'), ('avx2', '0xffffffff')):
                ours = time_ours(detect, path, model, threads, mask)
                print(json.dumps({
                    'model': os.path.basename(model), 'version': name,
                    'width': grey.shape[1], 'height': grey.shape[0],
                    'threads': threads, 'opencv_ms': round(theirs, 1),
                    'ours_ms': round(ours, 1),
                    'ratio': round(theirs / ours, 2)}), flush=True)


if __name__ == '__main__':
    main()
