"""word2vec as its papers and gensim's loops have it, one pair at a time in float64: what the graphs must equal.

Nothing here shares code with the package. Hidden vectors come from the tables as a batch begins. Tree nodes, and output
rows of CBOW's targets, take one step for each predicted word, in order. Output rows of CBOW's negatives take one
limited step for each run that has drawn them, after the run's targets. All other gradients of a batch are summed by
row, and each row takes one limited step. As in gensim, a node whose score is far from 0 takes no step.

With row-wise Adagrad, the rate of each of these steps follows from the squared lengths of the row's gradients so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def sigmoid(value: float) -> float:
    """Return the logistic function."""
    return 1.0 / (1.0 + np.exp(-value))


MAX_NODE_SCORE = 6.0
LARGEST_SCORE = 80.0  # of a node in a loss: float32 has no exponential of more than 88
ADAGRAD_FACTOR, ADAGRAD_START = 200.0, 100.0
MOST_TOGETHER = 16  # tokens that predict a word with the same version of its rows


@dataclass
class ReferenceBatch:
    """One batch in the plainest terms: sentences of ids with each word's window, and each word's negatives."""

    words: list[int]
    windows: list[list[list[int]]]  # equally likely sets of contexts of each word: positions in all words
    negatives: list[list[int]]  # ids drawn for each word; together they stand for `negative` draws a pair
    run_tokens: int  # tokens of a run that predict the same word of the corpus do so together
    weights: list[float] | None = None  # how many times each word counts; None: once


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
    max_step: float = 0.25
    locks: np.ndarray = field(default_factory=lambda: np.ones(1))
    adagrad: bool = False
    states: dict[tuple[str, int], float] = field(default_factory=dict)  # of rows that have taken a step
    freeze: str | None = None  # "inputs", or "outputs", to which nodes belong: these rows stay as they are
    clipped_rows: int = 0  # of the last batch
    closest_call: float = np.inf  # smallest distance of a node's score from the limit

    def train(self, batch: ReferenceBatch, learning_rate: float, all_words: list[int]) -> float:
        """Train one batch and return its loss. `all_words` are the words that `batch.windows` point into."""
        self._changes = {name: {} for name in ("inputs", "outputs")}
        self._weights = batch.weights or [1.0] * len(batch.words)
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

    def train_rounded(
        self,
        batch: ReferenceBatch,
        learning_rate: float,
        all_words: list[int],
        rounding: float,
        rng: np.random.Generator,
    ) -> None:
        """Train one batch with steps that follow from rounded rows: each number is off by `rounding` of itself."""
        tables = [table for table in (self.inputs, self.outputs, self.nodes) if table is not None]
        errors = [table * rounding * rng.choice([-1, 1], table.shape) for table in tables]
        for table, error in zip(tables, errors, strict=True):
            table += error
        self.train(batch, learning_rate, all_words)
        for table, error in zip(tables, errors, strict=True):
            table -= error

    def largest_difference(self, other: ReferenceModel) -> float:
        """Return how far a number of the tables is from that of another model, which has the same tables, at most."""
        pairs = ((self.inputs, other.inputs), (self.outputs, other.outputs), (self.nodes, other.nodes))
        return max(float(np.abs(one - another).max()) for one, another in pairs if one is not None)

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
        """Return the words that a batch predicts by the tree, in order, each with the tokens that predict it."""
        if not self.skip_gram:
            return [(batch.words[token], [token]) for token in trained]
        found = []
        for first in range(0, len(batch.words), batch.run_tokens):
            run = [token for token in trained if first <= token < first + batch.run_tokens]
            for position in sorted({position for token in run for position in batch.windows[token][0]}):
                found.append((all_words[position], [t for t in run if position in batch.windows[t][0]]))
        return found

    def _predict(self, table: str, tokens: list[int], path: list[tuple[int, int]], learning_rate: float) -> None:
        """Predict each (row, code) of a path from the hidden vectors of some tokens; move each row by their sum."""
        for row, code in path:
            vector = getattr(self, table)[row]
            ascent = np.zeros_like(vector)
            for token in tokens:
                score = float(vector @ self._hidden_vectors[token])
                counted = np.clip(score, -LARGEST_SCORE, LARGEST_SCORE) if table == "nodes" else score
                self._loss += self._weights[token] * np.logaddexp(0.0, counted if code else -counted)
                gradient = self._weights[token] * ((1 - code) - sigmoid(score))
                if table == "nodes":
                    beyond = abs(score) - MAX_NODE_SCORE
                    self.closest_call = min(self.closest_call, abs(beyond))
                    gradient *= beyond < 0
                self._errors[token] += gradient * vector
                ascent += gradient * self._hidden_vectors[token]
            if not self._is_frozen(table):
                vector += self._rate(table, row, ascent, learning_rate) * ascent

    def _sample(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> None:
        """Add up the gradients of a token's hidden vector and output rows, except for CBOW's target."""
        hidden = self._hidden_vectors[token]
        for window in batch.windows[token]:
            chance = self._weights[token] / len(batch.windows[token])
            targets = [all_words[position] for position in window] if self.skip_gram else [batch.words[token]]
            for target in targets:
                if self.skip_gram:
                    self._errors[token] += self._add_pair(target, hidden, label=1, weight=chance)
                for drawn in batch.negatives[token]:
                    if drawn != target:
                        weight = chance * self.negative / len(batch.negatives[token])
                        self._errors[token] += self._add_pair(drawn, hidden, label=0, weight=weight)

    def _add_pair(self, row: int, hidden: np.ndarray, label: int, weight: float) -> np.ndarray:
        vector = self.outputs[row]
        score = float(vector @ hidden)
        self._loss += weight * np.logaddexp(0.0, -score if label else score)
        gradient = weight * (label - sigmoid(score))
        self._add("outputs", row, gradient * hidden)
        return gradient * vector

    def _carry_back(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> None:
        """Add the gradient of a token's hidden vector to the input rows that it is made of."""
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

    def _is_frozen(self, table: str) -> bool:
        return self.freeze == ("inputs" if table == "inputs" else "outputs")

    def _rate(self, table: str, row: int, gradient: np.ndarray, learning_rate: float) -> float:
        """Return the rate of a row's step; Adagrad first adds the gradient to the row's state."""
        if not self.adagrad:
            return learning_rate
        state = self.states[table, row] = self.states.get((table, row), 0.0) + float(gradient @ gradient)
        return learning_rate * ADAGRAD_FACTOR / np.sqrt(ADAGRAD_START + state)

    def _step(self, table: str, row: int, gradient: np.ndarray, learning_rate: float) -> None:
        if self._is_frozen(table):
            return
        step = self._rate(table, row, gradient, learning_rate) * gradient
        length = np.linalg.norm(step)
        if length > self.max_step:
            step *= self.max_step / length
            self.clipped_rows += 1
        if table == "inputs":
            step = step * self.locks[row % len(self.locks)]
        getattr(self, table)[row] += step


def context_positions(left: list[int], right: list[int]) -> list[list[int]]:
    """Return, for every token, the positions of its contexts, given how many are before and after it."""
    return [
        [*range(token - left[token], token), *range(token + 1, token + right[token] + 1)] for token in range(len(left))
    ]


def contexts_within(sentence_lengths: list[int], radius: int) -> list[list[int]]:
    """Return, for every token, the positions in its sentence that are at most `radius` away."""
    sentence_of = [number for number, length in enumerate(sentence_lengths) for _ in range(length)]
    places = range(len(sentence_of))
    return [
        [other for other in places if 0 < abs(other - token) <= radius and sentence_of[other] == sentence_of[token]]
        for token in places
    ]
