"""A sub-model's share of a chunk → a message to its worker, the call that trains it there, and the report."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.arrays import UInt8Array
from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.calls.own_tables import OwnTablesCalls
from gensim_tfw2v.placement.calls.own_tables_metrics import OwnTablesMetrics
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.partition.draws import Draw
from gensim_tfw2v.placement.partition.share_block import ShareAssignment
from gensim_tfw2v.placement.partition.share_graphs import share_graphs
from gensim_tfw2v.placement.partition.worker_submodel import WorkerSubModel
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import StepSettings


class Shares:
    """Trains shares of chunks for sub-models of one model.

    Parameters
    ----------
    connection_number : int
        Number of the connection, whose tasks have graphs of their own.
    cores : int
        The most cores of a worker that train a share.
    """

    def __init__(
        self,
        settings: StepSettings,
        maker: BlockMaker,
        tables: ModelTables,
        connection_number: int,
        metrics: OwnTablesMetrics,
        cores: int,
    ) -> None:
        self._metrics, self._cores = metrics, cores
        model = EncodedModel.of(WorkerModel.of(settings, maker, tables))
        self._calls = OwnTablesCalls(model, share_graphs(objective_of(settings), connection_number))

    def message(self, submodel: WorkerSubModel, task: ChunkTask) -> UInt8Array:
        """Return the message about a sub-model's share of a chunk, before its worker is free.

        The share of a span is drawn on the worker, which reads the span. Other shares are drawn here, so that no
        sentence is sent to a worker that does not train it.
        """
        draw: Draw | None = submodel.draw
        if isinstance(task.content, Sentences):
            task, draw = submodel.draw.task_of(task, task.content), None
        return encode(ShareAssignment(submodel.lease_key, 1, 1, NOT_SHARED, task, draw, cores=self._cores))

    def train(self, submodel: WorkerSubModel, message: UInt8Array, calls: Any) -> BlockReport:
        """Train the share that a message is about; called in the thread of its worker."""
        self._metrics.begin_block(submodel.member)
        report = self._calls.train(submodel.member, submodel.handles(), message, calls)
        self._metrics.add_block(submodel.member, report, message.nbytes)
        return report
