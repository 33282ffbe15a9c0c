"""What the reference makes of a block that several threads train, which do not see each other's latest steps."""

from __future__ import annotations

import copy
from collections import deque
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
    """Train a run of each thread in turn, with rows as they were `threads` - 1 turns before.

    Each thread has consecutive runs. In the end, all steps are visible.
    """
    model, waiting = example.untrained(), deque[_Changes]()
    first, end = example.arguments["span"].tolist()
    of_batch = example.arguments["left"].shape[1]
    metrics, count = np.zeros((end - first, 3)), (end - first) * of_batch
    of_thread = -(-count // threads)
    for turn in range(of_thread * threads):
        if len(waiting) == threads:
            _show(model, waiting.popleft())
        trained, number = copy.deepcopy(model), turn % threads * of_thread + turn // threads
        if number < count:
            batch = number // of_batch
            run = _run_of(example.batches[first + batch], number % of_batch)
            if any(all(windows) for windows in run.windows):
                loss = trained.train(run, float(example.arguments["learning_rates"][first + batch]), example.words)
                metrics[batch] += (loss, trained.touched_rows, trained.clipped_rows)
                model.closest_call = min(model.closest_call, trained.closest_call)
        waiting.append(_changes(model, trained))
    for changes in waiting:
        _show(model, changes)
    return Expected(model, metrics.T)


def _run_of(batch: ReferenceBatch, number: int) -> ReferenceBatch:
    """Return a run of a batch as a batch of its own; it is empty if the batch has fewer."""
    part = slice(number * batch.run_tokens, (number + 1) * batch.run_tokens)
    weights = None if batch.weights is None else batch.weights[part]
    return ReferenceBatch(batch.words[part], batch.windows[part], batch.negatives[part], batch.run_tokens, weights)


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
