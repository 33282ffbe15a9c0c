"""A worker's report about a block, as one tensor: written by the worker's graph, read by the coordinator."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, TrainedChunk
from gensim_tfw2v.cluster.task import METRIC_NAMES
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_MOST_COUNTED = 2**53  # float64 counts exactly up to this number


class StageSeconds(NamedTuple):
    """Seconds of the stages of a block; 0 where a design has no such stage."""

    make: Any = 0.0
    pull: Any = 0.0
    compute: Any = 0.0
    push: Any = 0.0


class TableRows(NamedTuple):
    """Rows of each table that a block pulled, and pushed unless the table is frozen."""

    inputs: Any
    outputs: Any
    nodes: Any
    read_again: Any = 0  # of all tables, before the changes were pushed


class ServersReport(NamedTuple):
    """The servers' part of a report, in designs with tables on servers."""

    staleness: Any  # blocks that others pushed between this one's pull and its push
    is_accepted: Any  # 1 if every server took its changes, 0 if one of them dropped changes
    exchanged: Any  # what its worker exchanged with them: `TableRows`, or counts of the design's own
    metrics: Any  # [servers, metrics], of their processes
    blocks: Any = 1  # that were pushed


class BlockReport(NamedTuple):
    """The report of the blocks of a call: tensors in the graph that makes it, arrays of float64 where it is read.

    The order of the fields is their order in the tensor, and `_shapes` has their shapes.
    """

    tokens: Any
    seconds: StageSeconds
    most_moved: Any  # the word that the block moved most, and how far, if its changes were dropped; else -1 and 0
    worker: Any  # metrics of the worker's process
    batches: BatchMetrics  # [S] each
    measured: Any  # [S]
    pairs: Any  # [S]
    servers: ServersReport | None = None  # None: the worker has all tables

    def to_tensor(self) -> Any:
        """Return all fields in one tensor, so that one answer carries them."""
        tf = load_tensorflow()
        return tf.concat([tf.reshape(tf.cast(part, tf.float64), [-1]) for part in _parts(self)], 0)

    @classmethod
    def from_array(cls, numbers: Float64Array, servers: int, exchanged: type[Any] = TableRows) -> BlockReport:
        """Return the report that `to_tensor` wrote.

        Parameters
        ----------
        servers : int
            Number of servers with tables; 0 if the worker has all tables.
        exchanged : type
            The NamedTuple of counts that a report of servers has.
        """
        fixed, with_a_batch = (_numbers_in(_shapes(servers, exchanged, batches)) for batches in (0, 1))
        shapes = _shapes(servers, exchanged, max(0, len(numbers) - fixed) // (with_a_batch - fixed))
        ends = np.cumsum([math.prod(shape) for shape in _parts(shapes)])
        if ends[-1] != len(numbers):
            raise ValueError(f"a report of {servers} servers cannot have {len(numbers)} numbers")
        parts = zip(np.split(numbers, ends[:-1]), _parts(shapes), strict=True)
        report: BlockReport = _with_parts(shapes, (part.reshape(shape) for part, shape in parts))
        report._raise_if_impossible()
        return report

    def _raise_if_impossible(self) -> None:
        counted, signed = [self.tokens, self.pairs], [self.most_moved[0]]
        if self.servers is not None:
            counted += [*self.servers.exchanged, self.servers.blocks - 1]
            signed.append(self.servers.staleness)
        counts = np.concatenate(counted, axis=None)
        if not np.all((counts >= 0) & (counts < _MOST_COUNTED)) or not np.all(np.abs(signed) < _MOST_COUNTED):
            raise ValueError("a report has impossible numbers of tokens, blocks, rows, pairs or words")

    @property
    def is_accepted(self) -> bool:
        """Whether no server has dropped the block's changes."""
        return self.servers is None or bool(self.servers.is_accepted)

    def trained(self) -> TrainedChunk:
        """Return what the training loop counts."""
        preparing, *stepping = map(float, self.seconds)
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


def no_report(servers: int) -> BlockReport:
    """Return a report in which every number is 0, of no batches."""
    shapes = _shapes(servers, TableRows, 0)
    found: BlockReport = _with_parts(shapes, (np.zeros(shape) for shape in _parts(shapes)))
    return found


def _shapes(servers: int, exchanged: type[Any], batches: int) -> BlockReport:
    """Return the shape of each field."""
    of_batches = (batches,)
    counts = exchanged(*[()] * len(exchanged._fields))
    return BlockReport(
        tokens=(),
        seconds=StageSeconds((), (), (), ()),
        most_moved=(2,),
        worker=(len(METRIC_NAMES),),
        batches=BatchMetrics(of_batches, of_batches, of_batches),
        measured=of_batches,
        pairs=of_batches,
        servers=ServersReport((), (), counts, (servers, len(METRIC_NAMES)), ()) if servers else None,
    )


def _numbers_in(shapes: BlockReport) -> int:
    return sum(math.prod(shape) for shape in _parts(shapes))


def _parts(value: Any) -> Iterator[Any]:
    """Yield the fields of a NamedTuple in their order, those of NamedTuples in it one by one."""
    if hasattr(value, "_fields"):
        for field in value:
            yield from _parts(field)
    elif value is not None:
        yield value


def _with_parts(value: Any, parts: Iterator[Any]) -> Any:
    """Return a NamedTuple like this one with other fields, in the order in which `_parts` yields them."""
    if hasattr(value, "_fields"):
        return type(value)(*(_with_parts(field, parts) for field in value))
    return None if value is None else next(parts)
