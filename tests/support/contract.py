"""What the contract tests share: the training modes, small corpora and two checks on a trained model."""

from __future__ import annotations

from typing import Any

import numpy as np

MODES: dict[str, dict[str, int]] = {
    "skipgram-negative": {"sg": 1, "hs": 0, "negative": 5},
    "skipgram-hierarchical": {"sg": 1, "hs": 1, "negative": 0},
    "skipgram-both": {"sg": 1, "hs": 1, "negative": 5},
    "cbow-negative": {"sg": 0, "hs": 0, "negative": 5},
    "cbow-hierarchical": {"sg": 0, "hs": 1, "negative": 0},
    "cbow-both": {"sg": 0, "hs": 1, "negative": 5},
}
PURE_MODES = {name: mode for name, mode in MODES.items() if not name.endswith("both")}

# Eleven words, 600 in all, each frequent enough for min_count=5.
SENTENCES: list[list[str]] = [
    ["human", "computer", "interface"],
    ["survey", "user", "computer", "system", "response", "time"],
    ["system", "human", "system", "user"],
    ["graph", "trees", "minors", "survey"],
    ["user", "response", "time"],
] * 30
SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "sample": 0, "epochs": 3}
SENTENCE_WORDS = sum(len(sentence) for sentence in SENTENCES)


def two_topics(sentences: int = 600, words: int = 12, seed: int = 7) -> list[list[str]]:
    """Return sentences that each draw all their words from one of two disjoint vocabularies of 20 words."""
    random = np.random.default_rng(seed)
    vocabularies = [[f"{topic}{number}" for number in range(20)] for topic in ("cat", "dog")]
    return [
        [vocabularies[sentence % 2][index] for index in random.integers(0, 20, words)] for sentence in range(sentences)
    ]


def topic_gap(vectors: Any) -> float:
    """Return the mean cosine similarity within the two topics less the mean between them.

    Cosines are taken about the mean vector: all words share a direction, and it says nothing of topics. The
    gap is 0 before training and 2 when either topic has shrunk to a point.
    """
    names = [f"{topic}{number}" for topic in ("cat", "dog") for number in range(20)]
    vectors_of_words = np.array([vectors[name] for name in names], dtype=np.float64)
    centred = vectors_of_words - vectors_of_words.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    similarity = unit @ unit.T
    topic = np.arange(40) // 20
    same = topic[:, None] == topic[None, :]
    return float(similarity[same & ~np.eye(40, dtype=bool)].mean() - similarity[~same].mean())


def learnt_arrays(model: Any) -> dict[str, np.ndarray]:
    """Return the arrays that training changes, by name: input vectors and whichever outputs there are."""
    arrays = {"vectors": model.wv.vectors} | ({"tags": model.dv.vectors} if hasattr(model, "dv") else {})
    return arrays | {name: getattr(model, name) for name in ("syn1", "syn1neg") if hasattr(model, name)}


def assert_finite(model: Any) -> None:
    """Fail when any learnt array of the model holds NaN or infinity."""
    for name, array in learnt_arrays(model).items():
        assert np.isfinite(array).all(), f"{name} is not finite"


def assert_equal_models(first: Any, second: Any) -> None:
    """Fail unless both models have the same words, in the same order, and equal learnt arrays."""
    assert first.wv.index_to_key == second.wv.index_to_key
    arrays = learnt_arrays(second)
    assert learnt_arrays(first).keys() == arrays.keys()
    for name, array in learnt_arrays(first).items():
        np.testing.assert_array_equal(array, arrays[name], err_msg=name)


def assert_equal_states(first: Any, second: Any) -> None:
    """Fail unless the optimizer keeps equal states for the rows of both models."""
    assert first.optimizer_states.keys() == second.optimizer_states.keys()
    for name, states in first.optimizer_states.items():
        np.testing.assert_array_equal(states, second.optimizer_states[name], err_msg=name)
