# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of OpenCV's Haar cascades, as cv2.data has it."""

import glob
import os

_FOLDERS = (
    "/usr/share/opencv4/haarcascades",  # Debian's package opencv-data
    "/usr/local/share/opencv4/haarcascades",
    "/usr/share/opencv/haarcascades",
)


def _find():
    """Returns the first folder that exists, with a slash at the end; otherwise that of an
    installed cv2, or "", with which the names of cascades are searched for when they are
    loaded."""
    for folder in _FOLDERS:
        if glob.glob(os.path.join(folder, "*.xml")):
            return folder + os.sep
    try:
        from cv2 import data
    except ImportError:
        return ""
    return data.haarcascades


haarcascades = _find()
