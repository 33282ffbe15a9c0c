"""The plain functions that fetch and move rows of a batch, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.plain.table import StepLimits, StepTable
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
from support.operation_rows import as_bfloat16

tf = load_tensorflow()


def sums_by_row(ids: np.ndarray, gradients: np.ndarray) -> dict[int, np.ndarray]:
    """Return the sum of the gradients of each row."""
    sums: dict[int, np.ndarray] = {}
    for row, gradient in zip(ids.reshape(-1).tolist(), gradients.reshape(ids.size, -1), strict=True):
        sums[row] = sums.get(row, 0.0) + gradient.astype(np.float64)
    return sums


def check_gathered_rows(size: int, batch: int, number_type: str, adagrad: bool = False) -> None:
    """Check the rows of a batch."""
    values, ids = table_rows(size, adagrad), numbers_below(ROWS, BATCHES, 4, 5)
    table, T = Table(values), tf.as_dtype(number_type)
    found = StepTable(table.handle, adagrad).vectors(ids[batch], T)
    assert found.dtype == T
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
    limits = StepLimits(rate, max_step, factors)
    metrics = StepTable(table.handle, adagrad).move(ids[BATCH], tf.cast(gradients, number_type), limits)
    expected, counts = moved(before, sums, rate, max_step, factors)
    assert metrics.numpy().tolist() == counts
    assert 0 < counts[1] < counts[0]
    np.testing.assert_allclose(table.values(), expected, rtol=1e-6, atol=1e-6)
    others = np.setdiff1d(np.arange(ROWS), ids[BATCH])
    np.testing.assert_array_equal(table.values()[others], before[others])
