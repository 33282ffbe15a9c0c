"""A model's matrices, here or on the servers, as tables under their names, with the optimizer's states of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.files.mapped_rows import as_table, is_same, whole_rows
from gensim_tfw2v.model.documents import output_size
from gensim_tfw2v.model.input_parts import (
    InputPart,
    JoinedRows,
    input_parts,
    inputs_of,
    lock_factors_of,
    set_inputs,
)
from gensim_tfw2v.model.optimizer_choice import first_state
from gensim_tfw2v.placement.contract import ModelTables, RemoteMatrix, check_is_here
from gensim_tfw2v.placement.remote.server_matrix import server_matrices
from gensim_tfw2v.steps.settings import ADAGRAD, SGD

OUTPUTS = {"outputs": "syn1neg", "nodes": "syn1"}
"""Attributes of a model, by table."""


def tables_of(model: Word2Vec) -> ModelTables:
    """Return a model's matrices, made writable float32 if they are not.

    Those in files whose rows are as the model's optimizer needs them are to be trained in place.
    """
    for name, attribute in OUTPUTS.items():
        if name in table_names(model) and not isinstance(matrix := getattr(model, attribute), RemoteMatrix):
            setattr(model, attribute, as_table(matrix))
    tables = ModelTables(
        inputs=matrix_of(model, "inputs"),
        outputs=model.syn1neg if model.negative else None,
        nodes=model.syn1 if model.hs else None,
        lock_factors=lock_factors_of(model),
    )
    matrices = tables.in_process()
    states = _states_for(model, {name: len(rows) for name, rows in matrices.items()})
    in_place = {name: rows for name in matrices if (rows := _rows_of(matrices[name], states.get(name))) is not None}
    return replace(tables, states=states, in_place=in_place)


def _rows_of(matrix: Any, states: Any) -> Float32Array | None:
    """Return the rows of a file that has this matrix and, if there are any, its states as the only other column."""
    rows = whole_rows(matrix)
    if rows is None or rows.shape[1] != matrix.shape[1] + (states is not None):
        return None
    return rows if states is None or is_same(states, rows[:, -1]) else None


def tables_of_words(model: Word2Vec, words: int) -> ModelTables:
    """Return a model's matrices without rows of words after the first `words`."""
    tables = tables_of(model)
    return tables if len(input_parts(model)) > 1 else tables.first_rows(words)


def matrices_of(model: Word2Vec) -> list[tuple[str, Any, tuple[int, int]]]:
    """Return the matrices that training needs: the name as an attribute, the matrix or None, and the shape it needs."""
    inputs = [(part.name, part.get(model), (part.rows, model.vector_size)) for part in input_parts(model)]
    shape = len(model.wv), output_size(model)
    outputs = [(OUTPUTS[name], getattr(model, OUTPUTS[name], None), shape) for name in table_names(model)[1:]]
    return inputs + outputs


def table_names(model: Word2Vec) -> list[str]:
    """Return the names of the tables that a model has."""
    return ["inputs", *(["outputs"] if model.negative else []), *(["nodes"] if model.hs else [])]


def set_matrix(model: Word2Vec, table: str, matrix: Float32Array | RemoteMatrix | None) -> None:
    """Set the matrix of a table."""
    if table in OUTPUTS:
        setattr(model, OUTPUTS[table], matrix)
    else:
        set_inputs(model, matrix)


def matrix_of(model: Word2Vec, table: str) -> Any:
    """Return the matrix of a table, None if the model has none."""
    if table in OUTPUTS:
        return getattr(model, OUTPUTS[table], None)
    first = input_parts(model)[0].get(model)
    return first if first is None or isinstance(first, RemoteMatrix) else inputs_of(model)


def _states_for(model: Word2Vec, row_counts: Mapping[str, int]) -> dict[str, Any]:
    """Return what the optimizer keeps for the rows of each table, one number each, for so many rows.

    Rows that are new begin with `first_state`. Like their vectors, nodes keep their states when the Huffman tree grows.
    """
    if model.optimizer == SGD:
        return {}
    kept: dict[str, Float32Array] = model.optimizer_states
    parts = input_parts(model)
    of_inputs = _state_rows(parts)
    for name, rows in {**row_counts, **(of_inputs if len(parts) > 1 else {})}.items():
        before = kept.get(name, ())
        if name in kept and len(before) == rows:
            continue
        kept[name] = np.full(rows, first_state(model), np.float32)
        if len(before) < rows:
            kept[name][: len(before)] = before
    states = {name: kept[name] for name in row_counts}
    if len(parts) > 1:
        return states | {"inputs": JoinedRows(parts, [kept[name] for name in of_inputs])}
    return states


def set_states(model: Word2Vec, states: Mapping[str, Float32Array]) -> None:
    """Set the optimizer's states of each table's rows."""
    parts, kept = input_parts(model), dict(states)
    if len(parts) > 1 and "inputs" in states:
        kept |= {name: np.zeros(rows, np.float32) for name, rows in _state_rows(parts).items()}
        JoinedRows(parts, [kept[name] for name in _state_rows(parts)])[:] = states["inputs"]
    model.optimizer_states = kept


def _state_rows(parts: Sequence[InputPart]) -> dict[str, int]:
    """Return how many states each part has, by its name among ``optimizer_states``.

    Those of further parts are apart, so that they stay theirs when there are more words.
    """
    return {("inputs" if number == 0 else part.matrix): part.rows for number, part in enumerate(parts)}


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
    seeds = {name: seed if name == "inputs" else None for name in table_names(model)}
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
    for matrix in (model.wv.vectors, *(getattr(model, name, None) for name in OUTPUTS.values())):
        check_is_here(matrix)


def prepare_server_states(model: Word2Vec) -> None:
    """Set the first states of vectors on the servers; raise ValueError if another optimizer has trained these."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        store = model.wv.vectors.store
        store.check_states(model.optimizer == ADAGRAD)
        store.first_state = first_state(model)
