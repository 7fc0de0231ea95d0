#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passes ENVI files of GDAL through envisrc and envisink, and reads them with GDAL."""
import os
import subprocess
import sys
import tempfile

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()
osr.UseExceptions()
TYPES = {gdal.GDT_Byte: np.uint8, gdal.GDT_Int16: np.int16,
         gdal.GDT_UInt16: np.uint16, gdal.GDT_Int32: np.int32,
         gdal.GDT_UInt32: np.uint32, gdal.GDT_Float32: np.float32,
         gdal.GDT_Float64: np.float64}
UNCHANGED = (np.uint8, np.uint16)  # all others become float32
SHAPE = (4, 5, 7)  # bands, lines, samples
WAVELENGTHS = [400.5, 500.0, 612.25, 1000.125]
seed = int(os.environ.get('CUV_TEST_SEED', np.random.randint(2**31)))
print(f'CUV_TEST_SEED={seed}')
random = np.random.default_rng(seed)
failures = checks = 0


def check(condition, text):
    global checks, failures
    checks += 1
    if not condition:
        failures += 1
        print('failed:', text)


def random_cube(dtype):
    if np.issubdtype(dtype, np.floating):
        return random.normal(0, 1e6, SHAPE).astype(dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, SHAPE, dtype, endpoint=True)


def write_with_gdal(path, cube, gdal_type, interleave):
    bands, lines, samples = cube.shape
    data = gdal.GetDriverByName('ENVI').Create(
        path, samples, lines, bands, gdal_type,
        [f'INTERLEAVE={interleave}'])
    for band in range(bands):
        data.GetRasterBand(band + 1).WriteArray(cube[band])
    data.GetRasterBand(1).SetNoDataValue(7)
    data.FlushCache()


def write_by_hand(path, cube, interleave):
    """Writes a file with features that GDAL does not write: big endian, an offset, micrometres."""
    order = {'BSQ': (0, 1, 2), 'BIL': (1, 0, 2), 'BIP': (1, 2, 0)}[interleave]
    big = np.ascontiguousarray(cube.transpose(order))
    big = big.astype(big.dtype.newbyteorder('>'))
    with open(path + '.img', 'wb') as file:
        file.write(b'offset.' + big.tobytes())
    code = {'u1': 1, 'i2': 2, 'i4': 3, 'f4': 4, 'f8': 5, 'u2': 12,
            'u4': 13}[cube.dtype.str[1:]]
    micrometres = ', '.join(str(w / 1000) for w in WAVELENGTHS)
    with open(path + '.hdr', 'w', encoding='ascii') as file:
        file.write(f'''ENVI
samples = {SHAPE[2]}
lines = {SHAPE[1]}
bands = {SHAPE[0]}
header offset = 7
data type = {code}
interleave = {interleave.lower()}
byte order = 1
wavelength units = Micrometers
wavelength = {{{micrometres}}}
data ignore value = 7
''')


def write_scene():
    """Writes a scene with the keys of an atmospheric correction."""
    reference = osr.SpatialReference()
    reference.ImportFromEPSG(32633)
    data = gdal.GetDriverByName('ENVI').Create(
        'scene.img', SHAPE[2], SHAPE[1], SHAPE[0], gdal.GDT_Int16)
    data.SetGeoTransform((300000.5, 30, 0, 5000000, 0, -30))
    data.SetProjection(reference.ExportToWkt())
    cube = random_cube(np.int16)
    cube[1, 2, 3] = -9999
    data.GetRasterBand(1).SetNoDataValue(-9999)
    for band in range(SHAPE[0]):
        data.GetRasterBand(band + 1).WriteArray(cube[band])
        data.GetRasterBand(band + 1).SetDescription(f'band {band} of 4')
    data.FlushCache()
    data = None
    with open('scene.hdr', 'a', encoding='ascii') as file:
        file.write(f'''wavelength units = Micrometers
wavelength = {{{', '.join(str(w / 1000) for w in WAVELENGTHS)}}}
fwhm = {{0.01, 0.02, 0.03, 0.04}}
reflectance scale factor = 10000
acquisition time = 2024-06-01T10:11:12Z
sensor type = Unknown
default bands = {{3, 2, 1}}
radiance scale factors = {{1, 2,
 3, 4}}
''')


def check_scene(path, same_samples):
    before, after = gdal.Open('scene.img'), gdal.Open(path)
    header = after.GetMetadata('ENVI')
    check(after.GetGeoTransform() == before.GetGeoTransform(),
          f'{path}: {after.GetGeoTransform()}')
    check(after.GetSpatialRef() is not None and after.GetSpatialRef().IsSame(
        before.GetSpatialRef()), f'{path}: {after.GetProjection()}')
    check(header.get('acquisition_time') == '2024-06-01T10:11:12Z',
          f'{path}: {header}')
    if not same_samples:
        check(not header.keys() & {'fwhm', 'wavelength', 'default_bands',
                                   'reflectance_scale_factor'},
              f'{path}: {header}')
        check(after.GetRasterBand(2).GetDescription() == 'component 2',
              f'{path}: {after.GetRasterBand(2).GetDescription()}')
        return
    for band in range(1, SHAPE[0] + 1):
        name = after.GetRasterBand(band).GetDescription()
        check(name.startswith(f'band {band - 1} of 4'), f'{path}: {name}')
    check(header['reflectance_scale_factor'] == '10000', f'{path}: {header}')
    check(header['default_bands'] == '{3, 2, 1}', f'{path}: {header}')
    check(''.join(header['radiance_scale_factors'].split()) == '{1,2,3,4}',
          f'{path}: {header}')
    widths = [float(w) for w in header['fwhm'].strip('{}').split(',')]
    check(np.allclose(widths, [10, 20, 30, 40], 1e-14, 0), f'{path}: {widths}')


def check_scores():
    """Compares scores with NumPy's eigenvectors, up to signs."""
    check_scene('scores.img', False)
    pixels = gdal.Open('scene.img').ReadAsArray().reshape(SHAPE[0], -1)
    scores = gdal.Open('scores.img').ReadAsArray()
    check(scores.dtype == np.float32 and scores.shape == (3, *SHAPE[1:]),
          f'scores: {scores.dtype} {scores.shape}')
    scores = scores.reshape(3, -1)
    valid = ~(pixels == -9999).any(axis=0)
    check((~valid).sum() == 1 and np.array_equal(np.isfinite(scores).all(0), valid)
          and np.isnan(scores[:, ~valid]).all(), 'scores: NaN')
    pixels = pixels[:, valid].astype(float)
    centred = pixels - pixels.mean(axis=1, keepdims=True)
    vectors = np.linalg.eigh(centred @ centred.T)[1][:, ::-1].T
    for k in range(3):
        wanted = vectors[k] @ centred
        error = min(np.abs(scores[k, valid] - sign * wanted).max()
                    for sign in (1, -1))
        check(error < 1e-5 * np.abs(wanted).max(), f'score {k + 1}: {error}')


def check_quicklook():
    """Compares bands 4, 2, 1, stretched between their percentiles 10 and 90."""
    cube = gdal.Open('scene.img').ReadAsArray()[[3, 1, 0]]
    pixels = np.fromfile('scene.rgb', np.uint8).reshape(*SHAPE[1:], 4)
    valid = ~(cube == -9999).any(axis=0)
    check((pixels[..., 3] == 255).all() and not pixels[~valid, :3].any(),
          'quicklook: alpha, black')
    for channel in range(3):
        values = np.sort(cube[channel][valid].astype(float))
        rank = int(0.1 * (len(values) - 1))
        low, high = values[rank], values[-1 - rank]
        wanted = (cube[channel][valid] - low) / (high - low) * 255
        error = np.abs(np.clip(wanted, 0, 255) - pixels[valid, channel]).max()
        check(error <= 0.501, f'quicklook, channel {channel}: {error}')


def check_reflectance():
    """Uses a white reference of 9 lines, which are averaged, and a dark reference with as many
    lines as the scene, which applies pixel by pixel."""
    scene = random_cube(np.uint16)
    white = random.integers(30000, 65536, (SHAPE[0], 9, SHAPE[2]), np.uint16)
    dark = random.integers(0, 60000, SHAPE, np.uint16)
    write_with_gdal('counts.img', scene, gdal.GDT_UInt16, 'BIL')
    write_with_gdal('white.img', white, gdal.GDT_UInt16, 'BSQ')
    write_with_gdal('dark.img', dark, gdal.GDT_UInt16, 'BIP')
    play('envisrc', 'location=counts.hdr', '!', 'spectralreflectance',
         'white=white.hdr', 'dark=dark.img', '!', 'envisink',
         'location=reflectance.hdr')
    got = gdal.Open('reflectance.img').ReadAsArray()
    level = np.ma.masked_equal(white, 7).mean(axis=1)[:, None, :].filled(np.nan)
    dark = np.where(dark == 7, np.nan, dark)  # GDAL's ignore value
    span = level - dark
    wanted = (np.where(scene == 7, np.nan, scene) - dark) / np.where(
        span > 0, span, np.nan)
    check(np.isnan(wanted).any() and np.isfinite(wanted).any(), 'reflectance: case')
    check(np.array_equal(np.isnan(got), np.isnan(wanted)), 'reflectance: NaN')
    # means are rounded to floats, at most 0.002 apart
    error = np.nanmax(np.abs(got - wanted) * span / (1 + np.abs(wanted)))
    check(error < 0.01, f'reflectance: {error}')


def play(*line):
    run = subprocess.run(['gst-launch-1.0', '-q', *line],
                         capture_output=True, text=True, check=False)
    check(run.returncode == 0 and not run.stderr, run.stdout + run.stderr)


def write_inputs():
    cubes = []
    for gdal_type, dtype in TYPES.items():
        for interleave in ('BSQ', 'BIL', 'BIP'):
            for ours in (False, True):
                cube, path = random_cube(dtype), f'in{len(cubes):02d}'
                if ours:
                    write_by_hand(path, cube, interleave)
                else:
                    write_with_gdal(path + '.img', cube, gdal_type, interleave)
                cubes.append((cube, interleave, ours))
    return cubes


def check_output(number, cube, interleave, ours):
    name = f'out{number:02d} of {cube.dtype} {interleave}'
    data = gdal.Open(f'out{number:02d}.img')
    wanted = cube if cube.dtype in UNCHANGED else cube.astype(np.float32)
    got = data.ReadAsArray()
    check(got.dtype == wanted.dtype, f'{name}: {got.dtype}')
    check(np.array_equal(got, wanted), f'{name}: samples differ')
    check(data.GetMetadataItem('INTERLEAVE', 'IMAGE_STRUCTURE')
          == {'BSQ': 'BAND', 'BIL': 'LINE', 'BIP': 'PIXEL'}[interleave],
          f'{name}: other interleave')
    check(data.GetRasterBand(1).GetNoDataValue() == 7, f'{name}: ignore value')
    if not ours:
        return
    for band, wavelength in enumerate(WAVELENGTHS, 1):
        items = data.GetRasterBand(band).GetMetadata()
        check(np.isclose(float(items['wavelength']), wavelength, 1e-14, 0)
              and items['wavelength_units'] == 'Nanometers', f'{name}: {items}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cubes = write_inputs()
        play('envisrc', 'location=in%02d.hdr', '!',
             'envisink', 'location=out%02d.hdr')
        for number, (cube, interleave, ours) in enumerate(cubes):
            check_output(number, cube, interleave, ours)
        write_scene()
        play('envisrc', 'location=scene.hdr', '!', 'queue', '!',
             'envisink', 'location=copy.hdr')
        check_scene('copy.img', True)
        play('envisrc', 'location=scene.hdr', '!', 'spectralpca', 'scores=3',
             '!', 'envisink', 'location=scores.hdr')
        check_scores()
        play('envisrc', 'location=scene.hdr', '!', 'spectralrgb',
             'bands=4,500nm,0.4um', 'percentile=10', '!', 'video/x-raw,format=RGBA', '!',
             'filesink', 'location=scene.rgb')
        check_quicklook()
        check_reflectance()
        os.chdir('/')
    print(f'{len(cubes)} cubes, {checks} checks, {failures} failures')
    sys.exit(1 if failures else 0)


main()
