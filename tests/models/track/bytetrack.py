# SPDX-License-Identifier: LGPL-2.1-or-later
"""ByteTrack after Zhang and others (ECCV 2022) in NumPy, with a filter of 8x8 matrices and
SciPy's assignment: what visiontrack is compared with."""
import numpy as np
from scipy.optimize import linear_sum_assignment

HIGH, LOW, BEGIN = 0.5, 0.1, 0.6
MATCH, MATCH_LOW, MATCH_NEW = 0.8, 0.5, 0.7
BUFFER = 30
DUPLICATE = 0.15


class Filter:
    """Constant velocity of x, y, aspect and height."""
    def __init__(self, xyah):
        h = xyah[3]
        self.mean = np.r_[xyah, np.zeros(4)]
        self.cov = np.diag(np.square([h / 10, h / 10, 1e-2, h / 10,
                                      h / 16, h / 16, 1e-5, h / 16]))

    def predict(self):
        h = self.mean[3]
        motion = np.eye(8) + np.eye(8, k=4)
        noise = np.square([h / 20, h / 20, 1e-2, h / 20, h / 160, h / 160, 1e-5, h / 160])
        self.mean = motion @ self.mean
        self.cov = motion @ self.cov @ motion.T + np.diag(noise)

    def update(self, xyah):
        h = self.mean[3]
        projected = self.cov[:4, :4] + np.diag(np.square([h / 20, h / 20, 1e-1, h / 20]))
        gain = np.linalg.solve(projected, self.cov[:4]).T
        self.mean = self.mean + gain @ (xyah - self.mean[:4])
        self.cov = self.cov - gain @ projected @ gain.T


def to_xyah(box):
    left, top, right, bottom = box
    return np.array([(left + right) / 2, (top + bottom) / 2,
                     (right - left) / (bottom - top), bottom - top])


class Track:
    def __init__(self, box, frame):
        self.filter = Filter(to_xyah(box))
        self.id, self.confirmed, self.lost = 0, False, False
        self.begun = self.last = frame
        self.detection = None

    def predict(self):
        if self.lost:
            self.filter.mean[7] = 0
        self.filter.predict()

    def box(self):
        x, y, aspect, h = self.filter.mean[:4]
        return np.array([x - aspect * h / 2, y - h / 2, x + aspect * h / 2, y + h / 2])


def overlaps(a, b):
    """Returns the IoU of each box of a with each box of b."""
    if len(a) == 0 or len(b) == 0:
        return np.zeros((len(a), len(b)))
    a, b = np.asarray(a, float)[:, None], np.asarray(b, float)[None]
    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    both = np.prod(np.maximum(sides, 0), axis=2)
    areas = [np.prod(x[..., 2:] - x[..., :2], axis=2) for x in (a, b)]
    return both / (areas[0] + areas[1] - both)


def assign(costs, limit):
    """Returns pairs of least cost, where none costs the limit, as lap.lapjv (cost_limit)."""
    n, m = costs.shape
    if n == 0 or m == 0:
        return []
    extended = np.full((n + m, n + m), limit / 2)
    extended[:n, :m] = costs
    extended[n:, m:] = 0
    rows, columns = linear_sum_assignment(extended)
    return [(r, c) for r, c in zip(rows, columns) if r < n and c < m and costs[r, c] <= limit]


class ByteTrack:
    def __init__(self, fuse=False, duplicates=False):
        self.fuse, self.duplicates = fuse, duplicates
        self.frame, self.ids = 0, 0
        self.tracks = []

    def confirm(self, track):
        self.ids += 1
        track.id, track.confirmed = self.ids, True

    def match(self, tracks, boxes, scores, columns, limit, fuse):
        """Returns the tracks and the columns that are left."""
        similar = overlaps([t.box() for t in tracks], boxes[columns])
        if fuse:
            similar = similar * scores[columns][None]
        pairs = assign(1 - similar, limit)
        for row, column in pairs:
            track, detection = tracks[row], columns[column]
            track.filter.update(to_xyah(boxes[detection]))
            track.detection, track.last, track.lost = detection, self.frame, False
            if not track.confirmed:
                self.confirm(track)
        taken = [{p[i] for p in pairs} for i in (0, 1)]
        return ([t for i, t in enumerate(tracks) if i not in taken[0]],
                [c for i, c in enumerate(columns) if i not in taken[1]])

    def drop_duplicates(self):
        found = [t for t in self.tracks if t.confirmed and not t.lost]
        lost = [t for t in self.tracks if t.lost]
        similar = overlaps([t.box() for t in found], [t.box() for t in lost])
        for i, k in zip(*np.nonzero(1 - similar < DUPLICATE)):
            a, b = found[i], lost[k]
            younger = b if a.last - a.begun > b.last - b.begun else a
            self.tracks = [t for t in self.tracks if t is not younger]

    def step(self, boxes, scores):
        """Tracks the boxes of a frame. Returns the tracks that were found."""
        boxes, scores = np.asarray(boxes, float).reshape(-1, 4), np.asarray(scores, float)
        self.frame += 1
        high = list(np.nonzero(scores >= HIGH)[0])
        low = list(np.nonzero((scores >= LOW) & (scores < HIGH))[0])
        confirmed = [t for t in self.tracks if t.confirmed]
        new = [t for t in self.tracks if not t.confirmed]
        for track in self.tracks:
            track.detection = None
            track.predict()
        left, high = self.match(confirmed, boxes, scores, high, MATCH, self.fuse)
        left, _ = self.match([t for t in left if not t.lost], boxes, scores, low, MATCH_LOW,
                             False)
        for track in left:
            track.lost = True
        dropped, high = self.match(new, boxes, scores, high, MATCH_NEW, self.fuse)
        self.tracks = [t for t in self.tracks if t not in dropped
                       and self.frame - t.last <= BUFFER]
        for detection in high:
            if scores[detection] >= BEGIN:
                track = Track(boxes[detection], self.frame)
                track.detection = detection
                if self.frame == 1:
                    self.confirm(track)
                self.tracks.append(track)
        if not self.duplicates:
            self.drop_duplicates()
        return [t for t in self.tracks if t.confirmed and t.detection is not None]
