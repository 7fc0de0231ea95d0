# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generates model files that must be refused, each with a part of the message, and unusual files
that must be accepted."""
import gzip
import re
import tempfile

import storage
from boosted import HAAR, write_boosted, write_wbd
from cascade import write_cascade

NUMBERS = ('nan', 'inf', '.Nan', '-.Inf', '1e999', 'x', '1,5')


def replace(text, old, new, count=1):
    assert old in text, old
    return text.replace(old, new, count)


def between(text, name, new, skip=0):
    """Returns the text with the content of the element replaced."""
    at = -1
    for _ in range(skip + 1):
        at = text.index(f'<{name}>', at + 1)
    start = at + len(name) + 2
    return text[:start] + new + text[text.index(f'</{name}>', start):]


def without(text, name):
    start = text.index(f'<{name}>')
    end = text.index(f'</{name}>', start) + len(name) + 3
    return text[:start] + text[end:]


def attribute(text, name, new):
    """Returns the text with the value of the first attribute of this name replaced; None removes
    the attribute."""
    changed, n = re.subn(f' {name}="[^"]*"',
                         '' if new is None else f' {name}="{new}"', text, 1)
    assert n == 1, name
    return changed


# ---- any file ----


def xml_cases(stumps):
    yield '', 'empty'
    yield ' \n', 'empty'
    yield 'not XML at all', "not a model: it begins with 'not XML at all'"
    for text in ('<?xml version="1.0"?><svg/>', '<opencv_storage/>',
                 '<opencv_storage><other/></opencv_storage>',
                 '<cascade><stageType>BOOST</stageType></cascade>',
                 '<a><opencv_storage><b><stages/></b></opencv_storage></a>',
                 '<ROOT><TWaldBoostLearner/></ROOT>',
                 stumps.replace('opencv_storage', 'storage')):
        yield text, 'not a model of a supported format; supported are OpenCV'
    yield '<_>' * 1000000, 'elements are nested more than 32 levels deep'
    yield stumps + ' ' * (64 << 20), 'larger than 64 MB'
    yield (replace(stumps, '<opencv_storage>',
                   '<!DOCTYPE x [<!ENTITY a "b">]><opencv_storage>'),
           'document types and entities')
    yield between(stumps, 'width', '&a;'), 'not well-formed'
    yield replace(stumps, '</cascade>', '</cascad>'), 'not well-formed'
    yield stumps.encode().replace(b'BOOST', b'B\xffOST'), "stage type 'B?OST'"
    yield stumps.encode().replace(b'BOOST', b'B\0OST'), 'has a NUL byte'
    yield b'<a></b>\xff', 'not well-formed XML'
    yield '\ufeff'.encode('utf-16') + b'a', 'not UTF-16 text'


def other_cases(stumps):
    """Yields files that are not models."""
    for head in ('<!DOCTYPE html>', '<html>', '\n<!doctype HTML public>',
                 '<!-- a --><!DOCTYPE  HTML>', '<HTML lang="en">'):
        yield head + '<body><p>x</body></html>', 'this is a web page'
    for text in ('404: Not Found', '404 page not found\n', '503\n'):
        yield text, f"web server's response, '{text.strip()}', not a model"
    yield '4040 a', "it begins with '4040 a'"
    yield 'version https://git-lfs.github.com/spec/v1\noid', 'run git lfs pull'
    yield b'PK\3\4' + bytes(30), 'this is a ZIP archive'
    yield '{"message": "Not Found"}', 'not a model of a supported format'
    packed = gzip.compress(stumps.encode())
    yield packed[:-1], 'the gzip file is truncated'
    yield packed[:40], 'the gzip file is truncated'
    yield packed[:10] + b'\xff' + packed[11:], 'the gzip file is damaged'
    yield packed[:-5] + b'\0' + packed[-4:], 'the gzip file is damaged'
    yield gzip.compress(packed), 'not a model: it begins with'


def yaml_cases(yml):
    threshold = re.search('stageThreshold: .*', yml).group()
    yield (replace(yml, threshold, 'stageThreshold: *a'), 'YAML aliases are')
    yield replace(yml, threshold, '? [ 1 ]\n         : 2'), 'a key is not a name'
    yield replace(yml, threshold, threshold + '\t: x'), 'not well-formed YAML'
    yield yml + '\n   - x', 'not well-formed YAML'
    yield replace(yml, threshold, threshold + '\n         ' + threshold), 'more than once'
    yield '{' + '"a": [' * 40, 'elements are nested more than 32 levels deep'
    yield '{"a": ' + '[' * 1000000, 'elements are nested more than 32 levels deep'
    yield '{"a": "\x01"}', 'control characters are not allowed'
    yield '--- a', 'not a model of a supported format'
    yield '--- [1, 2]', 'not a model of a supported format'
    yield '{', 'not well-formed YAML or JSON'


def old_cases(old):
    """Yields cascades of OpenCV 1."""
    for name in ('size', 'stages', 'trees', 'stage_threshold', 'feature', 'threshold'):
        yield without(old, name), f'<{name}> is missing'
    for name in ('rects', 'left_val', 'right_val'):
        yield without(old, name), {'rects': '<rects> is missing or empty'}.get(
            name, f'a node has neither <{name}> nor <{name[:-3]}node>')
    for size in ('20', '20 20 20', ''):
        yield between(old, 'size', size), '<size> must hold width and height'
    yield between(old, 'size', '2 20'), "'2' is not an integer from 3 to 1024"
    yield between(old, 'left_val', 'nan'), "'nan' is not a finite number"
    yield between(old, 'left_node', '0'), "'0' is not an integer from 1 to 65536"
    yield between(old, 'left_node', '9'), 'child 9 of node'
    yield between(old, 'tilted', '2'), "'2' is not an integer from 0 to 1"
    yield between(old, 'trees', ''), 'a stage has no weak classifiers'
    yield between(old, 'stages', ''), 'the cascade has no stages'
    yield between(old, 'size', '5 5'), 'exceeds the window of 5 x 5'


def bombs(size):
    """Yields files of about this size, above 16 MB, which are read as far as possible, and files
    that unpack to more than is read."""
    stage = '<opencv_storage><cascade><stageType>'
    yield gzip.compress(bytes(1 << 28), 1), 'the unpacked file is larger than 64 MB'
    yield f'<opencv_storage>{"<a/>" * (size // 4)}', 'not well-formed XML'
    yield stage + '1 ' * (size // 2) + '</stageType>', 'holds more than 16 MB'
    yield f'{{"a": [{"1," * (size // 2)}', 'not well-formed YAML'
    yield f'{{"a": "{"x" * size}"}}', 'not a model of a supported'
    tags = ''.join(f'%TAG !{i}! x\n' for i in range(1 << 19))
    yield f'%YAML 1.1\n{tags}---\na: 1\n', 'line 524292: not a model of a supported'
    yield f'%YAML:1.0\r{tags}', 'no line --- after %YAML'


# ---- OpenCV's cascades ----


def cascade_cases(text):
    """Yields cascades with LBP or with Haar features."""
    stage = text[text.index('    <_>'):text.index('  </stages>')]
    yield (between(text, 'featureType', 'HOG'),
           'an OpenCV cascade with HOG features; only those with LBP or HAAR')
    yield between(text, 'stageType', 'TREE'), "stage type 'TREE'"
    yield without(text, 'featureType'), '<featureType> must come before'
    for name in ('width', 'height', 'featureParams', 'stages', 'features',
                 'stageThreshold', 'weakClassifiers', 'internalNodes',
                 'leafValues'):
        yield without(text, name), f'<{name}> is missing'
    yield between(text, 'width', '2'), "'2' is not an integer from 3 to 1024"
    yield between(text, 'width', '1025'), 'is not an integer from 3 to 1024'
    yield between(text, 'height', '99999999999999999999'), 'not an integer'
    yield between(text, 'height', ''), '<height> must hold one value'
    yield between(text, 'height', '11 12'), '<height> must hold one value'
    for value in NUMBERS:
        yield (between(text, 'stageThreshold', value),
               f"'{value}' is not a finite number")
        yield (between(text, 'leafValues', f'{value} 1'),
               f"'{value}' is not a finite number")
    yield between(text, 'leafValues', '1e39 1'), "'1e39' is not a finite"
    yield between(text, 'leafValues', '1'), '1 leaf values do not fit 1 nodes'
    yield between(text, 'leafValues', '1 2 3'), '3 leaf values do not fit'
    yield between(text, 'internalNodes', ''), '2 leaf values do not fit 0'
    yield (replace(text, '</height>', '</height><height>9</height>'),
           '<height> appears more than once')
    yield (replace(text, '</stages>', '</stages><stages></stages>'),
           '<stages> appears more than once')
    yield (text[:text.index('<stages>') + 8] + text[text.index('</stages>'):],
           'the cascade has no stages')
    yield (between(text, 'weakClassifiers', ''),
           'a stage has no weak classifiers')
    yield replace(text, '    <_>', stage * 5000 + '    <_>'), '4096 stages'


def node_cases(text, trees, test):
    """Yields cascades with invalid nodes. test: the values of a node after left, right and
    feature."""
    def node(head, count=1):
        return between(text, 'internalNodes', f'{head} {test}\n' * count)

    short = ' '.join(f'0 -1 0 {test}'.split()[:-1])
    yield between(text, 'internalNodes', short), 'in the middle of a node'
    yield (between(text, 'internalNodes', f'0 -1 0 {test} 9'),
           'in the middle of a node')
    yield node('0 -1 12'), 'refers to feature 12, but the model has 12'
    yield node('0 -1 -1'), 'refers to feature -1, but'
    yield node('0 -1 4294967296'), "'4294967296' is not an integer"
    yield node('0 -2 0'), 'node 0 refers to leaf 2, but its tree has 2'
    yield (node('0 -2147483648 0'),
           'refers to leaf 2147483648, but its tree has 2')
    yield node('1 0 0'), 'child 1 of node 0 is not a later node'
    for first, second, child in ((1, 1, 1), (2, 0, 2)):
        nodes = f'{first} 0 0 {test} {second} -1 0 {test}'
        yield (between(between(trees, 'internalNodes', nodes), 'leafValues',
                       '1 2 3'),
               f'child {child} of node {child % 2} is not a later node')
    yield node('0 -1 0', 70000), 'more than 65536 nodes'


def lbp_cases(text, trees):
    words = '1 2 3 4 5 6 7 8'
    yield from cascade_cases(text)
    yield from node_cases(text, trees, words)
    yield (between(text, 'internalNodes', f'0 -1 0 {words[:-1]}4294967296'),
           "'4294967296' is not an integer")
    yield without(text, 'rect'), '<rect> is missing'
    for changed in (between(text, 'maxCatCount', '0'),
                    without(text, 'maxCatCount')):
        yield changed, '<maxCatCount> must be 256 for LBP features'
    yield between(text, 'maxCatCount', '257'), 'not an integer from 0 to 256'
    for rect in ('0 0 5 1', '3 0 4 1', '0 0 1 4', '0 9 1 1'):
        yield between(text, 'rect', rect), 'exceed the window of 14 x 11'
    for rect in ('-1 0 1 1', '0 0 0 1', '0 0 1 -1', '0 0 1 2000', '0 0 1 1.5'):
        yield between(text, 'rect', rect), 'is not an integer from'
    yield between(text, 'rect', '0 0 1'), 'must hold x, y, width and height'
    yield between(text, 'rect', '0 0 1 1 1'), 'must hold exactly'
    yield (replace(text, '</features>', '<_><rect>0 0 1 1</rect></_>' * 70000
                   + '</features>'), 'more than 65536 features')


def haar_cases(text, trees, tilted):
    yield from cascade_cases(text)
    yield from node_cases(text, trees, '0.01')
    for value in NUMBERS:
        yield (between(text, 'internalNodes', f'0 -1 0 {value}'),
               f"'{value}' is not a finite number")
        yield (between(text, 'rects', f'<_>0 0 1 1 {value}</_>'),
               f"weight: '{value}' is not a finite number")
    yield without(text, 'rects'), '<rects> is missing'
    yield (between(text, 'maxCatCount', '256'),
           '<maxCatCount> must be 0 for HAAR features')
    yield (between(text, 'rects', '<_>0 0 1 1 1000001</_>'),
           'is not a number from -1e+06 to 1e+06')
    yield between(text, 'rects', ''), '<rects> is missing or empty'
    yield (between(text, 'rects', '<_>0 0 1 1 1</_>'),
           'has 1 rectangle, but needs 2 or 3')
    yield (between(text, 'rects', '<_>0 0 1 1 1</_>' * 4),
           'has more than 3 rectangles')
    for words in ('0 0 1 1', '0 0 1 1 1 1'):
        yield (between(text, 'rects', f'<_>{words}</_>'),
               'must hold x, y, width, height and weight')
    good = '<_>0 0 2 2 -1</_>'
    for rect in ('0 0 19 1', '18 0 1 1', '0 0 1 14', '0 12 1 2'):
        yield (between(text, 'rects', f'{good}<_>{rect} 1</_>'),
               'a rectangle of ' + ' x '.join(rect.split()[2:]) + ' pixels at')
    for rect in ('-1 0 1 1', '0 0 0 1', '0 0 1 1.5', '0 0 1 2000'):
        yield (between(text, 'rects', f'<_>{rect} 1</_>'),
               'is not an integer from')
    # tilted, in 31 x 27: limits of x - h, x + w, y + w + h
    good = '<_>10 0 2 2 -1</_>'
    one = between(tilted, 'tilted', '1')
    for rect in ('4 0 2 5', '29 0 3 2', '15 18 5 5', '0 0 1 1'):
        yield (between(one, 'rects', f'{good}<_>{rect} 1</_>'),
               'a tilted rectangle of ')
    for value in ('2', '-1', '0.5'):
        yield between(tilted, 'tilted', value), 'is not an integer from 0 to 1'
    wide = between(text, 'width', '260')
    yield (between(wide, 'height', '259'),
           'the limit of (width - 2) * (height - 2) is 66051')
    yield (replace(text, '</features>', '<_><rects><_>0 0 1 1 1</_><_>0 0 1 1 '
                   '1</_></rects></_>' * 70000 + '</features>'),
           'more than 65536 features')


# ---- BUT FIT ----


def edges(text):
    """Returns the largest valid value of each number of the first feature."""
    feature = re.search('<(Haar|L)[^>]*Feature[^>]*>|<LRP [^>]*>', text).group()
    x, y, w, h = (int(re.search(f'{name}="([0-9]*)"', feature).group(1))
                  for name in ('positionX', 'positionY', 'blockWidth',
                               'blockHeight'))
    columns, rows = HAAR.get(feature.split()[0][1:], (3, 3))
    return {'positionX': 12 - columns * w, 'positionY': 10 - rows * h,
            'blockWidth': (12 - x) // columns, 'blockHeight': (10 - y) // rows}


def butfit_cases(text):
    """Yields classifiers of 12 x 10, with grids or Haar features."""
    for name in ('sizeX', 'sizeY'):
        yield attribute(text, name, None), f'has no attribute {name}'
        for value in ('2', '1025', '', '12.0', '1 2'):
            yield (attribute(text, name, value), f"{name}: '{value}' is not an "
                   'integer from 3 to 1024')
    yield attribute(text, 'sizeX', '8" imageSizeX="x'), "imageSizeX: 'x' is not"
    yield (replace(text, '<WaldBoostClassifier', '<WaldBoostClassifier '
                   'type="ACF"'), "unsupported type 'ACF': only LBP")
    yield attribute(text, 'minStdDev', 'x'), "minStdDev: 'x' is not a finite"
    yield attribute(text, 'negT', None), '<stage> has no attribute negT'
    for value in NUMBERS:
        yield (attribute(text, 'negT', value),
               f"negT: '{value}' is not a finite number")
        yield (attribute(text, 'predictionValues', value),
               f"'{value}' is not a finite number")
    yield (attribute(text, 'predictionValues', '100001'),
           "'100001' is not a number from -100000 to 100000")
    yield (attribute(text, 'predictionValues', None),
           'has no attribute predictionValues')
    for value in ('', '1 2 3', '1 ' * 900):
        yield (attribute(text, 'predictionValues', value),
               f'the table has {len(value.split())} values, but the')
    yield (attribute(text, 'predictionValues', '1 ' * 100000),
           'predictionValues has more values than the limit of 1024')
    for name in ('positionX', 'blockHeight'):
        yield attribute(text, name, None), f'has no attribute {name}'
        yield attribute(text, name, '-1'), f"{name}: '-1' is not an integer"
        yield attribute(text, name, '1025'), f"{name}: '1025' is not an integ"
    yield attribute(text, 'blockWidth', '0'), "blockWidth: '0' is not an int"
    for name, value in edges(text).items():
        yield (attribute(text, name, value + 1),
               'exceed the window of 12 x 10')
    start, end = text.index('<stage '), text.rindex('</WaldBoostClassifier>')
    stage = text[start:text.index('</stage>') + 8]
    yield text[:start] + text[end:], 'the classifier has no stages'
    yield text[:start] + stage * 4097 + text[end:], 'more than 4096 stages'
    yield (text[:start] + '<stage negT="0"><Other/></stage>' + text[end:],
           'a stage has neither HistogramWeakHypothesis')
    yield (text[:start] + '<stage negT="0"><HistogramWeakHypothesis '
           'predictionValues="1"><SomeFeature/></HistogramWeakHypothesis>'
           '</stage>' + text[end:], 'a weak hypothesis has no feature')
    yield (re.sub('(<HistogramWeakHypothesis.*?</HistogramWeakHypothesis>)',
                  r'\1<DecisionTreeWeakHypothesis/>', text, 1, re.S),
           '<DecisionTreeWeakHypothesis> appears more than once')
    yield text + '</a>', 'not well-formed'


def tree_cases(text):
    """Yields classifiers with tables that are given by a binMap of 17 values."""
    bins = ' '.join('0' * 17)
    tree = re.sub('<(/?)HistogramWeakHypothesis',
                  r'<\1DecisionTreeWeakHypothesis', text)
    yield tree, 'has no attribute binMap'
    tree = replace(tree, 'predictionValues=', f'binMap="{bins}" '
                   'predictionValues=')
    yield attribute(tree, 'binMap', bins[2:]), 'the table has 16 values, but'
    yield attribute(tree, 'binMap', ''), 'the table has 0 values, but'
    for value in ('17', '-1', 'x', '0.5'):
        yield (attribute(tree, 'binMap', value + bins[1:]),
               f"binMap: '{value}' is not an integer from 0 to 16")
    yield (attribute(attribute(tree, 'predictionValues', ''), 'binMap', '0'),
           "binMap: '0' is not an integer from 0 to -1")
    yield attribute(tree, 'binMap', '0 ' * 9999), 'binMap has more values than the limit of 1024'


def grid_cases(text, kind):
    """Yields LRD or LRP classifiers."""
    yield from butfit_cases(text)
    for name in ('blockA', 'blockB'):
        yield attribute(text, name, None), f'has no attribute {name}'
        for value in ('9', '-1'):
            yield attribute(text, name, value), f"{name}: '{value}' is not an"
    feature = re.search('<(LRDFeature|LRP) .*/>', text).group()
    for name, value in (('blocksX', '4'), ('blocksY', '2'),
                        ('binReductionFactor', '2')):
        yield (replace(text, feature, replace(feature, '/>',
                                              f'{name}="{value}" />')),
               f"{name} '{value}' is not supported: it must be ")
    yield replace(text, feature, feature * 2), 'more than one feature'
    last = text.rindex('blockA=')
    yield (text[:last] + re.sub('blockA="." blockB="."', '', text[last:])
           .replace('</HistogramWeak', '</HistogramWeak'), 'no attribute block')
    other = 'LRP' if kind == 'LRD' else 'LRD'
    second = text.index('<stage ', text.index('</stage>'))
    yield (text[:second] + re.sub('<(LRDFeature|LRP) ', '<LBPFeature ',
                                  text[second:]),
           f'the classifier has both {kind} and LBP features')
    yield (text[:second] + re.sub('<(LRDFeature|LRP) ', '<' + other
                                  + ('Feature ' if other == 'LRD' else ' '),
                                  text[second:]),
           f'the classifier has both {kind} and {other} features')
    head = '<WaldBoostClassifier'
    yield (replace(text, head, f'{head} type="HAAR"'),
           f'both HAAR and {kind} features')
    yield (re.sub('<(LRDFeature|LRP) ', '<LBPFeature ',
                  replace(text, head, f'{head} type="{kind}"')),
           f'both {kind} and LBP features')


def butfit_haar_cases(text):
    yield from butfit_cases(text)
    for name in ('minValue', 'maxValue', 'numberOfBins'):
        yield attribute(text, name, None), f'has no attribute {name}'
    for name in ('minValue', 'maxValue'):
        for value in NUMBERS + ('10001', '-1e9'):
            yield attribute(text, name, value), f"{name}: '{value}' is not"
    for value in ('-50', '-40.991'):
        yield (attribute(attribute(text, 'minValue', '-41'), 'maxValue', value),
               f'maxValue {value} must be at least minValue -41 + 0.01')
    for value in ('0', '1025', '2.5'):
        yield attribute(text, 'numberOfBins', value), 'numberOfBins: '
    yield re.sub('<Haar[^>]*>', '', text, 1), 'holds no supported Haar feature'
    feature = re.search('<Haar[^>]*>', text).group()
    yield replace(text, feature, feature * 2), 'appears more than once'
    yield (replace(text, '</TCont2DiscFeature>', '</TCont2DiscFeature>'
                   '<LRP />'), 'a weak hypothesis has more than one feature')
    large = attribute(attribute(text, 'sizeX', '258'), 'sizeY', '257')
    yield large, 'the limit is 66051 pixels'


# ---- WBDetector ----


def wbd_cases(text):
    names = ('thresholds', 'alphas', 'polarities', 'cascade_thresholds',
             'feature_indices')
    for name in ('waldboost_params', 'weak_count') + names:
        yield without(text, name), f'<{name}> is missing'
    for name in names:
        yield between(text, name, '1'), f'<{name}> holds 1 values, but <weak'
        yield between(text, name, '1 ' * 4097), 'more than 4096 weak class'
        yield (replace(text, f'</{name}>', f'</{name}><{name}></{name}>'),
               f'<{name}> appears more than once')
    for name in ('thresholds', 'alphas', 'cascade_thresholds'):
        for value in (*NUMBERS[:2], *NUMBERS[4:], '.Infinity', '+.Inf', '.'):
            yield (between(text, name, value),
                   f"'{value}' is not a finite number")
    yield (between(text, 'alphas', '100 -50000 .Inf 1 1'),
           '<alphas> contain .Inf, and the sum of the other values is above 50000')
    yield (between(text, 'alphas', '100001'),
           "'100001' is not a number from -100000 to 100000")
    for value in ('0', '2', '-2', '1.', 'x'):
        yield (between(text, 'polarities', value),
               f"'{value}' is not a polarity (1 or -1)")
    for value in ('-1', '8464', '0.5'):
        yield (between(text, 'feature_indices', value),
               f"'{value}' is not an integer from 0 to 8463")
    for value in ('0', '4097', '1.5'):
        yield (between(text, 'weak_count', value),
               f"'{value}' is not an integer from 1 to 4096")
    yield between(text, 'weak_count', '3'), '5 values, but <weak_count> is 3'
    yield between(text, 'weak_count', '5 5'), '<weak_count> must hold one value'


# ---- all of them ----


def plain(kind):
    """Returns a histogram classifier without a type, with features without blocksX."""
    text = write_boosted(2, kind)
    text = re.sub(' (type|blocks[XY]|binReductionFactor)="[^"]*"', '', text)
    tables = {'LBP': 256, 'LRD': 17, 'LRP': 100}

    def histogram(match):
        bins = re.search('numberOfBins="([0-9]*)"', match.group(2))
        n = int(bins.group(1)) if bins else tables[kind]
        values = ' '.join(str(i % 7 - 3) for i in range(n))
        return (f'<HistogramWeakHypothesis predictionValues="{values}">'
                f'{match.group(2)}</HistogramWeakHypothesis>')
    return re.sub('<(HistogramWeak|DecisionTreeWeak)Hypothesis [^>]*>(.*?)'
                  '</[A-Za-z]*WeakHypothesis>', histogram, text, flags=re.S)


def some_wbd(n):
    """Returns a WBDetector of n weak classifiers."""
    return write_wbd([['12.5'] * n, ['0.25'] * n, (['1', '-1'] * n)[:n],
                      ['-1.'] * n, [str(i % 8464) for i in range(n)]])


def of_file(write):
    """Returns what write(path) writes."""
    with tempfile.NamedTemporaryFile(suffix='.yml') as file:
        write(file.name)
        return file.read().decode()


def from_cascade(kind, write):
    with tempfile.NamedTemporaryFile('w', suffix='.xml') as file:
        file.write(write_cascade(2, kind))
        file.flush()
        return of_file(lambda path: write(file.name, path))


def yaml_cascade():
    return from_cascade('stumps', storage.write_copy)


def old_cascade():
    return from_cascade('haar-trees', storage.write_old)


def refused():
    """Yields pairs of a file and a part of its message."""
    stumps, trees = write_cascade(1, 'stumps'), write_cascade(2, 'trees')
    haar = write_cascade(1, 'haar')
    yield from xml_cases(stumps)
    yield from other_cases(stumps)
    yield from yaml_cases(yaml_cascade())
    yield from old_cases(old_cascade())
    yield from lbp_cases(stumps, trees)
    yield from haar_cases(haar, write_cascade(1, 'haar-trees'),
                          write_cascade(1, 'haar-tilted'))
    yield from butfit_cases(plain('LBP'))
    yield from grid_cases(plain('LRD'), 'LRD')
    yield from grid_cases(plain('LRP'), 'LRP')
    yield from tree_cases(plain('LRD'))
    yield from butfit_haar_cases(plain('HAAR'))
    yield from wbd_cases(some_wbd(5))


def accepted():
    """Yields pairs of a file and its outcome: additions by other programs are accepted."""
    text = write_cascade(1, 'stumps')
    ok = re.compile(r'ok 14x11 3 \d+$')
    yield '\ufeff' + text, ok
    yield text.replace('\n', '\r\n'), ok
    yield text.replace(' type_id="opencv-cascade-classifier"', ''), ok
    yield replace(text, '<stages>', '<!-- a < b & c --><stages>'), ok
    yield between(text, 'width', '<!-- a -->14<!-- b -->'), ok
    yield replace(text, '<stages>', '<new><_><rect>x</rect></_></new>'
                  '<stages>'), ok
    yield replace(text, '<featureParams>', '<featureParams><mode>1</mode>'), ok
    yield text + '<!-- end -->', ok
    yield text + '\n\0\0', ok
    for encoding in ('ISO-8859-1', 'windows-1252', 'UTF-8', ''):
        head = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding else ''
        yield (head.encode() + b'<!-- Gr\xf6\x93\x81 -->'
               + text[text.index('<opencv'):].encode(), ok)
    for encoding in ('utf-16-le', 'utf-16-be'):
        yield ('\ufeff' + text.replace('"1.0"', '"1.0" encoding="UTF-16"', 1)
               ).encode(encoding), ok
    packed = gzip.compress(text.encode())
    yield packed, ok
    yield packed + bytes(7), ok
    yield gzip.compress(text[:999].encode()) + gzip.compress(text[999:].encode()), ok
    yml = yaml_cascade()
    for changed in (yml, yml.replace('%YAML:1.0', '%YAML 1.1'), yml + '...\n',
                    yml.replace('%YAML:1.0\n', ''), yml.replace('\n', '\r\n'),
                    yml + '---\nother: 1\n', '\ufeff' + yml):
        yield changed, re.compile(r'ok 14x11 3 \d+$')
    yield old_cascade(), re.compile(r'ok 20x22 3 \d+$')
    yield replace(replace(text, '<cascade', '<faces'), '</cascade>',
                  '</faces>'), ok
    yield replace(text, '<opencv_storage>', '<opencv_storage><a><b>c</b></a>'
                  ), ok
    haar = write_cascade(1, 'haar-tilted')
    ok = re.compile(r'ok 31x27 3 \d+$')
    yield replace(haar, '<featureParams>', '<featureParams><mode>ALL</mode>'
                  ), ok
    yield without(haar, 'maxCatCount'), ok
    yield re.sub('<tilted>0</tilted>', '', haar), ok
    corners = '<_>0 0 31 27 -1</_><_>30 26 1 1 2</_>'
    yield between(between(haar, 'rects', corners), 'tilted', '0'), ok
    corners = '<_>27 0 0 27 -1</_>'.replace('27 0 0 27', '13 0 14 13')
    yield (between(between(haar, 'rects', corners + '<_>1 0 1 1 2</_>'
                           '<_>30 24 1 2 2</_>'), 'tilted', '1'), ok)
    large = between(write_cascade(1, 'haar'), 'width', '259')
    yield between(large, 'height', '259'), re.compile('ok 259x259 3 ')
    yield from accepted_boosted()


def accepted_boosted():
    text = plain('LRD')
    ok = re.compile('ok 12x10 5 5$')
    yield text, ok
    for head in ('<ROOT><A b="1"><stage/>', '<opencv_storage><x>'):
        tail = '</A></ROOT>' if 'ROOT' in head else '</x></opencv_storage>'
        yield head + text + tail, ok
        yield head + text + text.replace('sizeX="12"', 'sizeX="x"') + tail, ok
    yield attribute(text, 'sizeX', '3" imageSizeX="13'), re.compile('ok 13x10 ')
    for kind in ('LBP', 'LRP', 'HAAR'):
        other = plain(kind)
        for name, value in edges(other).items():
            yield attribute(other, name, value), ok
    for kind in ('', 'LRD'):
        yield replace(text, ' sizeX', f' type="{kind}" sizeX'), ok
    # the type selects the meaning of LRP
    yield (replace(text.replace('LRDFeature', 'LRP'), ' sizeX',
                   ' type="LRD" sizeX'), ok)
    for value in ('-1e+50', '1e+50', '-5000', '0'):
        yield attribute(text, 'negT', value), ok
    yield attribute(text, 'minStdDev', None), ok
    yield replace(text, '<stage ', '<other/><stage more="1" '), ok
    large = attribute(attribute(plain('HAAR'), 'sizeX', '257'), 'sizeY', '257')
    yield large, re.compile('ok 257x257 5 5$')
    wbd = some_wbd(5)
    ok = re.compile('ok 24x24 5 5$')
    yield wbd, ok
    yield wbd.replace('waldboost>', 'anything>'), ok
    yield between(wbd, 'thresholds', '-1 300 1e30 -1e30 0.25'), ok
    for name in ('thresholds', 'alphas', 'cascade_thresholds'):
        yield between(wbd, name, '.Inf -.Inf .Nan .inf .NAN'), ok
    yield between(wbd, 'feature_indices', '8463 0 1 2 8463'), ok
