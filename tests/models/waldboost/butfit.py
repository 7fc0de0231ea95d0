#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares windows and scores of WaldBoostClassifier models with those of brute force.

usage: butfit.py DETECT [--all]

Models are random; pictures are those of opencv-doc, and noise. If CUV_TEST_MODELS names a folder
with BUT FIT's faces-lrd.xml, FACES-LRD-sz24-a10-q09-train.xml and car-side-lrp.xml,
these are tested as well, and must find faces."""
import os
import random
import subprocess
import sys
import tempfile

import cv2
import numpy as np

import boosted
import brute
from boxes import overlap

DATA = '/usr/share/doc/opencv-doc/examples/data'
WINDOWS = (24, 24), (26, 26), (15, 9), (40, 16), (7, 33), (12, 12), (60, 50)
NO_LIMITS = (0, 0), (0, 0)
PROBE = 600  # number of windows from which thresholds are chosen


def grey_picture(name):
    picture = cv2.imread(os.path.join(DATA, name), cv2.IMREAD_COLOR)
    if picture is None:
        sys.exit(f'no {name}: install the package opencv-doc')
    return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)


def random_picture(rng, photo):
    width, height = rng.randint(20, 130), rng.randint(20, 100)
    kind = rng.choice(('photo', 'photo', 'noise', 'extreme', 'flat'))
    if kind == 'photo':
        x = rng.randrange(photo.shape[1] - width)
        y = rng.randrange(photo.shape[0] - height)
        return photo[y:y + height, x:x + width].copy()
    if kind == 'flat':
        return np.full((height, width), rng.randrange(256), np.uint8)
    values = np.random.RandomState(rng.getrandbits(32)).randint(
        0, 256, (height, width), np.uint8)
    return values if kind == 'noise' else values // 128 * np.uint8(255)


class Options:
    """Settings of a run, for the detector and brute force."""

    def __init__(self, rng, kind):
        self.scan = rng.choice(('auto', 'dense', 'dense', 'opencv', 'wbd'))
        self.octaves, self.per_octave = rng.choice(
            ((4, 8), (4, 8), (3, 5), (1, 1), (2, 3), (5, 2)))
        self.limits = rng.choice((NO_LIMITS, NO_LIMITS, ((20, 0), (0, 40)),
                                  ((35, 35), (60, 60))))
        self.fixed = rng.random() < .5
        self.block_value = 'sum' if kind == 'HAAR' else rng.choice(
            ('sum', 'sum', 'mean-trunc', 'mean-round'))
        self.swapped = kind == 'LRP' and rng.random() < .5
        self.final_threshold = 0.
        self.segments = rng.choice(((), (), (2,), (1, 3, 5, 7)))
        self.threads = rng.choice((1, 2, 3))
        self.mask = rng.choice(('0', '0xffffffff'))
        self.factor = rng.choice((1.1, 1.3))

    def words(self):
        (min_width, min_height), (max_width, max_height) = self.limits
        words = [f'scan={self.scan}', f'octaves={self.octaves}',
                 f'levels-per-octave={self.per_octave}',
                 f'arithmetic={"fixed" if self.fixed else "float"}',
                 f'block-value={self.block_value}',
                 f'lrp-order={"10ab" if self.swapped else "a10b"}',
                 f'final-threshold={self.final_threshold:.9g}',
                 f'scale-factor={self.factor}', f'threads={self.threads}']
        if self.segments:
            words.append('segments=' + ','.join(map(str, self.segments)))
        if self.scan in ('auto', 'dense'):
            words += [f'min-width={min_width}', f'min-height={min_height}',
                      f'max-width={max_width}', f'max-height={max_height}']
        return words

    def levels(self, model, grey):
        if self.scan == 'opencv':
            return brute.opencv_levels(model, grey, self.factor)
        if self.scan == 'wbd':
            return brute.wbd_levels(model, grey)
        return brute.dense_levels(model, grey, self.octaves, self.per_octave,
                                  self.limits)

    def segment_ends(self, n_weak):
        ends = self.segments or (1, 8, 64, 256, 512)
        return [end for end in ends if end < n_weak] + [n_weak]


class Detector:
    """Runs the program under test on one picture."""

    def __init__(self, program, folder, grey):
        self.program = program
        self.grey = grey
        self.path = os.path.join(folder, 'picture.pgm')
        cv2.imwrite(self.path, grey)

    def lines(self, options, *words):
        out = subprocess.run([self.program, *words, *options.words()],
                             capture_output=True, text=True, check=False,
                             env=dict(os.environ, CUV_CPU_MASK=options.mask))
        if out.returncode != 0:
            sys.exit(f'{words} {options.words()}: {out.stderr}')
        return [line.split() for line in out.stdout.splitlines()]

    def hits(self, model, options):
        """Returns the program's hits in the form of expected_hits()."""
        found = {'level': [], 'hit': []}
        numbers = {}
        for name, *values in self.lines(options, 'hits', model, self.path):
            if name == 'level':
                numbers[values[0]] = len(numbers)
                found[name].append(tuple(map(int, values[1:])))
            elif name == 'hit':
                found[name].append((numbers[values[0]], *map(int, values[1:3]),
                                    float.fromhex(values[3])))
            else:
                found[name] = list(map(int, values))
        return found

    def boxes(self, model, options, *words):
        dense = options.scan in ('auto', 'dense')
        low, high = options.limits if dense else NO_LIMITS
        lines = self.lines(options, 'run', model, self.path,
                           str(options.factor), '0', *map(str, low + high),
                           *words)
        return [tuple(map(int, line[:5])) for line in lines]


def expected_hits(model, levels, result, options):
    ends = options.segment_ends(len(model.weak))
    return {'level': [(level.width, level.height, level.step, level.across,
                       level.down) for level in levels],
            'hit': result.hits, 'windows': [result.windows],
            'weak': [int(result.alive[:-1].sum())],
            'survivors': [int(result.alive[end]) for end in ends[:-1]]
            + [len(result.hits)]}


def suppress(boxes, most, inside=1):
    """Does non-maximum suppression. Returns boxes by descending score, as x y width height and the
    number of boxes that each represents."""
    kept = []
    for box in sorted(boxes, key=lambda box: -box[4]):
        for other in kept:
            common = max(0, min(box[0] + box[2], other[0] + other[2])
                         - max(box[0], other[0])) * \
                max(0, min(box[1] + box[3], other[1] + other[3])
                    - max(box[1], other[1]))
            first, second = box[2] * box[3], other[2] * other[3]
            if (common / (first + second - common) > most
                    or common / min(first, second) > inside):
                other[4] += 1
                break
        else:
            kept.append([*box[:4], 1])
    return kept


def clip(box, grey):
    x, y, width, height, n = box
    return (x, y, min(x + width, grey.shape[1]) - x,
            min(y + height, grey.shape[0]) - y, n)


class Comparison:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.cases = self.hits = self.failures = 0

    def fail(self, *what):
        self.failures += 1
        print(*what, flush=True)

    def compare(self, path, grey, options):
        model = brute.read_model(path)
        levels = options.levels(model, grey)
        result = brute.evaluate(model, levels, options.fixed,
                                options.block_value, options.swapped,
                                options.final_threshold)
        detector = Detector(self.program, self.folder, grey)
        expected = expected_hits(model, levels, result, options)
        found = detector.hits(path, options)
        self.cases += 1
        self.hits += len(result.hits)
        for name, value in expected.items():
            if found[name] != value:
                wrong = [(a, b) for a, b in zip(value, found[name]) if a != b]
                self.fail(f'{os.path.basename(path)} {grey.shape}: {name}: '
                          f'{len(value)} of {len(found[name])}, {wrong[:3]}',
                          f'CUV_CPU_MASK={options.mask}', *options.words())
        self.compare_boxes(path, levels, result, options, detector)

    def compare_boxes(self, path, levels, result, options, detector):
        grey = detector.grey
        boxes = [(*levels[i].box(x, y), score)
                 for i, x, y, score in result.hits]
        cases = [(('grouping=none',), [(*box[:4], 1) for box in boxes])]
        if options.scan in ('auto', 'dense') and len(boxes) <= 1000:
            cases += [(('grouping=auto',), suppress(boxes, .3, .65)),
                      (('grouping=nms', 'nms-iou=0.55', 'nms-inside=1'),
                       suppress(boxes, .55))]
        for words, expected in cases:
            expected = [clip(box, grey) for box in expected]
            found = detector.boxes(path, options, *words)
            if found != expected:
                wrong = [(a, b) for a, b in zip(expected, found) if a != b]
                self.fail(f'{os.path.basename(path)} {grey.shape}: boxes: '
                          f'{len(expected)} of {len(found)}, {wrong[:3]}',
                          *words, *options.words())


# ---- random models ----


def choose_thresholds(rng, model, grey, options):
    """Sets thresholds, including the final one, to sums that occur, so that some windows
    survive."""
    level = brute.dense_levels(model, grey, 1, 1)[0]
    windows = brute.Windows(level)
    alive = np.arange(len(windows.x))
    alive = np.array(sorted(rng.sample(list(alive), min(PROBE, len(alive)))))
    sums, thresholds = np.zeros(len(alive), np.float32), []
    for weak in model.weak:
        at = brute.codes(windows, alive, model, weak.feature,
                         options.block_value, options.swapped)
        sums = sums + weak.table[at]
        threshold = None
        if rng.random() < .6:
            threshold = np.quantile(sums, rng.choice((.1, .2, .3)),
                                    method='lower')
            keep = ~(sums < threshold)
            alive, sums = alive[keep], sums[keep]
        elif rng.random() < .1:
            threshold = -4999.  # beyond the range of the integers
        thresholds.append(threshold)
    return thresholds, float(np.quantile(sums, .3, method='lower'))


def compare_random(comparison, everything):
    photo = grey_picture('messi5.jpg')
    kinds = ('LBP', 'LRD', 'LRP', 'HAAR')
    path = os.path.join(comparison.folder, 'model.xml')
    for seed in range(400 if everything else 112):
        rng = random.Random(seed)
        kind = kinds[seed % 4]
        grey = random_picture(rng, photo)
        window = WINDOWS[seed // 4 % len(WINDOWS)]
        size = rng.choice((.05, 1, 3, 40, 1000))
        stages = boosted.make_stages(rng, kind, window, rng.randint(1, 24),
                                     rng.choice((2, 5, 20)), size)
        options = Options(rng, kind)
        thresholds = [None] * len(stages)
        wrapped, least = rng.random() < .5, rng.choice((0, 3, 40))
        for _ in range(2):  # the first round has no thresholds, but chooses them
            with open(path, 'w', encoding='ascii') as file:
                file.write(boosted.write_butfit(kind, window, stages,
                                                thresholds, wrapped, least))
            if any(g <= w for g, w in zip(grey.shape[::-1], window)):
                break
            thresholds, final = choose_thresholds(
                rng, brute.read_model(path), grey, options)
            if rng.random() < .7:
                options.final_threshold = final
        comparison.compare(path, grey, options)


# ---- models of BUT FIT ----


FACES = 'faces-lrd.xml', 'FACES-LRD-sz24-a10-q09-train.xml'
OTHERS = 'car-side-lrp.xml',
# skimage's astronaut: her face is within these columns and rows.
ASTRONAUT = 165, 65, 125, 125
CASCADE = '/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml'


def read_astronaut():
    import skimage
    folder = os.path.join(os.path.dirname(skimage.__file__), 'data')
    return cv2.cvtColor(cv2.imread(os.path.join(folder, 'astronaut.png')),
                        cv2.COLOR_BGR2GRAY)


def video_frames(step):
    video = cv2.VideoCapture(os.path.join(DATA, 'Megamind.avi'))
    for i in range(270):
        ok, frame = video.read()
        assert ok, 'Megamind.avi'
        if i % step == step // 2:
            yield cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY)


def default_options(mask='0xffffffff'):
    options = Options(random.Random(0), 'HAAR')
    options.scan, options.limits = 'auto', NO_LIMITS
    options.octaves, options.per_octave = 4, 8
    options.fixed, options.segments, options.mask = True, (), mask
    return options


def strongest_box(comparison, path, grey):
    """Returns the program's first box; boxes are sorted by score."""
    boxes = Detector(comparison.program, comparison.folder, grey).boxes(
        path, default_options())
    return boxes[0][:4] if boxes else (0, 0, 1, 1)


def find_faces(comparison, path):
    """Checks the faces of the astronaut, of a photograph, and of a video in which OpenCV finds
    faces."""
    box = strongest_box(comparison, path, read_astronaut())
    if overlap(box, ASTRONAUT) < .5:
        comparison.fail(f'{path}: {box} is not the astronaut\'s face')
    cascade = cv2.CascadeClassifier(CASCADE)
    pictures = [grey_picture('messi5.jpg'), *video_frames(18)]
    found = 0
    for grey in pictures:
        faces = cascade.detectMultiScale(grey, 1.1, 4)
        box = strongest_box(comparison, path, grey)
        found += any(overlap(box, face) > .4 for face in faces)
    print(f'{os.path.basename(path)}: the strongest box is a face in {found} '
          f'of {len(pictures)} pictures')
    if found < .75 * len(pictures):
        comparison.fail(f'{path}: too few faces found')


def compare_real(comparison, folder):
    pictures = [read_astronaut()[40:220, 120:340], grey_picture('messi5.jpg')]
    for name in FACES + OTHERS:
        path = os.path.join(folder, name)
        for seed, grey in enumerate(pictures):
            for options in (default_options(), default_options('0'),
                            Options(random.Random(seed), 'LRD')):
                options.fixed = options.fixed and seed == 0
                if name in OTHERS:  # pictures without cars: accept all windows
                    options.final_threshold = -500.
                comparison.compare(path, grey, options)
    for name in FACES:
        find_faces(comparison, os.path.join(folder, name))


def main():
    everything = '--all' in sys.argv
    folder = os.environ.get('CUV_TEST_MODELS')
    with tempfile.TemporaryDirectory() as scratch:
        comparison = Comparison(sys.argv[1], scratch)
        compare_random(comparison, everything)
        if folder:
            compare_real(comparison, folder)
        else:
            print('CUV_TEST_MODELS is not set: BUT FIT\'s own models were '
                  'not run')
        print(f'{comparison.cases} cases, {comparison.hits} hits, '
              f'{comparison.failures} failures')
        if comparison.hits == 0:
            sys.exit('no hits: nothing was compared')
    sys.exit(comparison.failures > 0)


main()
