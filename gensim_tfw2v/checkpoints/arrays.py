"""The arrays of a checkpoint, received and read in pieces, so that no whole array need be in memory.

The file of an array has its rows as they are in memory, little-endian. The manifest has a CRC-32 of each piece.
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.checkpoints.errors import CheckpointError, damaged, reading, writing
from gensim_tfw2v.files.whole_files import bring_to_disk

PIECE_BYTES = 2**22  # size of pieces, unless a single row is larger
_CHECKSUMS = range(2**32)
_LONGEST = 2**48  # rows or columns
_STORED: dict[str, np.dtype[Any]] = {
    np.dtype(code).newbyteorder("<").str: np.dtype(code).newbyteorder("<")
    for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}

Rows = npt.NDArray[Any]


@dataclass(frozen=True)
class ArrayToWrite:
    """An array that a checkpoint is to hold.

    Parameters
    ----------
    shape : tuple of int
        One or two dimensions.
    dtype : numpy.dtype
        Booleans, integers or floating-point numbers of at most 64 bits.
    pieces : callable
        Returns consecutive rows in order, any number at a time. Together they have the shape.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    pieces: Callable[[], Iterable[Rows]]

    def __post_init__(self) -> None:
        try:
            shape, dtype = tuple(map(operator.index, self.shape)), np.dtype(self.dtype)
        except TypeError as error:
            raise CheckpointError(f"no array has shape {shown(self.shape)} and type {shown(self.dtype)}") from error
        stored_type(dtype.newbyteorder("<").str)
        object.__setattr__(self, "shape", checked_shape(shape))
        object.__setattr__(self, "dtype", dtype)

    @classmethod
    def of(cls, array: npt.ArrayLike) -> ArrayToWrite:
        """Return an array in memory as one to write, whose pieces are views of it."""
        whole = np.asarray(array)

        def pieces() -> Iterable[Rows]:
            step = rows_of_a_piece(whole.shape, whole.dtype)
            return (whole[first : first + step] for first in range(0, len(whole), step))

        return cls(whole.shape, whole.dtype, pieces)


@dataclass(frozen=True)
class ArrayLayout:
    """The manifest's entry about an array's file."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]  # little-endian
    piece_rows: int  # rows under each checksum; the last piece has the rest
    checksums: tuple[int, ...]

    @property
    def file_bytes(self) -> int:
        """Bytes of the file."""
        return self.shape[0] * row_bytes(self.shape, self.dtype)

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the manifest."""
        piece_rows, checksums = self.piece_rows, self.checksums
        return {"shape": self.shape, "dtype": self.dtype.str, "piece_rows": piece_rows, "crc32": checksums}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> ArrayLayout:
        """Return the layout in a manifest; raise ValueError, KeyError or TypeError if the fields are none."""
        shape, dtype = checked_shape(fields["shape"]), stored_type(fields["dtype"])
        piece_rows, checksums = fields["piece_rows"], fields["crc32"]
        if type(piece_rows) is not int or piece_rows < 1:
            raise ValueError(f"a piece of {shown(piece_rows)} rows")
        if not isinstance(checksums, list) or len(checksums) != -(-shape[0] // piece_rows):
            raise ValueError("not as many checksums as pieces")
        if not all(type(checksum) is int and checksum in _CHECKSUMS for checksum in checksums):
            raise ValueError("a checksum that is no CRC-32")
        return cls(shape, dtype, piece_rows, tuple(checksums))


def write_array(path: Path, name: str, array: ArrayToWrite) -> ArrayLayout:
    """Write an array's file and flush it to the disk; return its entry for the manifest.

    `path` is in an unfinished folder within the folder of checkpoints.
    """
    folder, stored = path.parents[1], array.dtype.newbyteorder("<")
    piece_rows, checksums, written = rows_of_a_piece(array.shape, stored), list[int](), 0
    with writing(folder):
        file = path.open("xb", buffering=0)
    with file:
        for rows in array.pieces():  # any number of rows at a time
            _check_rows(name, array, rows, written)
            while len(rows):
                in_piece = written % piece_rows
                part, rows = np.split(rows, [piece_rows - in_piece])
                # A copy, because training may change the rows between the checksum and the file.
                data = np.array(part, stored, order="C").reshape(-1).view(np.uint8).data
                checksum = zlib.crc32(data, checksums.pop() if in_piece else 0)
                checksums.append(checksum)
                written += len(part)
                with writing(folder):
                    while data:
                        data = data[file.write(data) :]
        if written != array.shape[0]:
            raise _unlike(name, array, f"{written} rows")
        with writing(folder):
            bring_to_disk(path)
    return ArrayLayout(array.shape, stored, piece_rows, tuple(checksums))


def _check_rows(name: str, array: ArrayToWrite, rows: Rows, written: int) -> None:
    if not isinstance(rows, np.ndarray):
        raise _unlike(name, array, f"a piece of type {type(rows).__name__}")
    if rows.dtype != array.dtype or rows.ndim != len(array.shape) or rows.shape[1:] != array.shape[1:]:
        raise _unlike(name, array, f"a piece of shape {rows.shape} and type {rows.dtype}")
    if written + len(rows) > array.shape[0]:
        raise _unlike(name, array, "more rows")


def _unlike(name: str, array: ArrayToWrite, found: str) -> CheckpointError:
    expected = f"shape {array.shape} and type {array.dtype}"
    return CheckpointError(f"array {name!r} was to have {expected}, but its pieces have {found}")


def check_size(path: Path, layout: ArrayLayout) -> None:
    """Raise CheckpointError unless an array's file has its size."""
    with reading(path):
        size = path.stat().st_size
    if size != layout.file_bytes:
        raise damaged(path, f"it has {size} bytes instead of {layout.file_bytes}")


def read_pieces(path: Path, layout: ArrayLayout) -> Iterator[tuple[int, Rows]]:
    """Yield the first row's number and the rows of each piece, after checking its checksum."""
    with reading(path):
        file = path.open("rb", buffering=0)
    with file:
        check_size(path, layout)
        for number, checksum in enumerate(layout.checksums):
            first = number * layout.piece_rows
            rows = min(layout.piece_rows, layout.shape[0] - first)
            piece: Rows = np.empty((rows, *layout.shape[1:]), layout.dtype)
            data = piece.reshape(-1).view(np.uint8).data
            with reading(path):
                begin = file.tell()
                _fill(file, data)
            if zlib.crc32(data) != checksum:
                raise damaged(path, f"bytes {begin} to {begin + len(data)} do not fit their checksum")
            yield first, piece


def _fill(file: FileIO, data: memoryview) -> None:
    while data:
        count = file.readinto(data)
        if not count:
            raise OSError("it has become shorter")
        data = data[count:]


def checked_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple; raise CheckpointError unless a checkpoint can hold such an array."""
    if not isinstance(shape, (tuple, list)) or len(shape) not in (1, 2):
        raise CheckpointError(f"an array in a checkpoint has one or two dimensions, not the shape {shown(shape)}")
    if not all(type(size) is int and 0 <= size <= _LONGEST for size in shape):
        raise CheckpointError(f"{shown(shape)} is no shape of an array")
    return tuple(shape)


def stored_type(name: Any) -> np.dtype[Any]:
    """Return the type of numbers in a file by NumPy's name, such as "<f4"; raise CheckpointError for any other."""
    found = _STORED.get(name) if isinstance(name, str) else None
    if found is None:
        raise CheckpointError(f"an array in a checkpoint has one of the types {', '.join(_STORED)}, not {shown(name)}")
    return found


def rows_of_a_piece(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Return how many rows of an array are in a piece."""
    return max(1, PIECE_BYTES // max(1, row_bytes(shape, dtype)))


def row_bytes(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Return the bytes of a row of an array."""
    return dtype.itemsize * (shape[1] if len(shape) == 2 else 1)


def shown(value: object) -> str:
    """Return the beginning of a value's representation, in one line."""
    return " ".join(repr(value)[:80].split())
