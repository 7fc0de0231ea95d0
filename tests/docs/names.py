#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the source files and names that pages mention exist.

usage: names.py SOURCE-FOLDER PAGE...

A file is its path in the tree, in backticks. In a row of a table a name in backticks is
looked for in the files of that row: `name()` must be defined there, `CuvType`, `CUV_MACRO`
and `some_variable` must occur.
"""

import os
import re
import sys

FILE = re.compile(r'[\w.-]+(?:/[\w.-]+)+\.(?:c|h|cu|cuh)')
FUNCTION = re.compile(r'(\w+)\(\)')
NAME = re.compile(r'[A-Z][A-Za-z]*[a-z][A-Z]\w*|\w*[A-Za-z0-9]_\w+')
# A definition's name begins a line, or follows the line of its type in a class, or the
# __launch_bounds__ of a kernel.
DEFINITION = r'^(?:%s|\s+%s|.*__launch_bounds__ \(.*\) %s) \('
TYPE = re.compile(r'(?:^|\s)(?:static|void|int|bool|size_t|__\w+__)\b[^;=]*$')

problems = []


def problem(page, number, text):
    problems.append(f'{page}:{number}: {text}')


def defines(text, name):
    pattern = re.compile(DEFINITION.replace('%s', re.escape(name)))
    lines = text.split('\n')
    for before, line in zip([''] + lines, lines):
        if pattern.match(line) and not (line[0] == ' ' and not TYPE.search(before)):
            return True
    return False


def read(top, path):
    with open(os.path.join(top, path), encoding='utf-8') as file:
        return file.read()


def where(top, name):
    """Returns the files that define a function, for the message."""
    found = []
    for room in ('cuda', 'elements', 'gst'):
        for folder, _, files in os.walk(os.path.join(top, room)):
            paths = [os.path.relpath(os.path.join(folder, f), top) for f in files
                     if f.endswith(('.c', '.h', '.cu', '.cuh'))]
            found += [p for p in paths if defines(read(top, p), name)]
    return ', '.join(sorted(found)) or 'no file'


def check_names(top, page, number, words, texts):
    for word in words:
        function = FUNCTION.fullmatch(word)
        if function and not any(defines(t, function[1]) for t in texts):
            problem(page, number, f'{word} is not defined in a file of this row, but in '
                                  f'{where(top, function[1])}')
        elif NAME.fullmatch(word) \
                and not any(re.search(rf'\b_?{word}\b', t) for t in texts):
            problem(page, number, f'{word} is not in a file of this row')


def check_line(top, page, number, line):
    words = re.findall(r'`([^`]+)`', line)
    paths = [w for w in words if FILE.fullmatch(w)]
    known = [p for p in paths if os.path.isfile(os.path.join(top, p))]
    for path in sorted(set(paths) - set(known)):
        problem(page, number, f'no file {path}')
    if line.startswith('|') and len(known) == len(paths):
        check_names(top, page, number, [w for w in words if w not in paths],
                    [read(top, p) for p in known])
    return len(words)


def main():
    top, *pages = sys.argv[1:]
    for page in pages:
        lines = read(top, page).split('\n')
        n = sum(check_line(top, page, i, line) for i, line in enumerate(lines, 1))
        print(f'{page}: {n} names')
        if n == 0:
            problem(page, 1, 'no names')
    print('\n'.join(problems))
    sys.exit(1 if problems else 0)


if __name__ == '__main__':
    main()
