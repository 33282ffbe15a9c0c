"""Measured trainings → what their tasks cost.

Two costs of each kind of task are found, from its processor seconds in two trainings, with 1 and with most workers.
How often a training has what a cost is counted for, such as calls and bytes, comes from its simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import nnls

from gensim_tfw2v.planning.workload import ID_BYTES
from simulation.costs import Costs, TaskCost
from simulation.measured import COORDINATOR, SERVER, WORKER, Cell
from simulation.scenario import AVERAGING, DOWNPOUR, PARTITION, SYNCHRONOUS
from simulation.simulate import simulate

_MERGE = "merge"
# What is found for each kind of task. Others are 0: two trainings cannot tell more costs apart.
FITTED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    DOWNPOUR: {WORKER: ("word", "byte"), SERVER: ("training", "byte"), COORDINATOR: ("word", "block")},
    SYNCHRONOUS: {WORKER: ("word", "block"), SERVER: ("training", "byte"), COORDINATOR: ("word", "block")},
    AVERAGING: {WORKER: ("word", "byte"), SERVER: (), COORDINATOR: ("word", "block")},
    PARTITION: {WORKER: ("word",), SERVER: (), COORDINATOR: ("word", _MERGE)},
}
_HANDLED = {SYNCHRONOUS: 1.5}  # times that a server handles a byte: in slots, it also adds what was pushed
_FREE = Costs(TaskCost(), TaskCost(), TaskCost())


def fit(cells: Sequence[Cell]) -> Costs:
    """Return the costs that these trainings of one design and mode had."""
    kinds = FITTED[cells[0].design]
    counts = [counts_of(cell) for cell in cells]
    found = {kind: _fit_kind(kind, names, cells, counts) for kind, names in kinds.items()}
    merge = found[COORDINATOR].pop(_MERGE, 0.0)
    return Costs(TaskCost(**found[WORKER]), TaskCost(**found[SERVER]), TaskCost(**found[COORDINATOR]), merge=merge)


def counts_of(cell: Cell) -> dict[str, float]:
    """Return how often a training has each of what costs are counted for, all tasks of a kind together."""
    outcome = simulate(cell.scenario(_FREE))
    workload = cell.workload
    row_bytes = (outcome.bytes_a_word - workload.frequencies.known_share * ID_BYTES) * outcome.words
    submodels = cell.workers if cell.workers > 1 else 0
    merged = submodels * workload.vocabulary * workload.vector_size
    calls = outcome.calls
    return {"word": outcome.words, "byte": row_bytes, "block": calls, "blocks": outcome.blocks, _MERGE: merged}


def _fit_kind(
    kind: str, names: Sequence[str], cells: Sequence[Cell], counts: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    if not names:
        return {}
    rows = [[_count(kind, name, cell, of_cell) for name in names] for cell, of_cell in zip(cells, counts, strict=True)]
    measured = np.array([cell.processor_seconds[kind] for cell in cells])
    relative = np.array(rows) / measured[:, None]
    scale = relative.max(axis=0)
    found, _ = nnls(relative / scale, np.ones(len(cells)))
    return dict(zip(names, (found / scale).tolist(), strict=True))


def _count(kind: str, name: str, cell: Cell, counts: Mapping[str, float]) -> float:
    if name == "training":
        return float(cell.settings["ps"]) if kind == SERVER else 1.0
    if kind == SERVER and name == "byte":
        return counts[name] * _HANDLED.get(cell.design, 1.0)
    if kind == WORKER and name == "block":
        return counts["blocks"]
    return counts[name]


def with_own_words(costs: Costs, alone: Cell) -> Costs:
    """Return costs whose word on a worker is that of another training with one worker.

    It has its own mode, and was measured on another day, on which processors were not equally fast.
    """
    counts = counts_of(alone)
    others = costs.worker.byte * counts["byte"] + costs.worker.block * counts["blocks"]
    word = (alone.processor_seconds[WORKER] - others) / counts["word"]
    return replace(costs, worker=replace(costs.worker, word=max(word, 0.0)))
