"""Rows with a state behind their vector: what a placement sees of them, and what the model and checkpoints see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from support.example_blocks import SETTINGS, SIZE, WORDS, maker_from, random_tables, read, work_on

from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.row_states import widened, with_states
from gensim_tfw2v.steps.settings import ADAGRAD


def new_placement() -> Placement:
    """Return a placement in this process that trains with Adagrad."""
    return with_states(LocalPlacement(replace(SETTINGS, optimizer=ADAGRAD), maker_from(0)))


@pytest.fixture
def placement() -> Iterator[Placement]:
    with closing(new_placement()) as made:
        yield made


def tables_with_states() -> ModelTables:
    """Return random tables that keep states, of 0."""
    tables = random_tables()
    tables.states.update({name: np.zeros(len(values), np.float32) for name, values in tables.present().items()})
    return tables


def states_of(placement: Placement) -> dict[str, np.ndarray]:
    """Return the states of all tables."""
    return {name: placement.rows(name, 0, shape[0]) for name, shape in placement.row_states().items()}


def test_tables_have_the_states_of_their_rows_as_the_last_column() -> None:
    tables = random_tables()
    tables.states["outputs"] = np.arange(WORDS, dtype=np.float32)
    wide = widened(tables)
    assert wide.inputs.shape == (WORDS, SIZE + 1) and len(wide.inputs) == WORDS
    found = np.asarray(wide.outputs)
    np.testing.assert_array_equal(found[:, :-1], tables.outputs)
    np.testing.assert_array_equal(found[:, -1], tables.states["outputs"])
    np.testing.assert_array_equal(np.asarray(wide.outputs[3::2][1:4]), found[3::2][1:4])
    assert not np.asarray(wide.inputs)[:, -1].any()


def test_rows_of_zeros_with_a_state_are_not_all_zeros() -> None:
    tables = random_tables()
    tables.outputs[:] = 0
    assert not widened(tables).outputs.any()
    tables.states["outputs"] = np.eye(1, WORDS, dtype=np.float32)[0]
    assert widened(tables).outputs.any()


def test_a_training_begins_without_states_and_they_grow_where_rows_move(placement: Placement) -> None:
    placement.load(random_tables())
    assert {name: shape for name, shape in placement.row_states().items()} == {
        "inputs.state": (WORDS, 1),
        "outputs.state": (WORDS, 1),
    }
    assert not any(states.any() for states in states_of(placement).values())
    placement.train_chunk(work_on(0))
    for name, states in states_of(placement).items():
        before, after = (getattr(tables, name.partition(".")[0]) for tables in (random_tables(), read(placement)))
        np.testing.assert_array_equal(states[:, 0] > 0, (before != after).any(1), err_msg=name)


def test_rows_of_the_model_have_no_state(placement: Placement) -> None:
    placement.load(random_tables())
    np.testing.assert_array_equal(placement.rows("outputs", 3, 9), random_tables().outputs[3:9])


def test_tables_that_are_read_and_loaded_again_keep_their_states(placement: Placement) -> None:
    with closing(new_placement()) as other:
        for one in (placement, other):
            one.load(random_tables())
            one.train_chunk(work_on(0))
        tables = tables_with_states()
        placement.read_into(tables)
        placement.load(tables)
        for one in (placement, other):
            one.train_chunk(work_on(0, seed=1))
        np.testing.assert_array_equal(read(placement).inputs, read(other).inputs)
        np.testing.assert_array_equal(read(placement).outputs, read(other).outputs)


def test_tables_without_room_for_states_are_read_without_them(placement: Placement) -> None:
    placement.load(random_tables())
    placement.train_chunk(work_on(0))
    with_room, without = tables_with_states(), random_tables()
    for tables in (with_room, without):
        placement.read_into(tables)
    np.testing.assert_array_equal(without.inputs, with_room.inputs)
    assert without.states == {} and with_room.states["inputs"].any()


def test_another_placement_continues_with_the_states_of_the_tables(placement: Placement) -> None:
    placement.load(random_tables())
    placement.train_chunk(work_on(0))
    tables = tables_with_states()
    placement.read_into(tables)
    with closing(new_placement()) as other, closing(new_placement()) as anew:
        other.load(tables)
        anew.load(replace(tables, states={}))
        for name, states in states_of(other).items():
            np.testing.assert_array_equal(states, states_of(placement)[name], err_msg=name)
        for one in (placement, other, anew):
            one.train_chunk(work_on(0, seed=1))
        np.testing.assert_array_equal(read(other).inputs, read(placement).inputs)
        assert not np.array_equal(read(anew).inputs, read(placement).inputs)


def test_a_placement_that_adds_states_itself_stays_as_it_is() -> None:
    class OwnStates(LocalPlacement):
        adds_states = True

    with closing(OwnStates(replace(SETTINGS, optimizer=ADAGRAD), maker_from(0))) as made:
        assert with_states(made) is made
