# SPDX-License-Identifier: LGPL-2.1-or-later
"""The type of the module's exceptions."""

import functools
import sys


class error(Exception):
    """What goes wrong in a picture, an option or the library; the text names cause and fix. An
    exception of this type is also a ValueError, TypeError or RuntimeError and, if the program has
    imported cv2, a cv2.error, so that existing handlers catch it."""

    code, func, file, line = -2, "", "", 0  # as cv2.error has; -2 is cv2.Error.StsError

    @property
    def err(self) -> str:
        return str(self)

    msg = err


@functools.lru_cache(maxsize=None)
def _type(kind, *cv2_error):
    return type("error", (error, kind) + cv2_error, {
        "__module__": "cuvision", "__reduce__": lambda self: (problem, (kind, str(self)))})


def problem(kind, text):
    """Returns an exception that is an error and a kind, such as ValueError."""
    other = getattr(sys.modules.get("cv2"), "error", None)
    is_error = isinstance(other, type) and issubclass(other, Exception)
    return _type(kind, *([other] if is_error else []))(text)
