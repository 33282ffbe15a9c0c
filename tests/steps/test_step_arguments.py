"""The arguments of the graph that trains a block, as tensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.example_blocks import SETTINGS, maker_from, work_on

from gensim_tfw2v.arrays import ALIGNMENT, aligned, aligned_empty
from gensim_tfw2v.blocks.chunk_task import prepare
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.arguments import as_tensors, rates

tf = load_tensorflow()


def address(array: Any) -> int:
    return int(array.ctypes.data)


def unaligned(shape: tuple[int, ...]) -> Any:
    """Return numbers at an address that TensorFlow's operations do not take."""
    numbers = aligned_empty((int(np.prod(shape)) + 1,), np.int32)[1:]
    numbers[:] = np.arange(numbers.size)
    return numbers.reshape(shape)


@pytest.mark.parametrize("shape", [(), (0,), (0, 3, 2), (1,), (7,), (3, 5, 2)])
@pytest.mark.parametrize("number_type", [np.int32, np.float32, np.bool_, np.float64])
def test_aligned_arrays_have_the_shape_and_type_asked_for(shape: tuple[int, ...], number_type: Any) -> None:
    array = aligned_empty(shape, number_type)
    assert (array.shape, array.dtype) == (shape, number_type)
    assert not array.size or address(array) % ALIGNMENT == 0


def test_an_aligned_array_is_not_copied() -> None:
    array = aligned_empty((5, 4), np.int32)
    assert aligned(array) is array


@pytest.mark.parametrize(
    "array",
    [unaligned((4, 3)), aligned(unaligned((4, 3))).T, np.broadcast_to(np.int32(3), (4, 3))],
    ids=["unaligned", "transposed", "read-only"],
)
def test_what_tensorflow_cannot_use_is_copied(array: Any) -> None:
    copy = aligned(array)
    assert not np.shares_memory(copy, array)
    assert address(copy) % ALIGNMENT == 0
    np.testing.assert_array_equal(copy, array)


def test_nested_arguments_become_tensors_in_their_order() -> None:
    tensor = tf.constant([1.5])
    arguments = (np.int32(3), [np.array([True, False]), tensor], (unaligned((2, 2)), np.zeros((0, 0), np.float32)))
    number, flags, same, grid, empty = as_tensors(arguments)
    assert same is tensor
    assert (int(number), flags.numpy().tolist(), grid.numpy().tolist()) == (3, [True, False], [[0, 1], [2, 3]])
    assert (empty.shape, empty.dtype) == ((0, 0), tf.float32)


def test_operations_take_tensors_of_unaligned_arrays() -> None:
    # Eigen's operations end the process if a tensor is unaligned.
    (tensor,) = as_tensors((unaligned((1000,)),))
    assert int(tf.reduce_sum(tensor * 2)) == 2 * sum(range(1000))


def test_a_tensor_has_the_memory_of_an_aligned_array_and_keeps_it() -> None:
    array = aligned_empty((1000,), np.int32)
    array[:] = 7
    (tensor,) = as_tensors((array,))
    array[0] = 8
    del array
    assert tensor.numpy().tolist() == [8] + [7] * 999


@pytest.mark.parametrize(("max_step", "longest"), [(0.25, 10.0), (30.0, 30.0)])
def test_the_longest_step_is_so_many_learning_rates_or_a_length_that_is_more(max_step: float, longest: float) -> None:
    prepared = prepare(maker_from(0), work_on(0, rate=0.5, last_rate=0.1))
    assert prepared is not None
    settings = replace(SETTINGS, max_step=max_step, max_step_rates=20.0)
    assert rates(settings, prepared, np.ones(1, np.float32)).max_step == longest
