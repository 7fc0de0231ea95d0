# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a random OpenCV cascade.

usage: cascade.py FILE SEED KIND

KIND is stumps, trees or blocks (large blocks) with LBP features; haar (stumps),
haar-trees or haar-tilted with Haar features."""
import random
import sys

KINDS = {
    'stumps': dict(window=(14, 11), stages=3, weak=4, nodes=1),
    'trees': dict(window=(20, 22), stages=3, weak=4, nodes=5),
    'blocks': dict(window=(70, 64), stages=3, weak=6, nodes=1),
    'haar': dict(window=(18, 13), stages=3, weak=4, nodes=1, tilted=0.),
    'haar-trees': dict(window=(20, 22), stages=3, weak=4, nodes=5, tilted=.2),
    'haar-tilted': dict(window=(31, 27), stages=3, weak=5, nodes=1, tilted=.8),
}
# A feature consists of equal blocks. The whole has the weight -1; the blocks at these places
# (column, row) have additional weights.
HAAR = [((2, 1), 2, [(1, 0)]), ((1, 2), 2, [(0, 1)]), ((3, 1), 3, [(1, 0)]),
        ((1, 3), 3, [(0, 1)]), ((2, 2), 2, [(0, 0), (1, 1)]),
        ((3, 3), 9, [(1, 1)])]


def make_tree(rng, n_nodes, n_features, haar):
    """Returns a tree in which the children of a node are later nodes or leaves."""
    words, next_node, next_leaf = [], 1, 0
    for i in range(n_nodes):
        children = []
        for _ in range(2):
            open_nodes = next_node - i - 1
            if next_node < n_nodes and (open_nodes == 0 or rng.random() < .5):
                children.append(next_node)
                next_node += 1
            else:
                children.append(-next_leaf)
                next_leaf += 1
        if haar:
            test = [f'{rng.gauss(0, .02):.17g}']
        else:
            test = [rng.getrandbits(32) - (1 << 31) for _ in range(8)]
        words += children + [rng.randrange(n_features)] + test
    assert next_leaf == n_nodes + 1
    return words, [rng.uniform(-1, 1) for _ in range(n_nodes + 1)]


def make_lbp(rng, width, height):
    w, h = rng.randint(1, width // 3), rng.randint(1, height // 3)
    return (rng.randint(0, width - 3 * w), rng.randint(0, height - 3 * h),
            w, h)


def make_haar(rng, width, height, tilted):
    """Returns rectangles, and whether they are tilted: then width extends to the lower right and
    height to the lower left."""
    (columns, rows), weight, blocks = rng.choice(HAAR)
    if tilted:
        longest = min(width, height) // 2
        w = rng.randint(1, longest // columns)
        h = rng.randint(1, longest // rows)
        x = rng.randint(h * rows, width - w * columns)
        y = rng.randint(0, height - w * columns - h * rows)
        parts = [(x + c * w - r * h, y + c * w + r * h) for c, r in blocks]
    else:
        w, h = rng.randint(1, width // columns), rng.randint(1, height // rows)
        x = rng.randint(0, width - w * columns)
        y = rng.randint(0, height - h * rows)
        parts = [(x + c * w, y + r * h) for c, r in blocks]
    return ([(x, y, w * columns, h * rows, -1)]
            + [(*part, w, h, weight) for part in parts], tilted)


def make_cascade(seed, kind):
    k = KINDS[kind]
    rng = random.Random(seed)
    haar = 'tilted' in k
    features = [make_haar(rng, *k['window'], rng.random() < k['tilted'])
                if haar else make_lbp(rng, *k['window']) for _ in range(12)]
    stages = []
    for _ in range(k['stages']):
        trees = [make_tree(rng, rng.randint(1, k['nodes']), len(features), haar)
                 for _ in range(rng.randint(1, k['weak']))]
        sums = sorted(sum(rng.choice(leaves) for _, leaves in trees)
                      for _ in range(99))
        stages.append((sums[40], trees))
    return k['window'], stages, features


def write_feature(feature, has_tilted):
    out = ['    <_>']
    if len(feature) == 4:
        return out + ['      <rect>',
                      '        ' + ' '.join(map(str, feature)),
                      '      </rect></_>']
    rects, tilted = feature
    out += ['      <rects>']
    out += [f'        <_>\n          {x} {y} {w} {h} {weight}.</_>'
            for x, y, w, h, weight in rects]
    out += ['      </rects>']
    if has_tilted:
        out += [f'      <tilted>{int(tilted)}</tilted>']
    return out + ['    </_>']


def write_cascade(seed, kind):
    (width, height), stages, features = make_cascade(seed, kind)
    haar = len(features[0]) != 4
    out = ['<?xml version="1.0"?>',
           '<!-- made by tests/models/waldboost/cascade.py: '
           f'{kind}, seed {seed} -->', '<opencv_storage>',
           '<cascade type_id="opencv-cascade-classifier">',
           '  <stageType>BOOST</stageType>',
           f'  <featureType>{"HAAR" if haar else "LBP"}</featureType>',
           f'  <height>{height}</height>', f'  <width>{width}</width>',
           '  <stageParams>', '    <maxDepth>1</maxDepth>',
           '    <maxWeakCount>9</maxWeakCount></stageParams>',
           '  <featureParams>',
           f'    <maxCatCount>{0 if haar else 256}</maxCatCount>',
           '    <featSize>1</featSize></featureParams>',
           f'  <stageNum>{len(stages)}</stageNum>', '  <stages>']
    for threshold, trees in stages:
        out += ['    <_>', f'      <maxWeakCount>{len(trees)}</maxWeakCount>',
                f'      <stageThreshold>{threshold:.17g}</stageThreshold>',
                '      <weakClassifiers>']
        for words, leaves in trees:
            out += ['        <_>', '          <internalNodes>',
                    '            ' + ' '.join(map(str, words)),
                    '          </internalNodes>', '          <leafValues>',
                    '            ' + ' '.join(f'{v:.17g}' for v in leaves),
                    '          </leafValues></_>']
        out += ['      </weakClassifiers></_>']
    out += ['  </stages>', '  <features>']
    has_tilted = KINDS[kind].get('tilted', 0) > 0
    for feature in features:
        out += write_feature(feature, has_tilted)
    return '\n'.join(out + ['  </features></cascade>', '</opencv_storage>', ''])


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        file.write(write_cascade(int(sys.argv[2]), sys.argv[3]))
