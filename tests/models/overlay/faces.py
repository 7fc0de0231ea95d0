#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares fills of visionoverlay with NumPy's, and tests whether hidden faces are recognised.

usage: faces.py TEXTURES        with the program of tests/models/ldp/textures.c
       faces.py TEXTURES --all  prints a table of fills and cells

Recognition: the gallery has 100 faces of skimage's lfw_subset, one photograph each,
enlarged from 25 to 96 pixels. A query is one of these photographs, changed as if taken
again: turned, scaled, moved, brighter or darker, with more or less contrast and noise.
visionoverlay hides it (the region is the face's box), and the local derivative patterns
of the box are compared with those of all faces of the gallery, which are either clear or
hidden in the same way. With default settings, recognition must be no better than chance:

- Matched: the fraction of queries to which the right face is the most similar one (1/n
  if n faces are equally similar). Chance is 1/100; "no better" means not above the 99.9 %
  point of the binomial distribution.
- Preferred: how often the right face is more similar than a wrong one, over all pairs.
  Chance is 1/2; "no better" means not above it by 3.09 standard errors (99.9 %) over the
  100 faces.

As the same photograph is in the gallery, this is easier than recognising somebody in
another photograph. Where faces can be recognised, the test must show it: without a fill,
with fill-cells=16, and with regions that are parts of the face.

In colour frames every component is the face, and the descriptor uses all of them.
"""
import os
import subprocess
import sys
import tempfile

import cv2
import gi
import numpy as np
import skimage

gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import Gst, GstVideo

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'check'))
from checks import check, failures

FACE = 96
BORDER = 32  # pixels of the frame around the face
FRAME = FACE + 2 * BORDER
BOX = BORDER, BORDER, FACE, FACE
GRIDS = (4, 8)  # blocks of the descriptor
ROUNDS = 3  # queries of each face


class Overlay:
    """Hides regions of frames in which every component is the same picture."""

    def __init__(self, settings, pixels='GRAY8'):
        self.line = Gst.parse_launch(
            'appsrc name=in ! visionoverlay draw-boxes=false draw-labels=false '
            f'{settings} ! appsink name=out sync=false')
        self.source = self.line.get_by_name('in')
        self.sink = self.line.get_by_name('out')
        self.pixels, self.caps = pixels, None
        self.line.set_state(Gst.State.PLAYING)

    def rows_of(self, picture):
        """Returns the frame's rows of bytes; for NV12, the rows of luma and then those of
        chroma."""
        if self.pixels == 'RGB':
            return np.repeat(picture, 3, axis=1)
        if self.pixels == 'NV12':
            return np.vstack((picture, np.repeat(picture[::2, ::2], 2, axis=1)))
        return picture

    def pictures_of(self, rows, height):
        """Returns the components as pictures."""
        if self.pixels == 'RGB':
            return [rows[:, c::3] for c in range(3)]
        if self.pixels == 'NV12':
            chroma = [rows[height:, c::2].repeat(2, 0).repeat(2, 1) for c in range(2)]
            return [rows[:height]] + chroma
        return [rows]

    def hide(self, picture, *boxes):
        """Hides the boxes. Returns a picture for each component."""
        height, width = picture.shape
        if self.caps != (width, height):
            self.caps = width, height
            self.source.set_property('caps', Gst.Caps.from_string(
                f'video/x-raw,format={self.pixels},width={width},height={height},'
                'framerate=30/1'))
        rows = self.rows_of(picture)
        padded = np.zeros((len(rows), (rows.shape[1] + 3) // 4 * 4), np.uint8)
        padded[:, :rows.shape[1]] = rows
        buffer = Gst.Buffer.new_wrapped(padded.tobytes())
        for box in boxes:
            GstVideo.buffer_add_video_region_of_interest_meta(buffer, 'face', *box)
        self.source.emit('push-buffer', buffer)
        out = self.sink.emit('pull-sample').get_buffer()
        data = np.frombuffer(out.extract_dup(0, out.get_size()), np.uint8)
        return self.pictures_of(data.reshape(padded.shape)[:, :rows.shape[1]], height)

    def stop(self):
        self.line.set_state(Gst.State.NULL)


# ---- against NumPy ----

def means_of(picture, left, top, cell, columns, rows):
    height, width = picture.shape
    means = np.zeros((rows, columns), int)
    for row in range(rows):
        for column in range(columns):
            x = max(min(left + column * cell, width - cell), 0)
            y = max(min(top + row * cell, height - cell), 0)
            part = picture[y:y + cell, x:x + cell].astype(int)
            means[row, column] = (2 * part.sum() + part.size) // (2 * part.size)
    return means


def between(n, cell, cells):
    """Returns the indices of the cells before and after each sample, and its position between
    them."""
    place = (2 * np.arange(n) + 1) * 128 // cell + 128
    return (np.clip(place // 256 - 1, 0, cells - 1), np.clip(place // 256, 0, cells - 1),
            place % 256)


def expected(picture, box, fill, shape, margin, cells):
    """Fills a picture as docs/definitions/overlay.md defines."""
    x, y, w, h = box
    height, width = picture.shape
    if shape == 'ellipse':
        margin = max(margin, 0.20711)
    mx, my = int(np.ceil(w * margin)), int(np.ceil(h * margin))
    x, y, w, h = x - mx, y - my, w + 2 * mx, h + 2 * my
    left, top = max(x, 0) // 2 * 2, max(y, 0) // 2 * 2
    right, bottom = min(x + w, width), min(y + h, height)
    cell = max(w, h) // cells + 1
    cell = max(min(cell + cell % 2, max(width, height) + max(width, height) % 2), 8)
    columns, rows = -(-(right - left) // cell), -(-(bottom - top) // cell)
    means = means_of(picture, left, top, cell, columns, rows)
    if fill == 'pixelate':
        new = means[np.arange(bottom - top) // cell][:, np.arange(right - left) // cell]
    else:
        i, j, f = between(right - left, cell, columns)
        across = (means[:, i] * (256 - f) + means[:, j] * f + 128) // 256
        i, j, f = between(bottom - top, cell, rows)
        f = f[:, None]
        new = (across[i] * (256 - f) + across[j] * f + 128) // 256
    column, row = np.arange(width)[None, :], np.arange(height)[:, None]
    hidden = (column >= x) & (column < x + w) & (row >= y) & (row < y + h)
    if shape == 'ellipse':
        dx, dy = 2 * (column - x) + 1 - w, 2 * (row - y) + 1 - h
        hidden &= dx * dx * h * h + dy * dy * w * w <= w * w * h * h
    whole = picture.copy()
    whole[top:bottom, left:right] = new
    return np.where(hidden, whole, picture)


def test_definition():
    random = np.random.default_rng(5)
    for fill in ('blur', 'pixelate'):
        for shape in ('rectangle', 'ellipse'):
            for margin, cells in ((0.25, 2), (0, 8), (0.1, 16), (0.5, 1)):
                overlay = Overlay(f'fill={fill} fill-shape={shape} fill-margin={margin} '
                                  f'fill-cells={cells} hold-regions=0')
                for _ in range(10):
                    width, height = random.integers(9, 200, 2)
                    picture = random.integers(0, 256, (height, width), np.uint8)
                    box = (*random.integers(0, (width, height)), *random.integers(1, 200, 2))
                    box = [int(b) for b in box]
                    same = np.array_equal(overlay.hide(picture, box)[0], expected(
                        picture, box, fill, shape, margin, cells))
                    check(same, f'{fill} {shape} {margin} {cells} of {width}x{height}: {box}')
                overlay.stop()


def test_one_cell():
    """By default a region has a single value, that of its only cell, with every fill."""
    random = np.random.default_rng(6)
    blur, pixelate = (Overlay(f'fill={fill} hold-regions=0') for fill in ('blur', 'pixelate'))
    for _ in range(100):
        width, height = (int(n) for n in random.integers(100, 200, 2))
        picture = random.integers(0, 256, (height, width), np.uint8)
        x, y, w, h = box = [int(n) for n in (*random.integers(0, 90, 2),
                                             *random.integers(1, 60, 2))]
        one, other = blur.hide(picture, box)[0], pixelate.hide(picture, box)[0]
        check(np.array_equal(one, other), f'blur and pixelate differ at {box}')
        check(np.ptp(one[y:y + h, x:x + w]) == 0, f'more than one value in {box}')
    blur.stop()
    pixelate.stop()


# ---- recognition ----

def in_frame(face):
    return cv2.copyMakeBorder(face, *[BORDER] * 4, cv2.BORDER_REPLICATE)


def in_box(frames):
    return [frame[BORDER:BORDER + FACE, BORDER:BORDER + FACE] for frame in frames]


def photographed_again(face, random):
    turn = cv2.getRotationMatrix2D((FRAME / 2, FRAME / 2), random.uniform(-6, 6),
                                   random.uniform(0.95, 1.05))
    turn[:, 2] += random.uniform(-3, 3, 2)
    frame = cv2.warpAffine(in_frame(face).astype(np.float32), turn, (FRAME, FRAME),
                           flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    frame = frame * random.uniform(0.8, 1.2) + random.uniform(-15, 15)
    return np.clip(np.rint(frame + random.normal(0, 2, frame.shape)), 0, 255).astype(np.uint8)


def similarities(program, queries, gallery, grid, folder):
    """Returns similarities by local derivative patterns of order 2, with a row for each query."""
    files = []
    for i, picture in enumerate(queries + gallery):
        files.append(os.path.join(folder, f'{i}.pgm'))
        with open(files[-1], 'wb') as file:
            file.write(b'P5 %d %d 255\n' % picture.shape[::-1]
                       + np.ascontiguousarray(picture).tobytes())
    out = subprocess.run([program, 'match', '2', str(grid), str(len(queries))] + files,
                         check=True, stdout=subprocess.PIPE).stdout
    return np.array(out.split(), float).reshape(len(queries), -1)


def matched(table):
    best = table == table.max(1, keepdims=True)
    return (np.diag(best) / best.sum(1)).sum()


def preferred(table):
    """Returns for each query the fraction of wrong faces that are less similar than the right
    one."""
    own, n = np.diag(table)[:, None], len(table)
    wins = (own > table) + 0.5 * (own == table)
    return (wins.sum(1) - 0.5) / (n - 1)


def most_by_chance(trials, p, confidence):
    """Returns a quantile of the binomial distribution."""
    term, total, k = (1 - p) ** trials, 0, 0
    while True:
        total += term
        if total >= confidence:
            return k
        term *= (trials - k) / (k + 1) * p / (1 - p)
        k += 1


class Recognition:
    def __init__(self, program, folder):
        faces = np.load(os.path.join(os.path.dirname(skimage.__file__), 'data',
                                     'lfw_subset.npy'))[:100]
        random = np.random.default_rng(1)
        self.program, self.folder = program, folder
        self.gallery = [cv2.resize(np.rint(face * 255).astype(np.uint8), (FACE, FACE),
                                   interpolation=cv2.INTER_CUBIC) for face in faces]
        self.queries = [photographed_again(face, random) for _ in range(ROUNDS)
                        for face in self.gallery]

    def run(self, settings, grid=8, hide_gallery=False, boxes=(BOX,), pixels='GRAY8',
            rounds=ROUNDS):
        """Returns whether recognition is better than chance, and the fraction that is matched."""
        overlay = Overlay(settings, pixels)
        clear = overlay if hide_gallery else Overlay('fill=none', pixels)
        gallery = [in_box(clear.hide(in_frame(face), *boxes)) for face in self.gallery]
        queries = [in_box(overlay.hide(query, *boxes))
                   for query in self.queries[:rounds * len(gallery)]]
        overlay.stop()
        clear.stop()
        table = sum(similarities(self.program, [query[c] for query in queries],
                                 [face[c] for face in gallery], grid, self.folder)
                    for c in range(len(gallery[0])))
        tables = np.split(table, rounds)
        matches = sum(matched(table) for table in tables)
        faces = np.mean([preferred(table) for table in tables], axis=0)
        error = faces.std(ddof=1) / len(faces) ** 0.5
        limit = most_by_chance(len(queries), 1 / len(gallery), 0.999)
        better = matches > limit or faces.mean() > 0.5 + 3.09 * error
        print('%-22s %s, regions: %d, %d x %d blocks%s: matched %3.0f of %d (chance: up to %d), '
              'preferred %.3f (+- %.3f)%s'
              % (settings, pixels, len(boxes), grid, grid, ', hidden gallery' * hide_gallery,
                 matches, len(queries), limit, faces.mean(), error,
                 ' *' if better else ''), flush=True)
        return better, matches / len(queries)

    def expect_chance(self, settings, **how):
        better, _ = self.run(settings, **how)
        check(not better, f'{settings} {how} is recognised')

    def expect_recognised(self, settings, least, **how):
        better, fraction = self.run(settings, **how)
        check(better and fraction > least, f'{settings} {how} is not recognised')


def test_recognition(recognition):
    for grid in GRIDS:
        recognition.expect_recognised('fill=none', 0.75, grid=grid, rounds=1)
        recognition.expect_chance('fill=blur', grid=grid, rounds=1)
    recognition.expect_chance('fill=pixelate', rounds=1)
    recognition.expect_recognised('fill=blur fill-cells=16', 0.25, rounds=1)
    how = {'hide_gallery': True, 'rounds': 1}
    for fill in ('blur', 'pixelate'):
        recognition.expect_recognised(f'fill={fill} fill-cells=16', 0.5, **how)
        recognition.expect_chance(f'fill={fill}', **how)
    recognition.expect_chance('fill=solid', **how)


def test_parts_of_the_face(recognition):
    """Hides parts of the face, alone, and listed after and before the region of the whole face."""
    parts = [(BORDER + 6 + 30 * (i % 3), BORDER + 2 + 22 * (i // 3), 24, 24)
             for i in range(10)]
    how = {'hide_gallery': True, 'rounds': 1}
    recognition.expect_recognised('fill=blur', 0.25, boxes=parts, **how)
    recognition.expect_chance('fill=blur', boxes=[BOX] + parts, **how)
    recognition.expect_chance('fill=blur', boxes=parts + [BOX], **how)


def test_colour(recognition):
    for pixels in ('RGB', 'NV12'):
        how = {'hide_gallery': True, 'pixels': pixels, 'rounds': 1}
        recognition.expect_recognised('fill=none', 0.75, **how)
        recognition.expect_chance('fill=blur', **how)


def print_table(recognition):
    for fill in ('blur', 'pixelate'):
        for cells in (1, 2, 3, 4, 6, 8, 12, 16):
            for hide_gallery in (False, True):
                recognition.run(f'fill={fill} fill-cells={cells}', hide_gallery=hide_gallery)


Gst.init(None)
with tempfile.TemporaryDirectory() as temporary:
    if '--all' in sys.argv:
        print_table(Recognition(sys.argv[1], temporary))
    else:
        test_definition()
        test_one_cell()
        recognition = Recognition(sys.argv[1], temporary)
        test_recognition(recognition)
        test_parts_of_the_face(recognition)
        test_colour(recognition)
sys.exit(failures() > 0)
