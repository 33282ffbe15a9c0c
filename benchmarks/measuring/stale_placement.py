"""Blocks in flight, emulated one after the other in this process.

A cluster's worker pulls the rows of its block, trains, and adds its changes to rows that others have changed meanwhile.
Here a block's rows are copied when it begins. It is trained, and its changes are added, when another block needs its
place: each block is as stale as on workers that are all equally fast.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.server_rows.staging import stage
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block import WorkerBlock
from gensim_tfw2v.placement.tasks.model import WorkerModel
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.concurrent_updates import ConcurrentUpdates
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.row_sharing import RowSharing
from gensim_tfw2v.steps.rows import private_copy, read_rows, write_rows
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.steps.signature import Tables
from gensim_tfw2v.tuning import SLOPES

_DEVICE = "/CPU:0"
_TABLES = ("inputs", "outputs", "nodes")


@dataclass
class InFlight:
    """A block that has begun."""

    staged: WorkerBlock
    start: Any  # its rows [U, D] as they were then
    own: Any  # the variable that holds them as they are trained
    updates: ConcurrentUpdates
    in_flight: ExitStack  # to be closed when its changes have been pushed
    shared: Any  # shared rows as they were at the last exchange
    parts_done: int = 0


class StalePlacement(Placement):
    """Trains as a cluster does, where blocks in flight lack each other's changes.

    Parameters
    ----------
    ramp_up : RampUp
        Limits how many blocks are in flight.
    slopes : sequence of float
        Used instead of `gensim_tfw2v.tuning.SLOPES`.
    sharing : RowSharing
        How often blocks share rows of frequent words while they are trained, and how many of them.
    """

    concurrency = 1
    can_fail = has_failed = False

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        ramp_up: RampUp,
        slopes: Sequence[float],
        sharing: RowSharing,
    ) -> None:
        self.slopes = slopes
        self._settings = settings
        self._maker = maker
        self._ramp_up = ramp_up
        self._sharing = sharing
        self._train_block = block_function(objective_of(settings), kernel())
        self._model: Any = None
        self._tables: dict[int, Any] = {}
        self._in_flight: deque[InFlight] = deque()
        self._words = 0
        self._ideal_time = 0.0  # in words of one worker

    @property
    def ideal_speed(self) -> float:
        """Words divided by the time they would take if blocks in flight were trained as fast as one alone."""
        return self._words / self._ideal_time if self._ideal_time else 1.0

    def load(self, tables: ModelTables) -> None:
        present = {
            number: values for number, name in enumerate(_TABLES) if (values := getattr(tables, name)) is not None
        }
        with tf.device(_DEVICE):
            self._tables = {number: tf.Variable(values, trainable=False) for number, values in present.items()}
        self._model = WorkerModel.of(self._settings, self._maker, tables)

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        """Begin the chunk's block, after parts of others have been trained to make place; its loss is not measured."""
        while len(self._in_flight) >= self._ramp_up.limit():
            self._advance_oldest()
        in_flight = ExitStack()
        concurrent_blocks = in_flight.enter_context(self._ramp_up.block())
        assert isinstance(task.content, Sentences)  # as all chunks of text
        words = len(task.content.ids)
        self._words += words
        self._ideal_time += words / concurrent_blocks
        staged = stage(self._model, Assignment(0, 1, concurrent_blocks, self._sharing, task), np.zeros(0))
        self._in_flight.append(self._begun(staged, in_flight))
        batches = len(staged.basics.pairs)
        nothing = np.zeros(batches, np.float32)
        return TrainedChunk(
            tokens=int(staged.basics.tokens),
            batches=BatchMetrics(nothing, nothing, nothing),
            measured=np.zeros(batches, bool),
            pairs=staged.basics.pairs,
            seconds_preparing=0.0,
            seconds_stepping=0.0,
        )

    def _begun(self, staged: WorkerBlock, in_flight: ExitStack) -> InFlight:
        """Return a block with its rows as they are now."""
        start = self._pull(staged)
        hot_rows = staged.extra.hot
        steeper = np.repeat(np.divide(self.slopes, SLOPES).astype(np.float32), hot_rows.counts)
        hot_rows = hot_rows._replace(strengths=hot_rows.strengths * steeper)
        hot_rows = tf.nest.map_structure(tf.convert_to_tensor, hot_rows)
        updates = ConcurrentUpdates(hot_rows, objective_of(self._settings), self._sharing)
        with tf.device(_DEVICE):
            own = tf.Variable(private_copy(start), trainable=False)
        return InFlight(staged, start, own, updates, in_flight, shared=tf.gather(start, updates.shared_rows))

    def _advance_oldest(self) -> None:
        """Train a part of the block whose last part is longest ago, and push its changes."""
        block = self._in_flight.popleft()
        staged, own, updates = block.staged, block.own, block.updates
        places = updates.shared_rows
        vectors = read_rows(own.handle, updates.probe_rows)
        span = np.array(self._sharing.span(block.parts_done, len(staged.basics.pairs)), np.int32)
        with tf.device(_DEVICE):
            tables = Tables(own.handle, own.handle, own.handle)
            arguments = (tables, staged.block, staged.basics.rates, span)
            self._train_block(*tf.nest.map_structure(tf.convert_to_tensor, arguments))
        block.parts_done += 1
        shared = read_rows(own.handle, places) - block.shared
        if block.parts_done < self._sharing.parts:
            self._push_shared(updates.of_part(shared, vectors))
            block.shared = tf.gather(self._pull(staged), places)
            write_rows(own.handle, places, block.shared)
            self._in_flight.append(block)
            return
        change = own.read_value() - block.start
        moves = [tf.gather(change, rows) for rows in updates.rows]
        for rows, kept in zip(updates.rows, updates.of_block(moves, shared, vectors), strict=True):
            change = tf.tensor_scatter_nd_update(change, rows[:, None], kept)
        self._push(staged, change)
        block.in_flight.close()

    def _push_shared(self, change: Any) -> None:
        """Add the changes of a block's shared rows, table by table, to the tables."""
        sizes = {table: variable.shape[0] for table, variable in self._tables.items()}
        for (table, size), part in zip(sizes.items(), tf.split(change, len(sizes)), strict=True):
            rows = self._sharing.ids(size, are_nodes=table == len(_TABLES) - 1)
            tf.raw_ops.ResourceScatterAdd(resource=self._tables[table].handle, indices=rows, updates=part)

    def _push(self, staged: WorkerBlock, change: Any) -> None:
        """Add the changes of a block's rows [U, D] to the tables."""
        first = 0
        for table, rows in self._rows_of(staged):
            of_table = change[first : first + len(rows)]
            tf.raw_ops.ResourceScatterAdd(resource=self._tables[table].handle, indices=rows, updates=of_table)
            first += len(rows)

    def _rows_of(self, staged: WorkerBlock) -> list[tuple[int, Any]]:
        """Return the rows that a block touches of each table, in the order in which the block has them."""
        of_tables = np.split(staged.extra.needed.numbers, np.cumsum(staged.extra.needed.counts[0])[:-1])
        return [(table, of_tables[table]) for table in self._tables]

    def _pull(self, staged: WorkerBlock) -> Any:
        """Return a block's rows [U, D] as they are now."""
        found = [tf.gather(self._tables[table], rows) for table, rows in self._rows_of(staged)]
        return tf.concat(found, 0)

    def read_into(self, tables: ModelTables) -> None:
        """Finish what is in flight, and write the values into these arrays."""
        while self._in_flight:
            self._advance_oldest()
        for table, variable in self._tables.items():
            np.copyto(getattr(tables, _TABLES[table]), variable.numpy())

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        """Return rows without the changes of blocks in flight."""
        found: Float32Array = self._tables[_TABLES.index(table)][first:end].numpy()
        return found

    def close(self) -> None:
        self._tables.clear()
        self._in_flight.clear()
