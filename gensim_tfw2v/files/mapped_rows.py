"""Matrices in files without a name: rows are read when they are used, and the space is free once the matrix is gone."""

from __future__ import annotations

import errno
import math
import mmap
import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array, address_of
from gensim_tfw2v.runtime.system import allocate


class RowFile(mmap.mmap):
    """The memory of a file of float32 rows, as long as an array uses it. A process that is killed leaves no file."""

    folder: str
    shape: tuple[int, ...]


def rows_in_files(folder: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Float32Array]:
    """Return matrices of zeros, each in a file in a folder.

    Raise OSError if the folder's disk has no room for all of them; then no file is left.
    """
    needed = 4 * sum(map(math.prod, shapes.values()))
    free = shutil.disk_usage(folder).free
    try:
        if needed > free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return {name: _new_matrix(folder, shape) for name, shape in shapes.items()}
    except OSError as error:
        raise OSError(
            error.errno,
            f"tables_dir {folder!r} has {free:,} bytes free, and {', '.join(shapes)} take {needed:,} "
            f"({error.strerror}); free space there, or choose another folder, a smaller vector_size or a larger "
            "min_count",
        ) from error


def _new_matrix(folder: str, shape: tuple[int, ...]) -> Float32Array:
    size = max(4 * math.prod(shape), mmap.PAGESIZE)  # an empty file cannot be mapped
    with tempfile.TemporaryFile(prefix="gensim_tfw2v-", dir=folder) as file:
        allocate(file.fileno(), size)
        memory = RowFile(file.fileno(), size)
    memory.folder, memory.shape = folder, shape
    matrix: Float32Array = np.ndarray(shape, np.float32, memory)
    return matrix


def whole_rows(matrix: Any) -> Float32Array | None:
    """Return the whole rows of the file whose first columns a matrix is; None if it is none."""
    file = _file_of(matrix)
    if file is None or matrix.ndim != 2:
        return None
    rows: Float32Array = np.ndarray(file.shape, np.float32, file)
    return rows if is_same(matrix, rows[:, : matrix.shape[1]]) else None


def _file_of(array: Any) -> RowFile | None:
    base = getattr(array, "base", None)
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, RowFile) else None


def is_same(first: Any, second: Any) -> bool:
    """Return whether two arrays have the same numbers in the same memory."""
    return bool(first.__array_interface__ == second.__array_interface__)


def expect_reads(rows: Float32Array, at_random: bool) -> None:
    """Say in which order the rows of a file are to be read: at random, so that no others are read ahead, or in turn."""
    file = _file_of(rows)
    if file is not None and hasattr(file, "madvise"):
        file.madvise(mmap.MADV_RANDOM if at_random else mmap.MADV_NORMAL)


def read_ahead(rows: Float32Array) -> None:
    """Begin to read rows of a file that follow each other and are needed next, whatever `expect_reads` said."""
    file = _file_of(rows)
    if file is not None and hasattr(file, "madvise") and rows.size:
        whole = np.ndarray(file.shape, np.float32, file)
        first = address_of(rows) - address_of(whole)
        begin = first - first % mmap.PAGESIZE
        file.madvise(mmap.MADV_WILLNEED, begin, first + rows.nbytes - begin)


def as_table(matrix: Any) -> Any:
    """Return a matrix as training needs it: one in a file as it is, another as writable float32 rows without gaps."""
    return matrix if whole_rows(matrix) is not None else np.require(matrix, np.float32, ["C", "W"])


def without_gaps(matrix: Any) -> Any:
    """Return a matrix in a file whose rows follow each other, a copy in another file if they do not."""
    file = _file_of(matrix)
    if file is None or matrix.flags.c_contiguous:
        return matrix
    (copy,) = rows_in_files(file.folder, {"a copy to be saved": matrix.shape}).values()
    copy[:] = matrix
    return copy
