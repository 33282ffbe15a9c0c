"""Weights of sentences: numbers of any kind, which stay with their sentences whatever becomes of these."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gensim_tfw2v.blocks.chunk_parts import parts_of
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.corpus.file_scan import scan_file
from gensim_tfw2v.corpus.hold_out import HoldOut
from gensim_tfw2v.corpus.iterable_source import IterableSource
from gensim_tfw2v.corpus.passes import checksum_after
from gensim_tfw2v.corpus.sentence_scan import scan_sentences
from gensim_tfw2v.corpus.sentence_weights import sentence_weights
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS, Sentences
from gensim_tfw2v.corpus.sources import CacheBudget, FileSource, Reading, Source
from gensim_tfw2v.native.random_numbers import RandomNumbers

RANDOM = np.random.default_rng(5)
IDS = {f"w{number}": number for number in range(40)}
UNKNOWN = "unknown"
WORDS = [*IDS, *[UNKNOWN] * 40]
# Some sentences are empty, and some have no known word.
SENTENCES = [[WORDS[number] for number in RANDOM.integers(0, 80, length)] for length in RANDOM.integers(0, 6, 500)]
WEIGHTS = np.arange(500, dtype=np.float32)
BUDGETS = {
    "memory": CacheBudget(2**20, 0),
    "disk": CacheBudget(0, 2**20),
    "some on disk": CacheBudget(2000, 2**20),
    "not kept": CacheBudget(0, 0),
}


def with_known_words() -> dict[float, list[int]]:
    """Return the ids of each sentence that has known words, by its weight."""
    found = ([IDS[word] for word in sentence if word in IDS] for sentence in SENTENCES)
    return {float(number): ids for number, ids in enumerate(found) if ids}


def by_weight(*contents: Sentences) -> dict[float, list[int]]:
    """Return the ids of all sentences by their weights."""
    found: dict[float, list[int]] = {}
    for content in contents:
        assert content.weights is not None
        ends = np.cumsum(content.lengths)
        for weight, length, end in zip(content.weights.tolist(), content.lengths, ends, strict=True):
            found.setdefault(weight, []).extend(content.ids[end - length : end].tolist())
    return found


def one_pass(source: Source) -> list[Sentences]:
    """Return the contents of one pass's chunks."""
    return [chunk.content for chunk in source.epoch() if isinstance(chunk.content, Sentences)]


@pytest.mark.parametrize(
    "given",
    [
        [1, 0.5, 2],
        (1, 0.5, np.float32(2)),
        np.array([1, 0.5, 2]),
        iter([1, 0.5, 2]),
        (weight for weight in (True, 0.5, np.int64(2))),
        {1: "a", 0.5: "b", 2: "c"}.keys(),
    ],
    ids=["list", "tuple", "array", "iterator", "generator", "view"],
)
def test_numbers_of_any_kind_become_an_array(given: Any) -> None:
    found = sentence_weights(given)
    assert found is not None and found.dtype == np.float32
    assert found.tolist() == [1, 0.5, 2]


def test_no_weights_stay_none_and_an_empty_list_becomes_an_empty_array() -> None:
    assert sentence_weights(None) is None
    found = sentence_weights([])
    assert found is not None and found.tolist() == []


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ([1, 1, -0.5], ValueError, "number 2 (from 0) is -0.5"),
        ([1, float("nan")], ValueError, "number 1 (from 0) is nan"),
        ([float("inf")], ValueError, "number 0 (from 0) is inf"),
        ([1.0] * 70_000 + [-3], ValueError, "number 70000 (from 0) is -3.0"),
        (np.array([1, 1e39]), ValueError, "number 1 (from 0) is 1e+39"),
        ([1, "2"], TypeError, "number 1 (from 0) is '2'"),
        ([1, None], TypeError, "number 1 (from 0) is None"),
        ([1, 2j], TypeError, "number 1 (from 0) is 2j"),
        (3, TypeError, "got 3"),
        ("123", TypeError, "got '123'"),
        (np.ones((2, 2)), TypeError, "in the shape (2, 2)"),
        (np.array(["1"]), TypeError, "an array of <U1"),
    ],
)
def test_a_wrong_weight_is_named_with_its_place(given: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as caught:
        sentence_weights(given)
    assert str(caught.value).startswith("weights must be ")
    assert says in str(caught.value)


@pytest.mark.parametrize("words_per_chunk", [3, 100, 10_000])
@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_each_sentence_keeps_its_weight_in_every_pass(budget: CacheBudget, words_per_chunk: int) -> None:
    with IterableSource(SENTENCES, Reading(IDS, words_per_chunk, budget, weights=WEIGHTS)) as source:
        for _ in range(2):
            assert by_weight(*one_pass(source)) == with_known_words()


@pytest.mark.parametrize("is_scanned", [False, True], ids=["read", "scanned"])
@pytest.mark.parametrize("workers", [1, 2])
def test_lines_of_a_file_that_have_words_have_a_weight_each(workers: int, is_scanned: bool, tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(map(" ".join, SENTENCES)) + "\n", encoding="utf8")
    weights = WEIGHTS[[len(sentence) > 0 for sentence in SENTENCES]]  # blank lines are no sentences
    scan = scan_file(path, 1, BUDGETS["memory"]) if is_scanned else None
    source = FileSource(path, Reading(IDS, 100, BUDGETS["not kept"], weights=weights), workers, scan, part_bytes=512)
    for _ in range(2):
        assert by_weight(*one_pass(source)) == with_known_words()


def test_sentences_that_were_scanned_have_the_same_weights() -> None:
    scan = scan_sentences(SENTENCES, SENTENCES, BUDGETS["memory"], lambda *_: None)
    source = IterableSource(SENTENCES, Reading(IDS, 100, BUDGETS["memory"], weights=WEIGHTS), scan=scan)
    assert by_weight(*one_pass(source)) == with_known_words()


def test_all_pieces_of_an_overlong_sentence_have_its_weight() -> None:
    overlong = ["w1"] * (2 * MAX_SENTENCE_WORDS + 5)
    source = IterableSource([["w0"], overlong, ["w2"]], Reading(IDS, 7, BUDGETS["not kept"], weights=WEIGHTS[1:4]))
    assert by_weight(*one_pass(source)) == {1: [0], 2: [1] * len(overlong), 3: [2]}


def test_sentences_beside_those_held_out_keep_their_weights() -> None:
    held_out = HoldOut(0.3, key=1)
    is_out = held_out.chosen(np.arange(len(SENTENCES)))
    source = IterableSource(SENTENCES, Reading(IDS, 100, BUDGETS["not kept"], held_out=held_out, weights=WEIGHTS))
    expected = {weight: ids for weight, ids in with_known_words().items() if not is_out[int(weight)]}
    assert 0 < len(expected) < len(with_known_words())
    assert by_weight(*one_pass(source)) == expected


@pytest.mark.parametrize(("count", "says"), [(499, "has more sentences"), (501, "has 500 sentences")])
def test_too_few_and_too_many_weights_are_errors(count: int, says: str) -> None:
    source = IterableSource(SENTENCES, Reading(IDS, 100, BUDGETS["not kept"], weights=np.ones(count, np.float32)))
    with pytest.raises(ValueError, match=f"weights has {count} numbers, and the corpus {says}; give one weight"):
        one_pass(source)


def test_the_corpus_is_closed_when_there_are_too_few_weights() -> None:
    closed = []

    class Corpus:
        def __iter__(self) -> Iterator[list[str]]:
            try:
                yield from SENTENCES
            finally:
                closed.append(True)

    source = IterableSource(Corpus(), Reading(IDS, 100, BUDGETS["not kept"], weights=np.ones(3, np.float32)))
    with pytest.raises(ValueError, match="has more sentences"):
        one_pass(source)
    assert closed


def test_subsampling_and_unknown_words_leave_weights_with_their_sentences() -> None:
    ids = RANDOM.integers(-1, 5, 2000).astype(np.int32)
    lengths = RANDOM.multinomial(2000, np.full(900, 1 / 900)).astype(np.int32)
    weights = np.arange(900, dtype=np.float32)
    known = Sentences(ids, lengths, weights).known_words()
    expected = {
        float(number): [word for word in words.tolist() if word >= 0]
        for number, words in enumerate(np.split(ids, np.cumsum(lengths)[:-1]))
    }
    assert by_weight(known) == {weight: words for weight, words in expected.items() if words}
    keep = np.array([0.2, 1, 0, 0.5, 0.1], np.float32)
    kept, plain = (
        sentences.chosen_by("subsample", keep, RandomNumbers.seeded([1]))
        for sentences in (known, Sentences(known.ids, known.lengths))
    )
    np.testing.assert_array_equal(kept.ids, plain.ids)
    np.testing.assert_array_equal(kept.lengths, plain.lengths)
    for weight, words in by_weight(kept).items():
        left = iter(expected[weight])
        assert all(word in left for word in words)  # some of its words, in their order


def test_parts_of_a_chunk_have_the_weights_of_their_sentences() -> None:
    (content,) = one_pass(IterableSource(SENTENCES, Reading(IDS, 10_000, BUDGETS["not kept"], weights=WEIGHTS)))
    parts = [part.content for part in parts_of(ChunkTask(content, (1,), 0.1, 0.1, True), 7)]
    assert len(parts) == 7
    assert by_weight(*(part for part in parts if isinstance(part, Sentences))) == by_weight(content)


def test_other_weights_are_another_corpus_to_resume_with() -> None:
    sums = set()
    for weights in (None, WEIGHTS, WEIGHTS + 1):
        checksum = 0
        for chunk in IterableSource(SENTENCES, Reading(IDS, 100, BUDGETS["not kept"], weights=weights)).epoch():
            checksum = checksum_after(chunk, checksum)
        sums.add(checksum)
    assert len(sums) == 3
