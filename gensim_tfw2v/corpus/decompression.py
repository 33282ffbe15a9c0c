"""A compressed file → its bytes."""

from __future__ import annotations

import contextlib
import lzma
import os
import zlib
from collections.abc import Iterator
from typing import IO

# Suffixes of the files that gensim, through smart_open, decompresses.
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name says that it is compressed."""
    return os.fspath(path).lower().endswith(COMPRESSED_SUFFIXES)


@contextlib.contextmanager
def decompressed(path: str) -> Iterator[IO[bytes]]:
    """Open a compressed file for reading its content; raise ValueError that names the file if it is damaged."""
    from smart_open import open as smart_open

    try:
        with smart_open(path, "rb") as stream:
            yield stream
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's error, not the decompressor's
            raise
        raise ValueError(f"{path}: the file is damaged: {error}") from None
