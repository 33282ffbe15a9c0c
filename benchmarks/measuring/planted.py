"""A corpus in which topics are planted, and how well vectors tell them apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

TOPICS, TOPIC_WORDS = 10, 30
_RARE_WORDS = 5000
_LINE_WORDS = 20
_RARE_SHARE = 0.3  # of the words of a sentence


def write_planted_corpus(words: int, seed: int, path: Path) -> int:
    """Write about so many words, and return how many there are.

    A sentence draws most of its words from one topic, and the others from rare words that belong to none.
    """
    chance = np.random.default_rng(seed)
    lines = words // _LINE_WORDS
    topics = chance.integers(0, TOPICS, lines)
    of_topic = chance.integers(0, TOPIC_WORDS, (lines, _LINE_WORDS))
    rare = chance.integers(0, _RARE_WORDS, (lines, _LINE_WORDS))
    is_rare = chance.random((lines, _LINE_WORDS)) < _RARE_SHARE
    with path.open("w", encoding="ascii") as file:
        for topic, own, other, which in zip(topics, of_topic, rare, is_rare, strict=True):
            chosen = (f"rare{o}" if w else f"topic{topic}_{n}" for n, o, w in zip(own, other, which, strict=True))
            file.write(" ".join(chosen) + "\n")
    return lines * _LINE_WORDS


def planted_score(vectors: Any) -> float:
    """Return the mean cosine of two words of a topic less that of words of two, about the mean vector.

    It is 0 before training, and 1 + 1 / (TOPICS - 1) if each topic is a point, as far as possible from the others.
    """
    names = [f"topic{topic}_{number}" for topic in range(TOPICS) for number in range(TOPIC_WORDS)]
    found = np.array([vectors[name] for name in names], dtype=np.float64)
    centred = found - found.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    cosines = unit @ unit.T
    topic = np.arange(len(names)) // TOPIC_WORDS
    same = topic[:, None] == topic[None, :]
    return float(cosines[same & ~np.eye(len(names), dtype=bool)].mean() - cosines[~same].mean())
