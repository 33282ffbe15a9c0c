"""A file of text, plain or compressed → parts of its words."""

from __future__ import annotations

import codecs
import contextlib
import lzma
import os
import zlib
from collections.abc import Iterator
from typing import IO

from gensim_tfw2v.corpus.tokenizer import WHITE_SPACE, Part, Tokenizer
from gensim_tfw2v.runtime.extras import MissingPackageError

# Suffixes of the files that gensim, through smart_open, decompresses.
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name says that it is compressed."""
    return os.fspath(path).lower().endswith(COMPRESSED_SUFFIXES)


def compressed_parts(path: str, part_bytes: int, first: int, step: int) -> Iterator[Part]:
    """Yield parts ``first``, ``first + step``, ... of the content of a compressed file."""
    tokenizer = Tokenizer()
    offset = 0
    with decompressed(path) as stream:
        for number, part in enumerate(_cut_at_white_space(stream, part_bytes)):
            if number % step == first:
                text = after_mark(part) if number == 0 else part
                try:
                    yield tokenizer.part(text)
                except UnicodeDecodeError as error:
                    while stream.read(part_bytes):  # the checksum at its end shows whether the file is damaged
                        pass
                    raise not_utf8(path, offset + len(part) - len(text), error) from None
            offset += len(part)


def plain_parts(path: str, size: int, part_bytes: int, first: int, step: int, end: int | None = None) -> Iterator[Part]:
    """Yield parts ``first``, ``first + step``, ... of the first ``size`` bytes of a file.

    Parameters
    ----------
    end : int, optional
        The part after the last one; by default there are parts up to the end of the file.
    """
    tokenizer = Tokenizer()
    stop = size if end is None else min(end * part_bytes, size)
    with open(path, "rb") as file:
        for start in range(first * part_bytes, stop, step * part_bytes):
            begin = _cut(file, start, size)
            next_begin = _cut(file, min(start + part_bytes, size), size)
            file.seek(begin)
            data = file.read(next_begin - begin)
            text = after_mark(data) if begin == 0 else data
            try:
                yield tokenizer.part(text)
            except UnicodeDecodeError as error:
                raise not_utf8(path, begin + len(data) - len(text), error) from None


@contextlib.contextmanager
def decompressed(path: str) -> Iterator[IO[bytes]]:
    """Open a file, plain or compressed, for reading its content; raise ValueError that names it if it is damaged."""
    from smart_open import open as smart_open

    try:
        stream = smart_open(path, "rb")
    except ImportError:
        if not path.lower().endswith(".zst"):  # the others need no further package; smart_open names that of an address
            raise
        raise MissingPackageError(path, '"smart_open[zst]"') from None
    try:
        with stream:
            yield stream
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's error, not the decompressor's
            raise
        raise ValueError(f"{path}: the file is damaged: {error}") from None


def _cut_at_white_space(stream: IO[bytes], part_bytes: int) -> Iterator[bytes]:
    """Yield a stream in parts that end after white space, and then the rest."""
    rest = b""
    while data := stream.read(part_bytes):
        gap = 1 + max(data.rfind(space) for space in (b" ", b"\n", b"\t", b"\r", b"\x0b", b"\x0c"))
        if gap:
            yield rest + data[:gap]
            rest = data[gap:]
        else:
            rest += data
    yield rest


def _cut(file: IO[bytes], position: int, size: int) -> int:
    """Return the first place at or after ``position`` that is 0, ``size`` or just after white space."""
    if position == 0:
        return 0
    position -= 1
    file.seek(position)
    while position < size:
        data = file.read(4096)
        gap = WHITE_SPACE.search(data)
        if gap:
            return min(position + gap.end(), size)
        if not data:
            break
        position += len(data)
    return size


def after_mark(text: bytes) -> bytes:
    """Return what follows the byte order mark that some editors put at the beginning of a file."""
    return text.removeprefix(codecs.BOM_UTF8)


def not_utf8(path: str, offset: int, error: UnicodeDecodeError) -> ValueError:
    """Return the error that says which byte of a file is not UTF-8; the text that was read begins at `offset`."""
    return ValueError(
        f"{path}: not UTF-8 text at byte {offset + error.start} "
        f"(0x{error.object[error.start]:02x}, {error.reason}); convert the file to UTF-8"
    )
