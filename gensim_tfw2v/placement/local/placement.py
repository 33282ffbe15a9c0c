"""Tables and steps in this process: threads change the same tables without locks, as gensim's workers do."""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Int32Array, pieces
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import (
    NOTHING_TRAINED,
    BatchMetrics,
    ChunkTask,
    PreparedBlock,
    TrainedChunk,
    prepare,
)
from gensim_tfw2v.files.mapped_rows import read_ahead
from gensim_tfw2v.placement.contract import TABLES, ModelTables, Placement
from gensim_tfw2v.placement.local.calls import ONE_CORE, Calls
from gensim_tfw2v.runtime.devices import THE_CPU, Device
from gensim_tfw2v.runtime.private_tensorflow import call_with_tensors
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.kernel import COMPILED, Kernel, kernel_on
from gensim_tfw2v.steps.settings import StepSettings


class LocalPlacement(Placement):
    """Trains in this process, with so many calls of the graph side by side.

    Parameters
    ----------
    steps : Kernel, optional
        What steps are taken with. Default: the kernel of this process and the device.
    device : Device
        Where tables stay and steps run.
    """

    can_fail = has_failed = False

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        calls: Calls = ONE_CORE,
        steps: Kernel | None = None,
        device: Device = THE_CPU,
    ) -> None:
        self._tf = load_tensorflow()
        from gensim_tfw2v.steps import arguments, graph, side_by_side

        # One thread more than calls: while one prepares its block or waits, the others keep every core busy. Not for
        # small corpora, which have small batches: there, the stale gradients of one more thread cost quality.
        has_large_batches = maker.shape.batch_tokens >= tuning.LEAST_TOKENS_FOR_SPARE_THREAD
        self.concurrency = calls.threads + int(calls.all_cores > 1 and has_large_batches)
        self._settings = settings
        self._maker = maker
        self._device = device
        self._kernel = steps or kernel_on(device)
        self.trains_in_place = self._kernel.name == COMPILED and device == THE_CPU
        self._objective = arguments.objective_of(settings)
        # What follows the block's arguments. The graph of one core is the same without a loop around it.
        self._cores = (np.int32(calls.cores),) if calls.cores > 1 else ()
        self._make_block_graph = side_by_side.side_by_side_function if self._cores else graph.block_function
        self._make_graph()
        # A spare thread may prepare its block, but more cores than were asked for are not to train.
        takes_turns = self._cores or calls.makers
        self._turns = threading.BoundedSemaphore(calls.at_once) if takes_turns else contextlib.nullcontext()
        self._arguments = arguments
        self._variables: dict[str, Any] = {}
        self._in_place: Mapping[str, Float32Array] = {}
        self._lock_factors = np.ones(1, np.float32)

    def _make_graph(self) -> None:
        """Make the graph that chunks are trained with, before threads train them."""
        _ = self._train_block

    @functools.cached_property
    def _train_block(self) -> Any:
        """The graph that trains a block made here."""
        return self._make_block_graph(self._objective, self._kernel)

    def load(self, tables: ModelTables) -> None:
        self._lock_factors = np.array(tables.lock_factors, dtype=np.float32)
        self._in_place = tables.in_place
        for name, rows in tables.in_place.items():
            (memory,) = self._arguments.as_tensors(rows)
            self._variables[name] = self._variable(name, memory)
        for name, values in tables.copied().items():
            self.load_table(name, values)

    def load_table(self, name: str, values: Float32Array) -> None:
        """Set one table, which is made if it is not there, to these values."""
        with self._tf.device(self._device.place):
            if name not in self._variables:
                self._variables[name] = self._zeros(name, values.shape)
            for rows in pieces(values):
                numbers = np.arange(rows.start, rows.stop, dtype=np.int32)
                self._kernel.write_rows(table=self._memory_of(name), rows=numbers, values=np.asarray(values[rows]))

    def _zeros(self, name: str, shape: tuple[int, ...]) -> Any:
        """Return a table of zeros; raise MemoryError if the device has no room for it."""
        try:
            zeros = self._tf.raw_ops.Fill(dims=shape, value=np.float32(0))
        except self._tf.errors.ResourceExhaustedError:
            size = 4 * math.prod(shape)
            raise MemoryError(
                f"{name} of {shape[0]} rows take {size:,} bytes, for which {self._device.name} has no room; choose a "
                "smaller vector_size, a larger min_count, or another device"
            ) from None
        return self._variable(name, zeros)

    def _variable(self, name: str, rows: Any) -> Any:
        """Return a variable whose memory is that of a tensor."""
        # TensorFlow would prepare the graph again for tables of another declared shape, and keep both.
        declared = self._tf.TensorShape([None, None])
        return self._tf.Variable(rows, trainable=False, name=name, shape=declared)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        began = time.perf_counter()
        prepared = prepare(self._maker, task)
        made = time.perf_counter()
        if prepared is None:
            return replace(NOTHING_TRAINED, seconds_preparing=made - began)
        metrics = self.train_prepared(prepared)
        return TrainedChunk(
            tokens=prepared.block.tokens,
            batches=metrics,
            measured=prepared.measured,
            pairs=prepared.block.pairs,
            seconds_preparing=made - began,
            seconds_stepping=time.perf_counter() - made,
        )

    def train_prepared(self, prepared: PreparedBlock) -> BatchMetrics:
        """Train a block's batches and return their metrics."""
        metrics = self._call(
            self._train_block,
            self._arguments.block_tensors(prepared.block),
            self._arguments.rates(self._settings, prepared, self._lock_factors),
            np.array([0, len(prepared.measured)], np.int32),
            *self._cores,
        )
        return BatchMetrics(*(np.asarray(metric.numpy()) for metric in metrics))

    def _call(self, graph: Any, *arguments: Any) -> Any:
        """Return what a graph returns for the handles of all tables and these arguments."""
        inputs = self._variables["inputs"].handle  # also used for tables that the objective does not use
        handles = (self._variables[name].handle if name in self._variables else inputs for name in TABLES)
        with self._tf.device(self._device.place):
            tensors = self._arguments.as_tensors((*handles, *arguments))
            with self._turns:
                return call_with_tensors(graph, tensors)

    def read_into(self, tables: ModelTables) -> None:
        for name, values in tables.copied().items():
            self.read_table(name, values)

    def read_table(self, name: str, values: Float32Array) -> None:
        """Write the current values of one table, or its first columns, into an array."""
        for rows in pieces(values):
            values[rows] = self.rows(name, rows.start, rows.stop)[:, : values.shape[1]]

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        if table in self._in_place:
            read_ahead(self._in_place[table][first:end])
        return self._read(table, np.arange(first, end, dtype=np.int32))

    def _read(self, table: str, numbers: Int32Array) -> Float32Array:
        with self._tf.device(self._device.place):
            return np.asarray(self._kernel.read_rows(table=self._memory_of(table), rows=numbers).numpy())

    def _memory_of(self, table: str) -> Any:
        return self._kernel.memory_of(self._variables[table].handle)

    def close(self) -> None:
        self._variables.clear()
        self._in_place = {}
