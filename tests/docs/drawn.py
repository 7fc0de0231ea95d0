# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks pictures written by the examples.

usage: drawn.py drawn PICTURE ORIGINAL    checks that only drawings differ
       drawn.py bands PICTURE SCENE       checks that it shows red, green and blue
"""
import re
import sys

import cv2
import numpy

NANOMETRES = (450, 550, 650)  # wavelengths of blue, green and red


def changed(picture, original):
    """Returns the fraction of pixels that differ by more than two decoders' pictures do."""
    difference = cv2.absdiff(cv2.imread(picture), cv2.imread(original))
    return (difference.max(axis=2) > 40).mean()


def lowest_correlation(picture, scene):
    """Returns the lowest correlation of a colour with the band nearest to it in a BIL cube of
    U16."""
    colours = cv2.imread(picture)
    height, width = colours.shape[:2]
    with open(scene + ".hdr", encoding="utf-8") as file:
        text = re.search(r"wavelength = \{([^}]*)\}", file.read())[1]
    wavelengths = numpy.array(text.split(","), float)
    cube = numpy.fromfile(scene + ".img", "<u2").reshape(height, -1, width)
    return min(
        numpy.corrcoef(colours[:, :, c].ravel(),
                       cube[:, abs(wavelengths - nm).argmin()].ravel())[0, 1]
        for c, nm in enumerate(NANOMETRES))


if sys.argv[1] == "drawn":
    fraction = changed(*sys.argv[2:])
    print(f"{fraction:.1%} of the pixels are drawn over")
    sys.exit(not 0.005 < fraction < 0.5)
lowest = lowest_correlation(*sys.argv[2:])
print(f"correlation {lowest:.4f}")
sys.exit(not lowest > 0.99)
