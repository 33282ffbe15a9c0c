"""Operations succeed or refuse a call whatever its inputs are, and a refused call has changed nothing."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.operation_calls import (
    END,
    PLACES,
    ROWS,
    RUNS,
    SIZE,
    TABLES,
    VARIANTS,
    Arguments,
    are_unchanged,
    run_call,
    type_of,
    valid_call,
    with_states,
)

from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()

EXTREMES = [-(2**31), -(2**31) + 1, -1, 0, 1, 2, 3, 5, min(ROWS.values()), ROWS["outputs"], PLACES, 2**16]
EXTREMES += [2**31 - 2, 2**31 - 1]


def check_succeeds_or_is_refused(name: str, arguments: Arguments, adagrad: bool) -> None:
    """Check that TensorFlow reports no other error than a refusal, after which every bit is as it was."""
    attributes = {"adagrad": True} if adagrad and VARIANTS[name].trains else {}
    outcome = run_call(name, arguments, **attributes)
    if outcome.error is not None:
        assert isinstance(outcome.error, tf.errors.InvalidArgumentError), outcome.error
        assert are_unchanged(outcome, arguments)


@st.composite
def wrong_inputs(draw: st.DrawFn) -> tuple[str, Arguments, bool]:
    """Draw a call of which some inputs are wrong, and others may be."""
    name, adagrad = draw(st.sampled_from(list(VARIANTS))), draw(st.booleans())
    arguments = with_states(valid_call(name)) if adagrad else valid_call(name)
    for input_ in draw(st.lists(st.sampled_from(list(arguments)), min_size=1, max_size=3, unique=True)):
        value = arguments[input_]
        change = draw(st.sampled_from(["values", "shape", "axis", "anything"]))
        if change == "values" and value.size:
            value = value.copy()
            extremes = EXTREMES if type_of(input_) is not np.float32 else [*EXTREMES, np.nan, np.inf, -1e38]
            for place in draw(st.lists(st.integers(0, value.size - 1), min_size=1, max_size=4)):
                value.reshape(-1)[place] = draw(st.sampled_from(extremes))
        elif change == "axis" and value.ndim:
            axis = draw(st.integers(0, value.ndim - 1))
            value = np.resize(value, [draw(st.integers(0, 9)) if i == axis else n for i, n in enumerate(value.shape)])
        elif change == "shape":
            value = np.resize(value, draw(st.lists(st.integers(0, 5), max_size=4)))
        else:
            shape = draw(st.lists(st.integers(0, 4), max_size=4))
            value = np.array([draw(st.sampled_from(EXTREMES)) for _ in range(int(np.prod(shape)))]).reshape(shape)
        arguments[input_] = value.astype(type_of(input_))
    return name, arguments, adagrad


@given(wrong_inputs())
@settings(max_examples=300)
def test_whatever_the_inputs_a_call_succeeds_or_is_refused(call: tuple[str, Arguments, bool]) -> None:
    check_succeeds_or_is_refused(*call)


@given(
    name=st.sampled_from(list(VARIANTS)),
    runs=st.integers(0, RUNS),
    batches=st.integers(0, END),
    size=st.integers(0, SIZE),
    rows=st.integers(0, min(ROWS.values())),
    adagrad=st.booleans(),
)
@settings(max_examples=200)
def test_calls_of_any_size_succeed_or_are_refused(
    name: str, runs: int, batches: int, size: int, rows: int, adagrad: bool
) -> None:
    arguments = valid_call(name)
    if VARIANTS[name].trains:
        arguments["span"] = np.array([0, batches], np.int32)
    for input_, value in arguments.items():
        if value.ndim == 3:
            arguments[input_] = value[:, :runs]
        elif input_ in (*TABLES, "values", "changes"):
            arguments[input_] = value[: rows if input_ in TABLES else None, :size]
    check_succeeds_or_is_refused(name, with_states(arguments) if adagrad else arguments, adagrad)
