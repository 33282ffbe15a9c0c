"""Tables, random arrays and windows to run operations on, and how plain loops move rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.plain.in_turn import Tokens

tf = load_tensorflow()

# Less than a register, whole ones, a few numbers more, and as many registers as a sum is kept in, and one more.
SIZES = [1, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65, 100, 127, 129, 143, 144, 145, 300]
NO_FACTORS = NO_WEIGHTS = np.zeros(0, np.float32)
ROWS, BATCHES, BATCH = 11, 3, 1
ADAGRAD_FACTOR, ADAGRAD_START = 200.0, 100.0

of_every_size = pytest.mark.parametrize("size", SIZES)


class Table:
    """A table whose rows operations may move."""

    def __init__(self, values: np.ndarray) -> None:
        with tf.device("/CPU:0"):
            self._variable = tf.Variable(tf.raw_ops.DeepCopy(x=values), trainable=False)

    def values(self) -> np.ndarray:
        """Return a copy of all its rows, made without operations of the package."""
        values: np.ndarray = tf.raw_ops.DeepCopy(x=self.memory).numpy()
        return values

    @property
    def handle(self) -> Any:
        """The handle of the table's variable."""
        return self._variable.handle

    @property
    def memory(self) -> Any:
        """What compiled operations take as the table: the variable's memory, and not a copy of it."""
        return tf.raw_ops.ReadVariableOp(resource=self.handle, dtype=tf.float32)


class Windows(NamedTuple):
    """Runs of sentences and how far tokens see within them."""

    left: np.ndarray  # [batches, runs, tokens]
    right: np.ndarray
    window: int


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Return normal random numbers of float32."""
    return np.random.default_rng((seed, *shape)).normal(size=shape).astype(np.float32)


def table_rows(size: int, adagrad: bool, seed: int = 0) -> np.ndarray:
    """Return vectors as rows of a table, with Adagrad's states behind them or without."""
    vectors = normal(ROWS, size, seed=seed)
    states = np.random.default_rng(seed).uniform(0, 100, (ROWS, int(adagrad))).astype(np.float32)
    return np.concatenate([vectors, states], 1)


def numbers_below(most: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Return random numbers, so few that many come more than once."""
    return np.random.default_rng((seed, *shape)).integers(0, most, shape).astype(np.int32)


def windows_of(runs: int, tokens: int, window: int, seed: int = 0, batches: int = BATCHES) -> Windows:
    """Return windows of tokens in sentences of 1 to 3 times the window, as far as these reach, or less far."""
    rng = np.random.default_rng(seed)
    total, left, right = batches * runs * tokens, [], []
    while len(left) < total:
        length = int(rng.integers(1, 3 * window + 1))
        reach = rng.integers(1, window + 1, length) if rng.random() < 0.5 else np.full(length, window)
        left += np.minimum(reach, np.arange(length)).tolist()
        right += np.minimum(reach, np.arange(length)[::-1]).tolist()
    shape = (batches, runs, tokens)
    return Windows(*(np.array(side[:total], np.int32).reshape(shape) for side in (left, right)), window)


def contexts_of(windows: Windows, run: int, token: int) -> list[int]:
    """Return the places of the widened run that are contexts of a token."""
    own = token + windows.window
    first, last = own - windows.left[BATCH, run, token], own + windows.right[BATCH, run, token]
    return [place for place in range(first, last + 1) if place != own]


def some_token_weights(runs: int, tokens: int) -> np.ndarray:
    """Return weights of a batch's tokens, one of which is 0."""
    weights = np.random.default_rng(runs).uniform(0, 4, runs * tokens).astype(np.float32)
    weights[1] = 0
    return weights


def tokens_of(hidden: np.ndarray, windows: Windows, weights: np.ndarray) -> Tokens:
    """Return the tokens of a batch with these hidden vectors; they count once if there are no weights."""
    found = weights.reshape(hidden.shape[:2]) if weights.size else np.ones(hidden.shape[:2], np.float32)
    return Tokens(hidden, found, *(tf.constant(side[BATCH]) for side in windows[:2]))


def weights_in_run(weights: np.ndarray, run: int, tokens: int) -> list[float]:
    """Return the weights of a run's tokens, which are 1 if there are no weights."""
    return weights.reshape(-1, tokens)[run].tolist() if weights.size else [1.0] * tokens


def moved(
    table: np.ndarray, sums: dict[int, np.ndarray], rate: float, max_step: float, factors: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Return a table moved against sums of gradients, how many rows moved, and how many of the steps were clipped."""
    after, clipped = table.astype(np.float64), 0
    for row, gradient in sums.items():
        step = rate_of_step(after[row], gradient, rate) * gradient
        length = np.sqrt((step * step).sum())
        if length > max_step:
            step = step * max_step / length
            clipped += 1
        after[row, : len(gradient)] -= step * (factors[row % len(factors)] if len(factors) else 1.0)
    return after, [len(sums), clipped]


def rate_of_step(row: np.ndarray, gradient: np.ndarray, rate: float) -> float:
    """Return the rate of a row's step. A row longer than its gradient ends with Adagrad's state, which grows."""
    if len(row) == len(gradient):
        return rate
    row[-1] += gradient @ gradient
    return float(rate * ADAGRAD_FACTOR / np.sqrt(ADAGRAD_START + row[-1]))


def median_step(sums: dict[int, np.ndarray], rate: float, table: np.ndarray | None = None) -> float:
    """Return a length that half of the steps are longer than; those of a table with states follow from these."""
    rates = {row: rate if table is None else rate_of_step(table[row].copy(), sums[row], rate) for row in sums}
    return float(np.median([rates[row] * np.linalg.norm(gradient) for row, gradient in sums.items()])) * 1.0001
