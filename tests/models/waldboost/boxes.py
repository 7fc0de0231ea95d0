# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares boxes (x, y, width, height)."""


def overlap(a, b):
    """Returns the intersection over union of two boxes."""
    common = [max(0, min(a[i] + a[i + 2], b[i] + b[i + 2]) - max(a[i], b[i]))
              for i in (0, 1)]
    common = common[0] * common[1]
    return common / (a[2] * a[3] + b[2] * b[3] - common)
