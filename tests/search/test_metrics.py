"""What models are compared by: slow computations give the same values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.evaluation import score_vectors
from gensim_tfw2v.search.halves import reciprocal_rank_of_halves
from gensim_tfw2v.search.metrics import metric_of

RANDOM = np.random.default_rng(7)
VECTORS = RANDOM.normal(0, 1, (40, 6)).astype(np.float32)
VECTORS[3] = 0  # a word that was never trained
LISTS = [RANDOM.integers(0, 40, length).tolist() for length in [*RANDOM.integers(1, 9, 60), 1, 2, 3]]


def as_sentences(lists: list[list[int]]) -> Sentences:
    return Sentences(
        np.array([word for words in lists for word in words], np.int32), np.array(list(map(len, lists)), np.int32)
    )


def plain_rank(lists: list[list[int]], place: int) -> int:
    """Return the rank of a sentence's second half among those of all sentences; equal ones come before it."""

    def direction(words: list[int]) -> np.ndarray:
        rows = VECTORS[words].astype(np.float64)
        lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
        mean = (rows / lengths).mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-30)

    query = direction(lists[place][: len(lists[place]) // 2])
    similarities = [float(query @ direction(words[len(words) // 2 :])) for words in lists]
    return sum(value >= similarities[place] - 1e-6 for value in similarities)


def test_halves_have_the_ranks_of_a_slow_comparison() -> None:
    lists = [words for words in LISTS if len(words) > 1 and any(word != 3 for word in words[: len(words) // 2])]
    lists = [words for words in lists if any(word != 3 for word in words[len(words) // 2 :])]
    expected = np.mean([1 / plain_rank(lists, place) for place in range(len(lists))])
    assert reciprocal_rank_of_halves(as_sentences([[5], *lists, [6]]), VECTORS) == pytest.approx(expected, rel=1e-5)


def test_halves_that_are_alike_have_the_lowest_rank() -> None:
    same = as_sentences([[1, 2], [1, 2], [1, 2], [1, 2]])
    assert reciprocal_rank_of_halves(same, VECTORS) == 0.25
    assert reciprocal_rank_of_halves(as_sentences([[1, 1], [2, 2]]), VECTORS) == 1.0


def test_many_sentences_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "VALIDATION_NEXT_WORDS", 1)
    assert reciprocal_rank_of_halves(as_sentences([[1, 2], [2, 1], [4, 5]]), VECTORS) == 1.0


def test_sentences_without_two_words_have_no_halves() -> None:
    with pytest.raises(ValueError, match=r"'halves' needs sentences of two known words .* none of the 2 held-out"):
        reciprocal_rank_of_halves(as_sentences([[1], [2]]), VECTORS)


def model_of(words: list[str]) -> Any:
    keyed_vectors = KeyedVectors(6)
    keyed_vectors.add_vectors(words, VECTORS[: len(words)])
    return SimpleNamespace(wv=keyed_vectors)


def test_the_score_is_that_of_the_files(tmp_path: Any) -> None:
    model = model_of(["cat", "dog", "car"])
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("cat\tdog\t9\ncat\tcar\t1\ndog\tcar\t2\n")
    found = metric_of("score", pairs=[str(pairs)]).measure(model, "")
    assert found == score_vectors(model.wv, [str(pairs)], []).mean
    assert found == pytest.approx(100 * model.wv.evaluate_word_pairs(str(pairs))[1].statistic)


def test_a_score_without_known_words_is_refused() -> None:
    with pytest.raises(ValueError, match="metric 'score' has no value"):
        metric_of("score").measure(model_of(["xyzzy", "plugh"]), "")


def test_a_function_is_a_metric() -> None:
    def number_of_words(model: Any) -> int:
        return len(model.wv)

    metric = metric_of(number_of_words)
    assert metric.name == "number_of_words"
    assert metric.measure(model_of(["a", "b"]), "") == 2.0


def test_lower_losses_and_higher_hits_are_better() -> None:
    loss, hits = metric_of("loss"), metric_of("hits@10")
    assert loss.value_to_raise(1.0) > loss.value_to_raise(2.0) > loss.value_to_raise(None)
    assert hits.value_to_raise(0.2) > hits.value_to_raise(0.1) > hits.value_to_raise(None)
