#!python
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the program of this name in the folder of the module cuvision, with its plugins."""

import ctypes
import importlib.util
import os
import sys

name = os.path.basename(sys.argv[0])
folder = importlib.util.find_spec("cuvision").submodule_search_locations[0]
try:
    ctypes.CDLL("libgstvideo-1.0.so.0")
except OSError as error:
    sys.exit(f"{name} needs GStreamer 1.22 or later, on Debian gstreamer1.0-plugins-base: {error}")
variable = next((variable for variable in ("GST_PLUGIN_PATH_1_0", "GST_PLUGIN_PATH")
                 if variable in os.environ), "GST_PLUGIN_PATH")
paths = [os.path.join(folder, "lib", "gstreamer-1.0"), os.environ.get(variable)]
os.environ[variable] = os.pathsep.join(filter(None, paths))
os.execv(os.path.join(folder, "bin", name), sys.argv)
