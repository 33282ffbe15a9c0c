"""A model's matrices, here or on the servers, as tables under their names, with the optimizer's states of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.placement.contract import ModelTables, RemoteMatrix, check_is_here
from gensim_tfw2v.placement.remote.server_matrix import server_matrices
from gensim_tfw2v.steps.settings import ADAGRAD, SGD

_MATRICES = {"inputs": ("wv", "vectors"), "outputs": ("syn1neg",), "nodes": ("syn1",)}  # attributes of a model


def tables_of(model: Word2Vec) -> ModelTables:
    """Return a Word2Vec model's matrices, made writable float32 in place if they are not."""
    if getattr(model.wv, "vectors_lockf", None) is None:  # as after reset_from()
        model.wv.vectors_lockf = np.ones(1, np.float32)
    for name in _names(model):
        if not isinstance(matrix := matrix_of(model, name), RemoteMatrix):
            set_matrix(model, name, np.require(matrix, np.float32, ["C", "W"]))
    tables = ModelTables(
        inputs=model.wv.vectors,
        outputs=model.syn1neg if model.negative else None,
        nodes=model.syn1 if model.hs else None,
        lock_factors=model.wv.vectors_lockf,
    )
    return replace(tables, states=_states_for(model, {name: len(rows) for name, rows in tables.in_process().items()}))


def matrices_of(model: Word2Vec) -> list[tuple[str, Any]]:
    """Return the matrices that training needs, after their names as attributes; None for one that is missing."""
    return [(".".join(_MATRICES[table]), matrix_of(model, table)) for table in _names(model)]


def _names(model: Word2Vec) -> list[str]:
    return ["inputs", *(["outputs"] if model.negative else []), *(["nodes"] if model.hs else [])]


def set_matrix(model: Word2Vec, table: str, matrix: Float32Array | RemoteMatrix) -> None:
    """Set the matrix of a table."""
    *path, name = _MATRICES[table]
    setattr(model.wv if path else model, name, matrix)


def matrix_of(model: Word2Vec, table: str) -> Any:
    """Return the matrix of a table, None if the model has none."""
    *path, name = _MATRICES[table]
    return getattr(model.wv if path else model, name, None)


def _states_for(model: Word2Vec, row_counts: Mapping[str, int]) -> dict[str, Float32Array]:
    """Return what the optimizer keeps for the rows of each table, one number each, for so many rows.

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


class ServerKeyedVectors(KeyedVectors):
    """Keyed vectors with their matrix on the servers; copies and pickles have gensim's own class."""

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim does; if the vectors are on the servers, raise RuntimeError and leave the file as it is."""
        check_is_here(self.vectors)
        super().save(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (KeyedVectors,), self.__dict__


def make_server_matrices(model: Word2Vec) -> None:
    """Give a model matrices that the servers make when training begins."""
    (seed,) = np.random.SeedSequence(model.seed).generate_state(1, np.uint64).tolist()
    seeds = {name: seed if name == "inputs" else None for name in _names(model)}
    model.wv.__class__ = ServerKeyedVectors  # callers may hold this object, so it is not replaced
    for name, matrix in server_matrices(len(model.wv), model.vector_size, seeds).items():
        set_matrix(model, name, matrix)


def free_server_matrices(model: Word2Vec) -> None:
    """Free the servers' memory of a model's matrices."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        model.wv.vectors.store.free()


def check_vocabulary_can_change(model: Word2Vec) -> None:
    """Raise RuntimeError if rows on the servers belong to the words of the present vocabulary."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        raise RuntimeError(
            "the vocabulary of a model with vectors_on_servers=True is built once: its vectors cannot be moved to "
            "other rows; make a new model"
        )


def check_matrices_are_here(model: Word2Vec) -> None:
    """Raise RuntimeError if a matrix of the model is on the servers."""
    for table in _MATRICES:
        check_is_here(matrix_of(model, table))


def check_server_states(model: Word2Vec) -> None:
    """Raise ValueError if another optimizer than the model's has trained its vectors on the servers."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        model.wv.vectors.store.check_states(model.optimizer == ADAGRAD)
