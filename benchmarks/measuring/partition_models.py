"""Sub-models that train on sampled sentences, with what is measured of them and of their merges."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from measuring.jobs import Job
from measuring.scores import scores_of

METHODS = ("alir", "average", "pca", "concatenate")
_NEIGHBOURS = 10
_ASKED_WORDS = 1000  # whose neighbours are compared
_KNOWN_WORDS = 10_000  # most frequent words, among which they are sought


class SampledSentences:
    """Sentences of a file. Each is drawn with one rate, anew in every pass."""

    def __init__(self, corpus: str, rate: float, seed: int) -> None:
        self._corpus, self._rate = Path(corpus), rate
        self._random = np.random.default_rng(seed)
        self.words = 0  # in all passes so far

    def __iter__(self) -> Iterator[list[str]]:
        with self._corpus.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if self._rate >= 1 or self._random.random() < self._rate:
                    sentence = line.split()
                    self.words += len(sentence)
                    yield sentence


@dataclass(frozen=True)
class Trained:
    """A trained sub-model."""

    keyed_vectors: Any
    untrained: np.ndarray  # [words] of bool: vectors that training left as they began
    seconds: float
    words: int  # raw words, in all epochs


class Trainer:
    """Trains sub-models that share one vocabulary, each with a seed of its own."""

    def __init__(self, job: Job) -> None:
        from gensim_tfw2v import TFWord2Vec
        from gensim_tfw2v.runtime.tensorflow import load_tensorflow

        load_tensorflow()
        self._job = job
        counted = TFWord2Vec(**job.gensim_arguments())
        counted.build_vocab(corpus_file=job.corpus)
        self._counts = {word: counted.wv.get_vecattr(word, "count") for word in counted.wv.index_to_key}
        self._sentences, self._words = counted.corpus_count, counted.corpus_total_words
        self.train(min(1.0, 100_000 / self._words), seed=0)  # what makes graphs is not timed

    def train(self, rate: float, seed: int) -> Trained:
        """Train a sub-model on sentences that are drawn with this rate."""
        from gensim_tfw2v import TFWord2Vec

        settings = self._job.gensim_arguments() | self._job.own_arguments() | {"seed": seed}
        model = TFWord2Vec(**settings, progress=False, cache_memory=0)  # every epoch reads its own sentences
        model.build_vocab_from_freq(dict(self._counts), corpus_count=self._sentences)
        begun = model.wv.vectors.copy()
        sentences = SampledSentences(self._job.corpus, rate, seed)
        began = time.perf_counter()
        model.train(
            sentences,
            total_examples=max(1, round(rate * self._sentences)),
            total_words=max(1, round(rate * self._words)),
            epochs=model.epochs,
        )
        seconds = time.perf_counter() - began
        return Trained(model.wv, (model.wv.vectors == begun).all(axis=1), seconds, sentences.words)


def merge(
    models: Sequence[Trained], method: str, missing: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, float]:
    """Return merged vectors of all words, zeros where no sub-model has the word, and the seconds that merging took.

    `missing` has the words that each sub-model lacks as well: [words] of bool for each.
    """
    from gensim_tfw2v.merging.joint import SubModel
    from gensim_tfw2v.merging.merge import merge_submodels

    lacking = [model.untrained for model in models]
    if missing is not None:
        lacking = [untrained | more for untrained, more in zip(lacking, missing, strict=True)]
    known = np.flatnonzero(~np.all(lacking, axis=0))
    submodels = [
        SubModel(model.keyed_vectors.vectors, np.where(lacks[known], -1, known))
        for model, lacks in zip(models, lacking, strict=True)
    ]
    began = time.perf_counter()
    merged = merge_submodels(submodels, method)
    seconds = time.perf_counter() - began
    vectors = np.zeros((len(lacking[0]), merged.shape[1]), np.float32)
    vectors[known] = merged
    return vectors, seconds


def scores_of_vectors(model: Trained, vectors: np.ndarray) -> dict[str, float | None]:
    """Return the scores of vectors of a sub-model's words."""
    from gensim.models import KeyedVectors

    scored = KeyedVectors(vectors.shape[1])
    scored.add_vectors(model.keyed_vectors.index_to_key, vectors)
    return scores_of(scored)


def agreement_when_missing(models: Sequence[Trained], share: float, seed: int) -> dict[str, float]:
    """Return how ALiR's vectors agree with those of whole sub-models when each sub-model lacks a share of its words.

    `lacking` is of words that some sub-models lack, `whole` of words that all have. Words that no sub-model is left
    with do not count.
    """
    random = np.random.default_rng(seed)
    missing = [random.random(len(model.untrained)) < share for model in models]
    full, _ = merge(models, "alir")
    part, _ = merge(models, "alir", missing)
    usable = full.any(axis=1) & part.any(axis=1)
    lacked = np.any(missing, axis=0)[usable]
    full, part = _unit(full[usable]), _unit(part[usable])
    left, _, right = np.linalg.svd(part.T @ full)
    part = part @ (left @ right)
    full_apart, part_apart = _unit(full - full.mean(axis=0)), _unit(part - part.mean(axis=0))
    found: dict[str, float] = {}
    for name, words in (("lacking", lacked), ("whole", ~lacked)):
        found[f"{name}_cosine"] = float((full[words] * part[words]).sum(axis=1).mean())
        found[f"{name}_mean_apart"] = float((full_apart[words] * part_apart[words]).sum(axis=1).mean())
        asked = random.permutation(np.flatnonzero(words[:_KNOWN_WORDS]))[:_ASKED_WORDS]
        found[f"{name}_neighbours"] = _shared_neighbours(full[:_KNOWN_WORDS], part[:_KNOWN_WORDS], asked)
    return found


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _shared_neighbours(first: np.ndarray, second: np.ndarray, asked: np.ndarray) -> float:
    """Return the share of the nearest neighbours of words that are the same in both matrices of unit vectors."""
    shared = 0
    nearest = []
    for vectors in (first, second):
        similarities = vectors[asked] @ vectors.T
        similarities[np.arange(len(asked)), asked] = -2
        nearest.append(np.argsort(-similarities, axis=1)[:, :_NEIGHBOURS])
    for one, other in zip(*nearest, strict=True):
        shared += len(set(one) & set(other))
    return shared / (_NEIGHBOURS * max(1, len(asked)))
