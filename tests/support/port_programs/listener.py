"""Listens on every interface as TensorFlow does, and accepts what comes.

Argument: the port. Commands: `restrict INTERFACE` answers with what `restrict` returned; `handshakes` with how many
connections are in the midst of their handshake; `accepted` with how many were accepted and kept.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading

from gensim_tfw2v.cluster import listening

MOST_KEPT = 1000  # accepted connections; others are closed, so that no test runs out of file descriptors

port = int(sys.argv[1])
server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=4096)
accepted: list[socket.socket] = []


def accept() -> None:
    """Accept connections until this process ends."""
    waiting = server.dup()
    while True:
        with contextlib.suppress(BlockingIOError):
            connection = waiting.accept()[0]
            if len(accepted) < MOST_KEPT:
                accepted.append(connection)
            else:
                connection.close()


def answer(command: str, *arguments: str) -> object:
    """Return the answer to a command."""
    if command == "restrict":
        return listening.restrict([port], *arguments)
    if command == "handshakes":
        return len(listening._handshakes([port]))
    if command == "accept":
        threading.Thread(target=accept, daemon=True).start()
    return len(accepted)


for line in sys.stdin:
    print(json.dumps(answer(*line.split())), flush=True)
