"""Connects to addresses again and again, and keeps every connection that opens.

Arguments: addresses of the form host:port. Commands: `count` answers with how many connections it holds, how many have
opened and how many rounds it has made since the last `count`.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time

SECONDS_TO_CONNECT = 0.5
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SECONDS_BETWEEN_ROUNDS = 0.002
MOST_HELD = 500  # a server may have few file descriptors

held: list[socket.socket] = []
opened = rounds = 0
lock = threading.Lock()


def hammer(addresses: list[str]) -> None:
    """Connect to all addresses until this process ends."""
    global opened, rounds
    while True:
        for address in addresses:
            host, _, port = address.rpartition(":")
            with contextlib.suppress(OSError):
                connection = socket.create_connection((host, int(port)), timeout=SECONDS_TO_CONNECT)
                connection.setblocking(False)
                with lock:
                    opened += 1
                    if len(held) < MOST_HELD:
                        connection.send(GREETING)
                        held.append(connection)
        with lock:
            rounds += 1
        time.sleep(SECONDS_BETWEEN_ROUNDS)


def is_open(connection: socket.socket) -> bool:
    """Return whether the other end has neither closed nor refused a connection."""
    with contextlib.suppress(BlockingIOError):
        try:
            while connection.recv(4096):
                pass
        except ConnectionError:
            pass
        return False
    return True


threading.Thread(target=hammer, args=(sys.argv[1:],), daemon=True).start()
for _ in sys.stdin:
    with lock:
        held[:] = [connection for connection in held if is_open(connection)]
        print(json.dumps({"held": len(held), "opened": opened, "rounds": rounds}), flush=True)
        opened = rounds = 0
