# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes random OpenCV cascades with LBP features.   cascade.py FILE SEED KIND

KIND is stumps, trees or blocks (large ones)."""
import random
import sys

KINDS = {
    'stumps': dict(window=(14, 11), stages=3, weak=4, nodes=1),
    'trees': dict(window=(20, 22), stages=3, weak=4, nodes=5),
    'blocks': dict(window=(70, 64), stages=3, weak=6, nodes=1),
}


def make_tree(rng, n_nodes, n_features):
    """Children of a node come after it; the others are leaves."""
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
        subset = [rng.getrandbits(32) - (1 << 31) for _ in range(8)]
        words += children + [rng.randrange(n_features)] + subset
    assert next_leaf == n_nodes + 1
    return words, [rng.uniform(-1, 1) for _ in range(n_nodes + 1)]


def make_cascade(seed, kind):
    k = KINDS[kind]
    rng = random.Random(seed)
    width, height = k['window']
    features = []
    for _ in range(12):
        w, h = rng.randint(1, width // 3), rng.randint(1, height // 3)
        features.append((rng.randint(0, width - 3 * w),
                         rng.randint(0, height - 3 * h), w, h))
    stages = []
    for _ in range(k['stages']):
        trees = [make_tree(rng, rng.randint(1, k['nodes']), len(features))
                 for _ in range(rng.randint(1, k['weak']))]
        sums = sorted(sum(rng.choice(leaves) for _, leaves in trees)
                      for _ in range(99))
        stages.append((sums[40], trees))
    return k['window'], stages, features


def write_cascade(seed, kind):
    (width, height), stages, features = make_cascade(seed, kind)
    out = ['<?xml version="1.0"?>', '<!-- made by tests/models/cascade.py: '
           f'{kind}, seed {seed} -->', '<opencv_storage>',
           '<cascade type_id="opencv-cascade-classifier">',
           '  <stageType>BOOST</stageType>',
           '  <featureType>LBP</featureType>',
           f'  <height>{height}</height>', f'  <width>{width}</width>',
           '  <stageParams>', '    <maxDepth>1</maxDepth>',
           '    <maxWeakCount>9</maxWeakCount></stageParams>',
           '  <featureParams>', '    <maxCatCount>256</maxCatCount>',
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
    for feature in features:
        out += ['    <_>', '      <rect>', '        '
                + ' '.join(map(str, feature)), '      </rect></_>']
    return '\n'.join(out + ['  </features></cascade>', '</opencv_storage>', ''])


if __name__ == '__main__':
    with open(sys.argv[1], 'w', encoding='ascii') as file:
        file.write(write_cascade(int(sys.argv[2]), sys.argv[3]))
