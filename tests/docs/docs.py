#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the commands of the documentation.

usage: docs.py SOURCE-FOLDER list            lists all pages
       docs.py SOURCE-FOLDER run PAGE        runs a page's blocks in order
       docs.py SOURCE-FOLDER cover PAGE...   checks pages, elements, properties, links

CONTRIBUTING.md describes which blocks are run and how others are marked.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

LIMIT = 120  # seconds a block may take
TRACKED = 0.9  # minimum fraction of frames with a track, in pipelines with rcdtrack
SHELLS = {'sh', 'bash', 'shell', 'console'}
MARKS = {
    'setup': 'changes the system or is the whole set-up',
    'camera': 'needs a camera',
    'screen': 'needs a screen',
    'gpu': 'needs a GPU',
    'file': 'needs a file of the reader\'s',
    'slurm': 'needs a Slurm cluster',
    'ray': 'needs Ray: scripts/setup.sh ray installs it',
    'network': 'needs a neural network and elements that run it',
}
# elements of other projects that may be missing in a block with this mark
FOREIGN = {'gpu': r'nv\w+', 'network': r'onnxinference|yolov8tensordec|gvadetect'}
LINKED = ['cuda', 'docs', 'elements', 'examples', 'python', 'scripts', 'tests']

problems = []


def problem(text):
    problems.append(text)
    print(f'FAILED {text}', flush=True)


def pages(top):
    found = [n for n in ('README.md', 'CONTRIBUTING.md', 'SECURITY.md')
             if os.path.exists(os.path.join(top, n))]
    for folder, folders, names in sorted(os.walk(os.path.join(top, 'docs'))):
        found += [os.path.relpath(os.path.join(folder, n), top)
                  for n in sorted(names) if n.endswith('.md')]
    return found


class Block:
    def __init__(self, page, line, info, lines):
        words = info.split()
        self.where = f'{page}:{line}'
        self.language = words[0] if words else ''
        self.marks = words[1:]
        self.text = '\n'.join(lines) + '\n'
        if self.language == 'console':
            self.text = '\n'.join(l[2:] for l in lines
                                  if l.startswith(('$ ', '> '))) + '\n'

    def commands(self):
        """Returns the logical lines, without comments."""
        joined = self.text.replace('\\\n', ' ')
        return [l.strip() for l in joined.split('\n')
                if l.strip() and not l.strip().startswith('#')]


def blocks_of(top, page):
    blocks, lines, start, info = [], None, 0, ''
    with open(os.path.join(top, page), encoding='utf-8') as file:
        for number, line in enumerate(file.read().split('\n'), 1):
            fence = re.match(r'\s*```(.*)$', line)
            if fence and lines is None:
                lines, start, info = [], number, fence.group(1).strip()
            elif fence:
                blocks.append(Block(page, start, info, lines))
                lines = None
            elif lines is not None:
                lines.append(line)
    if lines is not None:
        problem(f'{page}:{start}: the block does not end')
    return blocks


# ---- blocks that run ----


def through_jq(block, command):
    """Pipes a command that prints records through jq."""
    prints = 'visionpublish' in command and 'file-path' not in command \
        and '|' not in command and not re.search('target=(mqtt|kafka)', command)
    if not prints:
        return command
    if not re.search(r'gst-launch-1\.0 (-\w+ )*-q\b', command):
        problem(f'{block.where}: prints records on stdout without -q')
    return f'{command} | jq -es "length > 0" >/dev/null'


def with_records(text):
    """Adds visionpublish to pipelines that draw tracks of rcdtrack."""
    return re.sub(r'(rcdtrack\b[^!]*(?:![^!]*)*?)(! visionoverlay\b)',
                  r'\1! visionpublish add-empty-results=true '
                  r'file-path=followed.jsonl \2', text)


def check_tracked(block, folder):
    """Checks that most frames of a pipeline with rcdtrack have a track."""
    path = os.path.join(folder, 'followed.jsonl')
    if not os.path.exists(path):
        return
    with open(path, encoding='utf-8') as file:
        frames = [json.loads(line) for line in file]
    os.remove(path)
    shown = sum(any('id' in o for o in f.get('objects', [])) for f in frames)
    if shown < TRACKED * len(frames) or not frames:
        problem(f'{block.where}: only {shown} of {len(frames)} frames have a '
                'track')
    else:
        print(f'ok     {block.where}: {shown} of {len(frames)} frames have a '
              'track', flush=True)


def run_block(block, folder):
    script = 'set -euo pipefail\n'
    if 'rcdtrack' in block.text and 'visionoverlay' in block.text:
        script += with_records(block.text)
    elif 'visionpublish' in block.text:
        script += '\n'.join(through_jq(block, c) for c in block.commands())
    else:
        script += block.text
    run = subprocess.Popen(['bash', '-c', script], cwd=folder, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = run.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        problem(f'{block.where}: did not end within {LIMIT} s')
        return ''
    if run.returncode:
        with contextlib.suppress(ProcessLookupError):  # all processes have ended
            os.killpg(run.pid, signal.SIGKILL)
        problem(f'{block.where}: status {run.returncode}\n{output}')
    elif re.search(r'(WARNING|CRITICAL|ERROR) \*\*', output):
        problem(f'{block.where}: a GLib warning\n{output}')
    else:
        print(f'ok     {block.where}: ran', flush=True)
        check_tracked(block, folder)
    return output


# ---- blocks that this machine cannot run ----


def gst():
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import Gst
    Gst.init(None)
    return Gst


def parse_pipeline(block, words):
    """Parses a pipeline, in which elements of other projects may be missing."""
    Gst = gst()
    parts = [[]]
    for word in words:
        if word == '!':
            parts.append([])
        else:
            parts[-1].append(word)
    known = []
    for part in parts:
        absent = part and not Gst.ElementFactory.find(part[0]) and any(
            re.fullmatch(FOREIGN.get(mark, ''), part[0]) for mark in block.marks)
        # a missing element is replaced by a sink and a source
        known += (['fakesink', 'appsrc'] if absent else part) + ['!']
    try:
        Gst.parse_launchv(known[:-1])
    except Exception as error:
        problem(f'{block.where}: does not parse: {error}')


def check_command(block, command, top):
    try:
        words = shlex.split(command, comments=True)
    except ValueError as error:
        problem(f'{block.where}: {error}: {command}')
        return
    for stop in ('|', '&&', ';', '>', '&'):
        if stop in words:
            words = words[:words.index(stop)]
    while words and re.match(r'\w+=', words[0]):
        words = words[1:]
    if words and words[0] in ('sudo', 'timeout', 'time'):
        words = words[1:]
    if not words:
        return
    if words[0] == 'gst-launch-1.0':
        words = words[1:]
        while words and words[0].startswith('-'):
            words = words[1:]
        parse_pipeline(block, words)
    elif words[0] not in ('cd', 'export') and not shutil.which(words[0]) \
            and not os.access(os.path.join(top, words[0]), os.X_OK):
        problem(f'{block.where}: {words[0]} is not installed')


def check_block(block, top):
    before = len(problems)
    run = subprocess.run(['bash', '-n'], input=block.text, text=True,
                         capture_output=True)
    if run.returncode:
        problem(f'{block.where}: {run.stderr}')
    for command in block.commands():
        check_command(block, command, top)
    if len(problems) == before:
        why = ', '.join(MARKS.get(m, m) for m in block.marks)
        print(f'ok     {block.where}: parses ({why})', flush=True)


def use_ray(top, folder):
    """Returns whether Ray is installed in its virtual environment. If so, puts the programs of the
    environment first in PATH, and Ray's logs in the folder."""
    programs = os.path.join(top, '.venv-ray', 'bin')
    if not os.path.exists(os.path.join(programs, 'ray')):
        return False
    os.environ['PATH'] = f'{programs}:{os.environ["PATH"]}'
    os.environ['RAY_USAGE_STATS_ENABLED'] = '0'
    os.environ['RAY_TMPDIR'] = folder
    return True


def prepare(top, folder):
    for name in LINKED:
        os.symlink(os.path.join(top, name), os.path.join(folder, name))
    os.environ.setdefault('GST_REGISTRY_1_0', os.path.join(folder, 'registry'))
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'


def do_block(block, top, folder):
    """Runs or checks a block; returns its output."""
    unknown = [m for m in block.marks if m not in MARKS]
    absent = [n for n in os.environ.get('CUV_TEST_WITHOUT', '').split()
              if n in block.text]
    if block.language not in SHELLS:
        if re.search(r'^\S*gst-(launch|inspect)-1\.0', block.text, re.M):
            problem(f'{block.where}: a command outside a sh block')
    elif unknown:
        problem(f'{block.where}: unknown marks: {unknown}')
    elif absent:
        print(f'skip   {block.where}: built without {", ".join(absent)}',
              flush=True)
    elif block.marks and not (block.marks == ['ray'] and use_ray(top, folder)):
        check_block(block, top)
    else:
        return run_block(block, folder)
    return ''


def run_page(top, page):
    # what Ray started may still be ending
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        prepare(top, folder)
        for block in blocks_of(top, page):
            do_block(block, top, folder)


# ---- completeness ----


def anchors_of(path):
    """Returns the anchors of a page's headings."""
    with open(path, encoding='utf-8') as file:
        headings = re.findall(r'^#+ (.*)$', file.read(), re.M)
    return {re.sub(r'[^\w -]', '', re.sub(r'\]\([^)]*\)', '', h)).lower().replace(' ', '-')
            for h in headings}


def check_links(top, page):
    with open(os.path.join(top, page), encoding='utf-8') as file:
        text = file.read()
    for target, anchor in re.findall(r'\]\(([^)#\s]*)(?:#([^)\s]*))?\)', text):
        path = os.path.join(top, os.path.dirname(page), target) if target \
            else os.path.join(top, page)
        if re.match(r'\w+:', target):
            continue
        if not os.path.exists(path):
            problem(f'{page}: broken link {target}')
        elif anchor and path.endswith('.md') and anchor not in anchors_of(path):
            problem(f'{page}: no heading for the link {target}#{anchor}')


def our_factories():
    Gst = gst()
    for plugin in Gst.Registry.get().get_plugin_list():
        if plugin.get_name().startswith('cuv'):
            for feature in Gst.Registry.get().get_feature_list_by_plugin(
                    plugin.get_name()):
                yield feature


def check_element(top, factory, readme):
    name = factory.get_name()
    page = f'docs/{re.sub("^cuv", "", name)}.md'
    if f'`{name}`' not in readme:
        problem(f'README.md: does not name {name}')
    if not os.path.exists(os.path.join(top, page)):
        problem(f'{page}: missing')
        return
    if name not in ('cuvcudaupload', 'cuvcudadownload') and not os.path.exists(
            os.path.join(top, f'examples/lines/{name}.sh')):
        problem(f'examples/lines/{name}.sh: missing')
    if not any(b.language in SHELLS and not b.marks and name in b.text
               for b in blocks_of(top, page)):
        problem(f'{page}: no block with {name} that is run')
    with open(os.path.join(top, page), encoding='utf-8') as file:
        text = file.read()
    Gst = gst()
    for spec in Gst.ElementFactory.make(name).list_properties():
        base = re.match('Gst(Object|Base|PushSrc)', spec.owner_type.name)
        if not base and f'`{spec.name}`' not in text:
            problem(f'{page}: does not name the property {spec.name}')


def cover(top, configured):
    here = pages(top)
    if sorted(here) != sorted(configured):
        problem(f'pages were added or removed since the build was configured: '
                f'{set(here) ^ set(configured)}; run meson setup --reconfigure')
    for page in here:
        check_links(top, page)
    with open(os.path.join(top, 'README.md'), encoding='utf-8') as file:
        readme = file.read()
    factories = list(our_factories())
    if not factories:
        problem('the registry has none of our elements')
    for factory in factories:
        check_element(top, factory, readme)
    print(f'{len(here)} pages, {len(factories)} elements')


def main():
    top, what, *arguments = sys.argv[1:]
    if what == 'list':
        print('\n'.join(pages(top)))
    elif what == 'run':
        run_page(top, arguments[0])
    else:
        cover(top, arguments)
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
