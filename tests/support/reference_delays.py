"""What the reference makes of a block if no run sees the steps of the runs just before it."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from support.reference import ReferenceBatch, ReferenceModel
from support.training_examples import Example, Expected

TABLES = ("inputs", "outputs", "nodes")


class _Changes(NamedTuple):
    """By how much a run has changed tables and states."""

    tables: dict[str, np.ndarray]
    states: dict[Any, float]


def train_with_delays(example: Example, threads: int) -> Expected:
    """Train each run with rows as they were `threads` - 1 runs before; in the end, all steps are visible."""
    model, waiting, metrics = example.untrained(), deque[_Changes](), []
    for number in range(*example.arguments["span"].tolist()):
        rate, of_batch = float(example.arguments["learning_rates"][number]), np.zeros(3)
        for run in _runs_of(example.batches[number]):
            if len(waiting) == threads:
                _show(model, waiting.popleft())
            trained = copy.deepcopy(model)
            loss = trained.train(run, rate, example.words)
            of_batch += (loss, trained.touched_rows, trained.clipped_rows)
            model.closest_call = min(model.closest_call, trained.closest_call)
            waiting.append(_changes(model, trained))
        metrics.append(of_batch)
    for changes in waiting:
        _show(model, changes)
    return Expected(model, np.array(metrics).T)


def _runs_of(batch: ReferenceBatch) -> Iterator[ReferenceBatch]:
    """Yield the runs of a batch as batches of their own, without those that have no contexts."""
    for first in range(0, len(batch.words), batch.run_tokens):
        part = slice(first, first + batch.run_tokens)
        weights = None if batch.weights is None else batch.weights[part]
        run = ReferenceBatch(batch.words[part], batch.windows[part], batch.negatives[part], batch.run_tokens, weights)
        if any(all(windows) for windows in run.windows):
            yield run


def _changes(before: ReferenceModel, after: ReferenceModel) -> _Changes:
    tables = {
        name: getattr(after, name) - getattr(before, name) for name in TABLES if getattr(before, name) is not None
    }
    return _Changes(tables, {row: state - before.states.get(row, 0.0) for row, state in after.states.items()})


def _show(model: ReferenceModel, changes: _Changes) -> None:
    """Add the changes of a run to the rows that others read."""
    for name, change in changes.tables.items():
        getattr(model, name)[:] += change
    for row, growth in changes.states.items():
        model.states[row] = model.states.get(row, 0.0) + growth
