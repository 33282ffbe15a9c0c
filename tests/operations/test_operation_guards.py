"""Operations refuse wrong inputs, name them, and have then changed nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.operation_calls import (
    BATCHES,
    END,
    FIRST,
    NEGATIVE_COUNT,
    PATH_LENGTHS,
    PLACES,
    ROWS,
    SIZE,
    TABLES,
    TOKENS,
    TRAINING,
    VARIANTS,
    WINDOW,
    WITH_NEGATIVES,
    WITH_TREE,
    check_refused,
    run_call,
    valid_call,
    with_states,
)

EACH_OPERATION = pytest.mark.parametrize("name", VARIANTS)
EACH_TRAINING = pytest.mark.parametrize("name", TRAINING)
EACH_TREE = pytest.mark.parametrize("name", WITH_TREE)
# Axes whose length no other input has.
FREE_AXES = {("table", 0), ("inputs", 0), ("outputs", 0), ("nodes", 0), ("lock_factors", 0), ("offsets", 0)}
FREE_AXES |= {("bag_members", 0), ("bag_offsets", 0)}
FREE_AXES_OF_READING = FREE_AXES | {("table", 1), ("rows", 0)}
# What entries of inputs must stay below.
LIMITS = {
    "rows": ROWS["table"],
    "input_ids": ROWS["inputs"],
    "candidates": ROWS["outputs"],
    "targets": ROWS["outputs"],
    "path_nodes": ROWS["nodes"],
    "words": len(PATH_LENGTHS),
    "left": WINDOW + 1,
    "right": WINDOW + 1,
    "codes": 2,
}


def inputs_and_axes() -> Iterator[tuple[str, str, int]]:
    """Yield each operation with each of its inputs and each axis of that."""
    for name in VARIANTS:
        for input_, value in valid_call(name).items():
            for axis in range(value.ndim):
                yield name, input_, axis


def entries_with_limits() -> list[tuple[str, str]]:
    """Return each operation with each of its inputs that holds ids or counts."""
    return [(name, input_) for name in VARIANTS for input_ in valid_call(name) if input_ in LIMITS]


def ends_of_entries(value: np.ndarray) -> list[tuple[int, ...]]:
    """Return where the first and the last entry is that a call uses."""
    return [(FIRST, 0, 0), (END - 1, -1, -1)] if value.ndim == 3 else [(0,), (-1,)]


@EACH_OPERATION
def test_a_valid_call_succeeds(name: str) -> None:
    arguments = valid_call(name)
    outcome = run_call(name, arguments)
    assert outcome.error is None
    for table, values in outcome.tables.items():
        assert np.array_equal(values, arguments[table]) == (name == "read rows")


@EACH_TRAINING
def test_a_valid_call_with_states_succeeds_and_states_of_moved_rows_grow(name: str) -> None:
    arguments = with_states(valid_call(name))
    outcome = run_call(name, arguments, adagrad=True)
    assert outcome.error is None
    for table, values in outcome.tables.items():
        moved = (values != arguments[table]).any(1)
        assert moved.any()
        assert (values[moved, -1] > arguments[table][moved, -1]).all()


@EACH_TRAINING
def test_tables_without_states_are_refused_if_one_has_them(name: str) -> None:
    arguments = valid_call(name)
    (first, *others) = [table for table in TABLES if table in arguments]
    arguments |= {table: with_states(arguments)[table] for table in others}
    says = (f"has {SIZE} numbers a vector and {first} has {SIZE - 1}",)
    check_refused(name, arguments, *says, adagrad=True)


@EACH_TRAINING
def test_a_table_without_columns_has_no_state_and_is_refused(name: str) -> None:
    arguments = valid_call(name)
    arguments["inputs"] = arguments["inputs"][:, :0]
    check_refused(name, arguments, "inputs has 0 columns and no state", adagrad=True)


@pytest.mark.parametrize(("name", "input_"), [(n, i) for n in VARIANTS for i in valid_call(n)])
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
    if (input_, axis) in (FREE_AXES_OF_READING if name == "read rows" else FREE_AXES):
        assert run_call(name, arguments | {input_: longer}).error is None
        return
    for wrong in (longer, shorter):
        check_refused(name, arguments | {input_: wrong}, f"{input_} {'must have 2' if input_ == 'span' else 'has '}")


@pytest.mark.parametrize(("name", "input_"), entries_with_limits())
def test_an_entry_out_of_range_is_refused(name: str, input_: str) -> None:
    arguments = valid_call(name)
    for place in ends_of_entries(arguments[input_]):
        for bad in (LIMITS[input_], -1, 2**31 - 1, -(2**31)):
            wrong = arguments[input_].copy()
            wrong[place] = bad
            check_refused(name, arguments | {input_: wrong}, f"{input_} holds {bad} at ")


def test_the_message_says_where_an_id_is_and_how_many_rows_there_are() -> None:
    arguments = valid_call("CBOW both")
    arguments["input_ids"][2, 0, 3] = 11
    check_refused("CBOW both", arguments, "input_ids holds 11 at batch 2, run 0, place 3; inputs has 11 rows")


@pytest.mark.parametrize("name", TRAINING)
def test_entries_of_batches_beside_the_span_are_not_looked_at(name: str) -> None:
    arguments = valid_call(name)
    usual = run_call(name, arguments)
    beside = ~np.isin(np.arange(BATCHES), range(FIRST, END))
    for input_, value in arguments.items():
        if value.ndim == 3 or input_ == "learning_rates":
            value[beside] = np.nan if value.dtype == np.float32 else 2**31 - 1
            assert len(value) == BATCHES, input_
    outcome = run_call(name, arguments)
    assert outcome.error is None and outcome.output is not None and usual.output is not None
    np.testing.assert_array_equal(outcome.output, usual.output)
    for table, values in usual.tables.items():
        np.testing.assert_array_equal(outcome.tables[table], values)


@EACH_TRAINING
@pytest.mark.parametrize(
    "span", [(-1, 1), (2, 1), (0, BATCHES + 1), (BATCHES + 1, BATCHES + 1), (0, 2**31 - 1), (-(2**31), 2**31 - 1)]
)
def test_a_span_that_is_not_within_the_batches_is_refused(name: str, span: tuple[int, int]) -> None:
    check_refused(name, valid_call(name) | {"span": np.array(span, np.int32)}, "span must have 2 bounds", f"{BATCHES}")


@EACH_TRAINING
@pytest.mark.parametrize("window", [0, -1, 2**31 - 1, 2**29, -(2**31)])
def test_a_window_that_no_run_can_have_is_refused(name: str, window: int) -> None:
    check_refused(name, valid_call(name) | {"window": np.int32(window)}, f"window is {window}; it must be from 1")


@EACH_TRAINING
@pytest.mark.parametrize("window", [WINDOW - 1, WINDOW + 1, 2**28])
def test_runs_that_another_window_widens_are_refused(name: str, window: int) -> None:
    arguments = valid_call(name) | {"window": np.int32(window)}
    if VARIANTS[name].skip_gram and name not in WITH_TREE:
        arguments |= {reach: np.minimum(arguments[reach], window) for reach in ("left", "right")}
        places = TOKENS + 2 * window + NEGATIVE_COUNT
        check_refused(name, arguments, f"candidates has {PLACES + NEGATIVE_COUNT} a run; {places} ")
        return
    wide = "words" if VARIANTS[name].skip_gram else "input_ids"
    check_refused(name, arguments, f"{wide} has {PLACES} places a run", f"window {window} and {TOKENS} tokens")


@pytest.mark.parametrize("name", WITH_NEGATIVES)
@pytest.mark.parametrize("wrong", [0, -1, -(2**31)])
def test_a_number_of_negatives_that_no_run_can_have_is_refused(name: str, wrong: int) -> None:
    arguments = valid_call(name) | {"shared_negatives": np.int32(wrong)}
    check_refused(name, arguments, f"shared_negatives is {wrong}; it must be from 1")


@pytest.mark.parametrize("name", WITH_NEGATIVES)
@pytest.mark.parametrize("wrong", [NEGATIVE_COUNT - 1, NEGATIVE_COUNT + 1, 2**31 - 1])
def test_another_number_of_negatives_than_there_are_candidates_is_refused(name: str, wrong: int) -> None:
    arguments = valid_call(name) | {"shared_negatives": np.int32(wrong)}
    places = PLACES if VARIANTS[name].skip_gram else 0
    says = f"candidates has {places + NEGATIVE_COUNT} a run; {places + wrong} places and negatives are expected"
    check_refused(name, arguments, says)


@EACH_TRAINING
@pytest.mark.parametrize("wrong", [-0.5, np.nan, np.inf])
def test_weights_that_are_negative_or_not_finite_are_refused(name: str, wrong: float) -> None:
    arguments = valid_call(name)
    for place in ends_of_entries(arguments["weights"]):
        changed = arguments["weights"].copy()
        changed[place] = wrong
        says = f"weights holds {wrong:g} at batch {place[0]}, run ", "weights are from 0 on"
        check_refused(name, arguments | {"weights": changed}, *says)


@EACH_TREE
@pytest.mark.parametrize("offset", range(len(PATH_LENGTHS) + 1))
@pytest.mark.parametrize("wrong", [-1, 20, 10**6, 2**31 - 1, -(2**31)])
def test_a_path_that_is_not_within_the_steps_is_refused(name: str, offset: int, wrong: int) -> None:
    arguments = valid_call(name)
    assert len(arguments["path_nodes"]) == 19
    arguments["offsets"][offset] = wrong
    check_refused(name, arguments, "offsets must ascend from 0 to 19, the steps of path_nodes")


@EACH_TREE
def test_words_without_any_offsets_are_refused(name: str) -> None:
    check_refused(name, valid_call(name) | {"offsets": np.zeros(0, np.int32)}, "offsets has 0 offsets")
    check_refused(name, valid_call(name) | {"offsets": np.zeros(1, np.int32)}, "words holds ", "from 0 to -1")


@EACH_TRAINING
def test_runs_without_tokens_are_refused(name: str) -> None:
    arguments = valid_call(name)
    of_tokens = ("left", "right", "weights", "targets", "token_documents")
    for input_ in (*of_tokens, *(["input_ids"] if VARIANTS[name].skip_gram else [])):
        if input_ in arguments:
            arguments[input_] = arguments[input_][:, :, :0]
    check_refused(name, arguments, "left has 0 tokens a run")
