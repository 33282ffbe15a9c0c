"""Documents on topics, and what models of them hold: what the tests of TFDoc2Vec share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from gensim import utils
from gensim.models.doc2vec import TaggedDocument
from gensim.test.utils import datapath

MODES: dict[str, dict[str, Any]] = {
    "dm": {"dm": 1},
    "dm-sum": {"dm": 1, "dm_mean": 0},
    "dm-concatenated": {"dm": 1, "dm_concat": 1, "window": 3},
    "dm-hierarchical": {"dm": 1, "hs": 1, "negative": 0},
    "dbow": {"dm": 0},
    "dbow-hierarchical": {"dm": 0, "hs": 1, "negative": 0},
    "dbow-words": {"dm": 0, "dbow_words": 1},
}
EACH_MODE = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
SUMMED = {name: mode for name, mode in MODES.items() if "dm_concat" not in mode}
"""Modes that train on clusters, by the plain step, with validation and reproducibly."""
SMALL: dict[str, Any] = {"vector_size": 20, "min_count": 1, "epochs": 5, "seed": 3, "workers": 1}


def topics(count: int = 60) -> list[TaggedDocument]:
    """Return documents on three topics, each with its number as a tag."""
    rng = np.random.default_rng(2)
    return [
        TaggedDocument([f"{'abc'[number % 3]}{word}" for word in rng.integers(0, 30, 40)], [number])
        for number in range(count)
    ]


TOPICS = topics()


class Tagged:
    """Sentences as documents, which have two tags: their number, and the beginning of their first word."""

    def __init__(self, sentences: Iterable[list[str]]) -> None:
        self._sentences = sentences

    def __iter__(self) -> Iterator[TaggedDocument]:
        return (TaggedDocument(words, [number, words[0][:3]]) for number, words in enumerate(self._sentences))


def lee() -> list[TaggedDocument]:
    with open(datapath("lee_background.cor"), encoding="utf8") as file:
        return [TaggedDocument(utils.simple_preprocess(line), [number]) for number, line in enumerate(file)]


def unit(vectors: np.ndarray) -> np.ndarray:
    rows: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return rows


def found_again(model: Any, inferred: np.ndarray) -> float:
    """Return the share of documents that are nearest to what is inferred of their words."""
    nearest = np.argmax(unit(inferred) @ unit(model.dv.vectors).T, axis=1)
    return float(np.mean(nearest == np.arange(len(inferred))))


def similarities(model: Any) -> np.ndarray:
    vectors = unit(model.dv.vectors)
    return (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]


def arrays_of(model: Any) -> dict[str, np.ndarray]:
    found = {"wv": model.wv.vectors, "dv": model.dv.vectors}
    return found | {name: getattr(model, name) for name in ("syn1", "syn1neg") if hasattr(model, name)}


# -- what is learnt ---------------------------------------------------------------------------------------------------
