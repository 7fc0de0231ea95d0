#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks tests/data/vtest-crossings.json, a count by eye, against the video: at each crossing
something that is not background stands on the line, and in most of them more of it is below the
line before a crossing upwards, or after one downwards. --sheet writes a still of each crossing, to check by eye.

usage: crossings.py [--sheet PICTURE]
"""
import argparse
import json
import os
import sys

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..', 'check'))
from checks import check, failures

VIDEOS = '/usr/share/doc/opencv-doc/examples/data/'
RATE = 10  # frames per second
TILE = 120, 150  # width and height of a still
COLUMNS = 8
MOTION = 30  # grey levels
PRESENT = 0.15  # share of foreground from which somebody is there
ABOVE, BELOW = 50, 14  # rows that are compared


def load(path):
    video, frames = cv2.VideoCapture(path), []
    while (frame := video.read()[1]) is not None:
        frames.append(frame)
    return frames


class Foreground:
    """What differs from the median picture, above and below the line."""
    def __init__(self, frames, line):
        self.top = line - ABOVE
        self.grey = [cv2.cvtColor(frame[self.top:line + BELOW], cv2.COLOR_BGR2GRAY)
                     for frame in frames]
        self.background = np.median(self.grey[::25], axis=0).astype(np.uint8)

    def share(self, frame, rows, columns):
        """Returns which part of a rectangle differs."""
        part = np.s_[rows[0] - self.top:rows[1] - self.top, max(columns[0], 0):columns[1]]
        return np.mean(cv2.absdiff(self.grey[frame][part], self.background[part]) > MOTION)

    def at(self, line, frame, x):
        return self.share(frame, (line - ABOVE, line), (x - 10, x + 10))

    def below(self, line, frame, x):
        """Returns the share below the line, where most of it is."""
        return max(self.share(frame, (line + 2, line + BELOW), (x + step - 30, x + step + 30))
                   for step in (-20, 0, 20))


def has_direction(foreground, line, frame, crossing):
    before, after = (foreground.below(line, frame + step, crossing['x']) for step in (-6, 6))
    return before > after if crossing['direction'] == 'up' else before < after


def check_crossings(foreground, line, crossings):
    """At the same place, three seconds before and after, there is rarely somebody. The direction
    is not visible where people pass each other."""
    n_other, n_directions = 0, 0
    for crossing in crossings:
        frame, x = round(crossing['second'] * RATE), crossing['x']
        check(foreground.at(line, frame, x) > PRESENT, f'somebody is on the line: {crossing}')
        others = [t for t in (frame - 30, frame + 30) if 0 <= t < len(foreground.grey)]
        n_other += sum(foreground.at(line, t, x) > PRESENT for t in others) / len(others)
        n_directions += has_direction(foreground, line, frame, crossing)
    print(f'{len(crossings)} crossings, {n_directions} with a visible direction, '
          f'{n_other:.1f} at another time')
    check(n_other < len(crossings) / 4, 'nobody is there at another time')
    check(n_directions > len(crossings) * 0.8, 'the directions are right')


def sheet(frames, line, crossings):
    """Draws the line, the marked column and the time into a still of each crossing."""
    stills, (width, height) = [], TILE
    for number, crossing in enumerate(crossings, 1):
        picture, x = frames[round(crossing['second'] * RATE)].copy(), crossing['x']
        cv2.line(picture, (0, line), (picture.shape[1], line), (0, 255, 255))
        cv2.line(picture, (x, line), (x, line + 9), (0, 0, 255), 2)
        left = min(max(x - width // 2, 0), picture.shape[1] - width)
        still = picture[line - height + 30:line + 30, left:left + width].copy()
        text = f"{number}: {crossing['second']} {crossing['direction']}"
        cv2.putText(still, text, (3, height - 5), cv2.FONT_HERSHEY_SIMPLEX, 0.38, (0, 0, 160), 1,
                    cv2.LINE_AA)
        stills.append(still)
    return np.vstack([np.hstack(stills[i:i + COLUMNS]) for i in range(0, len(stills), COLUMNS)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--sheet', metavar='PICTURE')
    options = parser.parse_args()
    with open(os.path.join(HERE, '..', 'data', 'vtest-crossings.json'), encoding='utf-8') as file:
        data = json.load(file)
    frames, line = load(VIDEOS + data['film']), data['line'][0][1]
    if options.sheet:
        cv2.imwrite(options.sheet, sheet(frames, line, data['crossings']),
                    [cv2.IMWRITE_JPEG_QUALITY, 80])
        return
    check_crossings(Foreground(frames, line), line, data['crossings'])
    sys.exit(failures() > 0)


main()
