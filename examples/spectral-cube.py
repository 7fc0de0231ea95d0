#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a synthetic ENVI cube: a mixture of a few spectra.

spectral-cube.py [OPTIONS] NAME writes NAME.hdr and NAME.img, and its components:
NAME-abundances.hdr and .img, with a band for each spectrum and a sum of 1 in every
pixel; and NAME-endmembers.csv, with a row for each band: its wavelength in nm and
the spectra's values. The cube is abundances times spectra plus noise.
"""
import argparse

import numpy as np

CODES = {'uint8': 1, 'uint16': 12, 'float32': 4}  # ENVI's data types
ORDERS = {'bsq': (2, 0, 1), 'bil': (0, 2, 1), 'bip': (0, 1, 2)}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('name')
    parser.add_argument('--width', type=int, default=160)
    parser.add_argument('--height', type=int, default=120)
    parser.add_argument('--bands', type=int, default=31)
    parser.add_argument('--endmembers', type=int, default=4)
    parser.add_argument('--noise', type=float, default=0.01,
                        help='standard deviation of the noise, relative to the brightest sample')
    parser.add_argument('--type', choices=CODES, default='uint16')
    parser.add_argument('--interleave', choices=ORDERS, default='bil')
    parser.add_argument('--frames', type=int, default=0,
                        help='number of frames of a moving sequence, NAME00000, NAME00001, ... (0: one cube, NAME)')
    parser.add_argument('--seed', type=int, default=1)
    return parser.parse_args()


def make_endmembers(args, random, wavelengths):
    """Returns spectra with two peaks each, at most 1, as endmembers x bands."""
    span = np.ptp(wavelengths) or 1
    spectra = np.full((args.endmembers, args.bands), 0.05)
    for spectrum in spectra:
        for _ in range(2):
            centre = random.uniform(wavelengths[0], wavelengths[-1])
            width = random.uniform(0.05, 0.2) * span
            spectrum += random.uniform(0.3, 1) * np.exp(
                -0.5 * ((wavelengths - centre) / width) ** 2)
    return spectra / spectra.max()


def make_abundances(args, centres, turn):
    """Returns rotating blobs with a sum of 1, as height x width x endmembers."""
    y, x = np.mgrid[0:args.height, 0:args.width].astype(float)
    x, y = x / args.width - 0.5, y / args.height - 0.5
    x, y = (x * np.cos(turn) - y * np.sin(turn),
            x * np.sin(turn) + y * np.cos(turn))
    blobs = [np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 0.03) + 1e-3
             for cx, cy in centres]
    blobs = np.stack(blobs, axis=2)
    return blobs / blobs.sum(axis=2, keepdims=True)


def quantise(cube, kind):
    if kind == 'float32':
        return cube.astype(np.float32)
    top = np.iinfo(kind).max
    return np.rint(np.clip(cube, 0, 1) * top).astype(kind)


def write_envi(name, cube, interleave, wavelengths=None):
    """Writes a cube, an array of height x width x bands."""
    height, width, bands = cube.shape
    header = [
        'ENVI', f'samples = {width}', f'lines = {height}', f'bands = {bands}',
        'header offset = 0', f'data type = {CODES[cube.dtype.name]}',
        f'interleave = {interleave}', 'byte order = 0']
    if wavelengths is not None:
        values = ', '.join(f'{w:g}' for w in wavelengths)
        header += ['wavelength units = Nanometers', f'wavelength = {{{values}}}']
    cube.transpose(ORDERS[interleave]).astype(
        cube.dtype.newbyteorder('<')).tofile(f'{name}.img')
    with open(f'{name}.hdr', 'w', encoding='ascii') as file:
        file.write('\n'.join(header) + '\n')


def main():
    args = parse_arguments()
    random = np.random.default_rng(args.seed)
    wavelengths = np.linspace(400, 700, args.bands)
    spectra = make_endmembers(args, random, wavelengths)
    centres = random.uniform(-0.4, 0.4, (args.endmembers, 2))
    np.savetxt(f'{args.name}-endmembers.csv',
               np.column_stack([wavelengths, spectra.T]), '%.6g', ',')
    for frame in range(args.frames or 1):
        number = f'{frame:05d}' if args.frames else ''
        abundances = make_abundances(
            args, centres, 2 * np.pi * frame / (args.frames or 1))
        cube = abundances @ spectra
        cube += random.normal(0, args.noise, cube.shape)
        write_envi(f'{args.name}-abundances{number}',
                   abundances.astype(np.float32), 'bsq')
        write_envi(args.name + number, quantise(cube, args.type),
                   args.interleave, wavelengths)


main()
