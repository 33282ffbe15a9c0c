"""The plain function that trains Huffman paths, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.steps.plain.huffman_paths import train_huffman_paths
from gensim_tfw2v.steps.plain.in_turn import Outputs
from gensim_tfw2v.steps.plain.table import StepTable
from gensim_tfw2v.steps.signature import HuffmanPaths as Paths
from support.operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    NO_WEIGHTS,
    ROWS,
    Table,
    Windows,
    contexts_of,
    moved,
    normal,
    numbers_below,
    table_rows,
    tokens_of,
    weights_in_run,
    windows_of,
)

TOGETHER = 16  # hidden vectors that are trained with a word before its rows move
LARGEST_SCORE = 80.0


class HuffmanPaths(NamedTuple):
    """The arguments of the function but for its table."""

    hidden: np.ndarray
    words: np.ndarray
    windows: Windows
    nodes: np.ndarray
    codes: np.ndarray
    offsets: np.ndarray
    every_context: bool
    rate: float = 0.05
    max_score: float = np.inf
    measured: bool = True
    frozen: bool = False
    adagrad: bool = False
    token_weights: np.ndarray = NO_WEIGHTS

    def train(self, table: Any) -> tuple[Any, Any]:
        """Call the function with a table's handle."""
        return train_huffman_paths(
            Outputs(StepTable(table, self.adagrad), self.frozen, self.measured),
            tokens_of(self.hidden, self.windows, self.token_weights),
            Paths(self.words[BATCH], self.nodes, self.codes, self.offsets),
            self.every_context,
            self.rate,
            self.max_score,
        )

    def run(self, table: Table) -> tuple[np.ndarray, float]:
        """Return the gradients of the hidden vectors, and the loss."""
        gradients, loss = self.train(table.handle)
        assert loss.shape == ()
        return gradients.numpy(), float(loss)

    def in_loops(self, before: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Return the gradients, the loss and the rows that plain loops come to."""
        rows, hidden = before.astype(np.float64), self.hidden.astype(np.float64)
        gradients, loss, size = np.zeros(hidden.shape), 0.0, hidden.shape[-1]
        for run, place in np.ndindex(self.words.shape[1:]):
            word = self.words[BATCH, run, place]
            tokens = self.trained_tokens(run, place)
            counts = weights_in_run(self.token_weights, run, hidden.shape[1])
            for start in range(0, len(tokens), TOGETHER):
                together = tokens[start : start + TOGETHER]
                trained: list[tuple[int, float, int]] = []
                for token in together:
                    for step in range(self.offsets[word], self.offsets[word + 1]):
                        row, code = self.nodes[step], self.codes[step]
                        score = np.clip(hidden[run, token] @ rows[row, :size], -LARGEST_SCORE, LARGEST_SCORE)
                        loss += counts[token] * np.logaddexp(0, score if code else -score)
                        if abs(score) < self.max_score:
                            trained.append((token, counts[token] * (1 / (1 + np.exp(-score)) - (1 - code)), row))
                sums: dict[int, np.ndarray] = {}
                for token, wrong, row in trained:
                    gradients[run, token] += wrong * rows[row, :size]
                    sums[row] = sums.get(row, 0.0) + wrong * hidden[run, token]
                if not self.frozen:
                    rows, _ = moved(rows, sums, self.rate, np.inf, NO_FACTORS)
        return gradients, loss, rows

    def trained_tokens(self, run: int, place: int) -> list[int]:
        """Return the tokens whose hidden vectors are trained with the word at a place of a widened run."""
        tokens = range(self.windows.left.shape[-1])
        if self.every_context:
            return [token for token in tokens if place in contexts_of(self.windows, run, token)]
        return [
            token for token in tokens if place == token + self.windows.window and contexts_of(self.windows, run, token)
        ]


def huffman_paths(
    size: int, every_context: bool, window: int = 3, runs: int = 3, tokens: int = 6, scale: float = 1.0, **own: Any
) -> HuffmanPaths:
    """Return words whose paths have from no step to as many as there are rows."""
    rng = np.random.default_rng(size + window)
    lengths = [0, ROWS, 1, *rng.integers(0, ROWS + 1, 4).tolist()]
    nodes = np.concatenate([rng.permutation(ROWS)[:length] for length in lengths])
    return HuffmanPaths(
        hidden=normal(runs, tokens, size) * np.float32(scale / np.sqrt(size)),
        words=numbers_below(len(lengths), BATCHES, runs, tokens + 2 * window),
        windows=windows_of(runs, tokens, window),
        nodes=nodes.astype(np.int32),
        codes=rng.integers(0, 2, len(nodes)).astype(np.int32),
        offsets=np.cumsum([0, *lengths]).astype(np.int32),
        every_context=every_context,
        **own,
    )


def check_huffman_paths(call: HuffmanPaths) -> None:
    """Check what becomes of gradients and of one table, against plain loops."""
    before = table_rows(call.hidden.shape[-1], call.adagrad, seed=5)
    table = Table(before)
    gradients, loss = call.run(table)
    expected_gradients, expected_loss, expected_rows = call.in_loops(before)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(loss, expected_loss if call.measured else 0.0, rtol=1e-5)
    np.testing.assert_allclose(table.values(), expected_rows, rtol=1e-5, atol=1e-5)


def check_one_score(score: float, code: int) -> None:
    """Check the loss and the gradient of a score in vectors of one number."""
    left, right = (np.array([[reach]] * BATCHES, np.int32) for reach in ([0, 1], [1, 0]))
    call = HuffmanPaths(
        hidden=np.array([[[score], [score]]], np.float32),
        words=np.zeros((BATCHES, 1, 4), np.int32),
        windows=Windows(left, right, 1),
        nodes=np.zeros(1, np.int32),
        codes=np.array([code], np.int32),
        offsets=np.array([0, 1], np.int32),
        every_context=False,
        rate=0.0,
    )
    gradients, loss = call.run(Table(np.ones((1, 1), np.float32)))
    limited = np.clip(score, -LARGEST_SCORE, LARGEST_SCORE)
    wrong = limited if code else -limited
    np.testing.assert_allclose(loss, 2 * np.log1p(np.exp(wrong)), rtol=1e-6, atol=1e-30)
    expected = 1 / (1 + np.exp(-wrong)) * (1 if code else -1)
    np.testing.assert_allclose(gradients, np.full((1, 2, 1), expected), rtol=1e-6, atol=0)
