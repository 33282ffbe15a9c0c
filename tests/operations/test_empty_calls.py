"""Calls without batches, or without runs in these, train nothing and need no memory for runs."""

from __future__ import annotations

import numpy as np
import pytest
from support.operation_calls import (
    BATCHES,
    NEGATIVE_COUNT,
    TOKENS,
    TRAINING,
    VARIANTS,
    Arguments,
    are_unchanged,
    check_refused,
    run_call,
    valid_call,
)

EACH_TRAINING = pytest.mark.parametrize("name", TRAINING)


@EACH_TRAINING
@pytest.mark.parametrize("batch", [0, 2, BATCHES])
def test_an_empty_span_trains_nothing(name: str, batch: int) -> None:
    arguments = valid_call(name) | {"span": np.array([batch, batch], np.int32)}
    outcome = run_call(name, arguments)
    assert outcome.output is not None and outcome.output.shape == (3, 0)
    assert are_unchanged(outcome, arguments)


def without_runs(name: str) -> Arguments:
    """Return the arguments of a call without any run or row to be trained."""
    arguments = valid_call(name)
    for input_, value in arguments.items():
        if value.ndim == 3:
            arguments[input_] = value[:, :0]
        elif input_ in ("rows", "values", "changes"):
            arguments[input_] = value[:0]
    return arguments


@pytest.mark.parametrize("name", VARIANTS)
def test_batches_without_runs_train_nothing(name: str) -> None:
    arguments = without_runs(name)
    outcome = run_call(name, arguments)
    assert outcome.error is None and outcome.output is not None
    assert not outcome.output.any()
    assert are_unchanged(outcome, arguments)


@pytest.mark.parametrize(
    ("name", "input_"), [(n, i) for n in TRAINING for i in valid_call(n) if i in ("input_ids", "candidates", "words")]
)
def test_an_axis_too_long_for_integers_of_32_bits_is_refused(name: str, input_: str) -> None:
    arguments = without_runs(name)
    kind = arguments[input_].shape[-1]
    longest = np.zeros((BATCHES, 0, 2**30 + 1), np.int32)
    arguments |= {i: longest for i, value in arguments.items() if value.ndim == 3 and value.shape[-1] == kind}
    check_refused(name, arguments, f" has {2**30 + 1} ", "at most 1073741824 are supported")


@EACH_TRAINING
def test_a_call_without_runs_needs_no_memory_for_them(name: str) -> None:
    arguments, window = without_runs(name), 2**28
    places = TOKENS + 2 * window
    widened = {"words"} | (set() if VARIANTS[name].skip_gram else {"input_ids"})
    for input_ in widened & set(arguments):
        arguments[input_] = np.zeros((BATCHES, 0, places), np.int32)
    if "candidates" in arguments and VARIANTS[name].skip_gram:
        arguments["candidates"] = np.zeros((BATCHES, 0, places + NEGATIVE_COUNT), np.int32)
    outcome = run_call(name, arguments | {"window": np.int32(window)})
    assert outcome.error is None and outcome.output is not None and not outcome.output.any()
