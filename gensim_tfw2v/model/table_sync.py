"""Synchronises a model's tables with a placement's while the model is trained."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.files.mapped_rows import expect_reads
from gensim_tfw2v.files.models import keyed_documents
from gensim_tfw2v.model.consistency import check_fits, check_rows
from gensim_tfw2v.model.input_parts import input_parts
from gensim_tfw2v.model.tables import tables_of, tables_of_words
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.row_states import STATE_SUFFIX
from gensim_tfw2v.training.cadence import BackupCadence
from gensim_tfw2v.training.divergence import DivergenceError


class TableSync:
    """Copies vectors between a model and a placement; one of the two has the current vectors."""

    def __init__(self, model: Word2Vec, placement: Placement) -> None:
        self._model = model
        self.placement = placement
        """Whether or not it has the vectors. To train on another one, set it after `drop_placement`."""
        self._words = list(model.wv.index_to_key)
        self._is_pushed = False
        self._backups = BackupCadence()
        self._buffer: ModelTables | None = None  # for tables that may be lost while they are read

    def drop_placement(self) -> None:
        """Free a placement that has lost its tables; the model has the current vectors from then on."""
        self.placement.close()
        self._is_pushed = False

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each table by its name."""
        return {name: tuple(table.shape) for name, table in self._tables().present().items()}

    def push(self) -> Placement:
        """Return the placement, which has the current vectors from then on."""
        if not self._is_pushed:
            check_fits(self._model)
            self.check_words()
            tables = tables_of(self._model)
            if tables.in_place and not self.placement.trains_in_place:
                raise ValueError(
                    f"tables_dir={self._model.tables_dir!r} needs the compiled operations of this package on the CPU, "
                    "and other steps are to train; see docs/start/install.md, or save the model, and load it to train "
                    "in memory"
                )
            self.placement.load(tables)
            self._expect_reads(tables, at_random=True)
            self._is_pushed = True
            self._backups.record()
        return self.placement

    def look(self) -> ModelTables:
        """Return the current vectors, to be read only. During training, rows are read at slightly different times."""
        tables = self._tables()
        if self._is_pushed:
            tables = tables.empty()
            self.placement.read_into(tables)
        return tables

    def look_at_words(self) -> ModelTables:
        """Return the current vectors as `look` does, of inputs only those that are the words' own."""
        tables = self.look()
        of_words, *others = input_parts(self._model)
        if not others:
            return tables
        return replace(
            tables,
            inputs=np.asarray(tables.inputs[: of_words.size]) if of_words.used is None else of_words.get(self._model),
        )

    def look_at_documents(self) -> Any:
        """Return the current vectors of documents, as KeyedVectors of their tags."""
        vectors = self.look().inputs[input_parts(self._model)[0].size :]
        return keyed_documents(self._model.dv.index_to_key, vectors)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        """Return current rows `first` to `end` of the table of this name, to be read only."""
        if self._is_pushed:
            return self.placement.rows(table, first, end)
        return np.asarray(self._tables().present()[table][first:end])

    def pull(self) -> None:
        """Copy the current tables into the model, which has them from then on.

        What follows from them is brought up to date by the model's `_clear_post_train`.
        """
        if self._is_pushed:
            self._read()
            self._is_pushed = False
            self._expect_reads(tables_of(self._model), at_random=False)

    def _expect_reads(self, tables: ModelTables, at_random: bool) -> None:
        for rows in tables.in_place.values():
            expect_reads(rows, at_random)

    def copies(self) -> dict[str, Float32Array]:
        """Return copies of the current tables by name, and one column with the states of each, as checkpoints do."""
        tables = self.look()
        states = {name + STATE_SUFFIX: np.asarray(values)[:, np.newaxis] for name, values in tables.states.items()}
        found = tables.present() | states
        return found if self._is_pushed else {name: np.array(values) for name, values in found.items()}

    def put(self, copies: Mapping[str, Float32Array]) -> None:
        """Set the model's tables, which it has from now on, and the states of their rows to these values, as `pull`."""
        tables = self._tables()
        for name, table in tables.present().items():
            table[:] = copies[name]
        for name, states in tables.states.items():
            states[:] = copies[name + STATE_SUFFIX][:, 0]
        self._is_pushed = False

    def back_up(self, is_due: bool = False) -> bool:
        """Copy the vectors into the model if the placement could lose them; the placement keeps the current ones.

        Return False if they are not copied because a copy is not due and not worth its time now.
        """
        if self.placement.can_fail:
            if self.placement.reading_takes_long and not (is_due or self._backups.is_due()):
                return False
            began = time.monotonic()
            self._read()
            self._backups.record(began)
        return True

    def _read(self) -> None:
        """Copy the placement's tables into the model; if they are lost meanwhile, the model stays as it is."""
        tables = self._tables()
        if not self.placement.can_fail:
            self.placement.read_into(tables)
        else:
            if self._buffer is None:
                self._buffer = tables.empty()
            self.placement.read_into(self._buffer)
            self._buffer.copy_to(tables)

    def check_words(self) -> None:
        """Raise RuntimeError if there are more or fewer words than when training began."""
        words = len(self._model.wv.index_to_key)
        if words != len(self._words):
            raise RuntimeError(
                f"the vocabulary had {len(self._words)} words when train() began and has {words} now; change it before "
                "train(), with build_vocab(), and not in a callback or in the corpus's iterator"
            )

    def _tables(self) -> ModelTables:
        """Return the model's matrices without rows of words that were added during training.

        Raise RuntimeError if other rows belong to other words than when training began.
        """
        words = len(self._words)
        if self._model.wv.index_to_key[:words] != self._words:
            raise RuntimeError(
                "the words of wv.index_to_key have changed during train(), so that it is unknown whose vectors were "
                "trained; change the vocabulary before train()"
            )
        check_rows(self._model, words)
        return tables_of_words(self._model, words)

    def with_most_moved_word(self, error: DivergenceError) -> DivergenceError:
        """Return the error with the word whose vector is furthest from where the model has it, if one has moved."""
        of_words, *others = input_parts(self._model)
        moved = error.divergence.most_moved
        if moved is not None and others and (of_words.used is not None or moved[0] >= of_words.size):
            moved = None  # it may be a row of an n-gram or a tag
        word, distance = moved or self._most_moved()
        return error.with_word(self._words[word], distance) if distance else error

    def _most_moved(self) -> tuple[int, float]:
        before, now = self._tables(), self.look()
        of_words, *_ = input_parts(self._model)
        words = slice(of_words.size if of_words.used is None else 0)  # others are rows of n-grams or tags
        found = [_furthest(before.inputs[words], now.inputs[words])]
        if before.outputs is not None and now.outputs is not None:
            found.append(_furthest(before.outputs, now.outputs))
        return max(found, key=lambda word_and_distance: word_and_distance[1])

    def close(self) -> None:
        """Pull, unless the placement has lost the vectors, and free the placement."""
        try:
            if self._is_pushed and not self.placement.has_failed:
                self.pull()
        finally:
            self._buffer = None
            self.placement.close()


def _furthest(before: Float32Array, now: Float32Array) -> tuple[int, float]:
    """Return the row in which two matrices differ most, and the length of the difference."""
    both = zip(np.asarray(now), np.asarray(before), strict=True)
    squares = [float(np.sum(np.square(np.subtract(*rows, dtype=np.float64)))) for rows in both]
    if not squares:
        return 0, 0.0
    row = int(np.argmax(squares))
    return row, float(np.sqrt(squares[row]))
