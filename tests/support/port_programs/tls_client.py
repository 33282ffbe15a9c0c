"""Prints whether a server greets by TLS: `true`, `false`, or with `plain` in place of a folder, without TLS.

Arguments: host, port, and the folder of a certificate and its key, or `none` for a client without one.
"""

from __future__ import annotations

import json
import socket
import ssl
import sys

GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
host, port, folder = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
if folder not in ("none", "plain"):
    context.load_cert_chain(f"{folder}/cert.pem", f"{folder}/key.pem")
try:
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        if folder != "plain":
            connection = context.wrap_socket(connection)
        connection.sendall(GREETING)
        print(json.dumps(connection.recv(9)[3:4] == b"\x04"))
except OSError:  # ssl.SSLError is one
    print(json.dumps(False))
