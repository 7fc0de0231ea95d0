#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests cuvision-index with Debian's pictures.

usage: index-tool.py PROGRAM
"""
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import cv2
import numpy as np
from PIL import Image

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'check'))
from checks import check, failures

PROGRAM = os.path.abspath(sys.argv[1])
PICTURES = '/usr/share/doc/opencv-doc/examples/data'
ORIENTATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..',
                           'docs', 'orientation.py')
NAMES = ['aloeL.jpg', 'baboon.jpg', 'board.jpg', 'fruits.jpg', 'home.jpg']
# Like gst-launch-1.0 -q, but its children do not inherit AddressSanitizer: GdkPixbuf of Debian
# testing decodes in a process with a limited address space, where it fails.
LAUNCH = '''
import os, sys, gi
os.environ.pop('LD_PRELOAD', None)
gi.require_version('Gst', '1.0')
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch(sys.argv[1])
pipeline.set_state(Gst.State.PLAYING)
message = pipeline.get_bus().timed_pop_filtered(
    Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR)
pipeline.set_state(Gst.State.NULL)
if message.type == Gst.MessageType.ERROR:
    sys.exit(message.parse_error()[0].message)
'''


def tool(*arguments, **environment):
    inherited = {name: value for name, value in os.environ.items()
                 if name != 'LD_PRELOAD'}  # see LAUNCH
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120,
                          env={**inherited, **environment})
    return done.returncode, done.stdout, done.stderr


def names(index):
    status, out, error = tool('list', index)
    check(status == 0, f'list {index}: {error}')
    return [line.split('\t', 1)[1] for line in out.splitlines()]


def expect(status, part, *arguments, **environment):
    got, out, error = tool(*arguments, **environment)
    check(got == status and part in out + error,
          f'{arguments}: {got}, {out}{error}')


def entries(index):
    """Returns the bytes of the entries by name, without names and checksums; see
    docs/definitions/ldp-index.md."""
    with open(index, 'rb') as file:
        data = file.read()
    size, stride = struct.unpack_from('<QQ', data, 80)
    name = (size + 63) // 64 * 64
    found = {}
    for at in range(4096, len(data), stride):
        key = data[at + name:at + name + 1024].rstrip(b'\0').decode()
        found[key] = data[at:at + name] + data[at + name + 1024:at + stride - 4]
    return found


def test_add():
    for name in NAMES:
        shutil.copy(os.path.join(PICTURES, name), name)
    with open('broken.jpg', 'w', encoding='ascii') as file:
        file.write('this is not a picture')
    expect(1, 'skipped: broken.jpg: ', 'add', 'a.ldp', NAMES[0], 'broken.jpg',
           'none.jpg', NAMES[1], 'broken.jpg', 'broken.jpg', *NAMES[2:])
    check(names('a.ldp') == NAMES, f'names {names("a.ldp")}')
    os.mkfifo('fifo')
    expect(1, 'skipped: fifo: it is not a regular file', 'add', 'a.ldp', 'fifo')
    expect(0, 'blocks of 16x16 pixels, directions 0 45 90 135, border valid, 256 bins, '
           'pictures of 64x64 at 3 scales', 'info', 'a.ldp')
    expect(0, '', 'check', 'a.ldp')
    # the element writes the same file, picture by picture
    for name in NAMES:
        subprocess.run(
            ['gst-launch-1.0', '-q', 'filesrc', f'location={name}', '!',
             'decodebin', '!', 'videoconvert', '!', 'ldpindexsink',
             'location=b.ldp', f'entry-name={name}', 'descriptor-width=64',
             'descriptor-height=64', 'block=16', 'scales=3'], check=True, timeout=120)
    with open('a.ldp', 'rb') as a, open('b.ldp', 'rb') as b:
        check(a.read() == b.read(), 'the file differs from that of ldpindexsink')


def test_settings():
    expect(0, '', 'add', '--set', 'order=2', '--set', 'grid=1', '--set',
           'bins=levels', '--set', 'levels=8', '-s', 'descriptor-width=96',
           '-s', 'directions=0+90', 's.ldp', NAMES[0])
    expect(0, '', 'add', 's.ldp', NAMES[1])  # uses the index's parameters
    expect(0, '2 entries', 'info', 's.ldp')
    expect(0, 'order 2, a grid of 1 blocks a side, directions 0 90, border '
           'valid, 8 levels, pictures of 96x128', 'info', 's.ldp')
    expect(0, '', 'add', '--set', 'scales=2', '--set', 'order=2', 'scaled.ldp', NAMES[0])
    expect(0, '', 'add', 'scaled.ldp', NAMES[1])
    expect(0, 'order 2, blocks of 16x16 pixels, directions 0 45 90 135, border valid, '
           '256 bins, pictures of 64x64 at 2 scales', 'info', 'scaled.ldp')
    expect(1, '--set order=99', 'add', '--set', 'order=99', 'n.ldp', NAMES[0])
    expect(1, '--set order', 'add', '--set', 'order', 'n.ldp', NAMES[0])
    expect(1, '--set none=1', 'add', '--set', 'none=1', 'n.ldp', NAMES[0])
    expect(1, 'No such file', 'add', 'none/n.ldp', NAMES[0])
    expect(1, 'thumbnail-width is 0 and thumbnail-height 64', 'add', '--set',
           'thumbnail-width=0', 'n.ldp', 'none.jpg')
    expect(1, 'no element "filesrc": install', 'add', 'n.ldp', NAMES[0],
           GST_PLUGIN_SYSTEM_PATH_1_0='none', GST_REGISTRY_1_0='none.bin',
           LD_PRELOAD=os.environ.get('LD_PRELOAD', ''))
    check(not os.path.exists('n.ldp'), 'n.ldp was created')


def thumbnails(index, folder):
    expect(0, '', 'export', index, folder)
    found = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), 'rb') as file:
            found.append(file.read()[13:])
    return found


def test_turned():
    """Pictures are rotated by their EXIF orientation; a picture without one is not
    rotated like the previous picture."""
    os.environ.pop('GST_PLUGIN_FEATURE_RANK', None)
    subprocess.run([sys.executable, ORIENTATION,
                    os.path.join(PICTURES, 'messi5.jpg'), '.'], check=True)
    expect(0, '', 'add', 'u.ldp', *[f'turned-{i}.jpg' for i in (1, 3, 6, 8)],
           NAMES[1])
    upright, *turned, plain = thumbnails('u.ldp', 'upright')
    for i, picture in zip((3, 6, 8), turned):
        away = sum(abs(a - b) for a, b in zip(upright, picture)) / len(upright)
        check(away < 3, f'turned-{i}.jpg differs by {away} levels')
    expect(0, '', 'add', 'v.ldp', NAMES[1])
    check([plain] == thumbnails('v.ldp', 'plain'), 'a picture after a rotated one')


def write_directories(path):
    """Writes a JPEG in which many segments share a directory of many entries: 655 million entries
    if it was read for each segment."""
    n, size = 10000, 12
    with open(path, 'wb') as file:
        file.write(b'\xff\xd8')
        for i in range(n):
            file.write(struct.pack('<HHII', 0xe1ff, 0x0a00, 0x2a4949, (n - i) * size - 4))
        file.write(struct.pack('<H', 65535) + bytes(12 * 65535))


def test_formats():
    """Pictures in all orientations, in all formats that have them, and in formats that some decoder
    refuses, look like the JPEG. Files that cannot be decoded are reported without delay, even
    after other pictures."""
    original = Image.open(os.path.join(PICTURES, 'messi5.jpg')).convert('RGB')
    turns = [None, Image.FLIP_LEFT_RIGHT, Image.ROTATE_180, Image.FLIP_TOP_BOTTOM,
             Image.TRANSPOSE, Image.ROTATE_90, Image.TRANSVERSE, Image.ROTATE_270]
    files = []
    for form in ('png', 'webp', 'tif', 'jpg'):
        for i, turn in enumerate(turns, 1):
            exif = Image.Exif()
            exif[0x0112] = i
            files.append(f'stored-{i}.{form}')
            stored = original if turn is None else original.transpose(turn)
            stored.save(files[-1], exif=exif, quality=92)
    for name in ('plain.bmp', 'plain.tif', 'cmyk.jpg'):
        original.convert('CMYK' if 'cmyk' in name else 'RGB').save(name, quality=92)
    # GdkPixbuf takes longer for this than a decoder may be idle
    original.resize((7 * original.width, 7 * original.height), Image.NEAREST).save(
        'large.tif', compression='tiff_deflate')
    deep = np.asarray(original)[:, :, ::-1].astype(np.uint16) * 257
    cv2.imwrite('deep.png', deep)
    cv2.imwrite('deep-alpha.png', np.dstack([deep, np.full_like(deep[:, :, 0], 65535)]))
    files += ['plain.bmp', 'plain.tif', 'large.tif', 'cmyk.jpg', 'deep.png',
              'deep-alpha.png']
    expect(0, '', 'add', 'p.ldp', *files)
    upright, *others = thumbnails('p.ldp', 'formats')
    for name, picture in zip(files[1:], others):
        away = sum(abs(a - b) for a, b in zip(upright, picture)) / len(upright)
        most = 6 if name == 'large.tif' else 3  # the large one is scaled down
        check(away < most, f'{name} differs by {away} levels')
    original.save('moving.webp', save_all=True, append_images=[original.rotate(9)])
    original.resize((32768, 8)).save('wide.jpg')
    with open('photo.heic', 'wb') as file:
        file.write(bytes((0, 0, 0, 28)) + b'ftypheic' + bytes(4) + b'mif1heicmiaf')
    write_directories('many.jpg')
    os.mkfifo('fifo.jpg')
    refused = {'moving.webp': 'it is animated WebP, which cannot be decoded here',
               'wide.jpg': 'it has 32768 x 8 pixels, but at most 32767 columns',
               'photo.heic': 'it is HEIC, which cannot be decoded here',
               'many.jpg': '',
               'fifo.jpg': 'it is not a regular file',
               'none.jpg': 'No such file or directory'}
    if tool('add', 'moving.ldp', 'moving.webp')[0] == 0:  # GdkPixbuf 2.44 decodes it
        del refused['moving.webp']
    for _ in range(4):  # qtdemux's error is sometimes lost
        status, _, error = tool('add', 'o.ldp', *[
            name for bad in refused for name in (NAMES[1], bad, bad)])
        check(status == 1, 'status of skipped pictures')
        for name, why in refused.items():
            check(error.count(f'skipped: {name}: {why}') == 2, f'{name}: {error}')
        check('was not decoded within' not in error, error)


def test_target_image():
    """rcdtrack decodes its target with the same code. It finds a target that is stored turned, and
    one that only GdkPixbuf decodes, where they were cut out."""
    film = os.path.join(PICTURES, 'messi5.jpg')
    target = Image.open(film).convert('RGB').crop((330, 120, 420, 250))
    exif = Image.Exif()
    exif[0x0112] = 6
    target.transpose(Image.ROTATE_90).save('target.png', exif=exif)
    target.save('target.bmp')
    for name in ('target.png', 'target.bmp'):
        line = (f'filesrc location={film} ! decodebin ! videoconvert '
                f'! imagefreeze num-buffers=2 ! rcdtrack target-image={name} '
                '! visionpublish ! fakesink')
        done = subprocess.run([sys.executable, '-c', LAUNCH, line], text=True,
                              stdout=subprocess.PIPE, timeout=120)
        boxes = [o for record in done.stdout.splitlines()
                 for o in json.loads(record)['objects']]
        check(boxes and all(abs(o['x'] - 330) < 9 and abs(o['y'] - 120) < 9
                            and abs(o['w'] - 90) < 9 and abs(o['h'] - 130) < 9
                            for o in boxes), f'{name}: {done.stdout}')


def test_edits():
    before = entries('a.ldp')
    mode = os.stat('a.ldp').st_mode
    os.chmod('a.ldp', 0o640)
    expect(0, '', 'rename', 'a.ldp', 'board.jpg', 'circuit ä.jpg')
    check(os.stat('a.ldp').st_mode & 0o777 == 0o640, 'mode')
    os.chmod('a.ldp', mode)
    expect(0, '', 'remove', 'a.ldp', 'baboon.jpg')
    check(names('a.ldp') == ['aloeL.jpg', 'circuit ä.jpg', 'fruits.jpg',
                             'home.jpg'], 'after rename and remove')
    check('circuit ä.jpg' in tool('list', 'a.ldp', LC_ALL='C')[1],
          'names are not UTF-8 in the C locale')
    expect(0, '', 'check', 'a.ldp')
    after = entries('a.ldp')
    check(after['circuit ä.jpg'] == before['board.jpg']
          and after['home.jpg'] == before['home.jpg'], 'other entries changed')
    expect(0, '', 'remove', '--number', 'a.ldp', '0', '2')
    check(names('a.ldp') == ['circuit ä.jpg', 'home.jpg'], 'by number')
    for bad in (('remove', 'a.ldp', 'home.jpg', 'none'),
                ('rename', 'a.ldp', 'none', 'x')):
        expect(1, "no entry is called 'none'", *bad)
    expect(1, "'2' is not the number of an entry", 'remove', '-n', 'a.ldp', '2')
    expect(1, 'a name has 1024 bytes', 'rename', 'a.ldp', 'home.jpg',
           'n' * 1024)
    check(names('a.ldp') == ['circuit ä.jpg', 'home.jpg'], 'the index changed')
    check(not [f for f in os.listdir('.') if '.new' in f], 'temporary files remain')


def test_merge_and_replace():
    expect(0, '', 'merge', 'm.ldp', 'a.ldp', 'b.ldp')
    check(names('m.ldp') == ['circuit ä.jpg', 'home.jpg'] + NAMES, 'merged')
    expect(1, 'has other parameters', 'merge', 'm.ldp', 's.ldp')
    expect(0, '', 'add', 'c.ldp', 'fruits.jpg')
    expect(0, '', 'rename', 'c.ldp', 'fruits.jpg', 'baboon.jpg')
    expect(0, '', 'replace', 'm.ldp', 'c.ldp')
    found = entries('m.ldp')
    check(found['baboon.jpg'] == found['fruits.jpg']
          and len(names('m.ldp')) == 7, 'replaced')
    expect(0, '', 'rename', 'c.ldp', 'baboon.jpg', 'new.jpg')
    expect(1, "no entry is called 'new.jpg'", 'replace', 'm.ldp', 'c.ldp')
    expect(0, '', 'check', 'm.ldp')


def test_parts():
    """Splitting into any number of parts and merging these gives the same file."""
    for count, files in (('1', ['b-0.ldp']), ('3', ['b-0.ldp', 'b-1.ldp', 'b-2.ldp']),
                         ('11', [f'b-{i:02d}.ldp' for i in range(11)])):
        expect(0, '', 'split', 'b.ldp', count)
        check(sorted(f for f in os.listdir('.') if f.startswith('b-')) == files,
              f'{count} parts')
        status, out, _ = tool('info', *files)
        check(status == 0 and (len(files) == 1 or [
            line.split(' entries')[0] for line in out.splitlines()]
            == [f'{f}: {5 * (i + 1) // len(files) - 5 * i // len(files)}'
                for i, f in enumerate(files)]), out)
        expect(0, '', 'merge', 'whole.ldp', *files)
        with open('b.ldp', 'rb') as b, open('whole.ldp', 'rb') as whole:
            check(b.read() == whole.read(), f'{count} parts, merged')
        for name in [*files, 'whole.ldp']:
            os.remove(name)
    expect(0, '', 'split', 'b.ldp', 'x.ldp', 'y.ldp')
    check((names('x.ldp'), names('y.ldp')) == (NAMES[:2], NAMES[2:]), 'two files')
    os.rename('y.ldp', 'z.ldp')
    expect(1, 'x.ldp exists already: ', 'split', 'b.ldp', 'y.ldp', 'x.ldp')
    check(not os.path.exists('y.ldp'), 'a part remains after a failure')
    for bad in ('0', 'x', '100001'):
        expect(1, f"split into '{bad}' parts", 'split', 'b.ldp', bad)


def test_compact():
    expect(0, '', 'merge', 'r.ldp', 'b.ldp', 'c.ldp', 'b.ldp')
    expect(0, 'removed 0 damaged and 5 repeated entries, kept 6', 'compact', 'r.ldp')
    check(names('r.ldp') == NAMES + ['new.jpg'], 'compacted')
    with open('r.ldp', 'rb') as file:
        before = file.read()
    when = os.stat('r.ldp').st_ino
    expect(0, 'removed 0 damaged and 0 repeated', 'compact', 'r.ldp')
    check(os.stat('r.ldp').st_ino == when, 'rewritten without need')
    with open('r.ldp', 'ab') as file:  # what a killed writer leaves behind
        file.write(b'x' * 1000)
    expect(0, 'kept 6', 'compact', 'r.ldp')
    with open('r.ldp', 'rb') as file:
        check(file.read() == before, 'the end remains')
    check(not [f for f in os.listdir('.') if '.new' in f], 'temporary files remain')


def test_names():
    """Adds folders, without hidden files and links back to them, and names on standard input."""
    os.makedirs('folder/inner/deep')
    os.makedirs('folder/.hidden')
    for name, to in zip(NAMES, ('b.jpg', 'inner/deep/c.jpg', 'inner/a.jpg',
                                '.hidden/d.jpg', '.e.jpg')):
        shutil.copy(name, f'folder/{to}')
    os.symlink('..', 'folder/inner/back')
    inside = ['folder/b.jpg', 'folder/inner/a.jpg', 'folder/inner/deep/c.jpg']
    expect(0, '', 'add', 'names.ldp', 'folder/')
    check(names('names.ldp') == inside, names('names.ldp'))
    given = f'{NAMES[4]}\n\nfolder/inner\r\n\r\n{NAMES[0]}'
    done = subprocess.run([PROGRAM, 'add', 'names.ldp', '-', NAMES[1]], input=given,
                          text=True, timeout=120)
    check(done.returncode == 0 and names('names.ldp') == [
        *inside, NAMES[4], *inside[1:], NAMES[0], NAMES[1]], names('names.ldp'))
    expect(0, '4\tfolder/inner/a.jpg\t1\tfolder/inner/a.jpg\n'
           '5\tfolder/inner/deep/c.jpg\t2\tfolder/inner/deep/c.jpg\n'
           f'6\t{NAMES[0]}\t0\tfolder/b.jpg\n'
           f'7\t{NAMES[1]}\t2\tfolder/inner/deep/c.jpg\n', 'duplicates', 'names.ldp')
    done = subprocess.run([PROGRAM, 'remove', '-n', 'names.ldp', '-'], input='4\n7\n5\n6',
                          text=True, timeout=120)
    check(done.returncode == 0 and names('names.ldp') == [*inside, NAMES[4]],
          names('names.ldp'))
    expect(0, '', 'duplicates', 'names.ldp')
    check(tool('duplicates', 'names.ldp')[1] == '', 'duplicates remain')
    done = subprocess.run(['bash', '-c', '"$0" add names.ldp - < .', PROGRAM],
                          stderr=subprocess.PIPE, text=True, timeout=120)
    check(done.returncode == 1 and 'cannot read standard input' in done.stderr,
          done.stderr)
    original = cv2.imread(NAMES[2])
    cv2.imwrite('small.jpg', cv2.resize(original, None, fx=0.5, fy=0.5,
                                        interpolation=cv2.INTER_AREA))
    expect(0, '', 'add', 'names.ldp', 'small.jpg')
    check(tool('duplicates', 'names.ldp', '--similarity=1')[1] == '',
          'one that is only similar')
    expect(0, '4\tsmall.jpg\t1\tfolder/inner/a.jpg\n', 'duplicates', 'names.ldp')
    for bad in ('-0.5', '1.5', 'nan'):
        expect(2, f'--similarity {bad} is not from 0 to 1', 'duplicates', 'names.ldp',
               f'--similarity={bad}')


def test_export():
    expect(0, '', 'export', 'b.ldp', 'thumbs')
    files = sorted(os.listdir('thumbs'))
    check(files == [f'{i:06d}-{name}.ppm' for i, name in enumerate(NAMES)],
          f'exported {files}')
    with open(os.path.join('thumbs', files[0]), 'rb') as file:
        data = file.read()
    check(data.startswith(b'P6\n64 64\n255\n') and len(data) == 13 + 3 * 64 * 64
          and data[13:] in entries('b.ldp')['aloeL.jpg'], 'a thumbnail')
    expect(0, '', 'add', '-s', 'thumbnail-width=0', '-s', 'thumbnail-height=0',
           't.ldp', NAMES[0])
    expect(1, 'has no thumbnails', 'export', 't.ldp', 'thumbs')


def test_damage():
    with open('b.ldp', 'rb') as file:
        data = bytearray(file.read())
    stride = struct.unpack_from('<Q', data, 88)[0]
    data[4096 + stride] ^= 1
    data[4096 + 3 * stride] ^= 1
    with open('d.ldp', 'wb') as file:
        file.write(data)
    status, out, error = tool('check', 'd.ldp')
    check(status == 1 and out == 'entry 1 is damaged\nentry 3 is damaged\n'
          and 'remove them with cuvision-index compact' in error, out + error)
    for whatever in ('0', '1'):
        expect(1, 'd.ldp: entry ', 'remove', '-n', 'd.ldp', whatever)
    expect(1, 'd.ldp: entry 1 is damaged (checksum mismatch): cuvision-index compact '
           'removes ', 'merge', 'e.ldp', 'd.ldp')
    check(names('e.ldp') == NAMES[:1], 'entries appended before are lost')
    expect(0, '', 'check', 'e.ldp')
    shutil.copy('d.ldp', 'f.ldp')
    expect(0, 'removed 2 damaged and 0 repeated entries, kept 3', 'compact', 'f.ldp')
    expect(0, '', 'remove', '-n', 'd.ldp', '1', '3')
    with open('d.ldp', 'rb') as d, open('f.ldp', 'rb') as f:
        check(d.read() == f.read(), 'compact and remove give different files')
    check(names('d.ldp') == NAMES[0::2], 'not all undamaged entries are kept')
    expect(0, '', 'check', 'd.ldp')
    expect(1, 'its first bytes differ', 'list', 'fruits.jpg')
    expect(2, 'unknown command', 'nothing', 'd.ldp')
    expect(2, 'usage: cuvision-index rename', 'rename', 'd.ldp', 'x')
    expect(0, 'Commands:', '--help')


def test_other_writer():
    with subprocess.Popen(['flock', 'b.ldp', 'sleep', '100'],
                          start_new_session=True) as writer:
        while tool('remove', '-n', 'b.ldp', '9')[2].count('another') == 0:
            time.sleep(0.01)
        expect(1, 'another writer has it open', 'remove', '-n', 'b.ldp', '0')
        os.killpg(writer.pid, signal.SIGKILL)
    check(names('b.ldp') == NAMES, 'the index changed')


def test_killed():
    """A killed edit leaves the old or the new index, complete."""
    for _ in range(8):
        expect(0, '', 'merge', 'k.ldp', 'k.ldp' if os.path.exists('k.ldp')
               else 'b.ldp')
    count, killed = len(names('k.ldp')), 0
    seed = int(os.environ.get('CUV_TEST_SEED', time.time()))
    print('seed', seed)
    chance = random.Random(seed)
    start = time.monotonic()
    expect(0, '', 'rename', '-n', 'k.ldp', '0', 'x')
    usual = time.monotonic() - start
    for _ in range(30):
        with subprocess.Popen([PROGRAM, 'remove', '-n', 'k.ldp', '0']) as edit:
            time.sleep(chance.uniform(0, 1.5 * usual))
            edit.kill()
            killed += edit.wait() != 0
        found = len(names('k.ldp'))
        check(found in (count, count - 1), f'{found} of {count} entries')
        count = found
        expect(0, '', 'check', 'k.ldp')
        expect(0, '', 'info', 'k.ldp')
    print('killed', killed, 'of 30')
    check(killed > 0, 'no edit was killed')


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (test_add, test_settings, test_turned, test_formats,
                 test_target_image, test_edits,
                 test_merge_and_replace, test_parts, test_compact, test_names, test_export,
                 test_damage, test_other_writer, test_killed):
        test()
    os.chdir('/')
sys.exit(failures() > 0)
