#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures the accuracy of OpenCV's trackers on three people and a synthetic video.

usage: peers.py                  prints JSON lines: for each tracker and track the mean IoU, lost
                                 frames and milliseconds per frame; for each tracker the mean
                                 over the people; and the median of these means
       peers.py --groups [NAME]  prints the mean IoU of groups of videos for one tracker, CSRT
                                 by default

All trackers start from the same boxes. tracks.py defines the measures. MIL is randomised: its
values are means of several runs, with the extremes of IoU.
"""
import json
import statistics
import sys
import time

import cv2

import tracks

RUNS = {'MIL': 9, 'KCF': 1, 'CSRT': 1}


def makers():
    """Returns the trackers of this OpenCV, some of which are in its legacy module."""
    legacy = getattr(cv2, 'legacy', None)
    found = {name: getattr(cv2, f'Tracker{name}_create', None)
             or getattr(legacy, f'Tracker{name}_create', None)
             for name in RUNS}
    return {name: make for name, make in found.items() if make}


def follow(make, track):
    """Returns boxes {frame: box, None if lost} and milliseconds per frame."""
    tracker, boxes, spent = make(), {}, 0.0
    for frame, picture in enumerate(track.frames(), track.first):
        start = time.perf_counter()
        if frame == track.first:
            tracker.init(picture, tuple(round(side) for side in track.start))
        else:
            good, box = tracker.update(picture)
            boxes[frame] = box if good else None
        spent += time.perf_counter() - start
    return boxes, 1e3 * spent / (len(boxes) + 1)


def measure(name, make, track):
    """Prints the tracker's results; returns its mean IoU."""
    results, times = [], []
    for _ in range(RUNS[name]):
        boxes, milliseconds = follow(make, track)
        results.append(tracks.judge(track.truth, boxes))
        times.append(milliseconds)
    ious = [result['mean_iou'] for result in results]
    mean = statistics.mean(ious)
    show(tracker=name, track=track.name, runs=RUNS[name], mean_iou=mean,
         worst=min(ious), best=max(ious),
         lost=statistics.mean(result['lost'] for result in results),
         judged=len(track.truth), ms_per_frame=statistics.median(times))
    return mean


def show_groups(name='CSRT'):
    """Prints the mean IoU of each group, and milliseconds per frame."""
    for group, all_tracks in tracks.groups().items():
        ious, times = [], []
        for track in all_tracks:
            boxes, milliseconds = follow(makers()[name], track)
            ious.append(tracks.judge(track.truth, boxes)['mean_iou'])
            times.append(milliseconds)
        print(f'| {group} | {statistics.mean(ious):.2f} '
              f'| {statistics.median(times):.1f} |', flush=True)


def show(**values):
    print(json.dumps({key: round(value, 4) if isinstance(value, float)
                      else value for key, value in values.items()}),
          flush=True)


def main():
    if sys.argv[1:2] == ['--groups']:
        show_groups(*sys.argv[2:3])
        return
    show(opencv=cv2.__version__, threads=cv2.getNumThreads())
    people, means = tracks.people(), {}
    for name, make in makers().items():
        means[name] = statistics.mean(measure(name, make, person)
                                      for person in people)
        measure(name, make, tracks.synthetic())
        show(tracker=name, track='mean of the people', mean_iou=means[name])
    missing = [name for name in RUNS if name not in means]
    if missing:
        show(missing=missing)
    else:
        show(track='median of the means',
             mean_iou=statistics.median(means.values()))


if __name__ == '__main__':
    main()
