"""The measures of rare words are what plain loops compute, and only some occurrences of a word get another name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from measuring import rare_words
from measuring.rare_words import BURST, COUNTS, SPREAD, Renamed, agreement_by_band, reciprocal_ranks, rename_words


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a corpus of one anchor, twelve words of 400 occurrences each and one that is too rare."""
    monkeypatch.setattr(rare_words, "ANCHORS", 1)
    words = ["anchor"] * 500 + [f"w{number}" for number in range(12)] * 400 + ["rare"] * 100
    np.random.default_rng(1).shuffle(words)
    path = tmp_path / "corpus.txt"
    path.write_text("".join(" ".join(words[first : first + 10]) + "\n" for first in range(0, len(words), 10)))
    return path


def test_as_many_occurrences_as_asked_for_get_another_name(corpus: Path, tmp_path: Path) -> None:
    renamed = rename_words(corpus, tmp_path / "renamed.txt", words=12, seed=3)
    before, after = (Counter(path.read_text().split()) for path in (corpus, tmp_path / "renamed.txt"))
    assert sorted(one.word for one in renamed) == sorted(f"w{number}" for number in range(12))
    assert Counter((one.count, one.kind) for one in renamed) == {(c, k): 2 for c in COUNTS for k in (SPREAD, BURST)}
    for one in renamed:
        assert (after[one.name], after[one.word]) == (one.count, before[one.word] - one.count)
    assert sum(before.values()) == sum(after.values())


def test_occurrences_of_a_burst_follow_each_other(corpus: Path, tmp_path: Path) -> None:
    renamed = rename_words(corpus, tmp_path / "renamed.txt", words=12, seed=3)
    text = (tmp_path / "renamed.txt").read_text().split()
    for one in renamed:
        other_name = [word == one.name for word in text if word in (one.word, one.name)]
        first, last = other_name.index(True), len(other_name) - other_name[::-1].index(True)
        assert (last - first == one.count) == (one.kind == BURST)


def test_a_corpus_without_words_to_rename_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text("a b c\n")
    with pytest.raises(ValueError, match=r"tiny\.txt has no word with 320 occurrences"):
        rename_words(path, tmp_path / "renamed.txt", words=6, seed=1)


def test_ranks_are_those_of_plain_loops() -> None:
    vectors = random_vectors(seed=1)
    renamed = [Renamed("w3", 6, SPREAD), Renamed("w4", 6, SPREAD), Renamed("w5", 80, BURST)]
    inverse = {}
    for one in renamed:
        by_nearness = [name for name, _ in vectors.most_similar(one.name, topn=len(vectors))]
        inverse[one.word] = 100 / (1 + by_nearness.index(one.word))
    expected = {"6 spread": (inverse["w3"] + inverse["w4"]) / 2, "80 burst": inverse["w5"]}
    assert reciprocal_ranks(vectors, renamed) == pytest.approx(expected)


def test_agreement_is_the_mean_correlation_of_cosines_to_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rare_words, "ANCHORS", 8)
    vectors, reference = random_vectors(seed=1), random_vectors(seed=2)
    anchors = reference.index_to_key[:8]
    correlations = [
        np.corrcoef(*([model.similarity(word, anchor) for anchor in anchors] for model in (vectors, reference)))[0, 1]
        for word in reference.index_to_key[8:]
    ]
    assert agreement_by_band(vectors, reference) == pytest.approx({"10 to 29": 100 * np.mean(correlations)}, rel=1e-4)
    assert agreement_by_band(vectors, vectors) == pytest.approx({"10 to 29": 100})


def random_vectors(seed: int) -> KeyedVectors:
    """Return vectors of twenty words and their other names, each word with 20 occurrences."""
    vectors = KeyedVectors(5)
    names = [name for number in range(20) for name in (f"w{number}", Renamed(f"w{number}", 6, SPREAD).name)]
    vectors.add_vectors(names, np.random.default_rng(seed).normal(size=(len(names), 5)).astype(np.float32))
    vectors.expandos["count"] = np.full(len(names), 20)
    return vectors
