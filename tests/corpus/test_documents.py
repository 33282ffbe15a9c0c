"""Tags stay with the words of their documents, whatever becomes of these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gensim.models.doc2vec import TaggedDocument

from gensim_tfw2v.blocks.chunk_parts import parts_of
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.corpus.chunks import Pieces
from gensim_tfw2v.corpus.documents import DocumentSource, TagLists
from gensim_tfw2v.corpus.hold_out import HoldOut, WordHoldOut
from gensim_tfw2v.corpus.passes import checksum_after
from gensim_tfw2v.corpus.sentences import MAX_SENTENCE_WORDS, Sentences
from gensim_tfw2v.corpus.sources import CacheBudget, Reading, Source
from gensim_tfw2v.native.random_numbers import RandomNumbers

RANDOM = np.random.default_rng(6)
IDS = {f"w{number}": number for number in range(40)}
WORDS = [*IDS, *["unknown"] * 40]
TAGS = 500
# Each document has its own number as a tag; some have a second one, or tags without a vector. Some have no known word.
DOCUMENTS = [
    TaggedDocument(
        [WORDS[word] for word in RANDOM.integers(0, 80, RANDOM.integers(0, 6))],
        [[number], [number, (number + 7) % TAGS], ["none", number], [], ["none"]][number % 5],
    )
    for number in range(TAGS)
]
BUDGETS = {
    "memory": CacheBudget(2**20, 0),
    "disk": CacheBudget(0, 2**20),
    "some on disk": CacheBudget(2000, 2**20),
    "not kept": CacheBudget(0, 0),
}
Found = list[tuple[list[int], list[int]]]  # ids and tags of each document


def index_of(tag: Any) -> int:
    return tag if isinstance(tag, int) else -1


def source_of(documents: Any, budget: CacheBudget = BUDGETS["memory"], **options: Any) -> DocumentSource:
    tags = TagLists(index_of, TAGS)
    return DocumentSource(documents, tags, Reading(IDS, 100, budget, **options))


def expected_of(documents: Any) -> Found:
    """Return the ids and the tags of each document that has known words."""
    found = [
        ([IDS[word] for word in document.words if word in IDS], [tag for tag in document.tags if tag != "none"])
        for document in documents
    ]
    return [each for each in found if each[0]]


def found_in(contents: list[Sentences]) -> Found:
    found = []
    for content in contents:
        assert content.documents is not None and content.tags is not None
        lists = np.split(content.tags.indices, content.tags.offsets[1:-1])
        ends = np.cumsum(content.lengths)
        for number, length, end in zip(content.documents, content.lengths, ends, strict=True):
            found.append((content.ids[end - length : end].tolist(), lists[number].tolist()))
    return found


def one_pass(source: Source) -> list[Sentences]:
    return [chunk.content for chunk in source.epoch() if isinstance(chunk.content, Sentences)]


@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_tags_stay_with_their_words_in_every_epoch(budget: CacheBudget) -> None:
    source = source_of(DOCUMENTS, budget)
    with source:
        for _ in range(3):
            assert found_in(one_pass(source)) == expected_of(DOCUMENTS)


def test_tags_stay_with_their_words_beside_weights_and_without_those_held_out() -> None:
    held_out = HoldOut(0.3, 5)
    weights = np.arange(TAGS, dtype=np.float32)
    source = source_of(DOCUMENTS, BUDGETS["disk"], held_out=held_out, weights=weights)
    is_out = held_out.chosen(np.arange(TAGS))
    left = [document for document, is_left_out in zip(DOCUMENTS, is_out, strict=True) if not is_left_out]
    numbers = [n for n in np.flatnonzero(~is_out).tolist() if expected_of([DOCUMENTS[n]])]
    with source:
        for _ in range(2):
            contents = one_pass(source)
            assert found_in(contents) == expected_of(left)
            assert [w for content in contents for w in content.weights.tolist()] == numbers  # type: ignore[union-attr]


def test_tags_stay_with_their_words_when_others_are_dropped_and_a_chunk_is_cut() -> None:
    source = source_of(DOCUMENTS)
    content = one_pass(source)[0]
    keep = np.resize(np.array([1, 0], np.float32), 40)
    kept = content.chosen_by("subsample", keep, RandomNumbers.seeded((1,)))
    even = [([id_ for id_ in ids if id_ % 2 == 0], own) for ids, own in found_in([content])]
    assert found_in([kept]) == [each for each in even if each[0]]
    parts = parts_of(ChunkTask(content, (1,), 0.1, 0.1, False), 4)
    cut = [part.content for part in parts if isinstance(part.content, Sentences)]
    assert len(cut) == 4
    assert found_in(cut) == found_in([content])


class Shuffled:
    """Documents in another order in every pass."""

    def __init__(self) -> None:
        self._passes = 0

    def __iter__(self) -> Iterator[TaggedDocument]:
        self._passes += 1
        order = np.random.default_rng(self._passes).permutation(TAGS)
        return (DOCUMENTS[number] for number in order)


def test_documents_in_another_order_keep_their_tags() -> None:
    source = source_of(Shuffled())
    with source:
        for _ in range(3):
            assert sorted(found_in(one_pass(source))) == sorted(expected_of(DOCUMENTS))


def test_passes_that_differ_in_their_tags_alone_are_read_anew() -> None:
    passes = iter(range(10))

    class Corpus:
        def __iter__(self) -> Iterator[TaggedDocument]:
            number = next(passes)
            return iter([TaggedDocument(["w1"], [number])] * 3)

    source = source_of(Corpus())
    with source:
        seen = [{tag for _, own in found_in(one_pass(source)) for tag in own} for _ in range(3)]
    assert len(set.union(*seen)) == 3


def test_a_document_is_one_sentence_however_long() -> None:
    words = ["w1"] * (2 * MAX_SENTENCE_WORDS + 5)
    source = source_of([TaggedDocument(words, [3]), TaggedDocument(["w2"], [4])])
    with source:
        contents = one_pass(source)
    assert [content.lengths.tolist() for content in contents] == [[len(words)], [1]]
    assert [own for _, own in found_in(contents)] == [[3], [4]]


def test_checksums_differ_with_the_tags() -> None:
    def checksum(tag: int) -> int:
        source = source_of([TaggedDocument(["w1", "w2"], [tag])])
        return checksum_after(next(iter(source.epoch())), 0)

    assert checksum(3) == checksum(3)
    assert checksum(3) != checksum(4)


def test_lists_of_several_tags_have_one_number_and_lists_of_none_have_none() -> None:
    tags = TagLists(index_of, 5)
    numbers = [tags.number(each) for each in ([4], ["none"], [1, 2], (1, 2), [2, 1], [])]
    assert numbers == [4, -1, 5, 5, 6, -1]
    each = np.zeros(6, np.int32)
    own = tags.with_tags(Sentences(each, each + 1, documents=np.array(numbers, np.int32)))
    assert own.documents is not None and own.tags is not None
    assert own.documents.tolist() == [1, 0, 2, 2, 3, 0]
    assert own.tags.indices.tolist() == [4, 1, 2, 2, 1]
    assert own.tags.offsets.tolist() == [0, 0, 1, 3, 5]


def test_a_tag_is_unique_if_the_vocabulary_has_one_document_of_it() -> None:
    tags = TagLists(index_of, 3, np.array([1, 2, 1]))
    numbers = np.array([tags.number(each) for each in ([0, 1], [2], [1])], np.int32)
    own = tags.with_tags(Sentences(np.zeros(3, np.int32), np.ones(3, np.int32), documents=numbers)).tags
    assert own is not None
    assert dict(zip(own.indices.tolist(), own.are_unique.tolist(), strict=True)) == {0: True, 1: False, 2: True}


def test_the_same_words_of_documents_are_held_out_in_every_order_and_the_others_are_trained() -> None:
    held_out, tags = WordHoldOut(0.3, 5), TagLists(index_of, TAGS)
    taken: list[tuple[list[int], list[int], list[bool]]] = []

    def take(pieces: Pieces) -> None:
        documents = pieces.sentences
        chosen = held_out.chosen_words(documents).tolist()
        for (ids, own), end in zip(found_in([tags.with_tags(documents)]), np.cumsum(documents.lengths), strict=True):
            taken.append((ids, own, chosen[end - len(ids) : end]))

    expected: list[Found] = []
    for corpus in (DOCUMENTS, Shuffled()):
        source = DocumentSource(corpus, tags, Reading(IDS, 100, BUDGETS["memory"], held_out=held_out))
        taken.clear()
        with source:
            source.hold_out(take)
            trained = sorted(found_in(one_pass(source)))
        assert all(id_ >= 0 and own for ids, own, out in taken for id_, is_out in zip(ids, out, strict=True) if is_out)
        left = [
            ([id_ for id_, is_out in zip(ids, out, strict=True) if id_ >= 0 and not is_out], own)
            for ids, own, out in taken
        ]
        assert trained == sorted(each for each in left if each[0])
        expected.append(trained)
    assert expected[0] == expected[1]
    known = sum(len(ids) for ids, own in expected_of(DOCUMENTS) if own)
    assert sum(sum(out) for _, _, out in taken) == pytest.approx(0.3 * known, rel=0.15)


def test_of_documents_with_one_tag_other_words_are_held_out() -> None:
    """If places alone decided, a tag of short documents would have nothing or the same place held out."""
    tags = TagLists(index_of, 1)
    ids = np.random.default_rng(3).integers(0, 40, 2000).astype(np.int32)
    documents = tags.number([0]) * np.ones(500, np.int32)
    chosen = WordHoldOut(0.1, 6).chosen_words(Sentences(ids, np.full(500, 4, np.int32), documents=documents))
    assert chosen.reshape(500, 4).mean(0) == pytest.approx(0.1, abs=0.08)
    assert chosen.mean() == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("wrong", [["w1", "w2"], "w1", None])
def test_what_is_no_document_is_named(wrong: Any) -> None:
    source = source_of([DOCUMENTS[0], wrong])
    with source, pytest.raises(TypeError, match=r"document number 1 is .* must have words and tags: use gensim"):
        one_pass(source)
