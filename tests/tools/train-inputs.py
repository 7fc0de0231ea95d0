#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests annotations in the forms that programs write, each in a separate folder: the same objects
must give the same model.

usage: train-inputs.py TRAIN
"""

import csv
import json
import os
import shutil
import struct
import sys
import tempfile

import cv2
import numpy as np

from crosses import (SIZE, Tests, write, write_coco, write_info, write_pictures,
                     write_voc, write_yolo)

OPTIONS = ['--features', 'lbp', '--window', '16x16', '--weak', '2',
           '--negative-samples', '200', '--copies', '1', '--margin', '0']
N = 12  # pictures


class Inputs(Tests):
    def __init__(self, program, folder):
        super().__init__(program, folder)
        self.pictures = write_pictures(folder)[:N]
        self.n = 0

    def new_folder(self, images='', names=None):
        """Makes a folder, and copies the pictures to its subfolder `images`, as `names` if given."""
        self.n += 1
        # not beside the pictures, which would be found there
        folder = os.path.join(self.folder, 'sets', f'{self.n:02}')
        os.makedirs(os.path.join(folder, images))
        for i, (name, _) in enumerate(self.pictures):
            shutil.copy(os.path.join(self.folder, name),
                        os.path.join(folder, images, names[i] if names else name))
        return folder

    def model(self, annotations, *more, cwd=None):
        """Trains. Returns the model's classifier and stderr."""
        output = os.path.join(self.folder, 'model.xml')
        status, _, err = self.train('--positives', annotations, '--output', output,
                                    *OPTIONS, *more, cwd=cwd)
        if status != 0:
            self.fail(annotations, more, status, err)
            return '', err
        with open(output, encoding='utf-8') as file:
            return file.read().split('-->')[1], err

    def expect_same(self, annotations, *more, said='', skipped=0, cwd=None):
        model, err = self.model(annotations, *more, cwd=cwd)
        if model != self.expected:
            self.fail(annotations, 'gives another model', err)
        if said not in err or err.count('skipped: ') != skipped:
            self.fail(annotations, err, 'instead of', said, skipped)


def edit(path, change, encoding='utf-8'):
    with open(path, encoding='utf-8') as file:
        text = change(file.read())
    with open(path, 'w', encoding=encoding, newline='') as file:
        file.write(text)
    return path


# ---- text ----


def check_info(tests):
    blanks = [f'my {i} cross.png' for i in range(10, 10 + N)]
    for images, names, change, encoding in (
            ('', None, lambda text: text.replace('\n', '\r\n'), 'utf-8-sig'),
            ('', None, lambda text: text, 'utf-16'),
            ('img', None, lambda text: text, 'utf-8'),
            ('', blanks, lambda text: text, 'utf-8')):
        folder = tests.new_folder(images, names)
        pictures = [(os.path.join(images, names[i] if names else name), boxes)
                    for i, (name, boxes) in enumerate(tests.pictures)]
        path = edit(write_info(folder, pictures), change, encoding)
        tests.expect_same(path)
        if images:
            tests.expect_same(edit(path, lambda text: text.replace('/', '\\')))
            edit(path, lambda text: text.replace('img\\', 'C:\\data\\raw\\'))
            tests.expect_same(path, '--images', os.path.join(folder, images))


def check_negatives(tests):
    """Negatives may be a list of opencv_traincascade, its folder, or its pictures one by one."""
    folder = tests.new_folder()
    path = write_info(folder, tests.pictures)
    negatives = os.path.join(tests.folder, 'negatives')
    names = sorted(os.listdir(negatives))
    expected = tests.model(path, '--negatives', negatives)[0]
    shutil.copytree(negatives, os.path.join(folder, 'neg'))
    lines = ''.join(f'neg\\{name}\r\n' for name in names)
    bg = write(os.path.join(folder, 'bg.txt'), '\ufeff' + lines)
    model, err = tests.model(path, '--negatives', bg)
    if model != expected or model == tests.expected or 'skipped' in err:
        tests.fail('bg.txt gives another model', err)
    write(bg, lines + 'neg/none.png\n')
    model, err = tests.model(path, '--negatives', bg)
    if model != expected or f"neg/none.png: no such picture in '{folder}'" not in err:
        tests.fail('bg.txt with a missing picture', err)


# ---- YOLO ----


def move_labels(folder, place):
    """Moves labels, as written by write_yolo(), to a folder of the set."""
    path = os.path.join(folder, place)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.rename(os.path.join(folder, 'yolo'), path)
    return path


def check_yolo(tests):
    for images, labels, names, text in (
            ('images/train', 'labels/train', 'data.yaml',
             "train: images/train\nnames: ['cross', \"other\"]\n"),
            ('train/images', 'train/labels', 'data.yaml',
             'names:\n  0: cross\n  1: other\n'),
            ('obj_train_data', 'obj_train_data', 'obj.data',
             'classes = 1\nnames = data/obj.list\n'),
            ('', 'labels', 'labels/classes.txt', 'cross\nother\n')):
        folder = tests.new_folder(images)
        write_yolo(folder, tests.pictures)
        if images == labels:
            for name in os.listdir(os.path.join(folder, 'yolo')):
                os.rename(os.path.join(folder, 'yolo', name),
                          os.path.join(folder, images, name))
            write(os.path.join(folder, 'obj.list'), 'cross\n')
            write(os.path.join(folder, 'train.txt'), ''.join(
                f'data/{images}/{name}\n' for name, _ in tests.pictures))
        else:
            move_labels(folder, labels)
        write(os.path.join(folder, names), text)
        tests.expect_same(folder, '--label', 'cross', said=os.path.join(folder, names))
        if images:
            tests.expect_same(os.path.join(folder, labels), '--label', 'cross')
    tests.expect_same(folder, '--label', 'a', '--names',
                      write(os.path.join(folder, 'x.yaml'), 'names: [a]\n'))


def check_yolo_lines(tests):
    """Checks classes like 0.0, polygons, and pictures without objects."""
    folder = tests.new_folder()
    for name, boxes in tests.pictures:
        lines = []
        for x, y, w, h in boxes:
            corners = [x, y, x + w, y, x + w, y + h, x, y + h]
            lines.append(' '.join(['0.0', *(repr(c / SIZE) for c in corners)]))
        write(os.path.join(folder, name.replace('png', 'txt')), '\n'.join(lines))
    tests.expect_same(folder)
    empty = os.path.join(tests.folder, 'negatives', '0.png')
    path = write_info(tests.folder, tests.pictures)
    expected = tests.model(path, '--negatives', empty)[0]
    shutil.copy(empty, os.path.join(folder, 'last.png'))
    write(os.path.join(folder, 'last.txt'), '\n')
    if tests.model(folder)[0] != expected:
        tests.fail('a picture with an empty file is not a negative')


# ---- JSON ----


def edit_coco(path, change):
    with open(path, encoding='utf-8') as file:
        data = json.load(file)
    change(data)
    return write(path, json.dumps(data))


def use_texts(data):
    for image in data['images']:
        image['id'] = f'x{image["id"]}'
    for annotation in data['annotations']:
        annotation['image_id'] = f'x{annotation["image_id"]}'
        annotation['category_id'] = str(annotation['category_id'])


def add_empty(data):
    data['annotations'] += [
        {'image_id': data['images'][0]['id'], 'category_id': 5, 'bbox': bbox}
        for bbox in ([0, 0, 0, 0], [])]


def use_windows(data):
    for i, image in enumerate(data['images']):
        image['file_name'] = ('D:\\a\\', '/srv/b/', '..\\c\\')[i % 3] + image['file_name']


def check_coco(tests):
    for change, skipped in ((use_texts, 0), (add_empty, 1), (use_windows, 0),
                            (lambda data: data.pop('categories'), 0)):
        path = write_coco(tests.new_folder(), tests.pictures)
        tests.expect_same(edit_coco(path, change), skipped=skipped,
                          said='2 objects have no area' if skipped else '')
    folder = tests.new_folder('train2017')
    os.rename(write_coco(folder, tests.pictures),
              write(os.path.join(folder, 'annotations', 'instances_train2017.json'), ''))
    tests.expect_same(os.path.join(folder, 'annotations'))


def check_labelme(tests):
    folder = tests.new_folder()
    for name, boxes in tests.pictures:
        shapes = [{'label': 'cross', 'shape_type': 'rectangle',
                   'points': [[x + w, y], [x, y + h]]} for x, y, w, h in boxes]
        write(os.path.join(folder, name.replace('png', 'json')), json.dumps(
            {'version': '5.2.1', 'shapes': shapes, 'imagePath': f'..\\raw\\{name}',
             'imageData': None, 'imageWidth': SIZE, 'imageHeight': SIZE}))
    tests.expect_same(folder, '--label', 'cross')


def via_shape(x, y, w, h):
    return {'name': 'rect', 'x': x, 'y': y, 'width': w, 'height': h}


def check_via(tests):
    folder = tests.new_folder()
    with open(os.path.join(folder, 'via.csv'), 'w', encoding='utf-8', newline='') as file:
        rows = csv.writer(file)
        rows.writerow(['filename', 'file_size', 'file_attributes', 'region_count',
                       'region_id', 'region_shape_attributes', 'region_attributes'])
        for name, boxes in tests.pictures:
            for i, box in enumerate(boxes):
                rows.writerow([name, 1, '{}', len(boxes), i,
                               json.dumps(via_shape(*box)), '{"kind": "cross"}'])
    tests.expect_same(os.path.join(folder, 'via.csv'), '--label', 'cross')
    data = {f'{name}-1': {'filename': name, 'size': -1, 'regions': [
        {'shape_attributes': via_shape(*box), 'region_attributes': {'kind': 'cross'}}
        for box in boxes]} for name, boxes in tests.pictures}
    tests.expect_same(write(os.path.join(folder, 'via.json'), json.dumps(data)),
                      '--label', 'cross')


# ---- CSV, XML ----


def check_tensorflow(tests):
    folder = tests.new_folder()
    with open(os.path.join(folder, 'labels.csv'), 'w', encoding='utf-8', newline='') as file:
        rows = csv.writer(file)
        rows.writerow('filename width height class xmin ymin xmax ymax'.split())
        rows.writerows([name, SIZE, SIZE, 'cross', x, y, x + w, y + h]
                       for name, boxes in tests.pictures for x, y, w, h in boxes)
    tests.expect_same(os.path.join(folder, 'labels.csv'), '--label', 'cross')


def check_cvat(tests):
    folder = tests.new_folder('images')
    images = ''.join(
        f'<image id="{i}" name="{name}" width="{SIZE}" height="{SIZE}">' + ''.join(
            f'<box label="cross" occluded="0" xtl="{x}" ytl="{y}" xbr="{x + w}" '
            f'ybr="{y + h}"></box>' for x, y, w, h in boxes) + '</image>'
        for i, (name, boxes) in enumerate(tests.pictures))
    path = write(os.path.join(folder, 'annotations.xml'),
                 '<?xml version="1.0" encoding="utf-8"?>\n<annotations><version>1.1'
                 f'</version>{images}</annotations>\n')
    tests.expect_same(path, '--label', 'cross')


def check_voc(tests):
    """Checks names without an extension, with another extension and of another file, in a folder
    with links to itself."""
    for change in (lambda text: text.replace('.png<', '<'),
                   lambda text: text.replace('.png<', '.jpg<'),
                   lambda text: text.replace('<filename>', '<filename>C:\\x\\'),
                   lambda text: text.replace('<filename>', '<filename>scan-')):
        folder = tests.new_folder()
        voc = write_voc(folder, tests.pictures)
        for name in os.listdir(voc):
            edit(os.path.join(voc, name), change)
        for name in ('a', 'b'):
            os.symlink('.', os.path.join(voc, name))
        tests.expect_same(voc)


# ---- pictures ----


def check_missing(tests):
    """A message names the searched folders once; --images adds another folder."""
    folder = tests.new_folder()
    away = os.path.join(tests.folder, 'away')
    os.rename(folder, away)
    os.makedirs(os.path.join(folder, 'images'))
    path = write_info(folder, tests.pictures)
    status, _, err = tests.train('--positives', path, '--output',
                                 os.path.join(folder, 'x.xml'), cwd=folder)
    named = f"'{folder}', '{os.path.dirname(folder)}', '{folder}/images': give its folder with --images"
    if status == 0 or err.count(named) != 1 or err.count('no such picture') != N:
        tests.fail(err, 'instead of', named)
    tests.expect_same(path, '--images', away)


def check_ambiguous(tests):
    """A path may be written in two ways, but a picture is not used for two different paths."""
    tests.expect_same(write_info(tests.new_folder('img'), [
        (way + name, [box]) for name, boxes in tests.pictures
        for way, box in zip(('img/', 'img\\'), boxes)]))
    folder = tests.new_folder()
    path = write_info(folder, [(f'{part}/{name}', boxes)
                               for name, boxes in tests.pictures for part in 'ab'])
    tests.expect_same(path, skipped=N, said="b/00.png: the only picture of that name "
                                            "belongs to another path")


# ---- orientation ----

# EXIF orientations: how the stored picture becomes the upright one
UPRIGHT = {5: np.transpose, 6: lambda a: np.rot90(a, -1),
           7: lambda a: np.rot90(a, 2).T, 8: np.rot90}


def add_orientation(path, orientation):
    """Inserts EXIF after the first marker of a JPEG."""
    tiff = (b'II*\0' + struct.pack('<IH', 8, 1)
            + struct.pack('<HHIHH', 0x112, 3, 1, orientation, 0) + bytes(4))
    with open(path, 'rb') as file:
        data = file.read()
    with open(path, 'wb') as file:
        file.write(data[:2] + b'\xff\xe1' + struct.pack('>H', len(tiff) + 8)
                   + b'Exif\0\0' + tiff + data[2:])


def turned(box, shape, turn):
    """Returns the box in the turned picture, found by painting and turning it."""
    x, y, w, h = box
    mask = np.zeros(shape, np.uint8)
    mask[y:y + h, x:x + w] = 1
    ys, xs = np.nonzero(turn(mask))
    return (int(xs.min()), int(ys.min()), int(np.ptp(xs)) + 1, int(np.ptp(ys)) + 1)


def write_turned(tests, folder):
    """Writes JPEGs of all orientations. Returns their boxes as stored, and upright."""
    stored, upright = [], []
    for i, (name, boxes) in enumerate(tests.pictures):
        picture = cv2.copyMakeBorder(
            cv2.imread(os.path.join(tests.folder, name), cv2.IMREAD_GRAYSCALE),
            0, 20, 0, 0, cv2.BORDER_REFLECT)
        orientation = 5 + i % 4
        name = name.replace('png', 'jpg')
        path = os.path.join(folder, name)
        cv2.imwrite(path, picture, [cv2.IMWRITE_JPEG_QUALITY, 98])
        add_orientation(path, orientation)
        # OpenCV also turns the picture
        expected = UPRIGHT[orientation](picture)
        seen = cv2.imread(path, cv2.IMREAD_GRAYSCALE)
        if seen.shape != expected.shape or np.abs(seen - expected.astype(int)).mean() > 3:
            tests.fail('orientation', orientation)
        stored.append((name, boxes))
        upright.append((name, [turned(box, picture.shape, UPRIGHT[orientation])
                               for box in boxes]))
    return stored, upright


def write_sizes(path, pictures, width, height):
    """Writes a COCO file with sizes of pictures."""
    write_coco(os.path.dirname(path), pictures)

    def add(data):
        for image in data['images']:
            image.update(width=width, height=height)
    return edit_coco(path, add)


def check_orientation(tests):
    """Boxes of the stored picture and of the upright one give the same model."""
    folder = os.path.join(tests.folder, 'turned')
    os.makedirs(folder)
    stored, upright = write_turned(tests, folder)
    path = os.path.join(folder, 'coco.json')
    expected = tests.model(write_info(folder, upright))[0]
    for pictures, width, height in ((upright, SIZE + 20, SIZE), (stored, SIZE, SIZE + 20)):
        model, err = tests.model(write_sizes(path, pictures, width, height))
        if model != expected or 'skipped' in err:
            tests.fail(width, height, 'gives another model', err)
    if tests.model(write_info(folder, stored))[0] == expected:
        tests.fail('boxes at wrong places give the same model')
    status, _, err = tests.train('--positives', write_sizes(path, stored, 2 * SIZE, 180),
                                 '--output', os.path.join(folder, 'x.xml'))
    if status == 0 or err.count('jpg: its boxes belong to a picture of '
                                f'{2 * SIZE} x 180, but it is {SIZE + 20} x {SIZE}') != N:
        tests.fail('other sizes', err)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tests = Inputs(os.path.abspath(sys.argv[1]), os.path.realpath(folder))
        tests.expected = tests.model(write_info(tests.folder, tests.pictures))[0]
        for check in (check_info, check_negatives, check_yolo, check_yolo_lines, check_coco,
                      check_labelme, check_via, check_tensorflow, check_cvat, check_voc,
                      check_missing, check_ambiguous, check_orientation):
            check(tests)
    return tests.failed > 0


if __name__ == '__main__':
    sys.exit(main())
