"""Parts of a corpus file → numbers of words: the program of the reading processes, which imports little but NumPy.

A file is cut into parts at white space, near every ``part_bytes`` bytes. A reader tokenises every ``step``-th part. It
numbers words by itself, and sends the text of each word once. A compressed file can only be read from its beginning, so
each reader decompresses all of it. Of a table, a reader reads the rows of its own parts.
"""

from __future__ import annotations

import codecs
import os
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO

from gensim_tfw2v.corpus.decompression import decompressed, is_compressed
from gensim_tfw2v.corpus.table_file import is_table, table_parts
from gensim_tfw2v.corpus.tokenizer import WHITE_SPACE, Part, Tokenizer


def not_utf8(path: str, offset: int, error: UnicodeDecodeError) -> ValueError:
    """Return the error for a file whose part at ``offset`` is not UTF-8 text."""
    return ValueError(
        f"{path}: not UTF-8 text at byte {offset + error.start} "
        f"(0x{error.object[error.start]:02x}, {error.reason}); convert the file to UTF-8"
    )


def read_parts(
    path: str, size: int, part_bytes: int, first: int, step: int, column: str | None = None
) -> Iterator[Part]:
    """Yield parts ``first``, ``first + step``, ... of the first ``size`` bytes of a file.

    Of a compressed file or a table, yield those of all its content.
    """
    if is_table(path):
        yield from table_parts(path, part_bytes, first, step, column)
    elif is_compressed(path):
        with decompressed(path) as stream:
            yield from _read_stream(stream, path, part_bytes, first, step)
    else:
        yield from _read_plain(path, size, part_bytes, first, step)


def read_section(
    path: str, size: int, part_bytes: int, first: int, end: int, column: str | None = None
) -> Iterator[Part]:
    """Yield parts ``first`` to ``end`` of the first ``size`` bytes of a plain text file.

    Of a compressed file or a table, yield those of all its content.
    """
    if is_table(path) or is_compressed(path):
        yield from read_parts(path, size, part_bytes, 0, 1, column)
    else:
        yield from _parts_at(path, size, part_bytes, range(first * part_bytes, min(end * part_bytes, size), part_bytes))


def _read_plain(path: str, size: int, part_bytes: int, first: int, step: int) -> Iterator[Part]:
    return _parts_at(path, size, part_bytes, range(first * part_bytes, size, step * part_bytes))


def _parts_at(path: str, size: int, part_bytes: int, starts: Iterable[int]) -> Iterator[Part]:
    """Yield the parts that begin at or after these bytes of a plain text file."""
    tokenizer = Tokenizer()
    with open(path, "rb") as file:
        for start in starts:
            begin = _cut(file, start, size)
            end = _cut(file, min(start + part_bytes, size), size)
            file.seek(begin)
            data = file.read(end - begin)
            text = _after_mark(data) if begin == 0 else data
            try:
                yield tokenizer.part(text)
            except UnicodeDecodeError as error:
                raise not_utf8(path, begin + len(data) - len(text), error) from None


def _read_stream(stream: IO[bytes], name: str, part_bytes: int, first: int, step: int) -> Iterator[Part]:
    tokenizer = Tokenizer()
    offset = 0
    for number, part in enumerate(_parts_of_stream(stream, part_bytes)):
        if number % step == first:
            text = _after_mark(part) if number == 0 else part
            try:
                yield tokenizer.part(text)
            except UnicodeDecodeError as error:
                while stream.read(part_bytes):  # the checksum at its end shows whether the file is damaged
                    pass
                raise not_utf8(name, offset + len(part) - len(text), error) from None
        offset += len(part)


def _parts_of_stream(stream: IO[bytes], part_bytes: int) -> Iterator[bytes]:
    """Yield a stream in parts that end after white space, and then the rest."""
    rest = b""
    while data := stream.read(part_bytes):
        gap = _last_gap(data)
        if gap:
            yield rest + data[:gap]
            rest = data[gap:]
        else:
            rest += data
    yield rest


def _after_mark(text: bytes) -> bytes:
    """Return what follows the byte order mark that some editors put at the beginning of a file."""
    return text.removeprefix(codecs.BOM_UTF8)


def _last_gap(data: bytes) -> int:
    return 1 + max(data.rfind(space) for space in (b" ", b"\n", b"\t", b"\r", b"\x0b", b"\x0c"))


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


def main(arguments: list[str]) -> None:
    """Write the parts that `read_parts` yields for these arguments, and None, to standard output, pickled."""
    # Ctrl-C reaches the whole process group, but the parent ends its reading processes itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    path, (size, part_bytes, first, step) = arguments[0], map(int, arguments[1:5])
    column = arguments[5] if len(arguments) > 5 else None
    out = sys.stdout.buffer
    try:
        for part in chain(read_parts(path, size, part_bytes, first, step, column), [None]):
            pickle.dump(part, out, protocol=5)
            out.flush()
    except BrokenPipeError:
        # The parent has ended. The interpreter flushes standard output at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, ImportError) as error:
        pickle.dump(error, out, protocol=5)
