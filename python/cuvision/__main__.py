# SPDX-License-Identifier: LGPL-2.1-or-later
"""python -m cuvision gst-path: prints the folder of the GStreamer plugins."""

import pathlib
import sys


def plugin_folder():
    """Returns the folder of the plugins that were installed with this module, or None."""
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here / "lib", *list(here.parents)[:4]):  # in a wheel, below another prefix
        for pattern in ("gstreamer-1.0", "*/gstreamer-1.0"):
            for plugins in sorted(folder.glob(pattern)):
                if any(plugins.glob("libgstcuv*.so")):
                    return plugins
    return None


def main():
    usage = ("usage: python -m cuvision gst-path\n"
             "prints the folder of the GStreamer plugins, for GST_PLUGIN_PATH")
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(usage)
        return
    if sys.argv[1:] != ["gst-path"]:
        sys.exit(usage)
    folder = plugin_folder()
    if folder is None:
        sys.exit("no plugins were installed with this module: install the wheel gst-cuvision, or"
                 " see its README")
    print(folder)


if __name__ == "__main__":
    main()
