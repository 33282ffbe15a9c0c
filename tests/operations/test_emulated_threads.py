"""Calls can emulate threads that do not see each other's latest steps."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from support.every_operation import SOME_CASES
from support.reference_delays import train_with_delays
from support.training_examples import TOLERANCE, Case, check_tables, check_training, make_example

from gensim_tfw2v.operations import library_path

EACH_CASE = pytest.mark.parametrize("case", SOME_CASES.values(), ids=SOME_CASES)


@pytest.fixture
def emulate_threads() -> Iterator[Callable[[int], None]]:
    """Return a function that sets how many threads are emulated; there is one again after the test."""
    function = ctypes.CDLL(str(library_path())).tfw2v_emulate_threads
    function.argtypes, function.restype = [ctypes.c_int], None
    yield function
    function(1)


@EACH_CASE
@pytest.mark.parametrize("adagrad", [False, True], ids=["sgd", "adagrad"])
@pytest.mark.parametrize("threads", [2, 3, 50])
def test_threads_take_turns_and_a_run_reads_rows_as_they_were_some_turns_before(
    case: Case, adagrad: bool, threads: int, emulate_threads: Callable[[int], None]
) -> None:
    example = make_example(case._replace(adagrad=adagrad, max_step=0.1))
    expected = train_with_delays(example, threads)
    assert expected.model.closest_call > 10 * TOLERANCE
    assert expected.model.largest_difference(example.expected().model) > 10 * TOLERANCE
    emulate_threads(threads)
    found = example.run()
    assert found.output is not None
    check_tables(found.tables, expected.model)
    np.testing.assert_allclose(found.output, expected.metrics, rtol=1e-4)


@EACH_CASE
@pytest.mark.parametrize("threads", [0, 1, -1])
def test_one_thread_sees_all_of_its_steps(case: Case, threads: int, emulate_threads: Callable[[int], None]) -> None:
    emulate_threads(3)
    emulate_threads(threads)
    check_training(case)
