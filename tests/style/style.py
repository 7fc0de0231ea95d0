#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the style of the tree: text, includes, format, headers, symbols, ...

usage: style.py CHECK SOURCE-FOLDER BUILD-FOLDER
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

SOURCE = ('.c', '.h', '.cu', '.cuh')
SPDX = 'SPDX-License-Identifier: LGPL-2.1-or-later'
SPDX_WANTED = SOURCE + ('.py', '.sh')
TEXT = SPDX_WANTED + ('.md', '.build', '.txt', '.json', '.css', '.supp', '.in')
MAX_LINES = 600
CLANG_FORMAT = 14  # Debian 12's
SKIPPED_FOLDERS = {'.git', '__pycache__', 'demo-out', '.gst-runtime', '.bench', '.venv', '.venv-ray'}
# Names of families and of elements' files that are also ordinary words or
# identifiers of the library.
PLAIN_WORDS = {'color', 'envi', 'overlay', 'publish', 'track', 'train', 'transfer'}
DETECTING = ('waldboost', 'train')  # families that use detect/
# In detect/ and in families with kernels, only files of the interface and the plugin, of model/
# and dataset/, and those that convert metadata to drawings may use GLib. All others are plain C.
GLIB_FILES = re.compile(r'^(gst\w+|cuvdetect|plugin|scene|style|text)\.[ch]$')
LINKER_SYMBOLS = '|_edata|_end|__bss_start'
GLIB_HEADERS = re.compile(r'^(glib|gio/|gobject/|gst/|gmodule|json-glib/|pango)')
MACHINE = re.compile(r'(?<![\w.$}])/(work|home|root)/\w'
                     r'|deb\.debian\.org|pypi\.org|pythonhosted')
# These functions wait for the writer of a FIFO, and may never stop reading a device.
OPENERS = re.compile(r'\b(g_file_get_contents|g_file_load_contents|g_mapped_file_new'
                     r'|g_fopen|fopen) ?\(')
OPENERS_ALLOWED = {'tools/search/device.c',  # /proc
                   'tools/farm/commands.c'}  # standard input
PACKAGES = ['gstreamer-1.0', 'gstreamer-base-1.0', 'gstreamer-video-1.0',
            'json-glib-1.0', 'pangocairo', 'libsoup-3.0', 'libturbojpeg']

problems = []


def problem(path, text, line=None):
    problems.append(f'{path}:{line}: {text}' if line else f'{path}: {text}')


def tree_files(top):
    """Returns the paths of all files of the tree except those ignored by git."""
    git = ['git', '-C', top, 'ls-files', '-co', '--exclude-standard', '-z']
    if shutil.which('git') and os.path.exists(os.path.join(top, '.git')):
        run = subprocess.run(git, capture_output=True, text=True)
        if run.returncode == 0:
            return sorted(p for p in set(run.stdout.split('\0'))
                          if p and os.path.isfile(os.path.join(top, p)))
    found = []
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS
                      and not f.startswith('build')]
        found += [os.path.relpath(os.path.join(folder, n), top) for n in names]
    return sorted(found)


class Tree:
    def __init__(self, top):
        self.top = top
        self.files = tree_files(top)
        self.known = set(self.files)
        elements = os.path.join(top, 'elements')
        self.families = sorted(f for f in os.listdir(elements)
                               if os.path.isdir(os.path.join(elements, f)))

    def path(self, name):
        return os.path.join(self.top, name)

    def read(self, name):
        with open(self.path(name), encoding='utf-8') as file:
            return file.read()

    def sources(self, *folders):
        return [f for f in self.files if f.endswith(SOURCE)
                and (not folders or f.split('/')[0] in folders)]


# ---- text ----


def is_script(tree, name):
    with open(tree.path(name), 'rb') as file:
        return file.read(2) == b'#!'


def check_lines(name, text):
    lines = text.split('\n')
    if text and not text.endswith('\n'):
        problem(name, 'no newline at the end')
    if text.endswith('\n\n'):
        problem(name, 'empty lines at the end')
    for number, line in enumerate(lines, 1):
        if '\t' in line and name != 'debian/rules':  # make needs tabs
            problem(name, 'tab', number)
        if line != line.rstrip():
            problem(name, 'blanks at the end of the line', number)
        if MACHINE.search(line) and name != 'tests/style/style.py':
            problem(name, 'a path or host of a particular machine', number)


def check_text(tree):
    for name in tree.files:
        script = is_script(tree, name)
        if not (script or name.endswith(TEXT)):
            continue
        try:
            text = tree.read(name)
        except UnicodeDecodeError:
            problem(name, 'not UTF-8')
            continue
        check_lines(name, text)
        if not (script or name.endswith(SPDX_WANTED)):
            continue
        if SPDX not in '\n'.join(text.split('\n')[:2]):
            problem(name, f'does not begin with {SPDX}')
        if text.count('\n') > MAX_LINES:
            problem(name, f'{text.count(chr(10))} lines; {MAX_LINES} is the '
                          'limit: split it')
        if name.endswith(SOURCE) and re.search(r'\b(TODO|FIXME|XXX)\b', text):
            problem(name, 'TODO, FIXME or XXX')
        opener = OPENERS.search(text)
        if opener and name.endswith('.c') and name not in OPENERS_ALLOWED \
                and name.startswith(('core/', 'gst/', 'detect/', 'elements/', 'tools/')):
            problem(name, f'{opener[1]}(): use cuv_file_read() of core/cuvfile.h')


def build_file_of(tree, name):
    """Returns the text of the meson.build nearest to a file."""
    folder = os.path.dirname(name)
    while folder:
        if f'{folder}/meson.build' in tree.known:
            return tree.read(f'{folder}/meson.build')
        folder = os.path.dirname(folder)
    return ''


def check_lists(tree):
    """Checks that every source of these rooms is in the nearest meson.build."""
    for name in tree.files:
        base = os.path.basename(name)
        if name.split('/')[0] in ('core', 'cuda', 'gst', 'elements', 'detect') \
                and name.endswith(('.c', '.cu')) \
                and f"{base}'" not in build_file_of(tree, name):
            problem(name, 'not in the meson.build of its folder')
    for family in tree.families:
        if f"'{family}'" not in tree.read('meson.build'):
            problem(f'elements/{family}', 'not in the list of meson.build')


# ---- include directions ----

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# config.h defines only what was found
FIRST_INCLUDE = re.compile(r'(?:\s|/\*.*?\*/|#include "config\.h")*#include "([^"]+)"', re.S)


def includes(tree, name):
    for number, line in enumerate(tree.read(name).split('\n'), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1) == '"', found.group(2)


def allowed_folders(name):
    """Returns the folders from which a file may include headers; None means any."""
    room, *rest = name.split('/')
    if room == 'cuda':
        return [os.path.dirname(name), 'cuda']
    if room == 'core':
        return ['core', 'cuda']
    if room == 'gst':
        return ['gst', 'core', 'cuda']
    if room == 'detect':
        return [os.path.dirname(name), 'detect', 'core', 'cuda']
    if room == 'elements':
        return [os.path.dirname(name), f'elements/{rest[0]}',
                *(['detect'] if rest[0] in DETECTING else []), 'gst', 'core', 'cuda']
    return None


def allowed_families(name):
    """Returns the families whose headers a file may include."""
    room, *rest = name.split('/')
    if room == 'detect':
        return ['waldboost']
    if room not in ('cuda', 'elements'):
        return []
    return DETECTING if room == 'elements' and rest[0] in DETECTING else rest[:1]


def resolve(tree, name, target):
    for folder in allowed_folders(name) or [os.path.dirname(name)]:
        path = os.path.normpath(os.path.join(folder, target))
        if path in tree.known:
            return path
    return None


def check_own_include(tree, name, number, target):
    if allowed_folders(name) is None or target == 'config.h':
        return
    path = resolve(tree, name, target)
    if path is None:
        problem(name, f'"{target}" must not be included from this folder', number)
        return
    room, *rest = path.split('/')
    if room in ('cuda', 'elements') and len(rest) > 1 and rest[0] not in allowed_families(name):
        problem(name, f'"{target}" belongs to another family', number)
    if name.endswith('-types.h') and not target.startswith(('cuv-', '../cuv-')) \
            and not target.endswith('-types.h'):
        problem(name, f'a types header includes "{target}"', number)


def check_system_include(tree, name, number, target):
    room, *rest = name.split('/')
    base = os.path.basename(name)
    context = name in ('gst/context/gstcuvcontext.c',
                       'gst/context/gstcuvcontext-private.h')
    if target.startswith('gst/cuda/') and not context and room != 'tests':
        problem(name, f'<{target}>: only gst/context/ may call libgstcuda',
                number)
    if room in ('core', 'detect') and target.startswith('gst'):
        problem(name, f'<{target}>: {room}/ must not use GStreamer', number)
    if name == 'detect/cuvdetect.h' and target != 'stddef.h':
        problem(name, f'<{target}>: not in the interface of libcuvdetect', number)
    if room == 'cuda':
        if GLIB_HEADERS.match(target):
            problem(name, f'<{target}>: cuda/ must not use GLib', number)
        if name.endswith('-types.h') and target not in ('stdint.h', 'stddef.h'):
            problem(name, f'a types header includes <{target}>', number)
    algorithms = room == 'detect' or room == 'elements' \
        and {f'cuda/{rest[0]}', f'elements/{rest[0]}/reference'} \
        <= {os.path.dirname(f) for f in tree.files}
    if algorithms and GLIB_HEADERS.match(target) \
            and not GLIB_FILES.match(base) \
            and not re.search('/(model|dataset)/', name):
        problem(name, f'<{target}>: algorithms must not use GLib', number)
    if re.match(r'cuda(_runtime.*)?\.h$|cub/', target) \
            and not name.endswith(('.cu', '.cuh')) and room != 'tests' \
            and not context:
        problem(name, f'<{target}>: allowed in .cu and .cuh only', number)


def check_includes(tree):
    for name in tree.sources():
        for number, own, target in includes(tree, name):
            if own:
                check_own_include(tree, name, number, target)
            else:
                check_system_include(tree, name, number, target)
    check_family_names(tree)
    check_dependencies(tree)


def check_dependencies(tree):
    """Checks that dependencies that a family looks for are not used elsewhere: they are missing if
    the family is not built."""
    builds = [f for f in tree.files if f.endswith('meson.build')]
    for family in (f for f in builds if f.startswith('elements/')):
        for found in re.findall(r'^(\w+) = dependency\(', tree.read(family), re.M):
            for name in builds:
                if not name.startswith(('elements/', 'tests/')) \
                        and re.search(rf'\b{found}\b', tree.read(name)):
                    problem(name, f'{found} is looked for in {family}: move it to gst/')


def check_family_names(tree):
    elements = [re.match(r'gst(\w+)\.c$', os.path.basename(f)).group(1)
                for f in tree.files
                if re.match(r'elements/\w+/gst\w+\.c$', f)]
    words = [w for w in elements + tree.families if w not in PLAIN_WORDS]
    # Comments may name families, because maps say who uses a file.
    pattern = '|'.join([r'\b(?:%s)' % '|'.join(map(re.escape, words)),
                        r'\b(?:gst_)?cuv_?(?:%s)_' % '|'.join(tree.families)])
    for name in tree.sources('core', 'gst'):
        code = re.sub(r'/\*.*?\*/', lambda c: re.sub(r'[^\n]', ' ', c[0]), tree.read(name),
                      flags=re.S)
        for number, line in enumerate(code.split('\n'), 1):
            line = re.sub(r'\bWebP\b', '', line, flags=re.IGNORECASE)  # a picture format
            found = re.search(pattern, line, re.IGNORECASE)
            if found:
                problem(name, f'this folder must not name a family: {found.group()}', number)


# ---- format, headers, symbols ----


def output_of(*command):
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def find_clang_format():
    """Returns clang-format of the required version, because others format differently. Exits if
    there is none."""
    versions = {program: output_of(program, '--version')[1].strip()
                for program in (f'clang-format-{CLANG_FORMAT}', 'clang-format')
                if shutil.which(program)}
    for program, version in versions.items():
        if re.search(rf'version {CLANG_FORMAT}\.', version):
            return program
    print(f'skipped: needs clang-format {CLANG_FORMAT}; found:',
          '; '.join(versions.values()) or 'none, scripts/setup.sh test installs one')
    sys.exit(77 if versions else 1)


def check_format(tree):
    files = [tree.path(f) for f in tree.sources()]
    program = find_clang_format()
    status, _, errors = output_of(program, '--dry-run', '-Werror', *files)
    for line in errors.split('\n'):
        if 'error:' in line:
            problem(os.path.relpath(line.split(':')[0], tree.top),
                    'clang-format would change it', line.split(':')[1])
    if status and not problems:
        problem(program, errors)


def include_folders(tree, build, name):
    folders = [build, os.path.dirname(tree.path(name))]
    folders += [tree.path(f) for f in allowed_folders(name) or ('core', 'gst', 'cuda')]
    if name.startswith('tools/'):  # programs may use any family
        folders += [tree.path(f'elements/{f}') for f in tree.families]
        folders += [tree.path(f) for f in ('detect', 'tools', 'tools/line', 'tools/annotations')]
    return [f'-I{folder}' for folder in folders]


def compile_headers(tree, build, names, compiler, standard, flags):
    """Compiles an empty file that includes headers of the same family."""
    status, _, errors = output_of(
        compiler, '-fsyntax-only', f'-std={standard}', '-Wall', '-Wextra',
        '-Wno-unused-parameter', '-Werror', '-D_GNU_SOURCE',
        '-DGST_USE_UNSTABLE_API', *include_folders(tree, build, names[0]), *flags,
        *[word for name in names for word in ('-include', tree.path(name))], '-x',
        'c++' if compiler == 'g++' else 'c', '/dev/null')
    if status:
        problem(' '.join(names), f'does not compile alone with {compiler}:\n{errors}')


def compiled_first(tree, build):
    """Returns the headers that a source of this build includes first, so that it would not
    compile if they did not compile alone."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        sources = {os.path.realpath(os.path.join(c['directory'], c['file']))
                   for c in json.load(file)}
    found = set()
    for name in tree.sources():
        if os.path.realpath(tree.path(name)) in sources:
            first = FIRST_INCLUDE.match(tree.read(name))
            found.add(first and resolve(tree, name, first[1]))
    return found


def cuda_flags(build):
    """Returns compiler flags for the headers of this build's CUDA toolkit."""
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as file:
        return sorted(set(re.findall(r'-isystem *[^ "]+', file.read())))


def check_headers(tree, build):
    status, flags, errors = output_of('pkg-config', '--cflags', *PACKAGES)
    if status:
        problem('pkg-config', errors)
        return
    flags = flags.split() + cuda_flags(build)
    compiled = compiled_first(tree, build)
    families = {}  # headers for C and C++
    for name in tree.sources():
        if not name.endswith(('.h', '.cuh')):
            continue
        text = tree.read(name)
        if not re.search(r'^#ifndef (\w+)\n#define \1$', text, re.M):
            problem(name, 'no include guard')
        if name.endswith('.cuh') or name.startswith('tests/'):
            continue
        if name not in compiled:
            compile_headers(tree, build, [name], 'gcc', 'c11', flags)
        if re.search(r'^(CUV|G)_BEGIN', text, re.M) or '-types.h' in name:
            families.setdefault(tuple(name.split('/')[:-1][:2]), []).append(name)
    for names in families.values():
        compile_headers(tree, build, names, 'g++', 'c++17', flags)


def check_exports(path, allowed):
    """Returns the versions of the exported symbols by name."""
    status, out, errors = output_of('nm', '-D', '--defined-only', path)
    if status:
        problem(path, errors)
    names = [line.split()[-1].split('@') for line in out.split('\n') if line]
    if not names:
        problem(path, 'exports nothing')
    for name, *_ in names:
        if not re.fullmatch(allowed, name):
            problem(path, f'exports {name}')
    return {name: version[-1] for name, *version in names if version}


def check_abi(path, version, headers, exports):
    """Checks that the functions that installed headers declare have a separate symbol version."""
    public = set()
    for text in headers:
        public.update(re.findall(r'^CUV_(?:DETECT_)?API\b[^;]*?(\w+) \(', text, re.M))
    listed = {n for n, v in exports.items() if v == version and n != v}
    for name in sorted(public - listed):
        problem(path, f'{name} has no version {version}: list it in the .map file')
    for name in sorted(listed - public):
        problem(path, f'{name} has version {version}, but no installed header declares it')


def check_needed(path):
    out = output_of('readelf', '-d', path)[1]
    for name in re.findall(r'NEEDED.*\[(.*)\]', out):
        if re.match(r'lib(cuda|cudart|nv)', name):
            problem(path, f'links {name}: it would not load without it')


def check_symbols(tree, build):
    listed = re.search(r'public_headers = files\((.*?)\)', tree.read('gst/meson.build'), re.S)[1]
    headers = [os.path.normpath(f'gst/{name}') for name in re.findall(r"'([\w/.-]+\.h)'", listed)]
    seen = set()
    for library, names, version, headers in (
            ('gst/libgstcuvision-1.0.so.1', r'(gst_)?cuv_\w+|GSTCUVISION_\w+(\.0)?',
             'GSTCUVISION_1.0', headers),
            ('detect/libcuvdetect.so.0', r'cuv_\w+|CUVDETECT_\w+', 'CUVDETECT_0',
             ['detect/cuvdetect.h'])):
        path = os.path.join(build, library)
        exports = check_exports(path, names + LINKER_SYMBOLS)
        check_abi(path, version, map(tree.read, headers), exports)
        check_needed(path)
        for name in sorted(seen & set(exports) - set(LINKER_SYMBOLS.split('|'))):
            problem(path, f'{name} is exported by both libraries')
        seen |= set(exports)
    for family in tree.families:
        if f'elements/{family}/plugin.c' not in tree.known:
            continue  # no element yet
        plugin = os.path.join(build, 'elements', family,
                              f'libgstcuv{family}.so')
        check_exports(plugin, r'gst_plugin_\w+_(get_desc|register)'
                      + LINKER_SYMBOLS)
        check_needed(plugin)


# ---- what a file is ----

HEAD = re.compile(r'\A(?:/\*|//) ?' + re.escape(SPDX) + r'(?: \*/)?\n'
                  r'(/\*.*?\*/|(?://[^\n]*\n)+)', re.S)
MIN_WORDS = 4  # minimum for a sentence that says what a file is


def head_comment(text):
    found = HEAD.match(text)
    if found and '----' in found[1].split('\n')[0]:  # a section's title
        return ''
    return re.sub(r'^\s*(/\*+|\*/|\*|//)', '', found[1], flags=re.M) if found else ''


def maps_of(tree, heads, name):
    """Returns the comments that may describe a file: those of headers in its folder and in the
    folders above it, and of the file of the same name."""
    folder, base = os.path.split(name)
    while folder:
        for header in tree.known:
            if header.endswith(('.h', '.cuh')) and os.path.dirname(header) == folder \
                    and header != name:
                yield os.path.relpath(name, folder), heads.get(header, '')
        folder = os.path.dirname(folder)


def is_listed(path, text):
    """Returns whether a map names a file, by its path or by its name below its folder's."""
    folder, base = os.path.split(path)
    stem = re.escape(base.rsplit('.', 1)[0])
    return re.search(rf'(?<![\w-]){stem}\.(c|h|cu|cuh|\[|\*)', text) \
        and (not folder or f'{folder}/' in text or f'{os.path.basename(folder)}/' in text)


def check_heads(tree):
    """Checks that each source says what it is: in its first comment, in that of the header of the
    same name, or in a line of its folder's map."""
    heads = {name: head_comment(tree.read(name)) for name in tree.sources()}
    for name in heads:
        if os.path.basename(name) == 'plugin.c':  # see the layout in CONTRIBUTING.md
            continue
        own = [name] + [name.rsplit('.', 1)[0] + end for end in ('.h', '.cuh')]
        if name.endswith(('.h', '.cuh')):
            own = own[:1]
        if not any(len(heads.get(n, '').split()) >= MIN_WORDS for n in own) \
                and not any(is_listed(path, text)
                            for path, text in maps_of(tree, heads, name)):
            problem(name, 'nothing says what it is: begin it with a comment, or list it in '
                          "the map of its folder's main header")


# ---- names of functions ----

STATIC = re.compile(r'^static [^\n;={}]*\n(\w+) \(', re.M)
MAX_SAME = 2  # number of files that may define static functions of the same name
# GStreamer's name, a macro, and names of arithmetic that mean the same everywhere.
SAME_ALLOWED = {'plugin_init', '__launch_bounds__', 'clamp', 'dot', 'round_up', 'swap'}


def check_names(tree):
    """Checks that static functions whose names would be common carry the name of their family, so
    that a backtrace says where it is."""
    files = {}
    for name in tree.sources():
        if name.startswith('tests/'):
            continue
        for function in set(STATIC.findall(tree.read(name))):
            files.setdefault(function, []).append(name)
    for function, names in sorted(files.items()):
        if len(names) > MAX_SAME and function not in SAME_ALLOWED:
            problem(names[0], f'{function}() is also in {", ".join(names[1:])}: add the '
                              "family's name")


# ---- digests of results ----

ROW = re.compile(r'^\| (`[\w-]+`) \|.*\| ([0-9a-f ]+) \|$', re.M)


def check_digests(tree):
    """Checks that NEWS.md has the digest of the table of cuvision-verify, without its times."""
    rows = ROW.findall(tree.read('docs/verified.md'))
    digest = hashlib.sha256('\n'.join(map(' '.join, rows)).encode()).hexdigest()[:12]
    news = re.search(r'digest of results `([0-9a-f]+)`', tree.read('NEWS.md'))
    if not rows or not news or news[1] != digest:
        problem('NEWS.md', 'the first "digest of results" is not that of docs/verified.md: add '
                           f'a line under Unreleased that says which results changed, and '
                           f'"digest of results `{digest}`"')


def main():
    check, top, build = sys.argv[1:4]
    tree = Tree(top)
    if len(tree.sources()) < 10:
        problem(top, 'less than 10 sources found: is this the source folder?')
    {'text': lambda: (check_text(tree), check_lists(tree)),
     'includes': lambda: check_includes(tree),
     'format': lambda: check_format(tree),
     'headers': lambda: check_headers(tree, build),
     'symbols': lambda: check_symbols(tree, build),
     'heads': lambda: check_heads(tree),
     'names': lambda: check_names(tree),
     'digests': lambda: check_digests(tree)}[check]()
    for line in problems:
        print(line)
    print(f'{check}: {len(tree.files)} files, {len(problems)} problems')
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
