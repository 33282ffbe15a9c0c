"""The operations that read rows, write them and add to them do what plain loops over NumPy arrays do."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_inputs import ROWS, Table, normal, of_every_size
from support.operation_rows import as_bfloat16, check_added_rows, check_read_and_written_rows

from gensim_tfw2v.operations import operations
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.kernel import compiled_kernel

tf = load_tensorflow()


@of_every_size
def test_rows_are_read_and_written_where_they_are(size: int) -> None:
    check_read_and_written_rows(compiled_kernel(), size)


def test_no_rows_are_read_written_or_added_to() -> None:
    table, none = Table(normal(ROWS, 5)), np.zeros(0, np.int32)
    assert operations().tfw2v_read_rows(table=table.memory, rows=none).shape == (0, 5)
    assert operations().tfw2v_write_rows(table=table.memory, rows=none, values=np.zeros((0, 5), np.float32)) == 0
    assert operations().tfw2v_add_rows(table=table.memory, rows=none, changes=np.zeros((0, 5), np.float32)) == 0
    np.testing.assert_array_equal(table.values(), normal(ROWS, 5))


def read_as_bfloat16(values: np.ndarray) -> np.ndarray:
    """Return a row of these values three times, read as bfloat16: some of them fill registers, and others do not."""
    table = Table(np.tile(values, 3)[None])
    found = operations().tfw2v_read_rows(table=table.memory, rows=np.zeros(1, np.int32), T=tf.bfloat16)
    numbers: np.ndarray = tf.cast(found, tf.float32).numpy()[0]
    return numbers


@of_every_size
def test_rows_are_read_as_bfloat16(size: int) -> None:
    values, rows = normal(ROWS, size), np.array([3, 10, 3, 0], np.int32)
    found = operations().tfw2v_read_rows(table=Table(values).memory, rows=rows, T=tf.bfloat16)
    np.testing.assert_array_equal(tf.cast(found, tf.float32), as_bfloat16(values[rows]))


@of_every_size
@pytest.mark.parametrize("number_type", ["float32", "bfloat16"])
def test_changes_are_added_to_rows_as_often_as_they_are_named(size: int, number_type: str) -> None:
    check_added_rows(compiled_kernel(), size, number_type)


def test_numbers_between_two_of_bfloat16_become_the_even_one_and_infinite_ones_stay() -> None:
    values = np.float32([1 + 1 / 256, 1 + 3 / 256, -1 - 1 / 256, 1 + 1 / 256 + 2**-20, np.inf, -np.inf, 0, -0.0])
    expected = np.tile([1, 1 + 4 / 256, -1, 1 + 2 / 256, np.inf, -np.inf, 0, -0.0], 3)
    found = read_as_bfloat16(values)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_no_nan_becomes_a_number_of_bfloat16() -> None:
    bits = np.uint32([0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0xFF800001, 0x7FC00000, 0x7FFF8000, 0x7F80FFFF])
    assert np.isnan(bits.view(np.float32)).all()
    assert np.isnan(read_as_bfloat16(bits.view(np.float32))).all()
