#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cuvision-archive on videos that it makes: complete, broken and changing ones,
with names that a pipeline cannot contain unescaped.

usage: archive-tool.py ARCHIVE MAN-PAGE
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from archive import LINE, Archive, expect, make_film, result_of
from terminal import shown_by


def check_done(archive):
    """Checks that videos are done once, with a valid marker; the second run changes nothing."""
    films = archive.films('a.avi', 'sub/a.avi', 'sub/b.avi')
    out = archive.run(0, '--output', 'out', *films)
    expect('3 of 3 videos are done' in out.err, out)
    for film in films:
        marker = archive.marker(film)
        expect(marker['buffers'] == 12 and marker['stats']['records']['records'] == 12,
               marker)
        expect(marker['film']['size'] == os.path.getsize(archive.path(film)), marker)
        expect(marker['line'] == LINE and 'cuvpublish' in marker['versions']['plugins'],
               marker)
        expect([f['name'] for f in marker['files']] == ['records.jsonl'], marker)
    before = archive.tree('out')
    out = archive.run(0, '--output', 'out', '--json', *films, films[0])
    summary = json.loads(out.out)
    expect((summary['films'], summary['done'], summary['done_before']) == (3, 0, 3), summary)
    expect(archive.tree('out') == before, 'the second run changed something')
    os.remove(archive.path('a.avi'))
    archive.run(0, '--output', 'out', *films)
    expect(archive.tree('out') == before, 'removing a video changed its results')


def check_beside(archive):
    """Runs without --output, and from another folder."""
    archive.films('films/c.avi')
    archive.run(0, 'films/c.avi')
    expect(os.path.exists(archive.path('films/c.avi.results/done.json')), 'not beside')
    out = archive.run(0, archive.path('films/c.avi'))
    expect('1 of them in earlier runs' in out.err, out)


def check_names(archive):
    """Checks names that are difficult for a shell, a pipeline or UTF-8."""
    names = [b'two  words.avi', b'quote\'s "x".avi', b'back\\slash$HOME.avi', b'-o.avi', b'ends in\\',
             b'new\nline.avi', b'latin\xe9.avi', b'{name}.avi', b'100%d!.avi', b'50%n%n.avi', 'ř.avi'.encode()]
    source = archive.films('odd/a.avi')[0]
    for name in names:
        shutil.copy(archive.path(source), os.path.join(archive.folder.encode(), b'odd', name))
    listed = b'\0'.join(b'odd/' + name for name in names)
    out = archive.run(0, '--output', 'odd-out', '--null', '--list', '-', feed=listed)
    expect(f'{len(names)} of {len(names)} videos are done' in out.err, out)
    for name in names:
        folder = os.path.join(archive.folder.encode(), b'odd-out/odd', name + b'.results')
        with open(os.path.join(folder, b'records.jsonl'), encoding='utf-8') as file:
            record = json.loads(file.readline())
        wanted = name.decode(errors='replace').replace('\n', '_').replace('%', '_')
        expect(record['source'] == wanted, record['source'], 'instead of', wanted)
    expect(not archive.leftovers('odd-out'), archive.leftovers('odd-out'))
    archive.run(0, '--check', '--output', 'odd-out')
    # sinks that interpret the name as a format
    line = 'filesrc location={film} ! avidemux ! multifilesink location={results}/{name}-%02d.jpg'
    names = ['odd/50%n%n.avi', 'odd/7%s.avi']
    shutil.copy(archive.path(source), archive.path(names[1]))
    archive.run(0, '--output', 'odd%d', *names, line=line)
    for name in names:
        files = [file['name'] for file in archive.marker(name, 'odd%d')['files']]
        base = name[4:].replace('%', '_')
        expect(files == [f'{base}-{i:02}.jpg' for i in range(12)], files)
    expect(sorted(os.listdir(archive.path('odd%d'))) == ['odd'], os.listdir(archive.path('odd%d')))
    os.environ['LC_ALL'] = 'C'
    archive.run(0, '--output', 'odd-c', source, line=LINE.replace('name=records', 'name=ř'))
    del os.environ['LC_ALL']
    archive.run(2, '--gst-debug=2', source, err='Unknown option --gst-debug=2')


def check_lists(archive):
    archive.films('l1.avi', 'l2.avi')
    with open(archive.path('list.txt'), 'w', encoding='utf-8') as file:
        file.write('l1.avi\n\nl2.avi\nl1.avi')
    out = archive.run(0, '--output', 'lists', '--list', 'list.txt', '--pending')
    expect(out.out.split('\n') == [archive.path('l1.avi'), archive.path('l2.avi'), ''], out)
    archive.run(0, '--output', 'lists', 'l2.avi')
    out = archive.run(0, '--output', 'lists', '--list', '-', '--pending', '--null',
                      feed=b'l1.avi\0l2.avi')
    expect(out.out == archive.path('l1.avi') + '\0', out)
    archive.run(0, '--output', 'lists', '--list', '-', feed=b'l1.avi\r\nl2.avi\r\n')
    archive.run(2, '--output', 'lists', '--list', 'none.txt', err='none.txt')
    os.mkfifo(archive.path('fifo'))
    archive.run(2, '--output', 'lists', '--list', 'fifo', err='not a regular file')


def check_parts(archive):
    """Checks that all parts together make up the list, and are about equally large."""
    films = archive.films('p/a.avi', frames=2)
    with open(archive.path(films[0]), 'rb') as file:
        film = file.read()
    for i in range(20):
        with open(archive.path(f'p/{i}.avi'), 'wb') as file:
            file.write(film + bytes(500000 * (i % 7)))
    names = [f'p/{i}.avi' for i in range(20)]
    parts = []
    for part in ('1/3', '2/3', '3/3'):
        out = archive.run(0, '--output', 'parts', '--pending', '--part', part, *names)
        parts.append(out.out.split())
    expect(sorted(sum(parts, [])) == sorted(archive.path(n) for n in names), parts)
    sizes = [sum(os.path.getsize(p) for p in part) for part in parts]
    expect(max(sizes) - min(sizes) < 3500000, sizes)
    for wrong in ('0/3', '4/3', '1', 'x/2', '1/0'):
        archive.run(2, '--part', wrong, 'p/a.avi', err='is not K/N')


def check_changes(archive):
    """Checks that a changed video is done again, and that another pipeline is refused or replaces
    results."""
    film = archive.films('ch.avi')[0]
    archive.run(0, '--output', 'ch', film)
    inode = os.stat(archive.result(film, 'ch')).st_ino
    os.utime(archive.path(film), ns=(1, 10**18 + 1))
    archive.run(0, '--output', 'ch', film)
    expect(os.stat(archive.result(film, 'ch')).st_ino != inode, 'not done again')
    expect(archive.marker(film, 'ch')['film']['modified'] == '2001-09-09T01:46:40.000000001Z',
           archive.marker(film, 'ch'))
    make_film(archive.path(film), 5)
    archive.run(0, '--output', 'ch', film)
    expect(archive.marker(film, 'ch')['buffers'] == 5, 'the marker of the old video')
    other = LINE.replace('name=records', 'name=others')
    before = archive.tree('ch')
    archive.run(2, '--output', 'ch', film, line=other, err='--redo to replace them')
    expect(archive.tree('ch') == before, 'refused, but changed')
    archive.run(0, '--output', 'ch', '--redo', film, line=other)
    expect('others' in archive.marker(film, 'ch')['stats'], 'not replaced')
    before = archive.tree('ch')
    archive.run(0, '--output', 'ch', '--redo', film, line=other)
    expect(archive.tree('ch') == before, 'replaced twice')


def check_kept(archive):
    """Checks that neither a failure nor an unreadable marker replaces results."""
    gone, film = archive.films('gone.avi', 'kept.avi')
    archive.run(0, '--output', 'kept', gone, film)
    before = archive.tree('kept')
    os.remove(archive.path(gone))
    bad = LINE.replace('decodebin', 'qtdemux ! jpegdec')
    out = archive.run(1, '--output', 'kept', '--redo', gone, film, line=bad,
                      err='the video no longer exists')
    expect('earlier results are kept' in out.err and archive.tree('kept') == before, out)
    with open(archive.path(film), 'wb') as file:
        file.write(b'broken')
    archive.run(1, '--output', 'kept', gone, film, err='earlier results are kept')
    expect(archive.tree('kept') == before, 'replaced')
    for name in ('done.json', 'failed.json'):
        marker = os.path.join(archive.result(film, 'kept'), name)
        if os.path.exists(marker):
            os.remove(marker)
        os.symlink(name, marker) # a link to itself, which cannot be read, as on a bad disk
        archive.run(1, '--output', 'kept', film, err='not done: kept.avi: ')
        expect(os.path.exists(archive.result(film, 'kept') + '/records.jsonl'), 'replaced')
        os.remove(marker)
        archive.run(2, '--output', 'kept', film, err='was not written by cuvision-archive')


def check_nested(archive):
    """Checks that a marker nested too deeply for the stack is ignored: the video is done again."""
    film = archive.films('nested.avi')[0]
    archive.run(0, '--output', 'nested', film)
    for text in ('{"film":' * 100000, '[' * 1000000):
        with open(result_of(archive, film, 'nested'), 'w', encoding='utf-8') as file:
            file.write(text)
        archive.run(0, '--output', 'nested', film)
        with open(result_of(archive, film, 'nested'), encoding='utf-8') as file:
            expect('film' in json.load(file), 'no marker')


def check_foreign(archive):
    """Checks that folders of others, and results of a video of the same name, are not touched."""
    film = archive.films('f1/x.avi')[0]
    os.makedirs(archive.path('f1/x.avi.results'))
    archive.run(0, film)
    shutil.rmtree(archive.path('f1/x.avi.results'))
    os.makedirs(archive.path('f1/x.avi.results/mine'))
    archive.run(2, film, err='was not written by cuvision-archive')
    expect(os.path.isdir(archive.path('f1/x.avi.results/mine')), 'removed')
    shutil.rmtree(archive.path('f1/x.avi.results'))
    with open(archive.path('f1/x.avi.results'), 'w', encoding='utf-8') as file:
        file.write('notes')
    archive.run(2, '--redo', film, err='was not written by cuvision-archive')
    expect(os.path.isfile(archive.path('f1/x.avi.results')), 'removed')
    archive.run(1, 'typo/x.avi', err='cannot create the folder')
    expect(not os.path.exists(archive.path('typo')), 'a folder was created without a video')
    archive.films('f2/x.avi', frames=3)
    archive.run(0, '--output', 'same', '--root', 'f1', 'f1/x.avi')
    archive.run(2, '--output', 'same', '--root', 'f2', 'f2/x.avi', err='of another video')
    archive.run(2, '--output', 'same', '--root', 'f2', 'f1/x.avi', err="such as --root '")


def check_bad_films(archive):
    """Checks that bad videos are recorded as such, and not tried again until they change or an
    option asks for it."""
    good, cut = archive.films('good.avi', 'cut.avi')
    with open(archive.path(cut), 'r+b') as file:
        file.truncate(os.path.getsize(archive.path(cut)) * 2 // 3)
    for name, data in (('empty.avi', b''), ('text.avi', b'a text\n' * 99),
                       ('noise.avi', os.urandom(9999)), ('none.mkv', b'')):
        with open(archive.path(name), 'wb') as file:
            file.write(data)
    make_film(archive.path('cut.mkv'), 150, 'matroskamux')
    os.truncate(archive.path('cut.mkv'), os.path.getsize(archive.path('cut.mkv')) // 2)
    os.remove(archive.path('none.mkv'))
    bad = ['empty.avi', 'text.avi', 'noise.avi', 'none.mkv', 'cut.avi', 'cut.mkv']
    out = archive.run(1, '--output', 'bad', '--json', *bad[:3], good, *bad[3:])
    summary = json.loads(out.out)
    failed = {entry['film']: entry['error'] for entry in summary['failed']}
    expect(sorted(failed) == sorted(bad) and summary['done'] == 1, summary)
    expect(failed['empty.avi'] == 'empty' and 'No such file' in failed['none.mkv']
           and 'truncated' in failed['cut.avi'] and 'truncated' in failed['cut.mkv'], failed)
    for name in bad:
        expect(os.listdir(archive.result(name, 'bad')) == ['failed.json'], name)
    before = archive.tree('bad')
    out = archive.run(1, '--output', 'bad', good, *bad)
    expect('6 failed before: use --retry-failed' in out.err, out)
    expect(archive.tree('bad') == before, 'tried again')
    archive.run(1, '--output', 'bad', '--retry-failed', good, *bad)
    expect(archive.tree('bad') != before, 'not tried again')
    make_film(archive.path('none.mkv'), 12)
    make_film(archive.path('empty.avi'), 12)
    archive.run(0, '--output', 'bad', 'none.mkv', 'empty.avi')
    expect(not os.path.exists(archive.result('none.mkv', 'bad') + '/failed.json'), 'both')
    archive.run(0, '--output', 'bad', '--retry-failed', '--allow-short', 'cut.avi', 'cut.mkv')
    # sound that the pipeline does not use, longer than the video: complete, and truncated
    subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=60', '!',
                    'video/x-raw,width=64,height=48', '!', 'jpegenc', '!', 'matroskamux', 'name=m',
                    '!', 'filesink', 'location=sound.mkv', 'audiotestsrc', 'num-buffers=200', '!',
                    'queue', 'max-size-time=0', '!', 'm.'], check=True, cwd=archive.folder)
    shutil.copy(archive.path('sound.mkv'), archive.path('cut-sound.mkv'))
    os.truncate(archive.path('cut-sound.mkv'),
                os.path.getsize(archive.path('cut-sound.mkv')) * 2 // 3)
    out = archive.run(1, '--output', 'bad', 'sound.mkv', 'cut-sound.mkv', err='done: sound.mkv')
    expect('failed: cut-sound.mkv: ended after' in out.err, out)


def check_wrong_lines(archive):
    """Checks that an invalid pipeline is an error of the run, before any video is started."""
    film = archive.films('w.avi')[0]
    for line, err in (
            ('filesrc location={film} ! nosuch ! fakesink', 'no element "nosuch"'),
            ('filesrc location={film} ! fakesink colour=red', 'colour'),
            ('filesrc location={film} ! jpegdec idct-method=best ! fakesink', 'idct-method'),
            ('filesrc location={film} ! !', 'invalid pipeline: '),
            ('filesrc location={film} ! filesink location={result}/x', '{result}'),
            ('videotestsrc ! fakesink', 'reads no video'), (' ', '--line-file is missing')):
        archive.run(2, '--output', 'wrong', film, line=line, err=err)
    expect(not os.path.exists(archive.path('wrong')), 'videos were begun')


def check_places(archive):
    """Checks that full disks and missing models are not blamed on the videos: nothing is
    recorded."""
    films = archive.films('d1.avi', 'd2.avi', 'd3.avi', 'd4.avi')
    for film in films:
        os.symlink('/dev/full', archive.path(film + '.full'))
    for line, err in (
            ('filesrc location={film} ! filesink location=/dev/full', 'filesink0: '),
            (LINE.replace('{results}/records.jsonl', '/dev/full'), 'No space left on device'),
            ('filesrc location={film} ! avidemux ! jpegparse ! splitmuxsink '
             'muxer-factory=matroskamux location=/dev/full', 'sink: '),
            ('filesrc location={film} ! filesink location={film}.full', 'filesink0: '),
            (LINE.replace('! fakesink', '! videoconvert ! waldboostdetect model=none.xml '
                          '! fakesink'), 'none.xml')):
        out = archive.run(3, '--output', 'full', *films, line=line, err=err)
        expect('4 videos in a row' in out.err, out)
        expect(archive.tree('full') == {}, archive.tree('full'))
    # a run of many videos ends after ten of them
    many = archive.films(*(f'd{i}.avi' for i in range(14)))
    line = LINE.replace('! fakesink', '! filesink location=/dev/full')
    out = archive.run(3, '--output', 'full', *many, line=line, err='10 videos in a row')
    expect(out.err.count('not done: ') == 10, out)
    # links to themselves, which fail like missing permissions; below, names that are too long
    loops = [f'loop{i}' for i in range(12)]
    for loop in loops:
        os.symlink(loop, archive.path(loop))
    more = subprocess.run(archive.command('filesrc location={film} ! fakesink', '--output', 'more',
                                          *loops, *many), cwd=archive.folder, check=False)
    expect(more.returncode in (1, 3) and archive.done(many, 'more') > 0, 'blocked by the first ten')
    loops = loops[:3]
    out = archive.run(1, '--output', 'loops', *loops, films[0], err='1 of 4 videos are done')
    expect(os.listdir(archive.path('loops')) == [films[0] + '.results'], 'recorded')
    archive.run(3, '--output', 'loops', *loops, err='3 videos in a row')
    long = archive.films(*(f'{i}' * n + '.avi' for i, n in enumerate((240, 240, 240, 249))))
    out = archive.run(1, '--output', 'long', *long, films[0], err='1 of 5 videos are done')
    # a limit of file sizes acts like a full disk: first the marker does not fit, then it does
    out = archive.run(1, '--output', 'full', films[0], file_size=400,
                      line='filesrc location={film} ! fakesink')
    expect('not done' in out.err and archive.tree('full') == {}, out)
    archive.run(0, '--output', 'full', films[0], line='filesrc location={film} ! fakesink')
    out = archive.run(1, '--output', films[0] + '/x', films[1], err='cannot create the folder')
    expect('1 not done' in out.err, out)


def check_losses(archive):
    """Checks that frames that were not analysed because a sink waits are blamed on the pipeline."""
    film = archive.films('late.avi')[0]
    late = ('filesrc location={film} ! avidemux ! jpegdec qos=false ! identity sleep-time=100000 '
            '! videoconvert qos=false ! houghlines ! fakesink sync=true qos=true')
    archive.run(1, '--output', 'late', film, line=late, err='late frames; set sync=false')
    archive.run(1, '--output', 'late', film, line=late.replace('jpegdec qos=false', 'jpegdec'),
                err='late frames; set sync=false')
    expect(archive.tree('late') == {}, 'recorded')
    archive.run(0, '--output', 'late', film,
                line=late.replace('sync=true', '').replace('hlines', 'hlines cuda-device-id=999'))
    warnings = archive.marker(film, 'late')['warnings']
    expect(len(warnings) == 1 and 'cuda-device-id is 999' in warnings[0], warnings)


def check_check(archive):
    films = archive.films('k1.avi', 'k2.avi')
    archive.run(0, '--output', 'k', *films)
    archive.run(0, '--check', 'k')
    records = os.path.join(archive.result('k1.avi', 'k'), 'records.jsonl')
    with open(records, 'r+b') as file:
        file.write(b'[')
    archive.run(1, '--check', '--output', 'k', err='damaged: records.jsonl')
    with open(records, 'ab') as file:
        file.write(b'\n')
    archive.run(1, '--check', '--output', 'k', err='wrong size: records.jsonl')
    os.rename(records, records + '.old')
    out = archive.run(1, '--check', '--json', 'k/k1.avi.results', err='missing: records.jsonl')
    expect('not listed in done.json: records.jsonl.old' in out.err
           and json.loads(out.out)['problems'] == 2, out)
    with open(result_of(archive, 'k2.avi', 'k'), 'r+b') as file:
        file.truncate(99)
    archive.run(1, '--check', '--output', 'k', err='marker is damaged')
    archive.run(0, '--output', 'k', 'k2.avi')
    archive.run(0, '--check', 'k/k2.avi.results')
    archive.run(2, '--check', err='--check needs')


def check_progress(archive):
    """Checks that progress is a single line on a terminal, which is overwritten."""
    film = archive.films('t.avi')[0]
    long = archive.films('t' * 99 + '.avi')[0]
    line = LINE.replace('! fakesink', '! identity sleep-time=120000 ! fakesink')
    shown = shown_by(archive.command(line, '--output', 't', film, long), columns=40,
                     cwd=archive.folder)
    expect(re.search(rb'0 of 2 videos; t.avi \d+ %', shown) and b'\r' in shown, shown)
    rows = [row for row in re.split(rb'[\r\n]|\033\[K', shown) if b'of 2 videos; ' in row]
    expect(max(len(row) for row in rows) == 39, rows)


def check_help(archive, page):
    """Checks that the man page names the options that --help lists, and no others."""
    out = archive.run(0, '--help')
    with open(page, encoding='utf-8') as file:
        text = file.read().replace('\\-', '-')
    listed = set(re.findall(r'--[a-z][a-z-]+', out.out.split('In the line')[0]))
    described = set(re.findall(r'--[a-z][a-z-]+',
                               text[text.index('.SH OPTIONS'):text.index('.SH FILES')]))
    expect(listed == described, 'the man page and --help differ in', listed ^ described)


def main():
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(sys.argv[1], os.path.realpath(folder))
        for check in (check_done, check_beside, check_names, check_lists, check_parts,
                      check_changes, check_kept, check_nested, check_foreign,
                      check_bad_films, check_wrong_lines, check_places, check_losses,
                      check_check, check_progress):
            check(archive)
            print('ok', check.__name__, flush=True)
        check_help(archive, sys.argv[2])


if __name__ == '__main__':
    main()
