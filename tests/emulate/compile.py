#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles a CUDA file for the CPU: compile.py OBJECT SOURCE CUDA COMPILER...

CUDA is the folder of included files. Launches and dynamic shared memory, which C++
lacks, are translated.
"""
import os
import pathlib
import re
import subprocess
import sys

SHARED = re.compile(r'extern\s+__shared__\s+(\w+)\s+(\w+)\[\];')
# matches a statement kernel<<<grid, block, shared, stream>>> (arguments);
LAUNCH = re.compile(r'([^;{}]+)<<<(.*?)>>>\s*\(', re.S)


def translate(path, to):
    text = path.read_text()
    text = SHARED.sub(r'\1 *\2 = (\1 *) cuv_emulated_shared;', text)
    text = LAUNCH.sub(r'CuvEmulatedLaunch{ \2 } (\1, ', text)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(f'#line 1 "{path}"\n{text}')


def main():
    output, source, cuda = (
        pathlib.Path(a).resolve() for a in sys.argv[1:4])
    work = output.with_suffix('.translated')
    for path in cuda.rglob('*.cuh'):
        translate(path, work / path.relative_to(cuda))
    translated = work / source.relative_to(cuda).with_suffix('.cpp')
    translate(source, translated)
    depfile = output.with_suffix('.o.d')
    status = subprocess.run(
        sys.argv[4:] + ['-D__CUDACC__', '-include', 'cuda_runtime.h', # as nvcc does
                        '-I', work, '-I', pathlib.Path(__file__).parent,
                        '-I', cuda, '-MD', '-MF', depfile, '-MT', output,
                        '-c', translated, '-o', output], check=False)
    if status.returncode == 0:
        text = depfile.read_text()
        for name in str, os.path.relpath: # ccache may make paths relative
            text = text.replace(name(translated), str(source))
            text = text.replace(name(work), str(cuda))
        depfile.write_text(text)
    return status.returncode


sys.exit(main())
