"""Writes checkpoints of a training while it runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.checkpoints.arrays import ArrayToWrite, rows_of_a_piece
from gensim_tfw2v.checkpoints.errors import FolderInUseError
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.model.checkpoint_content import attributes_of, vocabulary_arrays
from gensim_tfw2v.model.input_parts import lock_factors_of
from gensim_tfw2v.model.tables import tables_of
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.training.cadence import Cadence
from gensim_tfw2v.training.progress import EpochPosition
from gensim_tfw2v.training.state import TrainingState

logger = logging.getLogger(__name__)

_FLOAT32 = np.dtype(np.float32)  # number type of tables


class Checkpointer:
    """Writes checkpoints of one call of `train()`.

    With one chunk at a time, training pauses while its tables are copied in memory. With several, training continues
    meanwhile, so that rows are saved at slightly different times. In both cases a thread writes the files. An error in
    writing is logged as a warning, and training continues.

    If a placement has tables of its own, those are read instead, and the model's tables stay as they were loaded.

    Parameters
    ----------
    every : float or str
        Seconds, or words as in "5e6 words", after which a checkpoint is due.
    state : callable
        Takes the positions of all epochs that have begun, and returns the state of the training.
    kept_arrays : callable, optional
        Returns arrays that checkpoints hold besides the tables. Training does not change them.
    """

    def __init__(
        self,
        folder: CheckpointFolder,
        model: Word2Vec,
        every: float | str,
        state: Callable[[list[EpochPosition]], TrainingState],
        kept_arrays: Callable[[], Mapping[str, Float32Array]] = dict,
    ) -> None:
        self.folder = folder
        self._model, self._state, self._kept_arrays = model, state, kept_arrays
        self._cadence = Cadence(every)
        self._vocabulary = vocabulary_arrays(model)
        self._placement: Placement | None = None
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._positions: Callable[[], list[EpochPosition]] | None = None  # of the latest chunk
        self._lock = threading.Lock()  # guards the cadence, the placement and the beginning of a checkpoint
        self._writing: threading.Thread | None = None
        self._end: FolderInUseError | None = None  # why this training is to end
        self._written = 0
        self._seconds_paused = 0.0

    def begin(self, placement: Placement, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Write checkpoints of this placement's tables, which have these shapes, from now on."""
        self._shapes = dict(shapes)
        self._placement = placement

    def after_chunk(self, raw_words: int, positions: Callable[[], list[EpochPosition]]) -> None:
        """Begin a checkpoint if one is due and none is being written.

        A single thread waits until rows in files are written: no copy in memory holds them for the checkpoint. Raise
        FolderInUseError if another training has taken over the folder.
        """
        if self._end is not None:
            raise self._end
        with self._lock:
            self._positions = positions
            self._cadence.add(raw_words)
            is_writing = self._writing is not None and self._writing.is_alive()
            if is_writing or self._placement is None or not self._cadence.is_due():
                return
            self._cadence.begin()
            began = time.perf_counter()
            # Positions first: chunks that are trained during the copy count as not trained.
            content = self._content(positions())
            tables = {**self._tables_in_training(self._placement), **self._kept()}
            arguments = content, tables
            self._writing = threading.Thread(target=self._write, args=arguments, name="tfw2v-checkpoint", daemon=True)
            self._writing.start()
            waits = self._placement.concurrency == 1 and self._model.tables_dir is not None
        if waits:
            self._writing.join()
        self._seconds_paused += time.perf_counter() - began

    def end(self, seconds: float | None = None) -> None:
        """Begin no further checkpoint of this placement, and wait until the one that is being written is whole.

        It is left to its thread if it takes longer than `seconds`, as on a storage that hangs. Until then, no other
        checkpoint is begun.
        """
        with self._lock:
            self._placement = None
        if self._writing is not None:
            self._writing.join(seconds)
            if self._writing.is_alive():
                logger.warning("a checkpoint is still being written to %s; training does not wait", self.folder.path)

    def finish(self) -> None:
        """Write a last checkpoint of this placement, after its training has ended.

        Raise FolderInUseError if another training has taken over the folder.
        """
        placement = self._placement
        self.end()
        if placement is not None and self._positions is not None:
            shapes = {**self._shapes, **placement.own_tables(), **placement.row_states()}
            tables = {**_read(placement, shapes), **self._kept()}
            self._write(self._content(self._positions()), tables)
            if self._end is not None:
                raise self._end

    def report(self) -> dict[str, Any]:
        """Return how many checkpoints were written, and for how long training paused meanwhile."""
        return {"written": self._written, "seconds_paused": self._seconds_paused}

    def _content(self, positions: list[EpochPosition]) -> dict[str, Any]:
        return {**attributes_of(self._model), "training": self._state(positions).to_json()}

    def _tables_in_training(self, placement: Placement) -> dict[str, ArrayToWrite]:
        """Return the tables without which training cannot be resumed."""
        read = _copied if placement.concurrency == 1 and self._model.tables_dir is None else _read
        own = placement.own_tables()
        if not own:
            return read(placement, {**self._shapes, **placement.row_states()})
        loaded = tables_of(self._model).present()
        return {
            **{name: ArrayToWrite.of(np.array(loaded[name][: shape[0]])) for name, shape in self._shapes.items()},
            **read(placement, own),
        }

    def _kept(self) -> dict[str, ArrayToWrite]:
        return {name: ArrayToWrite.of(array) for name, array in self._kept_arrays().items()}

    def _write(self, content: dict[str, Any], tables: Mapping[str, ArrayToWrite]) -> None:
        began = time.perf_counter()
        constant = {"lock_factors": lock_factors_of(self._model), **self._vocabulary}
        try:
            found = self.folder.write(
                content, {**tables, **{name: ArrayToWrite.of(array) for name, array in constant.items()}}
            )
        except FolderInUseError as error:
            self._end = error
            return
        except (OSError, ValueError, ClusterError) as error:
            logger.warning("no checkpoint could be written to %s: %s; training continues", self.folder.path, error)
            return
        with self._lock:
            self._cadence.end_writing()
        self._written += 1
        logger.info("checkpoint %s, written in %.1f s", found.path, time.perf_counter() - began)


def _copied(placement: Placement, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, ArrayToWrite]:
    found = {}
    for name, shape in shapes.items():
        copy = np.empty(shape, _FLOAT32)
        for first, rows in _pieces(placement, name, shape):
            copy[first : first + len(rows)] = rows
        found[name] = ArrayToWrite.of(copy)
    return found


def _read(placement: Placement, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, ArrayToWrite]:
    """Return tables whose rows are read only when they are written."""

    def pieces(name: str) -> Iterator[Float32Array]:
        return (rows for _, rows in _pieces(placement, name, shapes[name]))

    return {name: ArrayToWrite(shape, _FLOAT32, partial(pieces, name)) for name, shape in shapes.items()}


def _pieces(placement: Placement, name: str, shape: tuple[int, ...]) -> Iterator[tuple[int, Float32Array]]:
    """Yield the number of the first row, and rows, of all pieces of a table."""
    step = rows_of_a_piece(shape, _FLOAT32)
    for first in range(0, shape[0], step):
        yield first, placement.rows(name, first, min(first + step, shape[0]))
