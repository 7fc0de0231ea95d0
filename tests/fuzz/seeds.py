#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes seeds for fuzzing: small models of each format, headers of cubes, indexes, annotations,
states of training, zones, a mask, and messages for controls and teaching.

usage: seeds.py FOLDER"""
import os
import struct
import sys
import zlib

sys.path.append(os.path.join(os.path.dirname(__file__), '..', 'models',
    'waldboost'))
import storage
from boosted import write_boosted
from cascade import KINDS, write_cascade

os.makedirs(sys.argv[1], exist_ok=True)
for seed in range(3):
    models = {kind: write_cascade(seed, kind) for kind in KINDS}
    for kind in ('LBP', 'LRD', 'LRP', 'HAAR', 'WBD'):
        models[kind] = write_boosted(seed, kind)
    for kind, text in models.items():
        path = os.path.join(sys.argv[1], f'{kind}-{seed}.xml')
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
        if kind.startswith('haar'):
            storage.write_old(path, path.replace('.xml', '-old.xml'))
        if kind in ('stumps', 'haar-trees', 'WBD'):
            for end in ('yml', 'json', 'xml.gz'):
                storage.write_copy(path, f'{path[:-4]}-copy.{end}')

def write_channels(path, depth, confidence):
    """Writes a model with two trees, one with and one without a rejection threshold."""
    nodes, leaves = 2 ** depth - 1, 2 ** depth
    trees = ''.join(
        f'<tree>{threshold} ' + ' '.join(f'{i % 10} 1 2 {100 + i}' for i in range(nodes))
        + ' ' + ' '.join(str(40 * i - 90) for i in range(leaves)) + '</tree>\n'
        for threshold in (-200, 'none'))
    with open(path, 'w', encoding='ascii') as file:
        file.write('<?xml version="1.0"?>\n<!-- seed -->\n'
                   '<CuvisionChannels version="1" width="16" height="20" shrink="4" '
                   f'levels="8" overhang="1" object="1 2 12 16" depth="{depth}" '
                   f'threshold="-300"{confidence}>\n{trees}</CuvisionChannels>\n')


for depth in range(1, 5):
    write_channels(os.path.join(sys.argv[1], f'channels-{depth}.xml'), depth,
                   ' confidence="-10 700"' if depth % 2 else '')

HEADER = '''ENVI
description = { A cube }
samples = 5
lines = 4
bands = 3
header offset = 0
data type = {type}
interleave = {interleave}
byte order = {order}
wavelength units = Nanometers
wavelength = { 400, 500.5,
 600 }
bbl = { 1, 0, 1 }
data ignore value = -9999
'''
for number, (kind, interleave) in enumerate(
        (kind, interleave) for kind in (1, 2, 3, 4, 5, 12, 13)
        for interleave in ('bsq', 'bil', 'bip')):
    text = HEADER.replace('{type}', str(kind)) \
        .replace('{interleave}', interleave) \
        .replace('{order}', str(number % 2))
    path = os.path.join(sys.argv[1], f'envi-{kind}-{interleave}.hdr')
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)

ANNOTATIONS = {
    'coco.json': '{"images": [{"id": 1, "file_name": "a"}], "categories": [{"id": 2, '
                 '"name": "cup"}], "annotations": [{"image_id": 1, "category_id": 2, '
                 '"bbox": [1, 2, 3, 4], "iscrowd": 0}]}',
    'voc.xml': '<annotation><filename>a</filename><object><name>cup</name><difficult>0'
               '</difficult><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>3</xmax><ymax>4'
               '</ymax></bndbox></object></annotation>',
    'dlib.xml': '<dataset><images><image file="a"><box top="1" left="2" width="3" '
                'height="4" ignore="0"><label>cup</label></box></image></images>'
                '</dataset>',
    'labelme.json': '{"shapes": [{"label": "cup", "shape_type": "rectangle", "points": '
                    '[[5, 6], [12, 14]]}, {"label": "dog", "shape_type": "circle", '
                    '"points": [[5, 6], [8, 9]]}], "imagePath": "a", "imageWidth": 9, '
                    '"imageHeight": 9}',
    'cvat.xml': '<annotations><image name="a" width="9" height="9"><box label="cup" '
                'occluded="0" xtl="1" ytl="2" xbr="3" ybr="4" rotation="30"/><polygon '
                'label="cup" points="1,2;3,4;5,1"/></image><track label="cup"><box '
                'frame="3" outside="0" xtl="1" ytl="2" xbr="3" ybr="4"/></track>'
                '</annotations>',
    'via.json': '{"a": {"filename": "a", "regions": [{"shape_attributes": {"name": '
                '"rect", "x": 1, "y": 2, "width": 3, "height": 4}, '
                '"region_attributes": {"class": "cup"}}]}}',
    'via.csv': 'filename,region_shape_attributes,region_attributes\n'
               'a,"{""name"":""polygon"",""all_points_x"":[1,5],""all_points_y"":[2,4]}"'
               ',"{""class"":""cup""}"\n',
    'tensorflow.csv': 'filename,width,height,class,xmin,ymin,xmax,ymax\n'
                      'a,9,9,cup,1,2,3,4\n',
    'polygon.txt': '0.0 0.1 0.1 0.4 0.1 0.4 0.5\n',
    'blanks.dat': 'a b 3.jpg 1 1 2 3 4\n',
    'data.yaml': "train: a\nnames: [cup, 'a dog']\nnc: 2\n",
    'block.yaml': 'names:\n  0: cup\n  1: dog\n',
    'yolo.txt': '0 0.5 0.5 0.1 0.2\n1 0.2 0.3 0.1 0.1\n',
    'info.dat': 'a 1 1 2 3 4\nb 2 1 2 3 4 5 6 7 8\n',
    'records.jsonl': '{"frame_num": 1, "source": "a", "objects": [{"x": 1, "y": 2, '
                     '"w": 3, "h": 4, "roi_type": "cup"}]}\n',
    'records.csv': 'kind,frame_num,source,roi_type,x,y,w,h\r\n'
                   'object,1,a,"a ""cup""",1,2,3,4\r\n',
}
for name, text in ANNOTATIONS.items():
    with open(os.path.join(sys.argv[1], name), 'w', encoding='ascii') as file:
        file.write(text)
with open(os.path.join(sys.argv[1], 'samples.vec'), 'wb') as file:
    file.write(struct.pack('<iihh', 2, 3, 0, 0))
    for pixels in ((1, 2, 255), (7, 8, 9)):
        file.write(b'\0' + struct.pack('<3h', *pixels))


def index(n, width, height, bins, levels, merged, thumbnail):
    """Returns an index as defined by docs/definitions/ldp-index.md, with two directions and blocks
    of 16 pixels, so that a count takes a byte."""
    columns, rows = -(-width // 16), -(-height // 16)
    n_bins = levels or (256, 59)[bins]
    histograms = 1 if merged else 2
    size = 2 if merged else 1
    descriptor = columns * rows * histograms * n_bins * size
    padded = -(-descriptor // 64) * 64
    stride = -(-(padded + 1024 + 3 * thumbnail ** 2 + 4) // 64) * 64
    header = b'CUVLDPI\0' + struct.pack(
        '<18i2Q28x', 1, 3, 16, 0, 5, merged, 1, bins, levels, width, height,
        columns, rows, histograms, n_bins, size, thumbnail, thumbnail,
        descriptor, stride)
    slots = [b'', b'']
    for committed in range(max(n - 1, 0), n + 1):
        slot = struct.pack('<Q', committed)
        slots[committed % 2] = slot + struct.pack('<I', zlib.crc32(slot))
    header += struct.pack('<I', zlib.crc32(header))
    page = header.ljust(512, b'\0') + slots[0].ljust(512, b'\0') + slots[1]
    entries = b''
    for i in range(n):
        entry = (b'\xff' + bytes(padded - 1)
                 + f'picture {i}'.encode().ljust(1024, b'\0'))
        entry = entry.ljust(stride - 4, b'\x80')
        entries += entry + struct.pack(
            '<I', zlib.crc32(entry, zlib.crc32(struct.pack('<Q', i))))
    return page.ljust(4096, b'\0') + entries


for number, case in enumerate((
        (0, 16, 16, 0, 0, 0, 0), (1, 16, 16, 2, 8, 0, 2),
        (2, 40, 17, 1, 0, 0, 0), (3, 20, 20, 2, 2, 1, 5))):
    path = os.path.join(sys.argv[1], f'index-{number}.ldp')
    with open(path, 'wb') as file:
        file.write(index(*case))

# the fuzzer state.c corrects header and checksums if the first byte is odd
for n_weak in (0, 1, 6):
    with open(os.path.join(sys.argv[1], f'state-{n_weak}'), 'wb') as file:
        file.write(b'\1' + bytes(159))
        for k in range(n_weak):
            file.write(struct.pack('<8i2d', k, -5000, 1 + k // 2, 1 + k // 3,
                                   9, 9, 9, 9, 0.5, 1))
            file.write(struct.pack('<17i4x', *(2000 - 300 * code
                                               for code in range(17))))

ZONES = {
    'line': '{"zones": [{"name": "door", "line": [[0.2, 0.6], [0.8, 0.6]], "labels": ["person"],'
            ' "anchor": "center", "hysteresis": 5}]}',
    'polygon': '{"units": "pixels", "zones": [{"name": "a", "polygon": [[0, 0], [300, 10.5], '
               '[320, 480], [-5, 300]], "anchor": "any", "dwell": 1.5, "crowd": 2}, '
               '{"name": "b", "polygon": [[0, 0], [9, 9], [9, 0], [0, 9]]}]}',
    'extreme': '{"units": "pixels", "zones": [{"name": "a", "polygon": [[-1048576, -1048576], '
               '[1048576, -1048576], [1048576, 1048576]]}, {"name": "b", '
               '"line": [[-1048576, 1048576], [1048576, -1048576]]}]}',
}
for name, text in ZONES.items():
    with open(os.path.join(sys.argv[1], f'zones-{name}.json'), 'w', encoding='ascii') as file:
        file.write(text)

CONTROLS = {
    'number': '{"type": "set", "id": 1, "control": "detect.scale-factor", "value": 0.25}',
    'text': '{"type": "set", "id": 2, "control": "lines.roi", "value": "1,2,\\u0033"}',
    'flags': '{"type": "set", "id": 3, "control": "a.b", "value": ["flush", "accurate"]}',
    'call': '{"type": "call", "id": 4, "control": "track.set-target", "arguments": [1, -2, 3, 4]}',
    'save': '{"type": "save", "id": 5}',
    'settings': '{"visionwebsink": 1, "values": {"a.b": 0.25, "c.d": ["flush"], "e.f": "x"}}',
    'keep': '{"type": "keep", "id": 5, "example": {"frame": 7, "label": "cup", '
            '"boxes": [[1, 2, 3.5, 4], [639, 479, 9, 9]], "part": [0, 0, 90, 90]}}',
    'train': '{"type": "train", "id": 6, "label": "cup"}',
    'coco': '{"images": [{"id": 1, "file_name": "images/cup-000001.jpg", "width": 9, "height": 9}], '
            '"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3.25, 4]}], '
            '"categories": [{"id": 1, "name": "cup"}]}',
}
for name, text in CONTROLS.items():
    with open(os.path.join(sys.argv[1], f'control-{name}.json'), 'w', encoding='ascii') as file:
        file.write(text)

with open(os.path.join(sys.argv[1], 'mask.json'), 'w', encoding='ascii') as file:
    file.write('{"units": "pixels", "polygons": [[[0, 0], [30, 10.5], [32, 48], [-5, 30]],'
               ' [[0, 0], [9, 9], [9, 0], [0, 9]]]}')
