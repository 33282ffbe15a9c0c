"""Tables and steps in this process: threads update shared variables without locks, as gensim's workers do."""

from __future__ import annotations

from typing import Any

import numpy as np

from gensim_tfw2v.batches import BlockMaker
from gensim_tfw2v.placement import ModelTables, StepSettings
from gensim_tfw2v.tensorflow_runtime import load_tensorflow, usable_cores
from gensim_tfw2v.vocabulary import Float32Array
from gensim_tfw2v.work import NOTHING_TRAINED, ChunkWork, PreparedBlock, TrainedChunk, prepare

_DEVICE = "/CPU:0"  # rows are gathered and written far too often to cross to an accelerator and back
_TABLES = ("inputs", "outputs", "nodes")


class LocalPlacement:
    """Trains in this process on `workers` threads, no more than there are cores."""

    can_fail = has_failed = False

    def __init__(self, settings: StepSettings, maker: BlockMaker, workers: int) -> None:
        self._tf = load_tensorflow()
        from gensim_tfw2v import graph_arguments, steps

        self.concurrency = max(1, min(workers, usable_cores()))
        self._settings = settings
        self._maker = maker
        self._arguments = graph_arguments
        self._train_block = steps.block_function(graph_arguments.objective_of(settings))
        self._lookups = graph_arguments.lookups_for(settings)
        self._tables_type = steps.Tables
        self._variables: dict[str, Any] = {}
        self._lock_factors = np.ones(1, np.float32)

    def load(self, tables: ModelTables) -> None:
        self._lock_factors = np.array(tables.lock_factors, dtype=np.float32)
        for name, values in _present(tables).items():
            if name in self._variables:
                self._variables[name].assign(values)
            else:
                with self._tf.device(_DEVICE):
                    self._variables[name] = self._tf.Variable(values, trainable=False, name=name)

    def train_chunk(self, work: ChunkWork) -> TrainedChunk:
        prepared = prepare(self._maker, work)
        if prepared is None:
            return NOTHING_TRAINED
        block = prepared.block
        return TrainedChunk(block.tokens, self.train_prepared(prepared), prepared.measured, block.pairs)

    def train_prepared(self, prepared: PreparedBlock) -> Float32Array:
        """Train a block's batches and return the summed loss of each that is measured."""
        inputs = self._variables["inputs"].handle  # also stands in for tables that the objective does not use
        handles = (self._variables[name].handle if name in self._variables else inputs for name in _TABLES)
        with self._tf.device(_DEVICE):
            arguments = self._tf.nest.map_structure(
                self._tf.convert_to_tensor,
                (
                    self._tables_type(*handles),
                    self._arguments.block_tensors(prepared.block),
                    self._arguments.rates(self._settings, prepared, self._lock_factors),
                    self._lookups,
                ),
            )
            losses = self._train_block(*arguments)
        return np.asarray(losses.numpy())

    def read_into(self, tables: ModelTables) -> None:
        for name, values in _present(tables).items():
            np.copyto(values, self._variables[name].numpy())

    def task_figures(self) -> None:
        return None

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return None

    def close(self) -> None:
        self._variables.clear()


def _present(tables: ModelTables) -> dict[str, Float32Array]:
    """Return the tables that the model has."""
    return {name: values for name in _TABLES if (values := getattr(tables, name)) is not None}
