#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that relationmeta2onvifmeta, an element of gst-plugins-rs, turns our objects into ONVIF
metadata."""

import subprocess
import sys
import unittest
from xml.etree import ElementTree

ELEMENT = "relationmeta2onvifmeta"
LINE = ("filesrc location=/usr/share/doc/opencv-doc/examples/data/messi5.jpg ! jpegdec"
        " ! imagefreeze num-buffers=2 ! videoconvert ! waldboostdetect label=face"
        " model=haarcascade_frontalface_alt2.xml ! visiontrack ! " + ELEMENT + " ! appsink name=sink")
NAMES = {"tt": "http://www.onvif.org/ver10/schema"}


def onvif(sample):
    """Returns id, box and label of each object in the metadata."""
    structure = sample.get_buffer().get_custom_meta("OnvifXMLFrameMeta").get_structure()
    xml = structure.get_value("frames").get(0)
    found = []
    for each in ElementTree.fromstring(xml.extract_dup(0, xml.get_size())).iterfind(".//tt:Object", NAMES):
        box = each.find(".//tt:BoundingBox", NAMES)
        left, top, right, bottom = (float(box.get(side)) for side in ("left", "top", "right", "bottom"))
        found.append((each.get("ObjectId"), (left, top, right - left, bottom - top),
                      each.find(".//tt:Type", NAMES).text))
    return found


class Onvif(unittest.TestCase):
    def test_objects(self):
        import gstcuvision

        n_samples = 0
        for sample in gstcuvision.samples(LINE):
            objects, found = gstcuvision.objects(sample), onvif(sample)
            self.assertGreater(len(objects), 0)
            self.assertEqual([box for _, box, _ in found], [tuple(each[key] for key in "xywh") for each in objects])
            self.assertEqual({label for _, _, label in found}, {"face"})
            self.assertEqual(len({id for id, _, _ in found}), len(objects))
            n_samples += 1
        self.assertEqual(n_samples, 2)


if __name__ == "__main__":
    if subprocess.run(["gst-inspect-1.0", "--exists", ELEMENT], check=False).returncode:
        print("skipped: %s is not installed" % ELEMENT)
        sys.exit(77)
    unittest.main()
