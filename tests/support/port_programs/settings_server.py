"""Stands for `tfw2v server`: listens where its cluster says, and greets as every HTTP/2 server does.

It takes the arguments of `python -m gensim_tfw2v server`.
"""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path

SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])

parser = argparse.ArgumentParser()
for name in ("--job", "--cluster"):
    parser.add_argument(name)
parser.add_argument("--task", type=int)
arguments, _ = parser.parse_known_args()
address = json.loads(Path(arguments.cluster).read_text())[arguments.job][arguments.task]
server = socket.create_server((address.rpartition(":")[0], int(address.rpartition(":")[2])))
while True:
    connection, _ = server.accept()
    with connection:
        connection.sendall(SETTINGS)
        connection.recv(1024)
