# SPDX-License-Identifier: LGPL-2.1-or-later
"""Captures what a program shows on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import termios


def shown_by(command, columns=80, **options):
    """Returns the bytes that a command writes to stderr, which is a terminal of 24 rows."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('4H', 24, columns, 0, 0))
    shown = b''
    with subprocess.Popen(command, stderr=terminal, **options):
        os.close(terminal)
        try:
            while part := os.read(master, 4096):
                shown += part
        except OSError: # the other end is closed
            pass
    os.close(master)
    return shown
