"""Begins a connection and answers nothing until told to, so that its handshake stays unfinished.

Arguments: host and port. Commands: `begin`; `finish` answers when the connection is open; `is_open` with whether it is.
"""

from __future__ import annotations

import ctypes
import json
import select
import socket
import struct
import sys

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
# A program of the Berkeley Packet Filter with the one instruction `ret 0`: drop every packet.
DROP_ALL = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
PROGRAM = struct.pack("HL", 1, ctypes.addressof(DROP_ALL))

connection = socket.socket()


def answer(command: str) -> bool:
    """Return the answer to a command."""
    if command == "begin":
        connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, PROGRAM)
        connection.setblocking(False)
        connection.connect_ex((sys.argv[1], int(sys.argv[2])))
        return True
    if command == "finish":
        connection.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
        select.select([], [connection], [])
        return connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


for line in sys.stdin:
    print(json.dumps(answer(line.strip())), flush=True)
