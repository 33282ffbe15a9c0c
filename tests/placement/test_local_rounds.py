"""Rounds in one process: the changes of parts are summed in their order, however many threads train them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.local.calls import Calls
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.synchronous.local_rounds import LocalRounds
from gensim_tfw2v.placement.synchronous.part_graphs import part_function
from gensim_tfw2v.steps.graph import block_function

PARTS = 4
MakeRounds = Callable[..., LocalRounds]


@pytest.fixture
def rounds() -> Iterator[MakeRounds]:
    """Return a function that returns a placement whose rounds have some parts, on some threads."""
    made: list[LocalRounds] = []

    def make(threads: int = 2, parts: int = PARTS, maker: BlockMaker | None = None) -> LocalRounds:
        made.append(LocalRounds(SETTINGS, maker or maker_from(0), Calls(threads, cores=1), parts))
        made[-1].load(random_tables())
        return made[-1]

    yield make
    for placement in made:
        placement.close()


def train(placement: Placement, chunks: int = 3) -> ModelTables:
    """Return the tables after some chunks."""
    for seed in range(chunks):
        placement.train_chunk(work_on(0, seed, rate=0.5))
    return read(placement)


def assert_equal_tables(first: ModelTables, second: ModelTables) -> None:
    np.testing.assert_array_equal(first.inputs, second.inputs)
    np.testing.assert_array_equal(first.outputs, second.outputs)


def test_the_number_of_threads_changes_no_bit(rounds: MakeRounds, all_at_once: None) -> None:
    expected = train(rounds(threads=1))
    assert np.abs(expected.inputs - random_tables().inputs).max() > 0.05
    for threads in (2, 3, 8):
        assert_equal_tables(train(rounds(threads)), expected)


def test_parts_take_the_steps_of_one_process_without_another_trace_of_them(rounds: MakeRounds) -> None:
    for cached in (block_function, part_function):
        cached.cache_clear()
    train(rounds(), chunks=1)
    assert block_function.cache_info().misses == 1


def test_a_round_of_one_part_trains_as_one_thread_does(rounds: MakeRounds) -> None:
    found = train(rounds(parts=1))
    with closing(LocalPlacement(SETTINGS, maker_from(0))) as placement:
        placement.load(random_tables())
        expected = train(placement)
    # A round adds what a part has changed, and further chunks make more of how this is rounded.
    np.testing.assert_allclose(found.inputs, expected.inputs, atol=2e-6)
    np.testing.assert_allclose(found.outputs, expected.outputs, atol=2e-6)


def test_a_round_adds_the_changes_of_its_parts_in_their_order(
    rounds: MakeRounds, all_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = []
    add = LocalRounds._add

    def summed(placement: LocalRounds, changes: Any) -> None:
        tables = read(placement)
        for rows, of_part in changes:
            inputs, outputs, nodes = np.split(rows.numbers, np.cumsum(rows.counts[0])[:-1])
            assert not nodes.size
            tables.inputs[inputs] += of_part.numpy()[: len(inputs)]
            assert tables.outputs is not None
            tables.outputs[outputs] += of_part.numpy()[len(inputs) :]
        assert len(changes) == PARTS
        expected.append(tables)
        add(placement, changes)

    monkeypatch.setattr(LocalRounds, "_add", summed)
    placement = rounds()
    for seed in range(2):
        assert placement.train_chunk(work_on(0, seed, rate=0.5)).tokens == 60
        assert_equal_tables(read(placement), expected[-1])


def test_the_first_rounds_have_fewer_parts_and_another_process_continues_there(
    rounds: MakeRounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gensim_tfw2v.tuning.LEAST_BLOCKS_PER_RAMP_UP_PART", PARTS)
    parts: list[int] = []
    add = LocalRounds._add
    monkeypatch.setattr(LocalRounds, "_add", lambda self, changes: (parts.append(len(changes)), add(self, changes)))
    first = rounds()
    train(first, chunks=2)
    following = rounds()
    following.restore(first.state())
    train(following)
    assert parts == [1, 2, 3, 4, 4]


def test_a_round_in_which_no_word_is_left_changes_nothing(rounds: MakeRounds) -> None:
    nothing = np.zeros(len(random_tables().inputs), np.float32)
    placement = rounds(maker=replace(maker_from(0), keep=nothing))
    assert not placement.train_chunk(work_on(0)).tokens
    assert_equal_tables(read(placement), random_tables())


def test_an_error_in_a_part_is_the_rounds(rounds: MakeRounds, all_at_once: None) -> None:
    placement = rounds()
    with pytest.raises(Exception, match="the sentences have ids"):
        placement.train_chunk(work_on(100))  # ids of no word
    assert placement.train_chunk(work_on(0)).tokens == 60
