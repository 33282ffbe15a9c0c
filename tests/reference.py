"""word2vec as its papers and gensim's loops have it, one pair at a time in float64: what the graphs must equal.

Nothing here shares code with the package. A batch's gradients are all taken at the tables' values when it begins, and
each row then makes one bounded step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def sigmoid(value: float) -> float:
    """Return the logistic function."""
    return 1.0 / (1.0 + np.exp(-value))


@dataclass
class ReferenceBatch:
    """One batch in the plainest terms: sentences of ids with each word's window, and each word's negatives."""

    words: list[int]
    windows: list[list[list[int]]]  # what may be each word's contexts, equally likely: positions in all words
    negatives: list[list[int]]  # ids drawn for each word; together they stand for `negative` draws a pair


@dataclass
class ReferenceModel:
    """Tables and settings of a model, trained batch by batch with plain loops."""

    inputs: np.ndarray
    outputs: np.ndarray | None
    nodes: np.ndarray | None
    skip_gram: bool
    negative: int
    paths: list[list[tuple[int, int]]] | None  # for each word (node, code) from the root down
    cbow_mean: bool = True
    bound: float = 0.25
    locks: np.ndarray = field(default_factory=lambda: np.ones(1))
    bounded_rows: int = 0  # of the last batch

    def train(self, batch: ReferenceBatch, learning_rate: float, all_words: list[int]) -> float:
        """Train one batch and return its loss. `all_words` are the words that `batch.windows` point into."""
        self._changes = {name: {} for name in ("inputs", "outputs", "nodes")}
        self._loss = 0.0
        self.bounded_rows = 0
        for word, windows, negatives in zip(batch.words, batch.windows, batch.negatives, strict=True):
            likely = [([all_words[position] for position in window], 1 / len(windows)) for window in windows]
            if not all(contexts for contexts, _ in likely):
                continue
            if self.skip_gram:
                for contexts, chance in likely:
                    for context in contexts:
                        self._add("inputs", word, self._predict(self.inputs[word], context, negatives, chance))
            else:
                hidden = np.zeros(self.inputs.shape[1])
                for contexts, chance in likely:
                    divisor = len(contexts) if self.cbow_mean else 1
                    hidden += chance / divisor * np.sum([self.inputs[context] for context in contexts], axis=0)
                error = self._predict(hidden, word, negatives)
                for contexts, chance in likely:
                    for context in contexts:
                        self._add("inputs", context, chance * error / (1 if self.cbow_mean else len(contexts)))
        for name, rows in self._changes.items():
            for row, gradient in rows.items():
                self._step(name, row, gradient, learning_rate)
        return self._loss

    def _predict(self, hidden: np.ndarray, target: int, negatives: list[int], times: float = 1.0) -> np.ndarray:
        """Return the negative gradient of the loss of predicting `target`, and note that of the output rows."""
        error = np.zeros_like(hidden, dtype=np.float64)
        if self.negative:
            error += self._tell("outputs", target, hidden, label=1, weight=times)
            for drawn in negatives:
                if drawn != target:
                    error += self._tell(
                        "outputs", drawn, hidden, label=0, weight=times * self.negative / len(negatives)
                    )
        if self.paths is not None:
            for node, code in self.paths[target]:
                error += self._tell("nodes", node, hidden, label=1 - code, weight=times)
        return error

    def _tell(self, table: str, row: int, hidden: np.ndarray, label: int, weight: float) -> np.ndarray:
        vector = getattr(self, table)[row].astype(np.float64)
        score = float(vector @ hidden)
        self._loss += weight * np.logaddexp(0.0, -score if label else score)
        gradient = weight * (label - sigmoid(score))
        self._add(table, row, gradient * hidden)
        return gradient * vector

    def _add(self, table: str, row: int, gradient: np.ndarray) -> None:
        rows = self._changes[table]
        rows[row] = rows.get(row, 0.0) + gradient

    def _step(self, table: str, row: int, gradient: np.ndarray, learning_rate: float) -> None:
        step = learning_rate * gradient
        length = np.linalg.norm(step)
        if length > self.bound:
            step *= self.bound / length
            self.bounded_rows += 1
        if table == "inputs":
            step = step * self.locks[row % len(self.locks)]
        getattr(self, table)[row] += step


def context_positions(left: list[int], right: list[int]) -> list[list[int]]:
    """Return, for every token, the positions of its contexts: so many before and after it."""
    return [
        [*range(token - left[token], token), *range(token + 1, token + right[token] + 1)] for token in range(len(left))
    ]


def contexts_within(sentence_lengths: list[int], radius: int) -> list[list[int]]:
    """Return, for every token, the positions of those of its sentence that are no farther away than `radius`."""
    sentence_of = [number for number, length in enumerate(sentence_lengths) for _ in range(length)]
    places = range(len(sentence_of))
    return [
        [other for other in places if 0 < abs(other - token) <= radius and sentence_of[other] == sentence_of[token]]
        for token in places
    ]
