"""The plain functions on CBOW's contexts of equal weight, and what plain loops over NumPy arrays make of the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gensim_tfw2v.steps.plain.contexts import RowContexts
from gensim_tfw2v.steps.plain.table import StepTable
from support.batch_contexts import check_steps
from support.operation_inputs import (
    BATCH,
    BATCHES,
    NO_FACTORS,
    ROWS,
    Table,
    Windows,
    contexts_of,
    normal,
    numbers_below,
    table_rows,
    windows_of,
)


class EvenContexts(NamedTuple):
    """What tokens' contexts are, and whether they are averaged or summed."""

    ids: np.ndarray
    windows: Windows
    mean: bool

    def given(self) -> RowContexts:
        """Return what has the functions."""
        left, right, window = self.windows
        return RowContexts.even(self.ids[BATCH], left[BATCH], right[BATCH], window, self.mean)

    def tokens(self) -> Iterator[tuple[tuple[int, int], list[int]]]:
        """Yield every token of the batch that has contexts, with the rows of these."""
        for run, token in np.ndindex(self.windows.left[BATCH].shape):
            rows = [int(self.ids[BATCH, run, place]) for place in contexts_of(self.windows, run, token)]
            if rows:
                yield (run, token), rows


def some_even_contexts(window: int = 3, runs: int = 4, tokens: int = 6, mean: bool = True) -> EvenContexts:
    """Return contexts that tokens have within their sentences."""
    ids = numbers_below(ROWS, BATCHES, runs, tokens + 2 * window)
    return EvenContexts(ids, windows_of(runs, tokens, window), mean)


def contexts_of_continued_runs(window: int, runs: int, tokens: int, gap: int | None = None) -> EvenContexts:
    """Return contexts in runs that continue each other, as those of a block do, except before the run `gap`."""
    line = numbers_below(ROWS, BATCHES, runs * tokens + 2 * window)
    ids = np.stack([line[:, run * tokens : (run + 1) * tokens + 2 * window] for run in range(runs)], axis=1)
    if gap is not None:
        ids[:, gap] = (ids[:, gap] + 1) % ROWS
    return EvenContexts(ids, windows_of(runs, tokens, window), mean=True)


def check_summed_even_contexts(size: int, contexts: EvenContexts, adagrad: bool = False) -> None:
    """Check the means or sums of contexts."""
    before = table_rows(size, adagrad)
    hidden = contexts.given().sum(StepTable(Table(before).handle, adagrad)).numpy()
    expected = np.zeros((*contexts.windows.left[BATCH].shape, size))
    for token, rows in contexts.tokens():
        summed = before[rows, :size].astype(np.float64).sum(axis=0)
        expected[token] = summed / len(rows) if contexts.mean else summed
    np.testing.assert_allclose(hidden, expected, rtol=1e-5, atol=1e-5)
    alone = contexts.windows.left[BATCH] + contexts.windows.right[BATCH] == 0
    assert not hidden[alone].any()


def check_moved_even_contexts(
    size: int, contexts: EvenContexts, factors: np.ndarray = NO_FACTORS, adagrad: bool = False
) -> None:
    """Check rows moved by the gradients of means or sums; those of half of the rows are too long."""
    gradients = normal(*contexts.windows.left[BATCH].shape, size, seed=2)
    sums: dict[int, np.ndarray] = {}
    for token, rows in contexts.tokens():
        for row in rows:
            share = 1.0 if contexts.mean else 1 / len(rows)
            sums[row] = sums.get(row, 0.0) + share * gradients[token].astype(np.float64)
    check_steps(contexts.given(), gradients, sums, factors, adagrad)
