"""Bags of rows: those of some numbers, their means, and the bags of a block's own words."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support.native_functions import WAYS, functions_run

from gensim_tfw2v.arrays import consecutive
from gensim_tfw2v.blocks.bags import Bags, distinct_ids
from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.native.random_numbers import RandomNumbers

LISTS = [[3, 1], [], [2, 2, 0], [5], [], [4, 0, 1, 3]]
BAGS = Bags.of([np.array(rows, np.int64) for rows in LISTS])


def lists_of(bags: Bags) -> list[list[int]]:
    """Return the rows of each bag."""
    return [bags.members[first:end].tolist() for first, end in pairwise(bags.offsets.tolist())]


def test_some_bags_have_the_rows_of_their_numbers_in_order() -> None:
    assert lists_of(BAGS) == LISTS and BAGS.sizes.tolist() == list(map(len, LISTS))
    for numbers in ([], [2], [5, 0, 0, 1], [4, 1], list(range(6))):
        assert lists_of(BAGS.some(np.array(numbers, np.int32))) == [LISTS[number] for number in numbers]


def test_means_are_those_of_the_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(6, 5)).astype(np.float32)
    expected = [rows[bag].mean(0) if bag else np.zeros(5) for bag in LISTS]
    np.testing.assert_allclose(BAGS.means(rows), expected, rtol=1e-6)


def test_more_rows_than_a_number_can_count_are_refused() -> None:
    with pytest.raises(ValueError, match="all bags together have 2,147,483,648 rows"):
        Bags.joined(np.zeros(0, np.int64), np.array([0, 2**31]))


@pytest.mark.parametrize("way", WAYS)
def test_distinct_ids_are_numbered_in_their_order(way: str) -> None:
    ids = np.array([[5, 0, 5], [2, 0, 7]], np.int32)
    with functions_run(way):
        numbers, distinct = distinct_ids(ids, 8)
        with pytest.raises(IndexError):
            distinct_ids(ids, 7)
    assert distinct.tolist() == [0, 2, 5, 7] and numbers.tolist() == [[2, 0, 2], [1, 0, 3]]


@pytest.mark.parametrize("skip_gram", [True, False])
def test_own_bags_have_the_same_rows_for_each_input(skip_gram: bool) -> None:
    maker = BlockMaker(skip_gram, 2, Windows.DRAWN, BatchShape(8, 4, 1), None, None, None, bags=BAGS)
    sentences = Sentences(np.array([5, 0, 5, 2, 0], np.int32), np.array([3, 2], np.int32))
    whole = maker.make(sentences, RandomNumbers.seeded((1,)))
    assert whole is not None and whole.bags is BAGS
    own = whole.with_own_bags()
    assert own.bags is not None and len(own.bags) == 3
    found, expected = lists_of(own.bags), LISTS
    for number, word in zip(own.input_ids.ravel().tolist(), whole.input_ids.ravel().tolist(), strict=True):
        assert found[number] == expected[word]
    assert sorted(own.input_rows().tolist()) == sorted(LISTS[0] + LISTS[2] + LISTS[5])


def test_members_of_groups_are_numbered_from_where_each_group_begins() -> None:
    assert consecutive(np.array([5, 2, 7]), np.array([2, 0, 3], np.int32)).tolist() == [5, 6, 7, 8, 9]
    assert consecutive(0, np.array([2, 3])).tolist() == [0, 1, 0, 1, 2]
    assert consecutive(0, np.array([], np.int32)).tolist() == []
