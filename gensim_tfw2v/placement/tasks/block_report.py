"""What a worker reports of a block, as one tensor: written by the worker's graph, read by the coordinator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, TrainedChunk
from gensim_tfw2v.cluster.task_metrics import NAMES
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

STAGES = ("make", "pull", "compute", "push")
_MOST_COUNTED = 2**53  # which float64 counts to


class BlockReport(NamedTuple):
    """The report of one block: tensors in the graph that makes it, arrays of float64 where it is read.

    The order of the fields is their order in the tensor, and `_shapes` has their shapes.
    """

    tokens: Any
    staleness: Any  # blocks that others pushed between this one's pull and its push
    is_accepted: Any  # 1 if every server took its changes, 0 if one of them dropped changes
    seconds: Any  # of each of `STAGES`
    rows: Any  # that the block pulled, and pushed, of each of `TABLES`; where no rows travel, what else was exchanged
    most_moved: Any  # the word that the block moved most, and how far, if its changes were dropped; else -1 and 0
    worker: Any  # metrics of the worker's process
    servers: Any  # [servers, metrics]
    batches: BatchMetrics  # [S] each
    measured: Any  # [S]
    pairs: Any  # [S]

    def to_tensor(self) -> Any:
        """Return all fields in one tensor, so that one answer brings it."""
        tf = load_tensorflow()
        return tf.concat([tf.reshape(tf.cast(part, tf.float64), [-1]) for part in _parts(self)], 0)

    @classmethod
    def from_array(cls, numbers: Float64Array, servers: int) -> BlockReport:
        """Return the report that `to_tensor` wrote."""
        fixed, with_a_batch = (_numbers_in(_shapes(servers, batches)) for batches in (0, 1))
        shapes = _shapes(servers, max(0, len(numbers) - fixed) // (with_a_batch - fixed))
        ends = np.cumsum([math.prod(shape) for shape in _parts(shapes)])
        if ends[-1] != len(numbers):
            raise ValueError(f"a report of {servers} servers cannot have {len(numbers)} numbers")
        parts = zip(np.split(numbers, ends[:-1]), _parts(shapes), strict=True)
        report = _report_of(part.reshape(shape) for part, shape in parts)
        counted = np.concatenate([report.tokens, report.rows, report.pairs], axis=None)
        signed = np.array([report.staleness, report.most_moved[0]])
        if not np.all((counted >= 0) & (counted < _MOST_COUNTED)) or not np.all(np.abs(signed) < _MOST_COUNTED):
            raise ValueError("a report has impossible numbers of tokens, blocks, rows, pairs or words")
        return report

    def trained(self) -> TrainedChunk:
        """Return what the training loop counts."""
        preparing, *stepping = self.seconds.tolist()
        word, distance = self.most_moved.tolist()
        return TrainedChunk(
            tokens=int(self.tokens),
            batches=BatchMetrics(*(values.astype(np.float32) for values in self.batches)),
            measured=self.measured.astype(bool),
            pairs=self.pairs,
            seconds_preparing=preparing,
            seconds_stepping=sum(stepping),
            most_moved=None if word < 0 else (int(word), distance),
        )


def _shapes(servers: int, batches: int) -> BlockReport:
    """Return the shape of each field."""
    of_batches = (batches,)
    return BlockReport(
        tokens=(),
        staleness=(),
        is_accepted=(),
        seconds=(len(STAGES),),
        rows=(len(TABLES),),
        most_moved=(2,),
        worker=(len(NAMES),),
        servers=(servers, len(NAMES)),
        batches=BatchMetrics(*[of_batches] * len(BatchMetrics._fields)),
        measured=of_batches,
        pairs=of_batches,
    )


def _numbers_in(shapes: BlockReport) -> int:
    return sum(math.prod(shape) for shape in _parts(shapes))


def _parts(report: BlockReport) -> Iterator[Any]:
    """Yield the fields in their order, those of `BatchMetrics` one by one."""
    for value in report:
        if isinstance(value, BatchMetrics):
            yield from value
        else:
            yield value


def _report_of(parts: Iterator[Any]) -> BlockReport:
    """Return the report that has these parts."""
    values = {
        name: BatchMetrics(*(next(parts) for _ in BatchMetrics._fields)) if name == "batches" else next(parts)
        for name in BlockReport._fields
    }
    return BlockReport(**values)
