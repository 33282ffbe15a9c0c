"""word2vec as its papers and gensim's loops have it, one pair at a time in float64: what the graphs must equal.

Nothing here shares code with the package. There are two kinds of steps. In the plain one, hidden vectors come from the
tables as a batch begins. Tree nodes, and output rows of CBOW's targets, take one step for each predicted word, in
order. Output rows of CBOW's negatives take one limited step for each run that has drawn them, after the run's targets.
All other gradients of a batch are summed by row, and each row takes one limited step. In the compiled one, all this
happens run by run, and a row takes one limited step for each place where the run has it. As in gensim, a node whose
score is far from 0 takes no step.

With row-wise Adagrad, the rate of each of these steps follows from the squared lengths of the row's gradients so far.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gensim_tfw2v.placement.contract import ModelTables


def sigmoid(value: float) -> float:
    """Return the logistic function."""
    return 1.0 / (1.0 + np.exp(-value))


MAX_NODE_SCORE = 6.0
LARGEST_SCORE = 80.0  # farther from 0, scores count as this: float32 has no exponential of more than 88
ADAGRAD_FACTOR, ADAGRAD_START = 200.0, 100.0
MOST_TOGETHER = 16  # tokens that predict a word with the same version of its rows
WORDS_TOGETHER = 4  # words whose nodes are scored before the first one moves, in CBOW's compiled step


@dataclass
class ReferenceBatch:
    """One batch in the plainest terms: sentences of ids with each word's window, and each word's negatives."""

    words: list[int]
    windows: list[list[list[int]]]  # equally likely sets of contexts of each word: positions in all words
    negatives: list[list[int]]  # ids drawn for each word; together they stand for `negative` draws a pair
    run_tokens: int  # tokens of a run that predict the same word of the corpus do so together
    weights: list[float] | None = None  # how many times each word counts; None: once
    documents: list[list[int]] | None = None  # rows of inputs that each word's document has; None: none
    # Positions of the places of each word's whole window, None beyond the ends of its sentence; for concatenations.
    places: list[list[int | None]] | None = None


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
    mask_hits: bool = True  # negatives that equal their target are left out
    locks: np.ndarray = field(default_factory=lambda: np.ones(1))
    bags: list[list[int]] | None = None  # rows of inputs that each word has; None: the one with its number
    null_word: int | None = None  # if not None, rows of documents and of places, or else of this word, are concatenated
    adagrad: bool = False
    in_runs: bool = False  # each run moves its rows at once, place by place, as the compiled step does
    states: dict[tuple[str, int], float] = field(default_factory=dict)  # of rows that have taken a step
    freeze: str | None = (
        None  # "inputs"; "outputs", to which nodes belong; "words", which is both: they stay as they are
    )
    touched_rows: int = 0  # limited steps of the last batch
    clipped_rows: int = 0  # those of them that were too long
    closest_call: float = np.inf  # smallest distance of a node's score from the limit

    def train(self, batch: ReferenceBatch, learning_rate: float, all_words: list[int]) -> float:
        """Train one batch and return its loss. `all_words` are the words that `batch.windows` point into."""
        self._weights = batch.weights or [1.0] * len(batch.words)
        self._loss = 0.0
        self.touched_rows = self.clipped_rows = 0
        count = len(batch.words)
        together = batch.run_tokens if self.in_runs else max(count, 1)
        for first in range(0, count, together):
            self._train_together(range(first, min(first + together, count)), batch, learning_rate, all_words)
        return self._loss

    def _train_together(self, tokens: range, batch: ReferenceBatch, learning_rate: float, all_words: list[int]) -> None:
        """Train tokens whose hidden vectors follow from the same version of the input rows."""
        self._changes: dict[str, dict[Any, np.ndarray]] = {name: {} for name in ("inputs", "outputs")}
        self._hidden_vectors = {token: self._hidden(token, batch, all_words) for token in tokens}
        self._errors = {token: np.zeros_like(hidden) for token, hidden in self._hidden_vectors.items()}  # - gradients
        trained = [token for token in tokens if all(batch.windows[token]) or self._document(token, batch)]
        if self.in_runs and self.paths is not None:  # before negatives
            self._train_paths(trained, batch, learning_rate, all_words)
        if self.negative and not self.skip_gram:
            for first in range(tokens.start, tokens.stop, batch.run_tokens):
                run = [token for token in trained if first <= token < first + batch.run_tokens]
                for token in run:
                    self._predict("outputs", [token], [(batch.words[token], 0)], learning_rate)
                for token in run:
                    self._sample(token, batch, all_words)
                self._step_all(learning_rate)
        if not self.in_runs and self.paths is not None:
            self._train_paths(trained, batch, learning_rate, all_words)
        if self.negative and self.skip_gram:
            for token in trained:
                self._sample(token, batch, all_words)
        for token in trained:
            self._carry_back(token, batch, all_words)
        self._step_all(learning_rate)

    def _train_paths(
        self, trained: list[int], batch: ReferenceBatch, learning_rate: float, all_words: list[int]
    ) -> None:
        """Predict words by the tree."""
        if self.in_runs and not self.skip_gram:
            numbers = sorted({token % batch.run_tokens // WORDS_TOGETHER for token in trained})
            for number in numbers:
                some = [token for token in trained if token % batch.run_tokens // WORDS_TOGETHER == number]
                self._predict_words(some, batch, learning_rate)
            return
        for word, tokens in self._predictions(batch, trained, all_words):
            for first in range(0, len(tokens), MOST_TOGETHER):
                together = tokens[first : first + MOST_TOGETHER]
                self._predict("nodes", together, self.paths[word], learning_rate)

    def _predict_words(self, tokens: list[int], batch: ReferenceBatch, learning_rate: float) -> None:
        """Predict the own word of each token, with scores of the nodes as they are before the first one moves."""
        paths = {token: self.paths[batch.words[token]] for token in tokens}
        scores = {t: [float(self.nodes[row] @ self._hidden_vectors[t]) for row, _ in paths[t]] for t in tokens}
        for token in tokens:
            self._predict("nodes", [token], paths[token], learning_rate, scores[token])

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

    def largest_difference(self, other: ReferenceModel | ModelTables) -> float:
        """Return how far a number of the tables is from that of another model's, at most, where both have a table."""
        pairs = ((self.inputs, other.inputs), (self.outputs, other.outputs), (self.nodes, other.nodes))
        return max(
            float(np.abs(one - another).max()) for one, another in pairs if one is not None and another is not None
        )

    def _hidden(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> np.ndarray:
        if self.skip_gram:
            return self.inputs[self._rows(batch.words[token])].mean(0)
        if self.null_word is not None:
            return np.concatenate([self.inputs[row] for row, _ in self._parts(token, batch, all_words)])
        hidden = np.zeros(self.inputs.shape[1])
        for window in batch.windows[token]:
            rows = self._rows_of_contexts(token, window, batch, all_words)
            divisor = len(batch.windows[token]) * (max(len(rows), 1) if self.cbow_mean else 1)
            for row in rows:
                hidden += self.inputs[row] / divisor
        return hidden

    def _rows(self, word: int) -> list[int]:
        return [word] if self.bags is None else self.bags[word]

    def _document(self, token: int, batch: ReferenceBatch) -> list[int]:
        return [] if batch.documents is None else batch.documents[token]

    def _parts(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Return the rows that are concatenated, and where the run has each of them; the null word comes last."""
        first = self._first_of_document(token, batch)
        found = [(row, (-1, first, number)) for number, row in enumerate(self._document(token, batch))]
        for place in batch.places[token]:
            found.append((self.null_word, (1, 0, 0)) if place is None else (all_words[place], (0, place, 0)))
        return found

    def _first_of_document(self, token: int, batch: ReferenceBatch) -> int:
        """Return the first of neighbouring tokens of one document in a run, which move its rows once."""
        while token % batch.run_tokens and self._document(token - 1, batch) is self._document(token, batch):
            token -= 1
        return token

    def _rows_of_contexts(
        self, token: int, window: list[int], batch: ReferenceBatch, all_words: list[int]
    ) -> list[int]:
        of_words = [row for position in window for row in self._rows(all_words[position])]
        return of_words + self._document(token, batch)

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

    def _predict(
        self,
        table: str,
        tokens: list[int],
        path: list[tuple[int, int]],
        learning_rate: float,
        scores: list[float] | None = None,
    ) -> None:
        """Predict each (row, code) of a path from the hidden vectors of some tokens; move each row by their sum.

        `scores` are those of a single token, if they do not follow from the rows as they are.
        """
        for step, (row, code) in enumerate(path):
            vector = getattr(self, table)[row]
            ascent = np.zeros_like(vector)
            for token in tokens:
                score = float(vector @ self._hidden_vectors[token]) if scores is None else scores[step]
                counted = self._counted(table, score)
                self._loss += self._weights[token] * np.logaddexp(0.0, counted if code else -counted)
                gradient = self._weights[token] * ((1 - code) - sigmoid(counted))
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
            targets = [(all_words[position], position) for position in window]
            for target, position in targets if self.skip_gram else [(batch.words[token], 0)]:
                if self.skip_gram:
                    self._errors[token] += self._add_pair(target, hidden, 1, chance, (0, position))
                for number, drawn in enumerate(batch.negatives[token]):
                    if drawn != target or not self.mask_hits:
                        weight = chance * self.negative / len(batch.negatives[token])
                        self._errors[token] += self._add_pair(drawn, hidden, 0, weight, (1, number))

    def _add_pair(self, row: int, hidden: np.ndarray, label: int, weight: float, place: tuple[int, ...]) -> np.ndarray:
        vector = self.outputs[row]
        score = self._counted("outputs", float(vector @ hidden))
        self._loss += weight * np.logaddexp(0.0, -score if label else score)
        gradient = weight * (label - sigmoid(score))
        self._add("outputs", row, gradient * hidden, place)
        return gradient * vector

    def _counted(self, table: str, score: float) -> float:
        """Return the score that a loss and a gradient follow from."""
        is_limited = self.in_runs or table == "nodes"
        return float(np.clip(score, -LARGEST_SCORE, LARGEST_SCORE)) if is_limited else score

    def _carry_back(self, token: int, batch: ReferenceBatch, all_words: list[int]) -> None:
        """Add the gradient of a token's hidden vector to the input rows that it is made of."""
        if self.skip_gram:
            for number, row in enumerate(self._rows(batch.words[token])):
                self._add("inputs", row, self._errors[token], (0, token, number))
            return
        if self.null_word is not None:
            parts = self._parts(token, batch, all_words)
            for (row, place), gradient in zip(parts, np.split(self._errors[token], len(parts)), strict=True):
                self._add("inputs", row, gradient, place)
            return
        document = self._document(token, batch)
        for window in batch.windows[token]:
            rows = self._rows_of_contexts(token, window, batch, all_words)
            gradient = self._errors[token] / (len(batch.windows[token]) * (1 if self.cbow_mean else max(len(rows), 1)))
            for position in window:
                for number, row in enumerate(self._rows(all_words[position])):
                    self._add("inputs", row, gradient, (0, position, number))
            first = self._first_of_document(token, batch)  # whose rows move before words' rows
            for number, row in enumerate(document):
                self._add("inputs", row, gradient, (-1, first, number))

    def _add(self, table: str, row: int, gradient: np.ndarray, place: tuple[int, ...]) -> None:
        """Add to what a row's step follows from: all gradients of a batch, or those at one place of a run.

        Rows of documents step before those of words, and are never frozen.
        """
        if self._is_frozen(table) and place[0] >= 0:
            return
        changes, key = self._changes[table], (place if self.in_runs else (min(place[0], 0), 0), row)
        changes[key] = changes.get(key, 0.0) + gradient

    def _step_all(self, learning_rate: float) -> None:
        for name, changes in self._changes.items():
            for (_, row), gradient in sorted(changes.items(), key=lambda change: change[0]):
                self._step(name, row, gradient, learning_rate)
            changes.clear()

    def _is_frozen(self, table: str) -> bool:
        return self.freeze in ("words", "inputs" if table == "inputs" else "outputs")

    def _rate(self, table: str, row: int, gradient: np.ndarray, learning_rate: float) -> float:
        """Return the rate of a row's step; Adagrad first adds the gradient to the row's state."""
        if not self.adagrad:
            return learning_rate
        state = self.states[table, row] = self.states.get((table, row), 0.0) + float(gradient @ gradient)
        return learning_rate * ADAGRAD_FACTOR / np.sqrt(ADAGRAD_START + state)

    def _step(self, table: str, row: int, gradient: np.ndarray, learning_rate: float) -> None:
        step = self._rate(table, row, gradient, learning_rate) * gradient
        length = np.linalg.norm(step)
        self.touched_rows += bool(gradient @ gradient > np.finfo(np.float32).tiny)  # others are 0 to float32
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
