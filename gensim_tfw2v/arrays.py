"""Types of NumPy arrays, and arrays that TensorFlow takes without copying them."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
IntArray = npt.NDArray[np.integer[Any]]
UInt8Array = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64 | np.float64]

ALIGNMENT = 64  # bytes; TensorFlow uses the memory of an array that begins at such an address without copying it
_NUMBERS_AT_ONCE = 2**20  # of a matrix that is read or written


def aligned_empty(shape: int | tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a new array, without initial values, whose memory begins at a multiple of 64 bytes."""
    kind = np.dtype(dtype)
    size = kind.itemsize * (shape if isinstance(shape, int) else math.prod(shape))
    memory = np.empty(size + ALIGNMENT, np.uint8)
    array: npt.NDArray[Any] = np.ndarray(shape, kind, memory, offset=-address_of(memory) % ALIGNMENT)
    return array


def aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array if TensorFlow can take its memory, otherwise a copy."""
    if array.flags.carray and address_of(array) % ALIGNMENT == 0:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def pieces(matrix: Any) -> Iterator[slice]:
    """Yield a few rows of a matrix at a time, so that who reads or fills it needs no second copy."""
    step = max(1, _NUMBERS_AT_ONCE // matrix.shape[1])
    for first in range(0, len(matrix), step):
        yield slice(first, min(first + step, len(matrix)))


def consecutive(begins: IntArray | int, sizes: IntArray) -> Int64Array:
    """Return `sizes[0]` numbers from `begins[0]` on, then `sizes[1]` from `begins[1]` on, and so on."""
    before = np.cumsum(sizes, dtype=np.int64) - sizes
    numbers: Int64Array = np.repeat(begins - before, sizes)
    numbers += np.arange(numbers.size)
    return numbers


def address_of(array: npt.NDArray[Any]) -> int:
    """Return where an array's memory begins."""
    if array.flags.carray and array.size:  # a fifth of the time of the way below
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    address: int = array.ctypes.data
    return address
