"""L-BFGS in this process: threads evaluate portions of the corpus, and their gradients are added in order."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.passes import BEGINNING, PassPosition
from gensim_tfw2v.placement.contract import TABLES, ModelTables, Placement
from gensim_tfw2v.placement.lbfgs.descent import Descent, fingerprint, is_whole_after, trained
from gensim_tfw2v.placement.lbfgs.descent_settings import Settings
from gensim_tfw2v.placement.lbfgs.local_vectors import LocalVectors
from gensim_tfw2v.placement.lbfgs.vector_space import POINT, vector_names
from gensim_tfw2v.runtime.tensorflow import load_tensorflow, usable_cores
from gensim_tfw2v.steps.settings import StepSettings

_ROWS_AT_ONCE = 4096


class LocalDescent(Placement):
    """Descends in this process on `workers` cores, or on all cores if there are fewer."""

    can_fail = has_failed = False
    epochs_may_overlap = False

    def __init__(self, settings: StepSettings, maker: BlockMaker, workers: int, own: Settings) -> None:
        self._tf = load_tensorflow()
        from gensim_tfw2v.placement.lbfgs.portion_graphs import local_gradient_graph
        from gensim_tfw2v.steps.arguments import objective_of

        self.concurrency = max(1, min(workers, usable_cores()))
        self._settings, self._maker, self._own = settings, maker, own
        self._gradient = local_gradient_graph(objective_of(settings))
        self._model: Any = None
        self._vectors: LocalVectors | None = None
        self._known: dict[str, int] = {}  # fingerprint of the model's tables
        self._is_next_whole = True

    def load(self, tables: ModelTables) -> None:
        from gensim_tfw2v.placement.tasks.model import WorkerModel

        if self._vectors is not None and fingerprint(tables) == self._known:
            return
        values = tables.present()
        if self._vectors is None:
            shapes = {name: table.shape for name, table in values.items()}
            self._vectors = LocalVectors(vector_names(self._own.history), shapes)
            self._descent = Descent(self._vectors, self._own.history, most_ahead=2 * self.concurrency)
        self._model = WorkerModel.of(self._settings, self._maker, tables)
        point = self._vectors.tables[POINT]
        for name, table in values.items():
            point[name][:] = table
        if not point["outputs"].any():
            self._begin_at_random(point["outputs"])
        self._descent.minimizer.restart()

    def _begin_at_random(self, outputs: Float32Array) -> None:
        from gensim_tfw2v.placement.remote.initial_rows import initial_rows

        for first in range(0, len(outputs), _ROWS_AT_ONCE):
            part = outputs[first : first + _ROWS_AT_ONCE]
            rows = self._tf.range(first, first + len(part), dtype=self._tf.int64)
            part[:] = initial_rows(self._own.seed, rows, outputs.shape[1]).numpy()

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        self._descent.begin(self._is_next_whole)
        self._is_next_whole = True

    def end_epoch(self, epoch: int) -> None:
        self._descent.end()

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        descent, number = self._descent, task.entropy[-1]
        descent.begin_portion()
        try:
            if descent.is_whole:
                descent.order.admit(number)
            return self._evaluate(task, number)
        except BaseException:
            descent.order.fail()
            raise

    def _evaluate(self, task: ChunkTask, number: int) -> TrainedChunk:
        from gensim_tfw2v.placement.lbfgs.portion import portion_on
        from gensim_tfw2v.placement.lbfgs.portion_request import fixed
        from gensim_tfw2v.placement.tasks.assignment import Assignment
        from gensim_tfw2v.steps.row_sharing import NOT_SHARED

        began = time.perf_counter()
        portion = portion_on(self._model, Assignment(0, 1, 1, NOT_SHARED, fixed(task)), np.zeros(0))
        made = time.perf_counter()
        counts = dict(zip(TABLES, portion.extra.needed.counts[0].tolist(), strict=True))
        ends = np.cumsum(list(counts.values()))[:-1]
        rows_of = dict(zip(TABLES, np.split(portion.extra.needed.numbers, ends), strict=True))
        assert self._vectors is not None
        point = self._vectors.tables[self._descent.minimizer.trial]
        with self._tf.device("/CPU:0"):
            rows = np.concatenate([point[name][rows_of[name]] for name in point])
            found = self._gradient(self._tensors(portion), self._tf.constant(rows))
        losses, gradient = (np.asarray(part) for part in found)
        of_tables = dict(zip(point, np.split(gradient, [counts["inputs"]]), strict=True))
        if self._descent.is_whole:
            self._descent.order.add(number, lambda: self._add(rows_of, of_tables))
        self._descent.end_portion(losses)
        basics = portion.basics
        return trained(losses, basics.pairs, int(basics.tokens), made - began, time.perf_counter() - made)

    def _tensors(self, portion: Any) -> Any:
        return self._tf.nest.map_structure(self._tf.convert_to_tensor, portion)

    def _add(self, rows_of: Mapping[str, Any], of_tables: Mapping[str, Float32Array]) -> None:
        assert self._vectors is not None
        sums = self._vectors.tables[self._descent.minimizer.trial_gradient]
        for name, values in of_tables.items():
            sums[name][rows_of[name]] += values

    def read_into(self, tables: ModelTables) -> None:
        assert self._vectors is not None
        for name, values in tables.present().items():
            np.copyto(values, self._vectors.tables[POINT][name])
        self._known = fingerprint(tables)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        assert self._vectors is not None
        rows: Float32Array = self._vectors.tables[POINT][table][first:end].copy()
        return rows

    def state(self) -> dict[str, Any]:
        return {} if self._vectors is None else self._descent.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        self._is_next_whole = is_whole_after(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return {} if self._vectors is None else self._descent.metrics()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        if self._vectors is None:
            return None
        return {"raw_words": raw_words, "lbfgs": self._descent.report(), "tasks": self._descent.metrics()}

    def close(self) -> None:
        self._vectors = None
