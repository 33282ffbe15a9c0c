"""A model's matrices in files of `tables_dir`, with the optimizer's state behind each row, as training changes them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v.arrays import Float32Array, pieces
from gensim_tfw2v.files.mapped_rows import is_same, rows_in_files, whole_rows, without_gaps
from gensim_tfw2v.model.optimizer_choice import choose_optimizer, first_state
from gensim_tfw2v.model.tables import OUTPUTS, matrix_of, set_matrix, table_names
from gensim_tfw2v.steps.settings import ADAGRAD


class _MultipliedRows:
    """Stands in for a matrix whose rows have gaps in NumPy's `dot`, which would copy it; `matmul` does not."""

    def __init__(self, matrix: Float32Array) -> None:
        self._matrix, self.dtype, self.shape = matrix, matrix.dtype, matrix.shape

    def __len__(self) -> int:
        return len(self._matrix)

    def __getitem__(self, rows: Any) -> Any:
        return _MultipliedRows(self._matrix[rows]) if isinstance(rows, slice) else self._matrix[rows]

    def __array_function__(self, function: Any, types: Any, operands: Any, named: Any) -> Any:
        return self._matrix @ operands[1] if function is np.dot and operands[0] is self else NotImplemented


class KeyedVectorsOnDisk(KeyedVectors):
    """Keyed vectors with their matrix in a file; copies and pickles have gensim's own class, and a matrix in memory."""

    norms: Float32Array | None

    def fill_norms(self, force: bool = False) -> None:
        """Set ``norms`` as gensim does, a few rows at a time."""
        if self.norms is None or force:
            self.norms = np.empty(len(self.vectors), np.float32)
            for rows in pieces(self.vectors):
                self.norms[rows] = np.linalg.norm(self.vectors[rows], axis=1)

    def most_similar(self, *args: Any, **kwargs: Any) -> Any:
        """Return what gensim does, without a copy of the matrix."""
        return self._queried().most_similar(*args, **kwargs)

    def most_similar_cosmul(self, *args: Any, **kwargs: Any) -> Any:
        """Return what gensim does, without a copy of the matrix."""
        return self._queried().most_similar_cosmul(*args, **kwargs)

    def _queried(self) -> KeyedVectors:
        self.fill_norms()
        found = copy.copy(self)
        found.vectors = _MultipliedRows(self.vectors)
        return found

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim does, without the matrix in memory."""
        _to_save(self).save(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (KeyedVectors,), self.__dict__


def make_tables(model: Word2Vec) -> None:
    """Give a model the matrices of gensim's ``init_weights()``, with the same numbers."""
    for name in table_names(model)[1:]:
        set_matrix(model, name, None)
    grow_tables(model)


def grow_tables(model: Word2Vec) -> None:
    """Add rows for new words to a model's matrices, as gensim's ``update_weights()`` does."""
    put_on_disk(model)
    model.wv.allocate_vecattrs()
    model.wv.norms = None


def put_on_disk(model: Word2Vec, draws: bool = True, begins: bool = False) -> None:
    """Have all tables of a model in files, with a row for each word, and a state behind it if the optimizer has states.

    Tables that are so already stay. The others are copied. Rows that are new are the initial ones, of `outputs` and
    `nodes` zeros.

    Parameters
    ----------
    draws : bool
        Whether new rows of words are drawn; otherwise they are zeros.
    begins : bool
        Whether a training begins, which sets the states of new rows to `first_state`: it knows its epochs.
    """
    has_states = (model.optimizer or choose_optimizer(model)) == ADAGRAD
    shape = len(model.wv), model.vector_size + int(has_states)
    before = {name: matrix_of(model, name) for name in table_names(model)}
    present = {name: rows for name, matrix in before.items() if (rows := whole_rows(matrix)) is not None}
    is_there = {name for name, rows in present.items() if rows.shape == shape}
    new = rows_in_files(str(model.tables_dir), {name: shape for name in before if name not in is_there})
    if model.wv.__class__ is KeyedVectors:
        model.wv.__class__ = KeyedVectorsOnDisk  # callers may hold this object, so it is not replaced
    states = model.optimizer_states
    for name, rows in (present | new).items():
        if name in new:
            vectors = rows[:, : model.vector_size]
            _fill(vectors, before[name], model.seed, draws and name == "inputs")
            set_matrix(model, name, vectors)
        if has_states and begins:
            first, is_new = first_state(model), name in new or len(states.get(name, [0])) == 0
            states[name] = _with_states(rows[:, -1], states.get(name), first, is_new)
        elif has_states and name in new:
            states.setdefault(name, rows[:0, -1])  # which says that the column is new
        elif name in states:
            states[name] = np.array(states[name])  # the file with the column is to go


def _fill(rows: Float32Array, before: Float32Array | None, seed: Any, draws: bool) -> None:
    """Write the rows that were there before, and behind them those that gensim draws for this seed."""
    known = 0 if before is None else len(before)
    if draws and known < len(rows):
        generator = np.random.default_rng(seed)
        for part in pieces(rows):
            drawn = generator.random(rows[part].shape, np.float32)
            drawn *= 2.0
            drawn -= 1.0
            drawn /= rows.shape[1]
            rows[part] = drawn
    if before is not None:
        rows[:known] = before


def _with_states(column: Float32Array, states: Float32Array | None, first: float, is_new: bool) -> Float32Array:
    """Return a column of rows with these states, as far as there are any, and `first` in others. New files have 0."""
    if states is not None and is_same(states, column):
        return column
    known = 0 if states is None else min(len(states), len(column))
    if first or not is_new:
        column[known:] = first
    if states is not None:
        column[:known] = states[:known]
    return column


def saved_from_disk(plain: Word2Vec) -> Word2Vec:
    """Return a plain gensim model whose matrices gensim can save from their files, without copies in memory."""
    found = _to_save(plain)
    found.wv = _to_save(plain.wv)
    return found


def _to_save(owner: Any) -> Any:
    """Return a copy of a model or of keyed vectors whose own matrices have rows that follow each other in the file."""
    found = copy.copy(owner)
    for name in ("vectors", *OUTPUTS.values()):
        if name in vars(owner):
            setattr(found, name, without_gaps(getattr(owner, name)))
    return found
