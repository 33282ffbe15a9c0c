"""What the optimizer keeps for the rows of a model, one number each, with which the next training continues."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.steps.settings import SGD


def states_for(model: Word2Vec, row_counts: Mapping[str, int]) -> dict[str, Float32Array]:
    """Return a model's own states, by table, for so many rows of each; none if its optimizer has no states.

    Rows that are new begin with a state of 0. Like their vectors, nodes keep their states when the Huffman tree grows.
    """
    if model.optimizer == SGD:
        return {}
    kept: dict[str, Float32Array] = model.optimizer_states
    for name, rows in row_counts.items():
        before = kept.get(name, np.zeros(0, np.float32))
        if len(before) == rows:
            continue
        kept[name] = np.zeros(rows, np.float32)
        if len(before) < rows:
            kept[name][: len(before)] = before
    return {name: kept[name] for name in row_counts}


def check_states(states: Any) -> None:
    """Raise RuntimeError unless the states of a model are numbers that its optimizer can continue with."""
    how = "set model.optimizer_states to {}, so that it begins anew"
    if not isinstance(states, dict):
        raise RuntimeError(f"optimizer_states must be a dictionary to train, got {type(states).__name__}; {how}")
    for name, values in states.items():
        if not isinstance(values, np.ndarray) or values.dtype != np.float32 or values.ndim != 1:
            raise RuntimeError(f"optimizer_states[{name!r}] must be an array of float32 numbers to train; {how}")
        if not (np.isfinite(values) & (values >= 0)).all():
            raise RuntimeError(f"optimizer_states[{name!r}] must hold finite numbers of 0 or more to train; {how}")
