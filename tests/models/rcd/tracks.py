# SPDX-License-Identifier: LGPL-2.1-or-later
"""Provides true boxes of objects in videos, and measures a tracker's boxes.

A box is (x, y, width, height) in pixels, with its upper left corner at (x, y). A
track has a name, the initial box and the true boxes of later frames. Only the later
frames are measured.
"""
import json
import os
from dataclasses import dataclass
from typing import Callable

import cv2
import numpy as np

import generated_films
import hidden_films
import synthetic_film

DATA = '/usr/share/doc/opencv-doc/examples/data'
PEOPLE = os.path.join(os.path.dirname(__file__), '..', '..', 'data',
                      'vtest-people.json')
FACES = '/usr/share/opencv4/lbpcascades/lbpcascade_frontalface_improved.xml'
LOST_IOU = 0.1
MIN_VISIBLE = 0.5
MEGAMIND_LAST = 269
CUT = 20  # mean difference of grey values at a cut


@dataclass
class Track:
    name: str
    start: tuple      # the box in frame `first`
    first: int
    truth: dict       # frame: box, for frames after the first
    frames: Callable  # () -> pictures (BGR) from frame `first` on


def iou(a, b):
    """Returns the intersection over union of two boxes, or 0 if one is empty."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    if min(width, height, a[2], a[3], b[2], b[3]) <= 0:
        return 0.0
    common = width * height
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def judge(truth, boxes):
    """Returns the mean IoU and the number of lost frames of boxes {frame: box, None if lost}.
    Frames without a box count as lost, and lost frames as IoU 0."""
    fits = [0.0 if boxes.get(frame) is None else iou(box, boxes[frame])
            for frame, box in truth.items()]
    fits = [fit if fit >= LOST_IOU else 0.0 for fit in fits]
    return {'mean_iou': sum(fits) / len(fits), 'lost': fits.count(0.0),
            'judged': len(fits)}


def video_frames(path, first, last):
    """Returns the pictures of a video from frame first to last, inclusive."""
    film = cv2.VideoCapture(path)
    for frame in range(last + 1):
        good, picture = film.read()
        if not good:
            raise ValueError(f'{path} has no frame {frame}: install the '
                             'package opencv-doc')
        if frame >= first:
            yield picture


def people():
    """Returns tracks of three people in opencv-doc's vtest.avi, annotated by hand."""
    with open(PEOPLE, encoding='utf-8') as file:
        data = json.load(file)
    path = os.path.join(DATA, data['film'])
    return [person_track(path, person) for person in data['people']]


def person_track(path, person):
    truth = {b['frame']: (b['x'], b['y'], b['width'], b['height'])
             for b in person['boxes']}
    first, last = min(truth), max(truth)
    return Track(person['name'], truth.pop(first), first, truth,
                 lambda: video_frames(path, first, last))


def faces():
    """Returns tracks of the face in each scene of opencv-doc's Megamind.avi, with the detections of
    OpenCV's cascade as true boxes."""
    path = os.path.join(DATA, 'Megamind.avi')
    finder, before, scenes = cv2.CascadeClassifier(FACES), None, []
    for frame, picture in enumerate(video_frames(path, 0, MEGAMIND_LAST)):
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        if before is None or np.mean(cv2.absdiff(grey, before)) > CUT:
            scenes.append({})
        before = grey
        add_face(scenes[-1], frame, finder.detectMultiScale(
            grey, minNeighbors=10, minSize=(80, 80)))
    return [face_track(path, boxes) for boxes in scenes if len(boxes) > 1]


def add_face(boxes, frame, found):
    """Adds the first face or, later, the one nearest to the last one added."""
    last = boxes[max(boxes)] if boxes else None
    found = [tuple(map(int, box)) for box in found
             if last is None or iou(box, last) > LOST_IOU]
    if found:
        boxes[frame] = max(found, key=lambda box: iou(box, last or box))


def face_track(path, boxes):
    first, last = min(boxes), max(boxes)
    return Track(f'face at {first}', boxes.pop(first), first, boxes,
                 lambda: video_frames(path, first, last))


def synthetic():
    """Returns the track of the synthetic video, in frames where more than half of the object is
    visible."""
    places = [synthetic_film.place(frame)
              for frame in range(synthetic_film.FRAMES)]
    truth = {frame: box for frame, (box, visible) in enumerate(places)
             if frame > 0 and visible > MIN_VISIBLE}
    return Track('synthetic', places[0][0], 0, truth,
                 lambda: (picture for picture, _, _
                          in synthetic_film.frames()))


def hidden():
    """Returns tracks of videos with one occlusion, in later frames where more than half of the
    object is visible."""
    return [hidden_track(film) for film in hidden_films.FILMS]


def hidden_track(film):
    places = [film.place(frame) for frame in range(hidden_films.FRAMES)]
    gone = next(frame for frame, (_, seen) in enumerate(places) if seen == 0)
    truth = {frame: box for frame, (box, seen) in enumerate(places)
             if frame > gone and seen > MIN_VISIBLE}
    return Track(film.name, places[0][0], 0, truth, film.frames)


def generated():
    """Returns tracks of six videos of each kind, in frames where more than half of the object is
    visible."""
    return {kind: [generated_track(generated_films.Film(kind, seed))
                   for seed in range(6)] for kind in generated_films.KINDS}


def generated_track(film):
    places = map(film.place, range(generated_films.FRAMES))
    (start, _), *rest = places
    truth = {frame: box for frame, (box, seen) in enumerate(rest, 1)
             if seen > MIN_VISIBLE}
    return Track(film.name, start, 0, truth, film.frames)


def groups():
    """Returns all tracks: {group: [track ...]}."""
    return {'people': people(), 'faces': faces(), 'synthetic': [synthetic()],
            **generated()}
