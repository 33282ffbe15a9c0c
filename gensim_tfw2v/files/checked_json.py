"""JSON files that end with their own checksum: the last field is the SHA-256 of all bytes before that field."""

from __future__ import annotations

import hashlib


def with_checksum(text: str) -> tuple[bytes, str]:
    """Return the bytes of a file, and the checksum of its fields.

    Parameters
    ----------
    text : str
        A JSON object in ASCII with at least one field, as `json.dumps` writes it, indented or not.
    """
    body = text.removesuffix("}").removesuffix("\n").encode("ascii")
    checksum = sha256_of(body)
    return body + _last_field(checksum), checksum


def checksum_in(data: bytes) -> str:
    """Return the checksum at the end of a file's bytes; raise ValueError if the bytes have changed."""
    body = data[: -len(_last_field(sha256_of(b"")))]
    checksum = sha256_of(body)
    if data != body + _last_field(checksum):
        raise ValueError("its checksum does not fit")
    return checksum


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _last_field(checksum: str) -> bytes:
    return f',\n "checksum": "{checksum}"\n}}\n'.encode("ascii")
