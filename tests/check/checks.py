# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks for tests in Python: a failed check is printed and counted, and the test
continues."""
_failed = 0


def check(ok, what):
    global _failed
    if not ok:
        _failed += 1
        print('FAILED:', what)


def failures():
    """Returns the number of checks that failed."""
    return _failed
