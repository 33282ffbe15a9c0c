"""word2vec as its papers and gensim's loops have it, one pair at a time in float64: what the graphs must equal.

Nothing here shares code with the package. Hidden vectors are those of the tables when a batch begins. The tree's nodes,
and the output rows of CBOW's targets, take a step for each word that is predicted, one after the other; those of CBOW's
negatives one bounded step for each run that has drawn them, after its targets. What is left of a batch is summed by
row, and each row then makes one bounded step. As in gensim, a node whose score is far from 0 is told nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def sigmoid(value: float) -> float:
    """Return the logistic function."""
    return 1.0 / (1.0 + np.exp(-value))


FARTHEST_NODE_SCORE = 6.0
MOST_TOGETHER = 16  # tokens that predict a word by way of the same version of its rows


@dataclass
class ReferenceBatch:
    """One batch in the plainest terms: sentences of ids with each word's window, and each word's negatives."""

    words: list[int]
    windows: list[list[list[int]]]  # what may be each word's contexts, equally likely: positions in all words
    negatives: list[list[int]]  # ids drawn for each word; together they stand for `negative` draws a pair
    run_tokens: int  # of consecutive words, those that predict the same word of the corpus do so together


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
    clipped_rows: int = 0  # of the last batch
    closest_call: float = np.inf  # how near a node's score has been to where it would, or would not, have counted

    def train(self, batch: ReferenceBatch, learning_rate: float, all_words: list[int]) -> float:
        """Train one batch and return its loss. `all_words` are the words that `batch.windows` point into."""
        self._changes = {name: {} for name in ("inputs", "outputs")}
        self._loss = 0.0
        self.clipped_rows = 0
        hidden = [self._hidden(token, batch, all_words) for token in range(len(batch.words))]
        self._hidden_vectors = hidden
        self._errors = [np.zeros(self.inputs.shape[1]) for _ in batch.words]  # negative gradients of hidden vectors
        trained = [token for token, windows in enumerate(batch.windows) if all(windows)]
        if self.negative and not self.skip_gram:
            for first in range(0, len(batch.words), batch.run_tokens):
                run = [token for token in trained if first <= token < first + batch.run_tokens]
                for token in run:
                    self._predict("outputs", [token], [(batch.words[token], 0)], learning_rate)
                for token in run:
                    self._sample(token, batch, all_words)
                self._step_all(learning_rate)
        if self.paths is not None:
            for word, tokens in self._predictions(batch, trained, all_words):
                for first in range(0, len(tokens), MOST_TOGETHER):
                    together = tokens[first : first + MOST_TOGETHER]
                    self._predict("nodes", together, self.paths[word], learning_rate)
        if self.negative and self.skip_gram:
            for token in trained:
                self._sample(token, batch, all_words)
        for token in trained:
            self._carry_back(token, batch, all_words)
        self._step_all(learning_rate)
        return self._loss

    def _hidden(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> np.ndarray:
        if self.skip_gram:
            return self.inputs[batch.words[token]].copy()
        hidden = np.zeros(self.inputs.shape[1])
        for window in batch.windows[token]:
            divisor = len(batch.windows[token]) * (max(len(window), 1) if self.cbow_mean else 1)
            for position in window:
                hidden += self.inputs[all_words[position]] / divisor
        return hidden

    def _predictions(
        self, batch: ReferenceBatch, trained: list[int], all_words: list[int]
    ) -> list[tuple[int, list[int]]]:
        """Return the words that a batch predicts down the tree, in order, each with the tokens that predict it."""
        if not self.skip_gram:
            return [(batch.words[token], [token]) for token in trained]
        found = []
        for first in range(0, len(batch.words), batch.run_tokens):
            run = [token for token in trained if first <= token < first + batch.run_tokens]
            for position in sorted({position for token in run for position in batch.windows[token][0]}):
                found.append((all_words[position], [t for t in run if position in batch.windows[t][0]]))
        return found

    def _predict(self, table: str, tokens: list[int], way: list[tuple[int, int]], learning_rate: float) -> None:
        """Have hidden vectors tell each (row, code) of a way what it is to be told; it then moves for all of them."""
        for row, code in way:
            vector = getattr(self, table)[row]
            steps = np.zeros_like(vector)
            for token in tokens:
                score = float(vector @ self._hidden_vectors[token])
                self._loss += np.logaddexp(0.0, score if code else -score)
                gradient = (1 - code) - sigmoid(score)
                if table == "nodes":
                    beyond = abs(score) - FARTHEST_NODE_SCORE
                    self.closest_call = min(self.closest_call, abs(beyond))
                    gradient *= beyond < 0
                self._errors[token] += gradient * vector
                steps += learning_rate * gradient * self._hidden_vectors[token]
            vector += steps

    def _sample(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> None:
        """Note what a token's hidden vector and output rows are told of each other, but for CBOW's target."""
        hidden = self._hidden_vectors[token]
        for window in batch.windows[token]:
            chance = 1 / len(batch.windows[token])
            targets = [all_words[position] for position in window] if self.skip_gram else [batch.words[token]]
            for target in targets:
                if self.skip_gram:
                    self._errors[token] += self._tell(target, hidden, label=1, weight=chance)
                for drawn in batch.negatives[token]:
                    if drawn != target:
                        weight = chance * self.negative / len(batch.negatives[token])
                        self._errors[token] += self._tell(drawn, hidden, label=0, weight=weight)

    def _tell(self, row: int, hidden: np.ndarray, label: int, weight: float) -> np.ndarray:
        vector = self.outputs[row]
        score = float(vector @ hidden)
        self._loss += weight * np.logaddexp(0.0, -score if label else score)
        gradient = weight * (label - sigmoid(score))
        self._add("outputs", row, gradient * hidden)
        return gradient * vector

    def _carry_back(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> None:
        """Note the error of a token's hidden vector for the input rows that it is made of."""
        if self.skip_gram:
            self._add("inputs", batch.words[token], self._errors[token])
            return
        for window in batch.windows[token]:
            for position in window:
                divisor = len(batch.windows[token]) * (1 if self.cbow_mean else len(window))
                self._add("inputs", all_words[position], self._errors[token] / divisor)

    def _add(self, table: str, row: int, gradient: np.ndarray) -> None:
        rows = self._changes[table]
        rows[row] = rows.get(row, 0.0) + gradient

    def _step_all(self, learning_rate: float) -> None:
        for name, rows in self._changes.items():
            for row, gradient in rows.items():
                self._step(name, row, gradient, learning_rate)
            rows.clear()

    def _step(self, table: str, row: int, gradient: np.ndarray, learning_rate: float) -> None:
        step = learning_rate * gradient
        length = np.linalg.norm(step)
        if length > self.bound:
            step *= self.bound / length
            self.clipped_rows += 1
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
