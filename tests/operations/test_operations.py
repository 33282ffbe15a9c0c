"""The operations that read, write, fetch and move rows do what plain loops over NumPy arrays do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_inputs import BATCHES, NO_FACTORS, ROWS, Table, normal, of_every_size
from support.operation_rows import (
    as_bfloat16,
    check_added_rows,
    check_gathered_rows,
    check_moved_rows,
    check_read_and_written_rows,
)

from gensim_tfw2v.operations import operations
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()


@of_every_size
def test_rows_are_read_and_written_where_they_are(size: int) -> None:
    check_read_and_written_rows(size)


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
    np.testing.assert_array_equal(tf.cast(found, tf.float32), as_bfloat16(values[rows]))


@of_every_size
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_changes_are_added_to_rows_as_often_as_they_are_named(size: int, number_type: str) -> None:
    check_added_rows(size, number_type)


@of_every_size
@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_of_a_batch_are_gathered(size: int, batch: int, number_type: str) -> None:
    check_gathered_rows(size, batch, number_type)


def test_numbers_between_two_of_bfloat16_become_the_even_one_and_infinite_ones_stay() -> None:
    values = np.array([[1 + 1 / 256, 1 + 3 / 256, -1 - 1 / 256, 1 + 1 / 256 + 2**-20, np.inf, -np.inf, 0, -0.0]] * 3)
    table = Table(np.tile(values, 3).astype(np.float32))  # so that some of them fill registers, and others do not
    ids = np.zeros((1, 1, 1), np.int32)
    found = tf.cast(operations().tfw2v_gather_rows(table=table.memory, ids=ids, batch=0, T=tf.bfloat16), tf.float32)
    expected = np.array([1, 1 + 4 / 256, -1, 1 + 2 / 256, np.inf, -np.inf, 0, -0.0])
    np.testing.assert_array_equal(found[0, 0], np.tile(expected, 3))
    np.testing.assert_array_equal(np.signbit(found[0, 0]), np.tile(np.signbit(expected), 3))


@of_every_size
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_rows_move_by_one_clipped_step_against_the_sum_of_their_gradients(size: int, number_type: str) -> None:
    check_moved_rows(size, number_type)


@pytest.mark.parametrize("factors", [[0.0], [0.5], [0.0, 1.0, 0.25], np.linspace(0, 2, ROWS)])
@pytest.mark.parametrize("size", [3, 100])
def test_steps_are_scaled_by_the_factors_of_their_rows_however_few_there_are(size: int, factors: list[float]) -> None:
    check_moved_rows(size, factors=np.array(factors, np.float32))


@pytest.mark.parametrize(("max_step", "share"), [(1e-6, 1), (1e6, 0)])
def test_all_steps_are_clipped_or_none(max_step: float, share: int) -> None:
    before, ids = normal(ROWS, 33), np.arange(ROWS, dtype=np.int32).reshape(1, 1, ROWS)
    table = Table(before)
    metrics = operations().tfw2v_move_rows(
        table=table.memory,
        ids=ids,
        batch=0,
        gradients=normal(1, ROWS, 33, seed=1),
        rate=0.1,
        max_step=max_step,
        factors=NO_FACTORS,
    )
    assert metrics.numpy().tolist() == [ROWS, share * ROWS]
    if share:
        steps = np.linalg.norm(table.read().astype(np.float64) - before, axis=1)
        assert steps.max() < 2 * max_step


@pytest.mark.parametrize("distinct", [1, 2, 40, 1000, 30_000])
def test_sums_find_their_rows_among_few_and_among_many(distinct: int) -> None:
    """Rows far apart and rows close to each other, more and fewer than the least that sums have room for."""
    before = normal(2**16, 2)
    rng = np.random.default_rng(distinct)
    for words in (rng.choice(2**16, distinct, replace=False), np.arange(distinct), np.arange(distinct) * 2 + 7):
        ids = rng.choice(words, (1, 8, 4000)).astype(np.int32)
        gradients, table = rng.normal(size=(8, 4000, 2)).astype(np.float32), Table(before)
        metrics = operations().tfw2v_move_rows(
            table=table.memory, ids=ids, batch=0, gradients=gradients, rate=0.01, max_step=1e9, factors=NO_FACTORS
        )
        sums = np.zeros(before.shape)
        np.add.at(sums, ids.reshape(-1), gradients.reshape(-1, 2).astype(np.float64))
        assert metrics.numpy().tolist() == [len(np.unique(ids)), 0]
        times = np.bincount(ids.reshape(-1)).max()
        np.testing.assert_allclose(table.read(), before - 0.01 * sums, rtol=1e-6, atol=1e-8 * times)
