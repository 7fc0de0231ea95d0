# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a random WaldBoost model, in the format of BUT FIT's WaldBoostClassifier or of
OpenCV's WBDetector.

usage: boosted.py FILE SEED LBP|LRD|LRP|HAAR|WBD"""
import random
import sys

GRIDS = {'LBP': ('LBPFeature', 256), 'LRD': ('LRDFeature', 17),
         'LRP': ('LRP', 100)}
# Blocks across and down of each Haar feature.
HAAR = {'HaarHorizontalDoubleFeature': (2, 1),
        'HaarVerticalDoubleFeature': (1, 2),
        'HaarHorizontalTernalFeature': (3, 1),
        'HaarVerticalTernalFeature': (1, 3),
        'HaarDiagonalFeature': (2, 2), 'HaarSurroundFeature': (3, 3)}


def number(value):
    """Returns a text that is read back as the same float."""
    return f'{value:.9g}'


def place(rng, window, blocks, largest):
    """Returns attributes of blocks inside the window."""
    size = [rng.randint(1, min(largest, w // n))
            for w, n in zip(window, blocks)]
    at = [rng.randint(0, w - n * s) for w, n, s in zip(window, blocks, size)]
    return (f'positionX="{at[0]}" positionY="{at[1]}" '
            f'blockWidth="{size[0]}" blockHeight="{size[1]}"')


def grid_feature(rng, kind, window, largest):
    name, length = GRIDS[kind]
    text = f'<{name} {place(rng, window, (3, 3), largest)}'
    if kind != 'LBP':
        text += f' blockA="{rng.randint(0, 8)}" blockB="{rng.randint(0, 8)}"'
        if rng.random() < .5:
            text += ' blocksX="3" blocksY="3" binReductionFactor="1"'
    return text + ' />', length


def haar_feature(rng, window, largest):
    name = rng.choice(list(HAAR))
    bins = rng.randint(2, 30)
    low, high = -rng.uniform(.1, 2), rng.uniform(.1, 2)
    return (f'<TCont2DiscFeature minValue="{number(low)}" '
            f'maxValue="{number(high)}" numberOfBins="{bins}">'
            f'<{name} {place(rng, window, HAAR[name], largest)} />'
            '</TCont2DiscFeature>'), bins


def hypothesis(rng, feature, length, size, coarse):
    def response():
        value = rng.uniform(-size, size)
        return round(value * 64) / 64 if coarse else value
    if rng.random() < .5:
        name, values = 'HistogramWeakHypothesis', length
        bins = ''
    else:
        name, values = 'DecisionTreeWeakHypothesis', rng.randint(2, 9)
        bins = ' '.join(str(rng.randrange(values)) for _ in range(length))
        bins = f' binMap="{bins}"'
    table = ' '.join(number(response()) for _ in range(values))
    return f'<{name} predictionValues="{table} "{bins}>{feature}</{name}>'


def make_stages(rng, kind, window, n, largest, size):
    """Returns the content of n stages, with responses up to size. In every second model these are
    multiples of 1/64, so that integer sums can equal thresholds.
    """
    stages, coarse = [], rng.random() < .5
    for _ in range(n):
        feature, length = (haar_feature(rng, window, largest)
                           if kind == 'HAAR' else
                           grid_feature(rng, kind, window, largest))
        stages.append(hypothesis(rng, feature, length, size, coarse))
    return stages


def write_butfit(kind, window, stages, thresholds, wrapped=False,
                 min_std_dev=0.):
    """Returns the text of the file. thresholds: None for a stage without a test."""
    names = ('imageSizeX', 'imageSizeY') if wrapped else ('sizeX', 'sizeY')
    out = [f'<WaldBoostClassifier classifierName="" '
           + (f'type="{kind}" ' if len(stages) % 2 else '')
           + f'{names[0]}="{window[0]}" {names[1]}="{window[1]}" '
           f'minStdDev="{number(min_std_dev)}">']
    for stage, threshold in zip(stages, thresholds):
        text = '-1e+50' if threshold is None else number(threshold)
        out.append(f'<stage posT="1e+50" negT="{text}">\n{stage}\n</stage>')
    out.append('</WaldBoostClassifier>\n')
    if wrapped:
        out = ['<?xml version="1.0" encoding="utf-8"?>\n<ROOT>',
               '<RandomGenerator state="4277764071"/>',
               '<TWaldBoostLearner alpha="0.1"><Samples>1 2 3</Samples>', *out,
               '<stage posT="0" negT="0"/></TWaldBoostLearner></ROOT>\n']
    return '\n'.join(out)


WBD_ARRAYS = ('thresholds', 'alphas', 'polarities', 'cascade_thresholds',
              'feature_indices')


def write_wbd(arrays):
    """Returns the file with arrays of texts, in the order of WBD_ARRAYS."""
    out = ['<?xml version="1.0"?>\n<opencv_storage>\n<waldboost>',
           '<waldboost_params>\n<weak_count>' + str(len(arrays[0])),
           '</weak_count></waldboost_params>']
    out += [f'<{name}>\n{" ".join(texts)}</{name}>'
            for name, texts in zip(WBD_ARRAYS, arrays)]
    return '\n'.join(out + ['</waldboost>\n</opencv_storage>\n'])


def make_wbd(rng, n):
    floats = [[rng.uniform(low, 1) for _ in range(n)] for low in (.1, -2)]
    return write_wbd([
        [f'{rng.randrange(256)}.5' for _ in range(n)],
        [f'{value:.16e}' for value in floats[0]],
        [rng.choice(('1', '-1')) for _ in range(n)],
        [f'{value:.16e}' for value in floats[1]],
        [str(rng.randrange(8464)) for _ in range(n)]])


def write_boosted(seed, kind):
    rng = random.Random(seed)
    if kind == 'WBD':
        return make_wbd(rng, rng.randint(3, 12))
    stages = make_stages(rng, kind, (12, 10), 5, 3, 1)
    thresholds = [rng.choice((None, rng.uniform(-2, 0))) for _ in stages]
    return write_butfit(kind, (12, 10), stages, thresholds, seed % 2 == 1)


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        file.write(write_boosted(int(sys.argv[2]), sys.argv[3]))
