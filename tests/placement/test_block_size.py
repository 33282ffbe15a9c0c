"""How large blocks are, how many words are in flight, and how many parts share rows."""

from __future__ import annotations

import pytest

from gensim_tfw2v.placement.block_size import (
    InFlightLimits,
    choose_block_words,
    choose_blocks_in_flight,
    choose_call_blocks,
    choose_sharing,
    in_flight_limits,
)
from gensim_tfw2v.placement.choice import choose_placement
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN
from gensim_tfw2v.placement.request import CorpusSize, TrainingOptions

SHARING, TREE_CBOW = InFlightLimits(shares_rows=True), in_flight_limits(10_000, skip_gram=False, tree=True, epochs=1)


@pytest.mark.parametrize(
    ("words", "chosen", "expected"), [(0, None, 10_000), (10**9, None, 131_072), (10**9, 123, 123)]
)
def test_block_words_follow_the_corpus_unless_chosen(words: int, chosen: int | None, expected: int) -> None:
    assert choose_block_words(words, 2, chosen) == expected


@pytest.mark.parametrize(
    ("words", "workers", "choices", "in_flight"),
    [
        (10**6, 4, {}, 4),
        (10**6, 4, {"overlap": True}, 8),
        (10**9, 4, {}, 8),  # 256 blocks for each worker
        (10**9, 4, {"overlap": False}, 4),
        (10**9, 4, {"one_by_one": True}, 1),
    ],
)
def test_workers_have_one_block_in_flight_or_two_if_they_pull_the_next_one(
    words: int, workers: int, choices: dict[str, bool], in_flight: int
) -> None:
    found = choose_blocks_in_flight(words, workers, SHARING, **choices)
    assert found.in_flight == in_flight
    assert found.block_words == choose_block_words(words, in_flight, None, in_flight, SHARING)
    assert (found.parts, found.shared_rows) == choose_sharing(found.block_words, words, in_flight, SHARING)


@pytest.mark.parametrize(("tree", "expected"), [(False, 65_536), (True, 32_768)])
def test_blocks_of_one_process_are_smaller_and_those_with_huffman_paths_more_so(tree: bool, expected: int) -> None:
    options = TrainingOptions(distribution=DEFAULT_DESIGN, workers=1, skip_gram=True, tree=tree, timeout=60.0)

    def block_words(words: int, chosen: int | None = None) -> int:
        return choose_placement(None, CorpusSize(words, 1, chosen), InFlightLimits(), options).block_words

    assert block_words(10**9) == expected
    assert block_words(100_000) == 25_000
    assert block_words(10**9, 123_456) == 123_456


@pytest.mark.parametrize(
    ("words", "in_flight", "block_words", "parts"),
    [
        (10**9, 2, 131_062, 1),
        (10**9, 4, 131_028, 2),
        (10**9, 8, 131_028, 4),
        (10**9, 16, 131_028, 8),
        (10**9, 99, 21_132, 8),
        (4_000_000, 2, 125_000, 2),
        (4_000_000, 4, 125_000, 4),
        (4_000_000, 8, 125_000, 8),
        (4_000_000, 16, 62_500, 8),
    ],
)
def test_blocks_that_share_rows_are_larger_and_their_parts_as_large_as_blocks_that_do_not(
    words: int, in_flight: int, block_words: int, parts: int
) -> None:
    assert choose_block_words(words, in_flight, None, in_flight, SHARING) == block_words
    found, rows = choose_sharing(block_words, words, in_flight, SHARING)
    assert found == parts
    assert (rows > 0) == (parts > 1)
    assert block_words // parts <= choose_block_words(words, in_flight, None, in_flight)
    assert block_words * in_flight <= words / 4


@pytest.mark.parametrize("words", [0, 160_000, 4_000_000, 17_173_640, 10**9])
@pytest.mark.parametrize("limits", [SHARING, InFlightLimits(), TREE_CBOW])
def test_blocks_of_several_cores_are_as_many_times_larger_within_the_share_of_all_blocks_in_flight(
    words: int, limits: InFlightLimits
) -> None:
    for cores, workers in ((2, 8), (4, 4), (8, 2)):
        of_cores = choose_block_words(words, workers, None, workers, limits, cores=cores)
        of_one = choose_block_words(words, 16, None, 16, limits)
        together = limits.words(words)
        assert of_cores * workers <= max(words / 4, together + workers)
        if not limits.shares_rows:
            assert of_cores * workers <= together + workers
        if words >= 4_000_000:  # smaller corpora have fewer blocks for each worker than that
            assert of_cores == pytest.approx(cores * of_one, rel=0.02)


def test_a_block_alone_is_as_large_as_its_cores_allow_and_the_corpus_has_four() -> None:
    found = [choose_block_words(words, 1, None, 1, SHARING, cores=8) for words in (0, 200_000, 4_000_000, 10**9)]
    assert found == [80_000, 80_000, 1_000_000, 8 * 131_072]


@pytest.mark.parametrize("limits", [SHARING, InFlightLimits(), TREE_CBOW])
@pytest.mark.parametrize("in_flight", [2, 3, 16])
@pytest.mark.parametrize("words", [160_000, 4_000_000, 17_173_640])
def test_all_workers_have_as_many_blocks_in_an_epoch(words: int, in_flight: int, limits: InFlightLimits) -> None:
    block_words = choose_block_words(words, in_flight, None, in_flight, limits)
    assert -(-words // block_words) % in_flight == 0


@pytest.mark.parametrize("words", [0, 1, 10_000, 131_071])
def test_a_small_corpus_is_not_cut_into_less_than_usual_for_the_sake_of_all_workers(words: int) -> None:
    assert choose_block_words(words, 16, None, 16) == 8_192


@pytest.mark.parametrize(
    ("words", "skip_gram", "tree", "shares_rows", "in_flight"),
    [
        (10_000, True, True, True, 131_072),
        (10_000, False, False, True, 131_072),
        (10_000, False, True, False, 250_000),
        (9_999, True, False, False, 131_072),
        (9_999, False, True, False, 131_072),
    ],
)
def test_small_vocabularies_share_no_rows_nor_does_cbow_through_the_tree_which_bears_more_words_in_flight(
    words: int, skip_gram: bool, tree: bool, shares_rows: bool, in_flight: int
) -> None:
    limits = in_flight_limits(words, skip_gram, tree, epochs=1)
    assert limits.shares_rows is shares_rows
    assert limits.words(4_000_000) == in_flight


@pytest.mark.parametrize(
    ("words", "in_flight"), [(0, 131_072), (10**6, 131_072), (4 * 10**6, 250_000), (10**9, 262_144)]
)
def test_words_in_flight_of_cbow_through_the_tree_are_a_share_of_an_epoch(words: int, in_flight: int) -> None:
    assert TREE_CBOW.words(words) == in_flight


@pytest.mark.parametrize(
    ("words", "in_flight", "limits", "block_words"),
    [
        (4_000_000, 1, SHARING, 131_072),
        (4_000_000, 16, InFlightLimits(), 8_065),
        (4_000_000, 16, TREE_CBOW, 15_625),
        (10**9, 1, SHARING, 131_072),
        (10**9, 16, InFlightLimits(), 16_383),
    ],
)
def test_a_block_alone_shares_no_rows_and_no_other_one_that_is_not_to(
    words: int, in_flight: int, limits: InFlightLimits, block_words: int
) -> None:
    assert choose_sharing(131_072, words, in_flight, limits) == (1, 0)
    assert choose_block_words(words, in_flight, None, in_flight, limits) == block_words


@pytest.mark.parametrize(
    ("words", "epochs", "of_cbow", "of_others"),
    [
        (10**6, 50, 131_072, 131_072),
        (4_000_000, 5, 131_072, 131_072),
        (10_000_000, 1, 156_250, 156_250),
        (10_000_000, 2, 156_250, 156_250),
        (10_000_000, 3, 234_375, 156_250),
        (10_000_000, 50, 312_500, 156_250),
        (17_000_000, 5, 524_288, 262_144),
        (10**9, 1, 524_288, 262_144),
    ],
)
def test_parts_of_cbow_grow_with_the_epochs_up_to_a_share_of_the_corpus(
    words: int, epochs: int, of_cbow: int, of_others: int
) -> None:
    cbow = in_flight_limits(10_000, skip_gram=False, tree=False, epochs=epochs)
    assert cbow.part_words(words) == of_cbow
    for tree in (False, True):
        assert in_flight_limits(10_000, skip_gram=True, tree=tree, epochs=epochs).part_words(words) == of_others
    assert cbow.words(words) == SHARING.words(words)


def test_longer_parts_are_fewer_and_leave_blocks_as_large() -> None:
    once, often = (in_flight_limits(10_000, skip_gram=False, tree=False, epochs=epochs) for epochs in (1, 5))
    sizes = [choose_blocks_in_flight(17_173_640, 8, limits) for limits in (once, often)]
    assert [size.parts for size in sizes] == [4, 2]
    assert sizes[0].block_words == sizes[1].block_words == 126_277


def test_small_blocks_have_few_parts() -> None:
    assert choose_sharing(8_192, 10**6, 16, SHARING) == (1, 0)
    assert choose_sharing(16_384, 10**6, 16, SHARING)[0] == 2


@pytest.mark.parametrize(
    ("words", "workers", "block_words", "blocks"),
    [
        (10**12, 64, 16_384, 256),  # four million words
        (10**12, 64, 131_072, 32),
        (10**12, 64, 1_048, 512),  # a block has costs of its own
        (10**12, 64, 10_000_000, 1),
        (10**9, 64, 16_384, 3),  # 256 calls for each worker
        (17_000_000, 2, 16_384, 2),
        (17_000_000, 16, 16_384, 1),
        (0, 16, 16_384, 1),
    ],
)
def test_a_call_has_several_blocks_where_workers_have_many_calls_even_then(
    words: int, workers: int, block_words: int, blocks: int
) -> None:
    assert choose_call_blocks(words, workers, block_words, cores=1) == blocks


def test_a_call_of_a_worker_with_several_cores_takes_as_long() -> None:
    assert (
        choose_call_blocks(10**12, 64, 8 * 131_072, cores=8) == choose_call_blocks(10**12, 64, 131_072, cores=1) == 32
    )
    assert choose_call_blocks(10**9, 64, 16_384, cores=8) == 3  # each worker still has 256 calls
