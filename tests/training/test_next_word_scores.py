"""Hit rate and NDCG of the last words of sentences: those of a slow ranking of all words."""

from __future__ import annotations

import numpy as np
import pytest

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.next_words import NextWords, next_words
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.training import measures
from gensim_tfw2v.training.measures import NextWordScores

WORDS, SIZE, WINDOW = 50, 6, 3
RANDOM = np.random.default_rng(4)
SENTENCES = [RANDOM.integers(0, WORDS, length).tolist() for length in [*RANDOM.integers(1, 9, 80), 1, 2]]
IDS = Sentences(np.concatenate(SENTENCES).astype(np.int32), np.array(list(map(len, SENTENCES)), np.int32))
TABLES = {name: RANDOM.normal(0, 1, (WORDS, SIZE)).astype(np.float32) for name in ("inputs", "outputs")}


def read(table: str, first: int, end: int) -> Float32Array:
    return TABLES[table][first:end]


def rank_of(sentence: list[int]) -> int:
    """Return the rank of a sentence's last word."""
    *before, target = sentence
    expected = TABLES["inputs"][before[-WINDOW:]].mean(axis=0, dtype=np.float64)
    scores = TABLES["outputs"].astype(np.float64) @ expected
    return 1 + sum(score > scores[target] for score in scores)


@pytest.mark.parametrize("numbers", [1, 2000, 2**20])
def test_scores_are_those_of_a_slow_ranking(numbers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "NUMBERS_AT_ONCE", numbers)
    ranks = [rank_of(sentence) for sentence in SENTENCES if len(sentence) > 1]
    scores = NextWordScores(next_words(IDS, WINDOW, WORDS, (1,)), WORDS, SIZE)
    assert len(scores) == len(ranks)
    found = scores.measure(read)
    assert found["hits@10"] == pytest.approx(np.mean([rank <= 10 for rank in ranks]))
    gains = [1 / np.log2(1 + rank) if rank <= 10 else 0 for rank in ranks]
    assert found["ndcg@10"] == pytest.approx(np.mean(gains))


def test_equal_scores_are_no_hits() -> None:
    words = NextWords(np.array([1], np.int32), np.array([0, 1]), np.array([2], np.int32))
    found = NextWordScores(words, WORDS, SIZE).measure(lambda _, first, end: np.zeros((end - first, SIZE), np.float32))
    assert found == {"hits@10": 0.0, "ndcg@10": 0.0}


def test_a_large_vocabulary_has_an_even_sample_of_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "VALIDATION_SCORES", 20 * WORDS)
    found = next_words(IDS, WINDOW, WORDS, (1,))
    assert len(found) == 20
    usable = [sentence for sentence in SENTENCES if len(sentence) > 1]
    contexts = np.split(found.contexts, found.offsets[1:-1])
    step = len(usable) / 20
    for part, (context, target) in enumerate(zip(contexts, found.targets, strict=True)):
        nearby = usable[int(part * step) : int((part + 1) * step) + 1]
        assert [*context.tolist(), int(target)] in [sentence[-WINDOW - 1 :] for sentence in nearby]
