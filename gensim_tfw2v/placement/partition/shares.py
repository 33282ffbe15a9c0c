"""A sub-model's share of a chunk → the call that trains it on the sub-model's worker, and its report."""

from __future__ import annotations

import time
from typing import Any

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

    def train(self, submodel: WorkerSubModel, task: ChunkTask, calls: Any) -> BlockReport:
        """Train a sub-model's share of a chunk; called in the thread of its worker.

        The share of a span is drawn on the worker, which reads the span. Other shares are drawn here, so that no
        sentence is sent to a worker that does not train it.
        """
        began = time.monotonic()
        draw: Draw | None = submodel.draw
        if isinstance(task.content, Sentences):
            task, draw = submodel.draw.task_of(task, task.content), None
        assignment = ShareAssignment(submodel.lease_key, 1, 1, NOT_SHARED, task, draw, cores=self._cores)
        report, sent_bytes = self._calls.train(submodel.member, submodel.handles(), assignment, calls)
        self._metrics.add_block(submodel.member, report, sent_bytes, began)
        return report
