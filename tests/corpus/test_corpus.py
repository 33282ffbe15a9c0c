"""Sentences of an iterable become chunks of ids that hold exactly what the iterable holds."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.plain_chunks import expected_chunks, plain, plain_epoch

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.iterable_source import IterableSource
from gensim_tfw2v.corpus.sources import MAX_SENTENCE_WORDS, CacheBudget, Reading

NO_CACHE = CacheBudget(0, 0, None)
IN_MEMORY = CacheBudget(2**20, 0, None)
IDS = {word: number for number, word in enumerate("abcde")}


class OnePass:
    """Sentences that count how often they are read."""

    def __init__(self, sentences: Sequence[Any]) -> None:
        self.sentences = sentences
        self.passes = 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        return iter(self.sentences)


@given(
    sentences=st.lists(st.lists(st.sampled_from("abcdexyz"), max_size=12), max_size=30),
    words_per_chunk=st.integers(1, 40),
    words=st.integers(1, 30),
    pieces=st.integers(1, 10),
)
def test_chunks_equal_those_made_word_by_word_on_every_epoch(
    sentences: list[list[str]], words_per_chunk: int, words: int, pieces: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "ITERABLE_WORDS", words)
        patch.setattr(tuning, "ITERABLE_PIECES", pieces)
        expected = expected_chunks(sentences, IDS, words_per_chunk)
        for budget in (NO_CACHE, IN_MEMORY, CacheBudget(0, 2**20, None), CacheBudget(100, 150, None)):
            with IterableSource(sentences, Reading(IDS, words_per_chunk, budget)) as source:
                assert [plain_epoch(source) for _ in range(3)] == [expected] * 3


@pytest.mark.parametrize("length", [9_999, 10_000, 10_001, 20_000, 35_000])
def test_a_sentence_beyond_the_limit_is_split_and_loses_nothing(length: int) -> None:
    sentences: list[Sequence[str]] = [["a"], ("abcde" * length)[:length], ["b", "b"]]
    source = IterableSource(sentences, Reading(IDS, 100_000, NO_CACHE))
    (chunk,) = source.epoch()
    assert plain(chunk) == expected_chunks(sentences, IDS, 100_000)[0]
    assert chunk.content.lengths.max() == min(length, MAX_SENTENCE_WORDS)
    assert (chunk.content.ids.size, chunk.sentences) == (length + 3, 3)


def test_a_sentence_that_fills_several_chunks_counts_once() -> None:
    source = IterableSource([["a"] * 25_000], Reading(IDS, 10_000, NO_CACHE))
    assert [(c.raw_words, c.sentences) for c in source.epoch()] == [(10_000, 1), (10_000, 0), (5_000, 0)]


def test_no_chunk_holds_more_than_its_limit_and_one_longest_sentence() -> None:
    random = np.random.default_rng(1)
    sentences = [["a"] * int(n) for n in random.integers(0, 30_000, size=40)]
    chunks = list(IterableSource(sentences, Reading(IDS, 7_000, NO_CACHE)).epoch())
    assert all(chunk.raw_words >= 7_000 for chunk in chunks[:-1])
    assert max(chunk.raw_words for chunk in chunks) <= 7_000 + MAX_SENTENCE_WORDS
    assert sum(chunk.raw_words for chunk in chunks) == sum(map(len, sentences))


def test_arrays_of_a_chunk_hold_32_bit_integers() -> None:
    (chunk,) = IterableSource(["abc"], Reading(IDS, 10, NO_CACHE)).epoch()
    assert (chunk.content.ids.dtype, chunk.content.lengths.dtype) == (np.int32, np.int32)


@pytest.mark.parametrize("make", [list, tuple, np.array, deque, "".join])
def test_any_sequence_can_be_a_sentence(make: Callable[[list[str]], Sequence[str]]) -> None:
    source = IterableSource([make(["a", "x", "c"]), make(["b"])], Reading(IDS, 10, NO_CACHE))
    assert plain_epoch(source) == [(0, [0, 2, 1], [2, 1], 4, 2)]


def test_a_deque_beyond_the_limit_is_split_too() -> None:
    (chunk,) = IterableSource([deque("ab" * 6_000)], Reading(IDS, 10**6, NO_CACHE)).epoch()
    assert chunk.content.lengths.tolist() == [10_000, 2_000]


class Claiming:
    """Words with a length that need not be theirs."""

    def __init__(self, words: str, length: int) -> None:
        self.words, self.length = words, length

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)


@pytest.mark.parametrize("length", [0, 1, 9, 15_000])
@pytest.mark.parametrize("words", ["", "abc"])
def test_the_length_of_a_sentence_is_the_number_of_words_that_it_yields(length: int, words: str) -> None:
    source = IterableSource(["de", Claiming(words, length), "ab"], Reading(IDS, 10, NO_CACHE))
    assert plain_epoch(source) == expected_chunks(["de", words, "ab"], IDS, 10)


def test_a_sentence_beyond_the_limit_that_ends_early_or_late_loses_nothing() -> None:
    source = IterableSource(
        [Claiming("abc" * 10_000, 20_000), Claiming("abc" * 6_000, 20_000)], Reading(IDS, 10**6, NO_CACHE)
    )
    (chunk,) = source.epoch()
    assert plain(chunk) == expected_chunks(["abc" * 10_000, "abc" * 6_000], IDS, 10**6)[0]


def test_words_can_be_any_hashable_values() -> None:
    ids = {7: 0, ("u", 1): 1, None: 2}
    source = IterableSource([[7, ("u", 1), 8], [None], [7, 7]], Reading(ids, 10, NO_CACHE))
    assert plain_epoch(source) == [(0, [0, 1, 2, 0, 0], [2, 1, 2], 6, 3)]


def test_without_any_known_word_the_words_are_still_counted() -> None:
    assert plain_epoch(IterableSource(["xy", "z"], Reading(IDS, 10, IN_MEMORY))) == [(0, [], [], 3, 2)]


def test_an_empty_corpus_has_no_chunk() -> None:
    assert plain_epoch(IterableSource([], Reading(IDS, 10, IN_MEMORY))) == []


def test_empty_sentences_alone_make_a_chunk_without_words() -> None:
    assert plain_epoch(IterableSource([[], []], Reading(IDS, 10, NO_CACHE))) == [(0, [], [], 0, 2)]


@pytest.mark.parametrize("sentence", [5, None, 1.5, np.array(3), iter("ab")])
def test_a_sentence_that_is_no_sequence_is_named_with_its_position(sentence: Any) -> None:
    source = IterableSource([["a"], ["b"], sentence], Reading(IDS, 10, NO_CACHE))
    with pytest.raises(TypeError, match=r"sentence number 2 is .* of type .*sequence of words"):
        list(source.epoch())


def test_a_word_that_cannot_be_looked_up_is_named_with_its_sentence() -> None:
    sentences: list[Any] = [["a"], [], ["b"] * 25_000, ["a", ["c", "d"]], ["e"]]
    with pytest.raises(TypeError, match=r"sentence number 3 holds the word \['c', 'd'\] of type list"):
        list(IterableSource(sentences, Reading(IDS, 10**6, NO_CACHE)).epoch())


def test_a_long_bad_value_is_shown_shortened() -> None:
    with pytest.raises(TypeError) as caught:
        list(IterableSource([["a", ["b"] * 1000]], Reading(IDS, 10, NO_CACHE)).epoch())
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("words_per_chunk", [0, -1])
def test_a_chunk_size_below_one_is_refused(words_per_chunk: int) -> None:
    with pytest.raises(ValueError, match=f"words_per_chunk is {words_per_chunk}"):
        IterableSource([], Reading(IDS, words_per_chunk, NO_CACHE))


def test_chunks_are_yielded_while_the_corpus_is_being_read() -> None:
    def endless() -> Iterator[list[str]]:
        while True:
            yield ["a", "b"]

    source = IterableSource(endless(), Reading(IDS, 1000, IN_MEMORY))
    assert next(source.epoch()).raw_words == 1000


@pytest.mark.parametrize("budget", [IN_MEMORY, CacheBudget(0, 2**20, None), CacheBudget(60, 60, None)])
def test_a_corpus_within_the_budget_is_read_once_and_compared(budget: CacheBudget) -> None:
    sentences = OnePass(["abc", "de", "xx", "ab"])
    with IterableSource(sentences, Reading(IDS, 3, budget)) as source:
        first = plain_epoch(source)
        assert [plain_epoch(source), plain_epoch(source)] == [first, first]
    assert sentences.passes == 2  # the second one shows that sentences are the same


def test_a_corpus_beyond_the_budget_is_read_every_epoch() -> None:
    sentences = OnePass(["abc", "de", "xx", "ab"])
    source = IterableSource(sentences, Reading(IDS, 3, CacheBudget(10, 10, None)))
    first = plain_epoch(source)
    assert [plain_epoch(source), plain_epoch(source)] == [first, first]
    assert sentences.passes == 3


def test_a_corpus_that_once_went_beyond_the_budget_is_not_kept_when_it_shrinks() -> None:
    sentences = OnePass(["abc", "de", "xx", "ab"])
    source = IterableSource(sentences, Reading(IDS, 3, CacheBudget(10, 10, None)))
    plain_epoch(source)
    sentences.sentences = ["a"]
    assert [plain_epoch(source), plain_epoch(source)] == [[(0, [0], [1], 1, 1)]] * 2
    assert sentences.passes == 3


def test_without_a_budget_every_epoch_sees_the_sentences_of_its_own_pass() -> None:
    class Walks:
        start = -1

        def __iter__(self) -> Iterator[str]:
            self.start += 1
            yield "abcde"[self.start :]

    source = IterableSource(Walks(), Reading(IDS, 10, NO_CACHE))
    assert [next(source.epoch()).content.ids.tolist() for _ in range(3)] == [[0, 1, 2, 3, 4], [1, 2, 3, 4], [2, 3, 4]]


def test_without_a_budget_an_empty_first_pass_is_not_remembered() -> None:
    sentences: list[str] = []
    source = IterableSource(sentences, Reading(IDS, 10, NO_CACHE))
    assert plain_epoch(source) == []
    sentences.append("ab")
    assert plain_epoch(source) == [(0, [0, 1], [2], 2, 1)]


def test_an_epoch_that_is_left_early_leaves_no_half_cache() -> None:
    sentences = OnePass(["abc"] * 10)
    with IterableSource(sentences, Reading(IDS, 3, IN_MEMORY)) as source:
        epoch = source.epoch()
        next(epoch)
        del epoch
        gc.collect()
        assert len(plain_epoch(source)) == 10
        assert sentences.passes == 2
        assert len(plain_epoch(source)) == 10
        assert len(plain_epoch(source)) == 10
    assert sentences.passes == 3  # one shows that sentences are the same


def test_two_interleaved_first_epochs_are_both_whole() -> None:
    with IterableSource(["abc"] * 4, Reading(IDS, 3, IN_MEMORY)) as source:
        pairs = list(zip(source.epoch(), source.epoch(), strict=True))
        assert [plain(left) for left, _ in pairs] == [plain(right) for _, right in pairs]
        assert len(plain_epoch(source)) == 4


def test_a_failing_iterable_passes_its_error_on_and_leaves_no_cache() -> None:
    class Failing(OnePass):
        def __iter__(self) -> Iterator[str]:
            yield from super().__iter__()
            if self.passes == 1:
                raise OSError("the database is gone")

    with IterableSource(Failing(["abc"] * 4), Reading(IDS, 3, IN_MEMORY)) as source:
        with pytest.raises(OSError, match="the database is gone"):
            list(source.epoch())
        assert len(plain_epoch(source)) == 4


def test_a_closed_source_reads_its_corpus_again() -> None:
    sentences = OnePass(["abc"])
    source = IterableSource(sentences, Reading(IDS, 3, IN_MEMORY))
    first = plain_epoch(source)
    source.close()
    assert plain_epoch(source) == first
    assert sentences.passes == 2


def test_a_cache_on_disk_leaves_no_file_behind(tmp_path: Path) -> None:
    source = IterableSource(["abc"] * 4, Reading(IDS, 3, CacheBudget(0, 2**20, str(tmp_path))))
    assert plain_epoch(source) == plain_epoch(source)
    source.close()
    assert list(tmp_path.iterdir()) == []
