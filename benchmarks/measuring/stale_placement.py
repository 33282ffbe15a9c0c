"""Blocks in flight, emulated one after the other in this process.

A cluster's worker pulls the rows of its block, trains, and adds its changes to rows that others have changed meanwhile.
Here a block's rows are copied when it begins. It is trained, and its changes are added, when another block needs its
place: each block is as stale as on workers that are all equally fast. Changes are added a little later than they are
corrected, as if other workers pushed theirs in between.
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
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.missed_changes import corrected_changes
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.rows import private_copy
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
    in_flight: ExitStack  # to be closed when its changes have been pushed


@dataclass
class Corrected:
    """A block whose changes are about to be pushed."""

    block: InFlight
    change: Any  # of its rows [U, D]


class StalePlacement(Placement):
    """Trains as a cluster does, where blocks in flight lack each other's changes.

    Parameters
    ----------
    ramp_up : RampUp
        Limits how many blocks are in flight.
    slopes : sequence of float
        Used instead of `gensim_tfw2v.tuning.SLOPES`.
    unseen : int
        How many other blocks are pushed between the correction of a block's changes and its push.
    """

    concurrency = 1
    can_fail = has_failed = False

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        ramp_up: RampUp,
        slopes: Sequence[float],
        unseen: int = 0,
    ) -> None:
        self.slopes = slopes
        self._settings = settings
        self._maker = maker
        self._ramp_up = ramp_up
        self._unseen = unseen
        self._train_block = block_function(objective_of(settings), kernel())
        self._model: Any = None
        self._tables: dict[int, Any] = {}
        self._in_flight: deque[InFlight] = deque()
        self._corrected: deque[Corrected] = deque()
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
        """Begin the chunk's block, after others have been trained to make place; its loss is not measured."""
        while len(self._in_flight) + len(self._corrected) >= self._ramp_up.limit():
            self._advance()
        in_flight = ExitStack()
        concurrent_blocks = in_flight.enter_context(self._ramp_up.block())
        assert isinstance(task.content, Sentences)  # as all chunks of text
        words = len(task.content.ids)
        self._words += words
        self._ideal_time += words / concurrent_blocks
        staged = stage(self._model, Assignment(0, 1, concurrent_blocks, NOT_SHARED, task), np.zeros(0))
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
        hot = staged.extra.hot
        steeper = np.repeat(np.divide(self.slopes, SLOPES).astype(np.float32), hot.counts)
        extra = staged.extra._replace(hot=hot._replace(strengths=hot.strengths * steeper))
        return InFlight(staged._replace(extra=extra), self._pull(staged), in_flight)

    def _advance(self) -> None:
        """Train the block that began first, unless changes have waited long enough: then push these."""
        if len(self._corrected) > min(self._unseen, self._ramp_up.limit() - 1) or not self._in_flight:
            done = self._corrected.popleft()
            self._push(done.block.staged, done.change)
            done.block.in_flight.close()
            return
        block = self._in_flight.popleft()
        self._corrected.append(Corrected(block, self._corrected_change(block)))

    def _corrected_change(self, block: InFlight) -> Any:
        """Train a block, and return the changes of its rows [U, D]."""
        staged, start = block.staged, block.start
        with tf.device(_DEVICE):
            own = tf.Variable(private_copy(start), trainable=False)
            span = np.array([0, len(staged.basics.pairs)], np.int32)
            arguments = (Tables(own.handle, own.handle, own.handle), staged.block, staged.basics.rates, span)
            self._train_block(*tf.nest.map_structure(tf.convert_to_tensor, arguments))
        end, hot = own.read_value(), tf.nest.map_structure(tf.convert_to_tensor, staged.extra.hot)
        of_hot = [tf.gather(rows, hot.rows) for rows in (start, end)]
        kept = corrected_changes(
            hot, objective_of(self._settings), *of_hot, lambda: tf.gather(self._pull(staged), hot.rows)
        )
        return tf.tensor_scatter_nd_update(end - start, hot.rows[:, None], kept)

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
        while self._in_flight or self._corrected:
            self._advance()
        for table, variable in self._tables.items():
            np.copyto(getattr(tables, _TABLES[table]), variable.numpy())

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        """Return rows without the changes of blocks in flight."""
        found: Float32Array = self._tables[_TABLES.index(table)][first:end].numpy()
        return found

    def close(self) -> None:
        self._tables.clear()
        self._in_flight.clear()
        self._corrected.clear()
