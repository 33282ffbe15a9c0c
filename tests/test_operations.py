"""The operations that read, write, fetch and move rows do what plain loops over NumPy arrays do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    ROWS,
    Table,
    median_step,
    moved,
    normal,
    numbers_below,
    of_every_size,
)

import gensim_tfw2v.operations as package
from gensim_tfw2v.operations import operations
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()


def sums_by_row(ids: np.ndarray, gradients: np.ndarray) -> dict[int, np.ndarray]:
    """Return the sum of the gradients of each row."""
    sums: dict[int, np.ndarray] = {}
    for row, gradient in zip(ids.reshape(-1).tolist(), gradients.reshape(ids.size, -1), strict=True):
        sums[row] = sums.get(row, 0.0) + gradient.astype(np.float64)
    return sums


@of_every_size
def test_rows_are_read_and_written_where_they_are(size: int) -> None:
    before, values = normal(ROWS, size), normal(4, size, seed=1)
    table, rows = Table(before), np.array([9, 0, 10, 4], np.int32)
    found = operations().tfw2v_read_rows(table=table.memory, rows=np.array([3, 10, 3, 0], np.int32))
    np.testing.assert_array_equal(found, before[[3, 10, 3, 0]])
    assert operations().tfw2v_write_rows(table=table.memory, rows=rows, values=values) == 4
    before[rows] = values
    np.testing.assert_array_equal(table.read(), before)


def test_no_rows_are_read_written_or_added_to() -> None:
    table, none = Table(normal(ROWS, 5)), np.zeros(0, np.int32)
    assert operations().tfw2v_read_rows(table=table.memory, rows=none).shape == (0, 5)
    assert operations().tfw2v_write_rows(table=table.memory, rows=none, values=np.zeros((0, 5), np.float32)) == 0
    assert operations().tfw2v_add_rows(table=table.memory, rows=none, changes=np.zeros((0, 5), np.float32)) == 0
    np.testing.assert_array_equal(table.read(), normal(ROWS, 5))


@of_every_size
def test_rows_are_read_as_bfloat16(size: int) -> None:
    values, rows = normal(ROWS, size), np.array([3, 10, 3, 0], np.int32)
    found = operations().tfw2v_read_rows(table=Table(values).memory, rows=rows, T=tf.bfloat16)
    np.testing.assert_array_equal(tf.cast(found, tf.float32), in_halves(values[rows]))


@of_every_size
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_changes_are_added_to_rows_as_often_as_they_are_named(size: int, number_type: str) -> None:
    before, rows = normal(ROWS, size), np.array([9, 0, 9, 4], np.int32)
    changes, table = in_halves(normal(4, size, seed=1)), Table(before)
    assert operations().tfw2v_add_rows(table=table.memory, rows=rows, changes=tf.cast(changes, number_type)) == 4
    np.add.at(before, rows, changes)
    np.testing.assert_allclose(table.read(), before, rtol=1e-6)


@of_every_size
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_of_a_batch_are_gathered(size: int, batch: int, number_type: str) -> None:
    values, ids = normal(ROWS, size), numbers_below(ROWS, BATCHES, 4, 5)
    found = operations().tfw2v_gather_rows(table=Table(values).memory, ids=ids, batch=batch, T=tf.as_dtype(number_type))
    assert found.dtype == tf.as_dtype(number_type)
    rows = values[ids[batch]]
    np.testing.assert_array_equal(tf.cast(found, tf.float32), rows if number_type == "float32" else in_halves(rows))


def in_halves(values: np.ndarray) -> np.ndarray:
    """Return the nearest numbers with eight significant bits, even ones if two are as near."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.rint(fraction * 2**8) / 2**8, exponent).astype(np.float32)


def test_numbers_between_two_of_bfloat16_become_the_even_one_and_infinite_ones_stay() -> None:
    values = np.array([[1 + 1 / 256, 1 + 3 / 256, -1 - 1 / 256, 1 + 1 / 256 + 2**-20, np.inf, -np.inf, 0, -0.0]] * 3)
    table = Table(np.tile(values, 3).astype(np.float32))  # so that some of them fill registers, and others do not
    ids = np.zeros((1, 1, 1), np.int32)
    found = tf.cast(operations().tfw2v_gather_rows(table=table.memory, ids=ids, batch=0, T=tf.bfloat16), tf.float32)
    expected = np.array([1, 1 + 4 / 256, -1, 1 + 2 / 256, np.inf, -np.inf, 0, -0.0])
    np.testing.assert_array_equal(found[0, 0], np.tile(expected, 3))
    np.testing.assert_array_equal(np.signbit(found[0, 0]), np.tile(np.signbit(expected), 3))


def check_moved_rows(size: int, number_type: str = "float32", factors: np.ndarray = NO_FACTORS) -> None:
    """Check rows moved by gradients that half of them have too much of."""
    before, ids, rate = normal(ROWS, size), numbers_below(ROWS - 1, BATCHES, 4, 5), 0.05
    gradients = in_halves(normal(4, 5, size, seed=1))
    sums = sums_by_row(ids[BATCH], gradients)
    assert len(sums) < ids[BATCH].size
    bound = median_step(sums, rate)
    table = Table(before)
    figures = operations().tfw2v_move_rows(
        table=table.memory,
        ids=ids,
        batch=BATCH,
        gradients=tf.cast(gradients, number_type),
        rate=rate,
        bound=bound,
        factors=factors,
    )
    expected, counts = moved(before, sums, rate, bound, factors)
    assert figures.numpy().tolist() == counts
    assert 0 < counts[1] < counts[0]
    np.testing.assert_allclose(table.read(), expected, rtol=1e-6, atol=1e-6)
    others = np.setdiff1d(np.arange(ROWS), ids[BATCH])
    np.testing.assert_array_equal(table.read()[others], before[others])


@of_every_size
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_move_by_one_bounded_step_against_the_sum_of_their_gradients(size: int, number_type: str) -> None:
    check_moved_rows(size, number_type)


@pytest.mark.parametrize("factors", [[0.0], [0.5], [0.0, 1.0, 0.25], np.linspace(0, 2, ROWS)])
@pytest.mark.parametrize("size", [3, 100])
def test_steps_are_scaled_by_the_factors_of_their_rows_however_few_there_are(size: int, factors: list[float]) -> None:
    check_moved_rows(size, factors=np.array(factors, np.float32))


@pytest.mark.parametrize(("bound", "share"), [(1e-6, 1), (1e6, 0)])
def test_all_steps_are_shortened_or_none(bound: float, share: int) -> None:
    before, ids = normal(ROWS, 33), np.arange(ROWS, dtype=np.int32).reshape(1, 1, ROWS)
    table = Table(before)
    figures = operations().tfw2v_move_rows(
        table=table.memory, ids=ids, batch=0, gradients=normal(1, ROWS, 33, seed=1), rate=0.1, bound=bound, factors=[]
    )
    assert figures.numpy().tolist() == [ROWS, share * ROWS]
    if share:
        steps = np.linalg.norm(table.read().astype(np.float64) - before, axis=1)
        assert steps.max() < 2 * bound


@pytest.mark.parametrize("distinct", [1, 2, 40, 1000, 30_000])
def test_sums_find_their_rows_among_few_and_among_many(distinct: int) -> None:
    """Rows far apart and rows close to each other, more and fewer than the least that sums have room for."""
    before = normal(2**16, 2)
    rng = np.random.default_rng(distinct)
    for words in (rng.choice(2**16, distinct, replace=False), np.arange(distinct), np.arange(distinct) * 2 + 7):
        ids = rng.choice(words, (1, 8, 4000)).astype(np.int32)
        gradients, table = rng.normal(size=(8, 4000, 2)).astype(np.float32), Table(before)
        figures = operations().tfw2v_move_rows(
            table=table.memory, ids=ids, batch=0, gradients=gradients, rate=0.01, bound=1e9, factors=NO_FACTORS
        )
        sums = np.zeros(before.shape)
        np.add.at(sums, ids.reshape(-1), gradients.reshape(-1, 2).astype(np.float64))
        assert figures.numpy().tolist() == [len(np.unique(ids)), 0]
        times = np.bincount(ids.reshape(-1)).max()
        np.testing.assert_allclose(table.read(), before - 0.01 * sums, rtol=1e-6, atol=1e-8 * times)


def test_operations_that_are_not_compiled_tell_how_to_compile_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "library_path", lambda: tmp_path / "none.so")
    with pytest.raises(ImportError, match=r"none\.so.*python setup\.py build_ext --inplace"):
        operations.__wrapped__()
