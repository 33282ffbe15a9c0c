"""Operations that read rows, write them and add to them, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.kernel import Kernel
from support.operation_inputs import ROWS, Table, normal

tf = load_tensorflow()


def as_bfloat16(values: np.ndarray) -> np.ndarray:
    """Return the nearest numbers with eight significant bits, even ones if two are as near."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(fraction * 2**8) / 2**8, exponent).astype(np.float32)


def check_read_and_written_rows(kernel: Kernel, size: int) -> None:
    """Check rows that are read, and rows that are written."""
    before, values = normal(ROWS, size), normal(4, size, seed=1)
    table, rows = Table(before), np.array([9, 0, 10, 4], np.int32)
    found = kernel.read_rows(table=kernel.memory_of(table.handle), rows=np.array([3, 10, 3, 0], np.int32))
    np.testing.assert_array_equal(found, before[[3, 10, 3, 0]])
    assert kernel.write_rows(table=kernel.memory_of(table.handle), rows=rows, values=values) == 4
    before[rows] = values
    np.testing.assert_array_equal(table.values(), before)


def check_added_rows(kernel: Kernel, size: int, number_type: str) -> None:
    """Check changes that are added, two of them to one row."""
    before, rows = normal(ROWS, size), np.array([9, 0, 9, 4], np.int32)
    changes, table = as_bfloat16(normal(4, size, seed=1)), Table(before)
    memory = kernel.memory_of(table.handle)
    assert kernel.add_rows(table=memory, rows=rows, changes=tf.cast(changes, number_type)) == 4
    np.add.at(before, rows, changes)
    np.testing.assert_allclose(table.values(), before, rtol=1e-6)
