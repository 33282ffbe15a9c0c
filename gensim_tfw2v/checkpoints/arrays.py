"""Which arrays a checkpoint can hold, and how it receives them: in pieces, so that no whole array need be in memory."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.checkpoints.errors import CheckpointError

PIECE_BYTES = 2**22  # size of pieces, unless a single row is larger
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
