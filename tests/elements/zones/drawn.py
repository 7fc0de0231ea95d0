#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A face that is drawn into frames walks to and fro; waldboostdetect finds it, visiontrack follows
it, and visionzones counts its crossings, which are those of the path."""
import json
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', '..', 'check'))
from checks import check, failures

WIDTH, HEIGHT, SIZE = 320, 180, 80
MODEL = 'haarcascade_frontalface_alt2.xml'
ZONES = {'units': 'pixels', 'zones': [
    {'name': 'line', 'anchor': 'center', 'line': [[160, 180], [160, 0]]},
    {'name': 'right', 'anchor': 'center', 'polygon': [[220, 0], [320, 0], [320, 180], [220, 180]]}]}
STOPS = [60, 250, 130, 250]  # columns of the face's middle, 3 pixels per frame


def face():
    """Returns the face in the first frame of Megamind.avi that is annotated."""
    with open(os.path.join(HERE, '../../data/megamind-face.json'), encoding='utf-8') as file:
        box = json.load(file)['boxes'][0]
    video = cv2.VideoCapture('/usr/share/doc/opencv-doc/examples/data/Megamind.avi')
    video.set(cv2.CAP_PROP_POS_FRAMES, box['frame'])
    picture = cv2.cvtColor(video.read()[1], cv2.COLOR_BGR2GRAY)
    x, y, side = box['x'] - 20, box['y'], box['width'] + 40
    return cv2.resize(picture[y:y + side, x:x + side], (SIZE, SIZE), interpolation=cv2.INTER_AREA)


def columns():
    path = [np.arange(a, b, 3 if a < b else -3) for a, b in zip(STOPS, STOPS[1:])]
    return np.concatenate(path)


def play(folder):
    picture = face()
    with open(folder + '/video', 'wb') as video:
        for x in columns():
            frame = np.full((HEIGHT, WIDTH), 120, np.uint8)
            frame[50:50 + SIZE, x - SIZE // 2:x + SIZE // 2] = picture
            video.write(frame.tobytes())
    with open(folder + '/zones.json', 'w', encoding='ascii') as file:
        json.dump(ZONES, file)
    subprocess.run(
        ['gst-launch-1.0', '-q', 'filesrc', 'location=video', f'blocksize={WIDTH * HEIGHT}',
         '!', 'rawvideoparse', 'format=gray8', f'width={WIDTH}', f'height={HEIGHT}',
         'framerate=25/1', '!', 'waldboostdetect', f'model={MODEL}', 'label=face',
         '!', 'visiontrack', 'begin=0.5', '!', 'visionzones', 'zones-location=zones.json',
         '!', 'visionpublish', 'file-path=records.jsonl', '!', 'fakesink'],
        cwd=folder, check=True)
    with open(folder + '/records.jsonl', encoding='utf-8') as file:
        return [json.loads(line) for line in file]


with tempfile.TemporaryDirectory() as scratch:
    records = play(scratch)
totals = {zone['zone']: (zone['in'], zone['out']) for zone in records[-1]['zones']}
print(len(records), 'frames,', totals)
check(len(records) == len(columns()), 'one record per frame')
# seen from the line's first point, which is below, left is in
check(totals['line'] == (1, 2), 'crossings of the line')
check(totals['right'] == (2, 1), 'visits of the polygon')
sys.exit(failures() > 0)
