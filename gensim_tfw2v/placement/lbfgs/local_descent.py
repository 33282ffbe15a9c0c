"""L-BFGS in this process: threads evaluate portions of the corpus, and their gradients are added in order."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask, TrainedChunk
from gensim_tfw2v.placement.contract import TABLES, ModelTables
from gensim_tfw2v.placement.lbfgs.descent import DescentPlacement
from gensim_tfw2v.placement.lbfgs.portion import fixed, portion_on
from gensim_tfw2v.placement.lbfgs.portion_graphs import local_gradient_graph
from gensim_tfw2v.placement.lbfgs.vector_space import POINT, LocalVectors, vector_names
from gensim_tfw2v.placement.remote.initial_rows import initial_rows
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.runtime.tensorflow import load_tensorflow, usable_cores
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import StepSettings

_ROWS_AT_ONCE = 4096


class LocalDescent(DescentPlacement):
    """Descends in this process on `workers` cores, or on all cores if there are fewer."""

    can_fail = has_failed = False

    def __init__(self, settings: StepSettings, maker: BlockMaker, workers: int, history: int, seed: int) -> None:
        self._tf = load_tensorflow()
        self.concurrency = max(1, min(workers, usable_cores()))
        super().__init__(history, seed, most_ahead=2 * self.concurrency)
        self._settings, self._maker = settings, maker
        self._gradient = local_gradient_graph(objective_of(settings))
        self._model: Any = None
        self._vectors = LocalVectors((), {})  # until there are tables

    def _set_point(self, tables: ModelTables) -> LocalVectors:
        values = tables.present()
        if self._minimizer is None:
            shapes = {name: table.shape for name, table in values.items()}
            self._vectors = LocalVectors(vector_names(self._history), shapes)
        self._model = WorkerModel.of(self._settings, self._maker, tables)
        for name, table in values.items():
            self._vectors.tables[POINT][name][:] = table
        return self._vectors

    def _fill_outputs_randomly(self) -> None:
        outputs = self._vectors.tables[POINT]["outputs"]
        for first in range(0, len(outputs), _ROWS_AT_ONCE):
            part = outputs[first : first + _ROWS_AT_ONCE]
            rows = self._tf.range(first, first + len(part), dtype=self._tf.int64)
            part[:] = initial_rows(self._seed, rows, outputs.shape[1]).numpy()

    def _evaluate(self, task: ChunkTask, number: int, is_last: bool) -> TrainedChunk:
        began = time.perf_counter()
        portion = portion_on(self._model, Assignment(0, 1, 1, NOT_SHARED, fixed(task)), np.zeros(0))
        made = time.perf_counter()
        needed = portion.extra.needed
        of_tables = np.split(needed.numbers, np.cumsum(needed.counts[0])[:-1])
        rows_of = dict(zip(TABLES, of_tables, strict=True))
        point = self._vectors.tables[self.minimizer.trial]
        with self._tf.device("/CPU:0"):
            rows = np.concatenate([values[rows_of[name]] for name, values in point.items()])
            tensors = self._tf.nest.map_structure(self._tf.convert_to_tensor, portion)
            found = self._gradient(tensors, self._tf.constant(rows))
        losses, gradient = (np.asarray(part) for part in found)

        def add() -> None:
            sums: dict[str, Float32Array] = self._vectors.tables[self.minimizer.trial_gradient]
            of_inputs_and_outputs = np.split(gradient, [len(rows_of["inputs"])])
            for name, values in zip(point, of_inputs_and_outputs, strict=True):
                sums[name][rows_of[name]] += values

        if self._is_whole:
            self._order.add(number, add)
        basics = portion.basics
        seconds = made - began, time.perf_counter() - made
        return self._counted(losses, basics.pairs, int(basics.tokens), *seconds)

    def read_into(self, tables: ModelTables) -> None:
        for name, values in tables.present().items():
            np.copyto(values, self._vectors.tables[POINT][name])
        self._remember(tables)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        rows: Float32Array = self._vectors.tables[POINT][table][first:end].copy()
        return rows

    def close(self) -> None:
        self._minimizer, self._vectors = None, LocalVectors((), {})
