"""Ports at which nobody listens, for programs that take their ports as arguments."""

from __future__ import annotations

import contextlib
import socket


def free_ports(count: int) -> int:
    """Return the first of consecutive ports below those that systems give out, at which nobody listens."""
    for first in range(20000, 30000, count):
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for port in range(first, first + count):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
    raise AssertionError("no free ports")
