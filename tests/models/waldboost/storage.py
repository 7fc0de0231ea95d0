# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes cascades in the other forms of cv::FileStorage, and in the format of OpenCV 1 and 2."""
import xml.etree.ElementTree

import cv2

def copy(node, out, name):
    """Copies a node. Numbers are in one line, as OpenCV's own programs write them."""
    if node.isMap():
        out.startWriteStruct(name, cv2.FileNode_MAP)
        for key in node.keys():
            copy(node.getNode(key), out, key)
        out.endWriteStruct()
    elif node.isSeq():
        nodes = [node.at(i) for i in range(node.size())]
        inner = any(one.isMap() or one.isSeq() for one in nodes)
        out.startWriteStruct(name, cv2.FileNode_SEQ | (0 if inner else cv2.FileNode_FLOW))
        for one in nodes:
            copy(one, out, '')
        out.endWriteStruct()
    elif node.isInt():
        out.write(name, int(node.real()))
    else:
        out.write(name, node.real() if node.isReal() else node.string())


def write_copy(model, path):
    """Lets OpenCV copy a model into the form that the file's extension selects."""
    out = cv2.FileStorage(path, cv2.FileStorage_WRITE)
    source = cv2.FileStorage(model, cv2.FileStorage_READ)
    top = source.getFirstTopLevelNode()
    copy(top, out, top.name())
    out.release()
    source.release()


# ---- opencv-haar-classifier ----


def old_child(kind, child, leaves):
    return (f'<{kind}_node>{child}</{kind}_node>' if child > 0
            else f'<{kind}_val>{leaves[-child]}</{kind}_val>')


def old_feature(feature):
    rects = ''.join(f'<_>{rect.text}</_>' for rect in feature.findall('rects/_'))
    return (f'<feature><rects>{rects}</rects><tilted>'
            f'{feature.findtext("tilted", "0").strip()}</tilted></feature>')


def old_tree(tree, features):
    words = tree.findtext('internalNodes').split()
    leaves = tree.findtext('leafValues').split()
    out = ['<_>']
    for left, right, feature, threshold in zip(*[iter(words)] * 4):
        out += ['<_>', old_feature(features[int(feature)]),
                f'<threshold>{threshold}</threshold>',
                old_child('left', int(left), leaves),
                old_child('right', int(right), leaves), '</_>']
    return out + ['</_>']


def write_old(model, path):
    """Writes a Haar cascade as opencv_haartraining did."""
    cascade = xml.etree.ElementTree.parse(model).getroot()[0]
    features = cascade.findall('features/_')
    width, height = (cascade.findtext(name).strip() for name in ('width', 'height'))
    out = ['<?xml version="1.0"?>', '<opencv_storage>',
           '<old type_id="opencv-haar-classifier">',
           f'<size>\n{width} {height}</size>', '<stages>']
    for i, stage in enumerate(cascade.findall('stages/_')):
        out += [f'<_> <!-- stage {i} -->', '<trees>']
        for tree in stage.findall('weakClassifiers/_'):
            out += old_tree(tree, features)
        out += ['</trees>', f'<stage_threshold>{stage.findtext("stageThreshold")}'
                '</stage_threshold>', f'<parent>{i - 1}</parent><next>-1</next></_>']
    with open(path, 'w', encoding='ascii') as file:
        file.write('\n'.join(out + ['</stages></old>', '</opencv_storage>', '']))
