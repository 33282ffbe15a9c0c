"""Pairs of validation sentences: all of them, or an even sample, with whole windows and negatives of their own."""

from __future__ import annotations

import numpy as np
import pytest
from support.reference_validation import Pair, every_pair

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.huffman import build_huffman_tree
from gensim_tfw2v.blocks.sampling import NegativeSampler, cumulative_table
from gensim_tfw2v.blocks.validation_pairs import PairSettings, ValidationPairs, document_pairs, validation_pairs
from gensim_tfw2v.corpus.documents import TagLists
from gensim_tfw2v.corpus.sentences import Sentences

WORDS = 30
RANDOM = np.random.default_rng(8)
SENTENCES = [RANDOM.integers(0, WORDS, length).tolist() for length in [*RANDOM.integers(1, 14, 60), 1, 2, 40]]
COUNTS = np.arange(WORDS, 0, -1) * 10
SAMPLER = NegativeSampler(cumulative_table(COUNTS, 0.75, 2**31 - 1))
TREE = build_huffman_tree(COUNTS, np.arange(WORDS))


def settings(skip_gram: bool = True, window: int = 5, negative: int = 5, tree: bool = False) -> PairSettings:
    return PairSettings(skip_gram, window, negative, SAMPLER if negative else None, TREE if tree else None)


def sentences_of(lists: list[list[int]]) -> Sentences:
    return Sentences(np.concatenate(lists).astype(np.int32), np.array(list(map(len, lists)), np.int32))


def as_pairs(pairs: ValidationPairs) -> list[Pair]:
    contexts = np.split(pairs.contexts, pairs.offsets[1:-1])
    return [(context.tolist(), int(target)) for context, target in zip(contexts, pairs.targets, strict=True)]


@pytest.mark.parametrize("skip_gram", [True, False])
@pytest.mark.parametrize("window", [1, 3, 5, 50, 2**31 - 1])
def test_a_few_sentences_give_all_their_pairs(skip_gram: bool, window: int) -> None:
    found = validation_pairs(sentences_of(SENTENCES), settings(skip_gram, window), (1,))
    assert as_pairs(found) == every_pair(SENTENCES, window, skip_gram)


@pytest.mark.parametrize("skip_gram", [True, False])
def test_many_sentences_give_an_even_sample_of_their_pairs(skip_gram: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "VALIDATION_PAIRS", 100)
    every = every_pair(SENTENCES, 5, skip_gram)
    found = as_pairs(validation_pairs(sentences_of(SENTENCES), settings(skip_gram), (1,)))
    assert len(found) == 100
    step = len(every) / 100
    for part, pair in enumerate(found):  # one of each hundredth
        assert pair in every[int(part * step) : int((part + 1) * step) + 1]
    assert found != as_pairs(validation_pairs(sentences_of(SENTENCES), settings(skip_gram), (2,)))


def test_wide_windows_give_fewer_pairs_of_cbow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "VALIDATION_ROWS", 2000)
    found = validation_pairs(sentences_of([[1] * 500]), settings(False, window=400), (1,))
    assert 1 <= len(found.contexts) <= 2 * 2000


@pytest.mark.parametrize("skip_gram", [True, False])
def test_sentences_of_one_word_have_no_pair(skip_gram: bool) -> None:
    assert not len(validation_pairs(sentences_of([[1], [2]]), settings(skip_gram), (1,)))
    none = Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32))
    assert not len(validation_pairs(none, settings(skip_gram, tree=True), (1,)))


def test_every_pair_has_its_own_negatives_by_the_noise_distribution() -> None:
    found = validation_pairs(sentences_of(SENTENCES * 20), settings(negative=7), (1,))
    assert found.negatives.shape == (len(found), 7)
    shares = np.bincount(found.negatives.reshape(-1), minlength=WORDS) / found.negatives.size
    np.testing.assert_allclose(shares, COUNTS**0.75 / (COUNTS**0.75).sum(), atol=0.002)
    assert len(np.unique(found.negatives, axis=0)) > 0.9 * len(found)


def test_negatives_follow_the_seed_alone() -> None:
    first, again, other = (validation_pairs(sentences_of(SENTENCES), settings(), (seed,)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.negatives, again.negatives)
    assert not np.array_equal(first.negatives, other.negatives)


def test_the_tree_gives_each_target_its_path() -> None:
    found = validation_pairs(sentences_of(SENTENCES), settings(negative=0, tree=True), (1,))
    assert found.negatives.shape == (len(found), 0)
    for pair in (0, 17, len(found) - 1):
        target = found.targets[pair]
        path, tree_path = slice(*found.paths[pair : pair + 2]), slice(*TREE.offsets[target : target + 2])
        np.testing.assert_array_equal(found.nodes[path], TREE.nodes[tree_path])
        np.testing.assert_array_equal(found.codes[path], TREE.codes[tree_path])


@pytest.mark.parametrize("skip_gram", [True, False])
def test_words_of_documents_are_predicted_by_their_tags_alone_or_with_their_contexts(skip_gram: bool) -> None:
    tags = TagLists(int, 5)
    lists: list[list[int]] = [[0], [3, 1], [], [4, 4]]
    own = [lists[number % 4] for number in range(len(SENTENCES))]
    documents = np.array([tags.number(each) for each in own], np.int32)
    sentences = sentences_of(SENTENCES)
    sentences = tags.with_tags(Sentences(sentences.ids, sentences.lengths, documents=documents))
    is_target = np.random.default_rng(2).random(sentences.ids.size) < 0.3
    found = document_pairs(sentences, is_target, WORDS, settings(skip_gram, window=3), (1,))
    expected: list[Pair] = []
    place = 0
    for sentence, of_document in zip(SENTENCES, own, strict=True):
        rows = [WORDS + tag for tag in of_document]
        for at, word in enumerate(sentence):
            near = [*sentence[max(0, at - 3) : at], *sentence[at + 1 : at + 4]]
            if is_target[place] and rows:
                expected += [([row], word) for row in rows] if skip_gram else [(near + rows, word)]
            place += 1
    assert as_pairs(found) == expected
    assert found.negatives.shape == (len(expected), 5)
