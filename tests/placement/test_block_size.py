"""How large blocks are, and how many words are in flight."""

from __future__ import annotations

import pytest

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.block_size import (
    InFlightLimits,
    choose_block_words,
    choose_blocks_in_flight,
    choose_call_blocks,
    in_flight_limits,
)
from gensim_tfw2v.placement.choice import choose_placement
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN
from gensim_tfw2v.placement.request import CorpusSize, TrainingOptions

CORRECTED = in_flight_limits(10_000, skip_gram=True, tree=False)


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
        (10**10, 4, {}, 8),  # 256 blocks for each worker
        (10**10, 4, {"overlap": False}, 4),
        (10**10, 4, {"one_by_one": True}, 1),
    ],
)
def test_workers_have_one_block_in_flight_or_two_if_they_pull_the_next_one(
    words: int, workers: int, choices: dict[str, bool], in_flight: int
) -> None:
    assert choose_blocks_in_flight(words, workers, CORRECTED, **choices).in_flight == in_flight


@pytest.mark.parametrize(("tree", "expected"), [(False, 65_536), (True, 32_768)])
def test_blocks_of_one_process_are_smaller_and_those_with_huffman_paths_more_so(tree: bool, expected: int) -> None:
    options = TrainingOptions(distribution=DEFAULT_DESIGN, workers=1, skip_gram=True, tree=tree, timeout=60.0)

    def block_words(words: int, chosen: int | None = None) -> int:
        return choose_placement(None, CorpusSize(words, 1, chosen), InFlightLimits(), options).block_words

    assert block_words(10**9) == expected
    assert block_words(100_000) == 25_000
    assert block_words(10**9, 123_456) == 123_456


@pytest.mark.parametrize(
    ("words", "workers", "cores", "block_words"),
    [
        (10**11, 100, 32, 4_194_000),  # as long as its cores allow
        (10**11, 100, 1, 1_048_000),  # a million words, whatever the cores
        (10**9, 100, 1, 312_500),  # all in flight have a sixteenth of the corpus
        (17_173_640, 16, 1, 32_526),
        (17_173_640, 64, 1, 8_132),
        (10**11, 1, 1, 131_072),
    ],
)
def test_blocks_in_flight_are_long_as_long_as_they_have_a_small_share_of_the_corpus(
    words: int, workers: int, cores: int, block_words: int
) -> None:
    found = choose_blocks_in_flight(words, workers, CORRECTED, cores=cores, overlap=False)
    assert found.block_words == pytest.approx(block_words, rel=0.01)
    if workers > 1:
        assert found.block_words * workers <= words * tuning.SKIP_GRAM_IN_FLIGHT_SHARE + workers


@pytest.mark.parametrize("words", [0, 160_000, 4_000_000, 17_173_640, 10**9])
@pytest.mark.parametrize("limits", [CORRECTED, InFlightLimits()])
def test_blocks_of_several_cores_are_as_many_times_larger_within_the_share_of_all_blocks_in_flight(
    words: int, limits: InFlightLimits
) -> None:
    for cores, workers in ((2, 8), (4, 4), (8, 2)):
        of_cores = choose_block_words(words, workers, None, workers, limits, cores=cores)
        of_one = choose_block_words(words, 16, None, 16, limits)
        assert of_cores * workers <= limits.words(words) + workers
        if words >= 4_000_000:  # smaller corpora have fewer blocks for each worker than that
            assert of_cores == pytest.approx(cores * of_one, rel=0.02)


def test_a_block_alone_is_as_large_as_its_cores_allow_and_the_corpus_has_four() -> None:
    found = [choose_block_words(words, 1, None, 1, CORRECTED, cores=8) for words in (0, 200_000, 4_000_000, 10**9)]
    assert found == [80_000, 80_000, 1_000_000, 8 * 131_072]


@pytest.mark.parametrize("limits", [CORRECTED, InFlightLimits()])
@pytest.mark.parametrize("in_flight", [2, 3, 16])
@pytest.mark.parametrize("words", [160_000, 4_000_000, 17_173_640])
def test_all_workers_have_as_many_blocks_in_an_epoch(words: int, in_flight: int, limits: InFlightLimits) -> None:
    block_words = choose_block_words(words, in_flight, None, in_flight, limits)
    assert -(-words // block_words) % in_flight == 0


@pytest.mark.parametrize("words", [0, 1, 10_000, 131_071])
def test_a_small_corpus_is_not_cut_into_less_than_usual_for_the_sake_of_all_workers(words: int) -> None:
    assert choose_block_words(words, 16, None, 16) == 8_192


@pytest.mark.parametrize(
    ("vocabulary", "skip_gram", "tree", "words", "in_flight"),
    [
        (10_000, True, False, 0, 131_072),
        (10_000, True, False, 10**6, 131_072),
        (10_000, True, False, 16 * 10**6, 500_000),
        (10_000, True, False, 16 * 10**10, 5 * 10**9),
        (10_000, True, True, 16 * 10**6, 250_000),
        (10_000, False, False, 16 * 10**6, 250_000),
        (10_000, False, True, 16 * 10**10, 25 * 10**8),
        (9_999, True, False, 16 * 10**6, 250_000),
        (9_999, True, False, 16 * 10**10, 262_144),
    ],
)
def test_words_in_flight_are_a_share_of_an_epoch_and_few_for_small_vocabularies(
    vocabulary: int, skip_gram: bool, tree: bool, words: int, in_flight: int
) -> None:
    assert in_flight_limits(vocabulary, skip_gram, tree).words(words) == in_flight


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
