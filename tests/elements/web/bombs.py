# SPDX-License-Identifier: LGPL-2.1-or-later
"""Generates requests for which a libsoup server takes much more memory than their own size, and
measures the memory of a process."""

import itertools
import os
import re
import socket

MOST = 1000  # maximum memory that one request may take, KiB
TIMEOUT = 6
WEBSOCKET = "Upgrade: websocket\r\nConnection: Upgrade\r\n" \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"


def fill(size, begin, part, end="\r\n\r\n"):
    """Returns a request of at most size bytes, in which part(number) is repeated."""
    text, room = [begin], size - len(begin) - len(end)
    for number in itertools.count():
        more = part(number)
        room -= len(more)
        if room < 0:
            return "".join(text + [end]).encode()
        text.append(more)


def bombs(size, *paths):
    """Returns a dictionary of names and requests of at most `size` bytes."""
    found = {}
    for path in paths:
        line = f"GET {path} HTTP/1.1\r\n"
        host = "Host: 127.0.0.1\r\n"
        for name, begin, part, end in (
                ("ranges", line + host + "Range: bytes=0-", lambda i: ",0-", "\r\n\r\n"),
                ("odd ranges", line + host + "Range: bytes=1-", lambda i: f",{i}-{i}",
                 "\r\n\r\n"),
                ("headers", line + host, lambda i: "a:\r\n", "\r\n"),
                ("line feeds", line + host, lambda i: "a:\n", "\n"),
                ("other headers", line + host, lambda i: f"{i:x}:\r\n", "\r\n"),
                ("connection", line + host + "Connection: a", lambda i: ",a", "\r\n\r\n"),
                ("query", f"GET {path}?", lambda i: f"{i:x}=&", f" HTTP/1.1\r\n{host}\r\n"),
                ("websocket", line + host + WEBSOCKET, lambda i: "a:\r\n", "\r\n"),
                ("extensions", line + host + WEBSOCKET + "Sec-WebSocket-Extensions: a",
                 lambda i: ",a", "\r\n\r\n")):
            found[f"{name} of {path}, {size}"] = fill(size, begin, part, end)
    return found


def memory(pid, key):
    """Returns VmRSS or VmHWM in KiB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(key + r":\s+(\d+)", status.read())[1])


def growth(pid, port, request):
    """Returns the maximum increase of the process's memory in KiB, and the status of the answer, or
    None if the connection was closed without an answer."""
    with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as refs:
        refs.write("5")  # resets VmHWM
    before = memory(pid, "VmRSS")
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as sock:
        try:
            sock.sendall(request)
            answer = sock.recv(12)
        except ConnectionError:
            answer = b""
    peak = memory(pid, "VmHWM") - before
    return peak, int(answer[9:12]) if len(answer) == 12 else None


def check(test, pid, port, *paths):
    """Sends the largest request that is read, and one that is too large."""
    requests = {**bombs(16384, *paths), **bombs(65536, *paths)}
    peaks = {name: growth(pid, port, request) for name, request in requests.items()}
    worst = max(peaks, key=lambda name: peaks[name][0])
    print("the most memory:", *peaks[worst], worst)
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # AddressSanitizer keeps freed memory
        test.assertLess(peaks[worst][0], MOST, worst)
    for name, (_, status) in peaks.items():
        answers = (431, None) if name.endswith("65536") else (101, 200, 400)
        test.assertIn(status, answers, name)
