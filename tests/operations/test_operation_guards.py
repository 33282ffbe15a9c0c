"""Operations refuse wrong inputs, name them, and have then changed nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.operation_calls import (
    NEGATIVES,
    OPERATIONS,
    PLACES,
    RUNS,
    TOKENS,
    WINDOW,
    Arguments,
    run_call,
    type_of,
    valid_call,
)
from support.operation_contexts import WINDOW_ROWS
from support.operation_inputs import BATCH, BATCHES, NO_FACTORS, ROWS, Table

from gensim_tfw2v.operations import operations
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

tf = load_tensorflow()

EACH_OPERATION = pytest.mark.parametrize("name", OPERATIONS)
HUFFMAN = ["train Huffman paths of contexts", "train Huffman paths of own words"]
# Axes whose length no other input of the operation has.
FREE_AXES = {
    "read rows": {("table", 0), ("table", 1), ("rows", 0)},
    "write rows": {("table", 0)},
    "add rows": {("table", 0)},
    "gather rows": {("table", 0), ("table", 1), ("ids", 0), ("ids", 1), ("ids", 2)},
    "move rows": {("table", 0), ("ids", 0), ("factors", 0)},
    "sum contexts": {("table", 0), ("table", 1), ("weights", 0)},
    "move contexts": {("table", 0), ("weights", 0), ("factors", 0)},
    "sum even contexts": {("table", 0), ("table", 1)},
    "move even contexts": {("table", 0), ("factors", 0)},
    "train skip-gram": {("table", 0), ("weights", 0), ("factors", 0)},
    "train CBOW": {("table", 0), ("negatives", 2), ("factors", 0)},
    **{name: {("table", 0), ("offsets", 0)} for name in HUFFMAN},
}
# What entries of inputs must stay below; counts of contexts in CBOW have no limit.
LIMITS = {
    "rows": ROWS,
    "ids": ROWS,
    "negatives": ROWS,
    "targets": ROWS,
    "nodes": ROWS,
    "window_rows": WINDOW_ROWS,
    "left": WINDOW + 1,
    "right": WINDOW + 1,
    "codes": 2,
}


def limit_of(name: str, input_: str, arguments: Arguments) -> int:
    """Return what entries of an input must stay below."""
    if input_ == "words":
        return len(arguments["offsets"]) - 1
    if input_ == "window_rows":
        return len(arguments["weights"])
    return 2**31 if name == "train CBOW" and input_ in ("left", "right") else LIMITS[input_]


def check_refused(name: str, arguments: Arguments, *says: str) -> None:
    """Check that a call fails with a message that says all this, and has changed nothing."""
    outputs, table, error = run_call(name, arguments)
    assert isinstance(error, tf.errors.InvalidArgumentError), error
    assert not outputs
    assert table.tobytes() == arguments["table"].tobytes()
    for part in says:
        assert part in error.message


def inputs_and_axes() -> Iterator[tuple[str, str, int]]:
    """Yield each operation with each of its inputs and each axis of that."""
    for name in OPERATIONS:
        for input_, value in valid_call(name).items():
            for axis in range(value.ndim):
                yield name, input_, axis


def entries_with_limits() -> Iterator[tuple[str, str]]:
    """Yield each operation with each of its inputs that holds ids or counts."""
    for name in OPERATIONS:
        yield from ((name, input_) for input_ in valid_call(name) if input_ in (*LIMITS, "words"))


def last_entry(name: str, input_: str, arguments: Arguments) -> tuple[int, ...]:
    """Return where the last entry is that a call uses."""
    value = arguments[input_]
    if input_ in ("nodes", "codes"):
        return (int(arguments["offsets"][2]) - 1,)  # of the path of word 1
    if input_ == "words" and name == HUFFMAN[1]:
        return (BATCH, -1, -1 - WINDOW)
    return (BATCH, -1, -1) if value.ndim == 3 else (-1,) * value.ndim


@EACH_OPERATION
def test_a_valid_call_succeeds(name: str) -> None:
    arguments = valid_call(name)
    outputs, table, error = run_call(name, arguments)
    assert error is None and outputs
    only_reads = name in ("read rows", "gather rows", "sum contexts", "sum even contexts")
    assert np.array_equal(table, arguments["table"]) == only_reads


@pytest.mark.parametrize(("name", "input_"), [(n, i) for n in OPERATIONS for i in valid_call(n)])
def test_an_input_of_another_rank_is_refused(name: str, input_: str) -> None:
    arguments = valid_call(name)
    value = arguments[input_]
    for wrong in (value[None], *([value[0]] if value.ndim else [])):
        expected = f"must have {value.ndim}" if value.ndim else "must be a scalar"
        check_refused(name, arguments | {input_: wrong}, f"{input_} has {wrong.ndim} axes; it", expected)


@pytest.mark.parametrize(("name", "input_", "axis"), list(inputs_and_axes()))
def test_an_axis_of_another_length_than_other_inputs_is_refused(name: str, input_: str, axis: int) -> None:
    arguments = valid_call(name)
    value = arguments[input_]
    longer = np.concatenate([value, np.take(value, [-1], axis)], axis)
    shorter = np.delete(value, -1, axis)
    if (input_, axis) in FREE_AXES[name]:
        assert run_call(name, arguments | {input_: longer})[2] is None
        return
    for wrong in (longer, shorter):
        check_refused(name, arguments | {input_: wrong}, f"{input_} has ")


@pytest.mark.parametrize(("name", "input_"), list(entries_with_limits()))
def test_an_entry_out_of_range_is_refused(name: str, input_: str) -> None:
    arguments = valid_call(name)
    limit, place = limit_of(name, input_, arguments), last_entry(name, input_, arguments)
    for bad in {limit, -1, 2**31 - 1, -(2**31)} - {2**31, *([2**31 - 1] if limit == 2**31 else [])}:
        wrong = arguments[input_].copy()
        wrong[place] = bad
        check_refused(name, arguments | {input_: wrong}, f"{input_} holds {bad} at ")


def test_the_message_says_where_an_id_is_and_how_many_rows_there_are() -> None:
    arguments = valid_call("move rows")
    arguments["ids"][BATCH, 0, 3] = ROWS
    check_refused("move rows", arguments, f"ids holds {ROWS} at batch {BATCH}, run 0, place 3; table has {ROWS} rows")


@pytest.mark.parametrize(
    ("name", "input_"), [(n, i) for n, i in entries_with_limits() if i not in ("rows", "window_rows")]
)
def test_entries_that_a_batch_does_not_use_are_not_looked_at(name: str, input_: str) -> None:
    arguments = valid_call(name)
    usual = run_call(name, arguments)
    value = arguments[input_].copy()
    if value.ndim == 3:  # other batches
        value[np.arange(BATCHES) != BATCH] = 2**31 - 1
    else:  # the path of a word that the batch does not have
        value = np.append(value, np.int32(2**31 - 1))
        other = "codes" if input_ == "nodes" else "nodes"
        arguments[other] = np.append(arguments[other], np.int32(0))
        arguments["offsets"] = np.append(arguments["offsets"], np.int32(len(value)))
    outputs, table, error = run_call(name, arguments | {input_: value})
    assert error is None
    np.testing.assert_array_equal(table, usual[1])
    for found, expected in zip(outputs, usual[0], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_words_of_places_that_are_not_trained_are_not_looked_at() -> None:
    arguments = valid_call(HUFFMAN[1])
    arguments["words"][:, :, :WINDOW] = arguments["words"][:, :, -WINDOW:] = -1
    assert run_call(HUFFMAN[1], arguments)[2] is None


@pytest.mark.parametrize(("name", "input_"), [(n, i) for n in OPERATIONS for i in valid_call(n) if i == "batch"])
def test_a_batch_that_is_not_there_is_refused(name: str, input_: str) -> None:
    for batch in (-1, BATCHES, 2**31 - 1, -(2**31)):
        check_refused(name, valid_call(name) | {input_: np.int32(batch)}, f"batch is {batch}; there are {BATCHES}")


@pytest.mark.parametrize("wrong", [0, -1, PLACES + NEGATIVES + 1, -(2**31)])
def test_a_number_of_negatives_that_is_not_among_the_candidates_is_refused(wrong: int) -> None:
    arguments = valid_call("train skip-gram") | {"shared_negatives": np.int32(wrong)}
    check_refused("train skip-gram", arguments, f"shared_negatives is {wrong}; it must be from 1")


def test_runs_without_negatives_are_refused() -> None:
    arguments = valid_call("train CBOW")
    arguments["negatives"] = arguments["negatives"][:, :, :0]
    check_refused("train CBOW", arguments, "negatives has 0 negatives a run")


@pytest.mark.parametrize("name", ["train CBOW", *HUFFMAN])
@pytest.mark.parametrize("wrong", [-0.5, np.nan, np.inf])
def test_weights_that_are_negative_or_not_finite_are_refused(name: str, wrong: float) -> None:
    arguments = valid_call(name)
    arguments["token_weights"][2] = wrong
    check_refused(name, arguments, f"token_weights holds {wrong:g} at weight 2; weights are from 0 on")


@pytest.mark.parametrize("name", ["train CBOW", *HUFFMAN])
def test_a_call_without_weights_succeeds(name: str) -> None:
    assert run_call(name, valid_call(name) | {"token_weights": NO_FACTORS})[2] is None


@pytest.mark.parametrize("name", HUFFMAN)
def test_a_negative_number_of_hot_nodes_is_refused(name: str) -> None:
    check_refused(name, valid_call(name) | {"hot_nodes": np.int32(-1)}, "hot_nodes is -1")


@pytest.mark.parametrize("name", HUFFMAN)
@pytest.mark.parametrize(("offset", "wrong"), [(1, -1), (2, -1), (1, 10**6), (2, 10**6), (1, ROWS + 1)])
def test_a_path_that_is_not_within_the_steps_is_refused(name: str, offset: int, wrong: int) -> None:
    arguments = valid_call(name)
    assert arguments["offsets"][:3].tolist() == [0, 0, ROWS]
    arguments["offsets"][offset] = wrong
    check_refused(name, arguments, "offsets holds ", str(wrong), "the steps of nodes")


@pytest.mark.parametrize("name", HUFFMAN)
def test_words_without_any_offsets_are_refused(name: str) -> None:
    check_refused(name, valid_call(name) | {"offsets": np.zeros(0, np.int32)}, "words holds ", "offsets has -1 words")


@pytest.mark.parametrize(
    ("name", "wide", "others"),
    [
        ("sum contexts", "ids", ["weights"]),
        ("move contexts", "ids", ["weights"]),
        ("sum even contexts", "ids", []),
        ("move even contexts", "ids", []),
        ("train skip-gram", "ids", ["weights"]),
        *((name, "words", []) for name in HUFFMAN),
    ],
)
@pytest.mark.parametrize("missing", [1, 3, 2 * WINDOW + 1, 2 * WINDOW + 2])
def test_runs_that_are_not_widened_on_both_sides_are_refused(
    name: str, wide: str, others: list[str], missing: int
) -> None:
    arguments = valid_call(name)
    for input_ in (wide, *others):
        arguments[input_] = arguments[input_][..., missing:]
    check_refused(name, arguments, f"{wide} has {PLACES - missing} places a run", f"{TOKENS} tokens")


def without_runs(name: str) -> Arguments:
    """Return the arguments of a call without any run or row to be trained."""
    arguments = valid_call(name)
    for input_, value in arguments.items():
        if value.ndim == 3:
            arguments[input_] = value[:, :0] if type_of(input_) is np.int32 else value[:0]
        elif input_ in ("window_rows", "rows", "values", "changes", "token_weights"):
            arguments[input_] = value[:0]
    return arguments


@EACH_OPERATION
def test_a_batch_without_runs_trains_nothing(name: str) -> None:
    arguments = without_runs(name)
    outputs, table, error = run_call(name, arguments)
    assert error is None
    assert not any(output.any() for output in outputs)
    np.testing.assert_array_equal(table, arguments["table"])


@pytest.mark.parametrize(
    ("name", "input_"), [(n, i) for n in OPERATIONS for i in valid_call(n) if i in ("ids", "negatives", "words")]
)
def test_an_axis_too_long_for_integers_of_32_bits_is_refused(name: str, input_: str) -> None:
    wrong = np.zeros((BATCHES, 0, 2**30 + 1), np.int32)
    check_refused(name, without_runs(name) | {input_: wrong}, f"{input_} has {2**30 + 1} ")


EXTREMES = [-(2**31), -(2**31) + 1, -1, 0, 1, 2, 3, 5, ROWS - 1, ROWS, PLACES, 2**16, 2**31 - 2, 2**31 - 1]


@st.composite
def wrong_inputs(draw: st.DrawFn) -> tuple[str, Arguments]:
    """Draw a call of which some inputs are wrong, and others may be."""
    name = draw(st.sampled_from(list(OPERATIONS)))
    arguments = valid_call(name)
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
    return name, arguments


@given(wrong_inputs())
@settings(max_examples=300)
def test_whatever_the_inputs_a_call_succeeds_or_is_refused(call: tuple[str, Arguments]) -> None:
    name, arguments = call
    _, table, error = run_call(name, arguments)
    if error is not None:
        assert isinstance(error, tf.errors.InvalidArgumentError), error
        assert table.tobytes() == arguments["table"].tobytes()


# Inputs that have an axis of runs, to be made shorter in all of them at once.
RUN_INPUTS = {"ids", "left", "right", "hidden", "gradients", "window_rows", "negatives", "targets", "words"}


@given(
    name=st.sampled_from(list(OPERATIONS)), runs=st.integers(0, RUNS), size=st.integers(0, 7), rows=st.integers(0, 9)
)
@settings(max_examples=100)
def test_calls_of_any_size_succeed_or_are_refused(name: str, runs: int, size: int, rows: int) -> None:
    arguments = valid_call(name)
    for input_, value in arguments.items():
        if input_ in RUN_INPUTS:
            value = value[:, :runs] if value.ndim == 3 and type_of(input_) is np.int32 else value[:runs]
        if value.ndim > 1 and input_ in ("table", "hidden", "gradients", "values", "changes"):
            value = value[..., :size]
        arguments[input_] = value
    arguments["table"] = arguments["table"][:rows]
    _, table, error = run_call(name, arguments)
    if error is not None:
        assert isinstance(error, tf.errors.InvalidArgumentError), error
        assert table.tobytes() == arguments["table"].tobytes()


def test_gradients_of_bfloat16_are_checked_as_those_of_float32() -> None:
    arguments = valid_call("move rows")
    table = Table(arguments["table"])
    gradients = tf.cast(arguments["gradients"][:, 1:], tf.bfloat16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="gradients has 11 places"):
        operations().tfw2v_move_rows(
            **arguments | {"table": table.memory, "gradients": gradients, "factors": NO_FACTORS}
        )
    assert table.values().tobytes() == arguments["table"].tobytes()
