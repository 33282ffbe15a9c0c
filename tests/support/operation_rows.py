"""The operations that read, write, fetch and move rows, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from support.kernels import operations
from support.operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    ROWS,
    Table,
    median_step,
    moved,
    normal,
    numbers_below,
    table_rows,
)

tf = load_tensorflow()


def sums_by_row(ids: np.ndarray, gradients: np.ndarray) -> dict[int, np.ndarray]:
    """Return the sum of the gradients of each row."""
    sums: dict[int, np.ndarray] = {}
    for row, gradient in zip(ids.reshape(-1).tolist(), gradients.reshape(ids.size, -1), strict=True):
        sums[row] = sums.get(row, 0.0) + gradient.astype(np.float64)
    return sums


def as_bfloat16(values: np.ndarray) -> np.ndarray:
    """Return the nearest numbers with eight significant bits, even ones if two are as near."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(fraction * 2**8) / 2**8, exponent).astype(np.float32)


def check_read_and_written_rows(size: int) -> None:
    """Check rows that are read, and rows that are written."""
    before, values = normal(ROWS, size), normal(4, size, seed=1)
    table, rows = Table(before), np.array([9, 0, 10, 4], np.int32)
    found = operations().tfw2v_read_rows(table=table.memory, rows=np.array([3, 10, 3, 0], np.int32))
    np.testing.assert_array_equal(found, before[[3, 10, 3, 0]])
    assert operations().tfw2v_write_rows(table=table.memory, rows=rows, values=values) == 4
    before[rows] = values
    np.testing.assert_array_equal(table.read(), before)


def check_added_rows(size: int, number_type: str) -> None:
    """Check changes that are added, two of them to one row."""
    before, rows = normal(ROWS, size), np.array([9, 0, 9, 4], np.int32)
    changes, table = as_bfloat16(normal(4, size, seed=1)), Table(before)
    assert operations().tfw2v_add_rows(table=table.memory, rows=rows, changes=tf.cast(changes, number_type)) == 4
    np.add.at(before, rows, changes)
    np.testing.assert_allclose(table.read(), before, rtol=1e-6)


def check_gathered_rows(size: int, batch: int, number_type: str, adagrad: bool = False) -> None:
    """Check the rows of a batch."""
    values, ids = table_rows(size, adagrad), numbers_below(ROWS, BATCHES, 4, 5)
    found = operations().tfw2v_gather_rows(
        table=Table(values).memory, ids=ids, batch=batch, T=tf.as_dtype(number_type), adagrad=adagrad
    )
    assert found.dtype == tf.as_dtype(number_type)
    rows = values[ids[batch], :size]
    np.testing.assert_array_equal(tf.cast(found, tf.float32), rows if number_type == "float32" else as_bfloat16(rows))


def check_moved_rows(
    size: int, number_type: str = "float32", factors: np.ndarray = NO_FACTORS, adagrad: bool = False
) -> None:
    """Check rows moved by gradients, half of which are too long."""
    before, ids, rate = table_rows(size, adagrad), numbers_below(ROWS - 1, BATCHES, 4, 5), 0.05
    gradients = as_bfloat16(normal(4, 5, size, seed=1))
    sums = sums_by_row(ids[BATCH], gradients)
    assert len(sums) < ids[BATCH].size
    max_step = median_step(sums, rate, before)
    table = Table(before)
    metrics = operations().tfw2v_move_rows(
        table=table.memory,
        ids=ids,
        batch=BATCH,
        gradients=tf.cast(gradients, number_type),
        rate=rate,
        max_step=max_step,
        factors=factors,
        adagrad=adagrad,
    )
    expected, counts = moved(before, sums, rate, max_step, factors)
    assert metrics.numpy().tolist() == counts
    assert 0 < counts[1] < counts[0]
    np.testing.assert_allclose(table.read(), expected, rtol=1e-6, atol=1e-6)
    others = np.setdiff1d(np.arange(ROWS), ids[BATCH])
    np.testing.assert_array_equal(table.read()[others], before[others])
