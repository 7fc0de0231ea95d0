# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the examples' pictures show.

usage: drawn.py drawn PICTURE ORIGINAL    something is drawn into the original
       drawn.py bands PICTURE SCENE       its bands nearest to red, green and blue
"""
import re
import sys

import cv2
import numpy

NANOMETRES = (450, 550, 650)  # of blue, green and red


def changed(picture, original):
    """The share of pixels that differ by more than decoders do."""
    difference = cv2.absdiff(cv2.imread(picture), cv2.imread(original))
    return (difference.max(axis=2) > 40).mean()


def likeness(picture, scene):
    """The least correlation of a colour with its band of a BIL cube of U16."""
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
    share = changed(*sys.argv[2:])
    print(f"{share:.1%} of the pixels are drawn over")
    sys.exit(not 0.005 < share < 0.5)
least = likeness(*sys.argv[2:])
print(f"correlation {least:.4f}")
sys.exit(not least > 0.99)
