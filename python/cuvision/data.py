# SPDX-License-Identifier: LGPL-2.1-or-later
"""The folder of OpenCV's Haar cascades, as cv2.data has it."""

import glob
import importlib.util
import os

_FOLDERS = (
    os.path.join(os.path.dirname(__file__), "share/gst-cuvision/models"),  # of a wheel
    "/usr/share/opencv4/haarcascades",  # Debian's package opencv-data
    "/usr/local/share/opencv4/haarcascades",
    "/usr/share/opencv/haarcascades",
)


def _find():
    """Returns the first folder that has cascades, with a slash at the end; without any "", with
    which the names of cascades are searched for when they are loaded."""
    try:
        cv2 = importlib.util.find_spec("cv2")
    except ValueError:  # a module that a program made itself
        cv2 = None
    inside = [os.path.join(folder, "data") for folder in
              (cv2 and cv2.submodule_search_locations) or ()]
    for folder in [*_FOLDERS, *inside]:
        if glob.glob(os.path.join(folder, "haarcascade_*.xml")):
            return folder + os.sep
    return ""


haarcascades = _find()
