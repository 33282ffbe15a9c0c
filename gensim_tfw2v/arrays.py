"""Types of NumPy arrays, and arrays that TensorFlow can use without a copy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64  # bytes; TensorFlow's operations take no tensor at another address

BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64 | np.float64]


def aligned_empty(shape: tuple[int, ...], number_type: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array without values, at an address that TensorFlow can use."""
    size = math.prod(shape) * np.dtype(number_type).itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    begin = -_address(memory) % ALIGNMENT
    return memory[begin : begin + size].view(number_type).reshape(shape)


def aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array if TensorFlow can use its memory, otherwise a copy."""
    if array.flags.c_contiguous and array.flags.writeable and _address(array) % ALIGNMENT == 0:
        return array
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def _address(array: npt.NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
