"""A model's matrices as tables, under their names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.model.optimizer_states import states_for
from gensim_tfw2v.model.server_vectors import writable_floats
from gensim_tfw2v.placement.contract import ModelTables

_MATRICES = {"inputs": ("wv", "vectors"), "outputs": ("syn1neg",), "nodes": ("syn1",)}  # attributes of a model


def tables_of(model: Word2Vec) -> ModelTables:
    """Return a Word2Vec model's matrices, made writable float32 in place if they are not."""
    if getattr(model.wv, "vectors_lockf", None) is None:  # as after reset_from()
        model.wv.vectors_lockf = np.ones(1, np.float32)
    model.wv.vectors = writable_floats(model.wv.vectors)
    if model.negative:
        model.syn1neg = writable_floats(model.syn1neg)
    if model.hs:
        model.syn1 = writable_floats(model.syn1)
    tables = ModelTables(
        inputs=model.wv.vectors,
        outputs=model.syn1neg if model.negative else None,
        nodes=model.syn1 if model.hs else None,
        lock_factors=model.wv.vectors_lockf,
    )
    return replace(tables, states=states_for(model, {name: len(rows) for name, rows in tables.in_process().items()}))


def set_matrix(model: Word2Vec, table: str, matrix: Float32Array) -> None:
    """Set the matrix of a table."""
    *path, name = _MATRICES[table]
    setattr(model.wv if path else model, name, matrix)


def matrix_of(model: Word2Vec, table: str) -> Any:
    """Return the matrix of a table."""
    *path, name = _MATRICES[table]
    return getattr(model.wv if path else model, name)
