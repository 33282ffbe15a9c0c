"""The file of one array: its rows as they are in memory, little-endian, with a CRC-32 of each piece in the manifest."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.checkpoints.arrays import (
    ArrayToWrite,
    Rows,
    checked_shape,
    row_bytes,
    rows_of_a_piece,
    shown,
    stored_type,
)
from gensim_tfw2v.checkpoints.errors import CheckpointError, damaged, reading, writing
from gensim_tfw2v.files.whole_files import bring_to_disk

_CHECKSUMS = range(2**32)


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
        return {
            "shape": self.shape,
            "dtype": self.dtype.str,
            "piece_rows": self.piece_rows,
            "crc32": self.checksums,
        }

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
    folder = path.parents[1]
    with writing(folder):
        file = path.open("xb", buffering=0)
    with file:
        writer = _Writer(file, folder, name, array)
        for rows in array.pieces():
            writer.add(rows)
        layout = writer.finish()
        with writing(folder):
            bring_to_disk(path)
    return layout


class _Writer:
    """Writes rows as they arrive, and computes the checksums of pieces of whole rows, however many arrive at a time."""

    def __init__(self, file: FileIO, folder: Path, name: str, array: ArrayToWrite) -> None:
        self._file, self._folder, self._name = file, folder, name
        self._shape, self._dtype = array.shape, array.dtype
        self._stored = self._dtype.newbyteorder("<")
        self._piece_rows = rows_of_a_piece(array.shape, self._stored)
        self._rows = 0
        self._checksums: list[int] = []

    def add(self, rows: Rows) -> None:
        """Write the next rows."""
        self._check(rows)
        first = 0
        while first < len(rows):
            end = min(len(rows), first + self._piece_rows - self._rows % self._piece_rows)
            self._write(rows[first:end])
            first = end

    def finish(self) -> ArrayLayout:
        """Return the layout of the file; raise an error if rows are missing."""
        if self._rows != self._shape[0]:
            raise self._error(f"{self._rows} rows")
        return ArrayLayout(self._shape, self._stored, self._piece_rows, tuple(self._checksums))

    def _check(self, rows: Rows) -> None:
        if not isinstance(rows, np.ndarray):
            raise self._error(f"a piece of type {type(rows).__name__}")
        if rows.dtype != self._dtype or rows.ndim != len(self._shape) or rows.shape[1:] != self._shape[1:]:
            raise self._error(f"a piece of shape {rows.shape} and type {rows.dtype}")
        if self._rows + len(rows) > self._shape[0]:
            raise self._error("more rows")

    def _error(self, found: str) -> CheckpointError:
        expected = f"shape {self._shape} and type {self._dtype}"
        return CheckpointError(f"array {self._name!r} was to have {expected}, but its pieces have {found}")

    def _write(self, rows: Rows) -> None:
        """Write rows of one piece: a copy, because training may change them between the checksum and the file."""
        data = np.array(rows, self._stored, order="C").reshape(-1).view(np.uint8).data
        if self._rows % self._piece_rows:
            self._checksums[-1] = zlib.crc32(data, self._checksums[-1])
        else:
            self._checksums.append(zlib.crc32(data))
        self._rows += len(rows)
        with writing(self._folder):
            while data:
                data = data[self._file.write(data) :]


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
