"""An iterable that yields other sentences on each pass is read in every epoch; one that does not is read once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.contract import SENTENCES, assert_equal_models
from support.plain_chunks import expected_chunks, plain_epoch

from gensim_tfw2v import TFWord2Vec, tuning
from gensim_tfw2v.corpus.chunks import Pieces
from gensim_tfw2v.corpus.hold_out import HoldOut
from gensim_tfw2v.corpus.iterable_source import IterableSource, PassBeginning
from gensim_tfw2v.corpus.read_ahead import ChunkReader
from gensim_tfw2v.corpus.sentence_scan import scan_sentences
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.corpus.sources import CacheBudget, Reading

MEMORY, DISK = CacheBudget(2**20, 0), CacheBudget(0, 2**20)
IDS = {word: number for number, word in enumerate("abcde")}
SAYS = "sentences differ from pass to pass: every epoch reads them anew"
LONGEST_WAIT = 20.0


class Passes:
    """Sentences that differ from pass to pass: those of the last pass repeat."""

    def __init__(self, *passes: Sequence[Any]) -> None:
        self.passes = passes
        self.taken: list[int] = []  # sentences of each pass
        self.open = 0
        self.closing_threads: list[int] = []

    def __iter__(self) -> Iterator[Any]:
        number = len(self.taken)
        self.taken.append(0)
        self.open += 1
        try:
            for sentence in self.passes[min(number, len(self.passes) - 1)]:
                self.taken[number] += 1
                yield sentence
        finally:
            self.open -= 1
            self.closing_threads.append(threading.get_ident())


def rotated(count: int, start: int, words: Any = "abcdex") -> list[list[Any]]:
    """Return sentences of three words, which begin with another word than those for another start."""
    return [[words[(start + number + place) % 6] for place in range(3)] for number in range(count)]


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the lines that say that sentences differ."""
    return [record.getMessage() for record in caplog.records if record.getMessage() == SAYS]


@pytest.fixture(params=["kept by the scan", "kept by the first epoch", "kept on disk"])
def kept(request: pytest.FixtureRequest) -> str:
    """Return how the first pass is kept."""
    return str(request.param)


def source_of(sentences: Any, kept: str, ids: dict[Any, int] | None = None, **options: Any) -> IterableSource:
    """Return a source in chunks of seven words, which keeps the first pass."""
    scan = scan_sentences(sentences, sentences, MEMORY, lambda *_: None) if kept == "kept by the scan" else None
    budget = DISK if kept == "kept on disk" else MEMORY
    return IterableSource(sentences, Reading(IDS if ids is None else ids, 7, budget, **options), scan)


def test_each_epoch_has_sentences_of_its_own(kept: str, caplog: pytest.LogCaptureFixture) -> None:
    passes = [rotated(150, start) for start in range(5)]
    sentences = Passes(*passes)
    with caplog.at_level(logging.INFO), source_of(sentences, kept) as source:
        found = [plain_epoch(source) for _ in range(4)]
    # Of the second pass only the beginning is read, to compare it.
    assert found == [expected_chunks(passes[number], IDS, 7) for number in (0, 2, 3, 4)]
    assert sentences.taken == [150, tuning.COMPARED_PIECES, 150, 150, 150]
    assert sentences.open == 0
    assert len(messages(caplog)) == 1


def test_equal_passes_are_read_once_and_the_beginning_of_another(kept: str, caplog: pytest.LogCaptureFixture) -> None:
    sentences = Passes(rotated(150, 0))
    with caplog.at_level(logging.INFO), source_of(sentences, kept) as source:
        assert [plain_epoch(source) for _ in range(4)] == [expected_chunks(sentences.passes[0], IDS, 7)] * 4
    assert sentences.taken == [150, tuning.COMPARED_PIECES]
    assert sentences.open == 0
    assert messages(caplog) == []


def test_one_epoch_compares_nothing(kept: str) -> None:
    sentences = Passes(rotated(150, 0), rotated(150, 1))
    with source_of(sentences, kept) as source:
        plain_epoch(source)
    assert sentences.taken == [150]


def test_what_is_dropped_takes_no_memory() -> None:
    sentences = Passes(rotated(9, 0), rotated(9, 1))
    scan = scan_sentences(sentences, sentences, MEMORY, lambda *_: None)
    source = IterableSource(sentences, Reading(IDS, 7, MEMORY), scan=scan)
    plain_epoch(source)
    assert len(scan.encoded) > 0
    plain_epoch(source)
    assert len(scan.encoded) == 0


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([*rotated(20, 0), ["a"]], id="one more"),
        pytest.param(rotated(19, 0), id="one less"),
        pytest.param([*rotated(19, 0), ["b", "a", "c"]], id="another last one"),
        pytest.param([["a", "b"], ["c", *rotated(20, 0)[1]], *rotated(20, 0)[2:]], id="other ends"),
        pytest.param([[], *rotated(20, 0)], id="an empty one"),
    ],
)
def test_any_difference_in_the_beginning_counts(others: list[list[str]], kept: str) -> None:
    first = rotated(20, 0)
    with source_of(Passes(first, others), kept) as source:
        assert plain_epoch(source) == expected_chunks(first, IDS, 7)
        assert plain_epoch(source) == expected_chunks(others, IDS, 7)


def test_what_can_be_read_only_once_is_repeated(kept: str) -> None:
    first = rotated(20, 0)
    with source_of(Passes(first, []), kept) as source:
        assert [plain_epoch(source) for _ in range(3)] == [expected_chunks(first, IDS, 7)] * 3


def test_long_sentences_are_compared_by_their_first_words(monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    monkeypatch.setattr(tuning, "COMPARED_WORDS", 10)
    sentences = Passes(["abcd"] * 50)
    with source_of(sentences, kept) as source:
        assert [plain_epoch(source) for _ in range(3)] == [expected_chunks(["abcd"] * 50, IDS, 7)] * 3
    assert sentences.taken == [50, 3]


@pytest.mark.parametrize("share", [None, 0.3])
@pytest.mark.parametrize("weights", [None, np.arange(150, dtype=np.float32)], ids=["plain", "weighted"])
@pytest.mark.parametrize("is_same", [True, False])
def test_what_the_iterable_yields_is_compared(
    share: float | None, weights: Any, is_same: bool, kept: str, caplog: pytest.LogCaptureFixture
) -> None:
    held_out = None if share is None else HoldOut(share, key=3)
    passes = [rotated(150, 0 if is_same else start) for start in range(4)]
    sentences = Passes(*passes)
    with caplog.at_level(logging.INFO), source_of(sentences, kept, held_out=held_out, weights=weights) as source:
        source.hold_out(lambda _: None)
        found = [plain_epoch(source) for _ in range(2)]
    for number, chunks in zip((2, 3), found, strict=True):
        is_out = np.zeros(150, bool) if held_out is None else held_out.chosen(np.arange(150))
        trained = [sentence for sentence, out in zip(passes[number], is_out, strict=True) if not out]
        assert chunks == expected_chunks(trained, IDS, 7)
    assert sentences.taken == ([150, 100] if is_same else [150, 100, 150, 150])
    assert len(messages(caplog)) == (0 if is_same else 1)


@pytest.mark.parametrize("make", [list, np.array], ids=["lists", "arrays"])
@pytest.mark.parametrize("is_same", [True, False])
def test_numbers_as_words_are_compared(make: Any, is_same: bool, kept: str) -> None:
    ids = {number: number for number in range(5)}
    plain_passes = [rotated(150, 0 if is_same else start, words=range(6)) for start in range(3)]
    sentences = Passes(*([make(sentence) for sentence in one] for one in plain_passes))
    with source_of(sentences, kept, ids) as source:
        assert [plain_epoch(source) for _ in range(2)] == [
            expected_chunks(plain_passes[number], ids, 7) for number in (0, 2)
        ]
    assert sentences.taken == ([150, 100] if is_same else [150, 100, 150])


def test_an_error_in_the_comparison_is_that_of_the_epoch(kept: str) -> None:
    class Failing(Passes):
        def __iter__(self) -> Iterator[Any]:
            if len(self.taken) == 1:
                self.taken.append(0)
                raise OSError("the share went away")
            return super().__iter__()

    with source_of(Failing(rotated(9, 0)), kept) as source:
        plain_epoch(source)
        with pytest.raises(OSError, match="the share went away"):
            plain_epoch(source)
        assert plain_epoch(source) == expected_chunks(rotated(9, 0), IDS, 7)


def test_the_thread_that_reads_an_epoch_compares_and_closes() -> None:
    sentences = Passes(rotated(150, 0))
    source = source_of(sentences, "kept by the first epoch")
    for _ in range(2):
        reader = ChunkReader(source, 1000)
        reader.start()
        reader.join()
    assert len(sentences.closing_threads) == 2
    assert threading.get_ident() not in sentences.closing_threads


def test_a_training_that_is_given_up_ends_in_the_comparison() -> None:
    at_second, let_go = threading.Event(), threading.Event()

    class Stuck(Passes):
        def __iter__(self) -> Iterator[Any]:
            for number, sentence in enumerate(super().__iter__()):
                if len(self.taken) == 2 and number == 1:
                    at_second.set()
                    let_go.wait(LONGEST_WAIT)
                yield sentence

    sentences = Stuck(rotated(150, 0))
    source = source_of(sentences, "kept by the first epoch")
    plain_epoch(source)
    reader = ChunkReader(source, 1)
    reader.start()
    assert at_second.wait(LONGEST_WAIT)
    reader.stop()
    let_go.set()
    reader.join()
    assert sentences.taken == [150, 2]
    assert sentences.open == 0


lists_of_words = st.lists(st.lists(st.integers(-1, 3), max_size=4), max_size=12)


@given(left=lists_of_words, right=lists_of_words, cuts=st.lists(st.integers(0, 12), max_size=3))
def test_beginnings_are_equal_if_the_first_sentences_are(
    left: list[list[int]], right: list[list[int]], cuts: list[int]
) -> None:
    def first(sentences: list[list[int]]) -> list[list[int]]:
        found: list[list[int]] = []
        while len(found) < min(5, len(sentences)) and sum(map(len, found)) < 8:
            found.append(sentences[len(found)])
        return found

    def beginning(sentences: list[list[int]], cuts: list[int]) -> PassBeginning:
        found = PassBeginning(words_missing=8, pieces_missing=5)
        for start, end in zip([0, *cuts], [*cuts, len(sentences)], strict=True):
            some = sentences[start:end]
            ids = np.array([word for sentence in some for word in sentence], np.int32)
            found.add(Pieces.whole(Sentences(ids, np.array([*map(len, some)], np.int32))))
        return found

    assert (beginning(left, sorted(cuts)) == beginning(right, [])) == (first(left) == first(right))
    assert beginning(left, sorted(cuts)) == beginning(left, [])


# -- trainings ---------------------------------------------------------------------------------------------------------

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "seed": 1, "epochs": 3}


def shuffled(seed: int) -> list[list[str]]:
    """Return the sentences in another order."""
    return [SENTENCES[number] for number in np.random.default_rng(seed).permutation(len(SENTENCES))]


@pytest.mark.parametrize("settings", [{}, {"validation": 0.2}], ids=str)
def test_the_constructor_trains_each_epochs_own_sentences(
    settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    first, second, third = (shuffled(seed) for seed in (1, 2, 3))
    with caplog.at_level(logging.INFO):
        model = TFWord2Vec(Passes(first, ["compared"], second, third), **SMALL, **settings)
    # With validation, the first pass is also that from which sentences are held out; the next one trains.
    trained = (first, second, third) if not settings else (first, second, third, third)
    assert_equal_models(model, TFWord2Vec(Passes(first, *trained), cache_memory=0, **SMALL, **settings))
    assert len(messages(caplog)) == 1


def test_train_reads_an_iterable_in_each_epoch_and_in_the_next_training() -> None:
    passes = [shuffled(seed) for seed in range(6)]
    ours, plain_one = TFWord2Vec(**SMALL), TFWord2Vec(cache_memory=0, **SMALL)
    for model, sentences in (
        (ours, Passes(passes[0], ["compared"], *passes[1:3], passes[3], ["compared"], *passes[4:])),
        (plain_one, Passes(*passes)),
    ):
        model.build_vocab(SENTENCES)
        for _ in range(2):
            model.train(sentences, total_examples=len(SENTENCES), epochs=3)
    assert_equal_models(ours, plain_one)


@pytest.mark.parametrize("settings", [{"epochs": 1}, {"cache_memory": 0}], ids=str)
def test_trainings_that_keep_nothing_compare_nothing(settings: dict[str, Any]) -> None:
    sentences = Passes(SENTENCES)
    arguments = SMALL | settings
    model = TFWord2Vec(**arguments)
    model.build_vocab(SENTENCES)
    model.train(sentences, total_examples=len(SENTENCES), epochs=arguments["epochs"])
    assert sentences.taken == [len(SENTENCES)] * arguments["epochs"]
