"""A worker's work on a block as one graph over the worker and all servers: they all make the block, and train it.

It is traced once for a shape of cluster: handles of the servers' tables are arguments. The batches of a block are cut
into lanes, whose batches follow each other. Several lanes are trained side by side, so that one computes while messages
of another are under way.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import call_on_disconnect, device, sending_graphs
from gensim_tfw2v.cluster.task import METRIC_NAMES, RENEW_LEASE
from gensim_tfw2v.placement.calls.program import WorkerGraphs
from gensim_tfw2v.placement.columns.batch_counters import Sender, begin, is_valid
from gensim_tfw2v.placement.columns.column_blocks import COLUMN_BLOCK, DROP_COLUMN_BLOCK, KEEP_COLUMN_BLOCK, READ_WORDS
from gensim_tfw2v.placement.columns.column_maths import OfTables
from gensim_tfw2v.placement.columns.lane import Lane, LaneEnd, ServerPart
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_factory import REGISTER_MODEL
from gensim_tfw2v.placement.tasks.block_kind import make_block
from gensim_tfw2v.placement.tasks.block_report import ServersReport, StageSeconds
from gensim_tfw2v.placement.tasks.graph_parts import HANDLE, REQUEST, concrete, report_of

SENDER_BYTES = 4 * len(Sender._fields)  # int32 after an assignment's bytes: the job, and the worker's ticket


@dataclass(frozen=True)
class ColumnGraphShape:
    """The values that a trace depends on: each combination has a trace of its own."""

    servers: int
    connection: int  # its number: tasks of a new connection do not have the functions of an older one
    number_type: str  # TensorFlow's name of the number format in which products and their gradients are sent
    lanes: int
    mask_hits: bool  # negatives often equal their own target and must be masked


class ColumnHandles(NamedTuple):
    """Resource handles on the servers."""

    tables: tuple[OfTables, ...]  # of each server
    version: Any  # blocks trained so far, on the first server
    generations: tuple[Any, ...]  # each server's int32 variable [workers]
    counters: tuple[tuple[Any, ...], ...] = ()  # of the block in training, for each lane on each server


class Exchanged(NamedTuple):
    """Counts of what a worker exchanges with each server for a block: tensors in a graph, numbers in a report."""

    products: Any  # how many; there are as many gradients of scores
    squares: Any  # how many; there are as many rates
    id_bytes: Any  # of the message with the ids of the block's words


@functools.lru_cache(maxsize=32)
def column_graphs(shape: ColumnGraphShape) -> WorkerGraphs:
    """Return the functions that run on workers."""
    of_servers = (HANDLE,) * shape.servers
    tables = (OfTables(HANDLE, HANDLE),) * shape.servers
    handles = ColumnHandles(tables, HANDLE, of_servers, (of_servers,) * shape.lanes)

    def train(handles: ColumnHandles, request: Request) -> tf.Tensor:
        return _BlockTraining(shape, handles, request).report()

    with sending_graphs():
        return WorkerGraphs(
            register_model=concrete(_register_model, REQUEST.model, of_servers),
            train=concrete(train, handles, REQUEST),
            exchanged=Exchanged,
        )


call_on_disconnect(column_graphs.cache_clear)


def _register_model(name: tf.Tensor, models: tuple[Any, ...]) -> tf.Tensor:
    """Have the worker and all servers keep the model, whose bytes each server has in a variable."""
    registered = []
    for server, handle in enumerate(models):
        with tf.device(device("ps", server)):
            data = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.uint8)
            registered += remote_functions.call(REGISTER_MODEL, [name, data], [tf.bool])
        if server == 0:
            registered += remote_functions.call(REGISTER_MODEL, [name, data], [tf.bool])
    return tf.reduce_all(tf.stack(registered))


class _BlockTraining:
    def __init__(self, shape: ColumnGraphShape, handles: ColumnHandles, request: Request) -> None:
        self._shape, self._handles = shape, handles
        sealed = request.assignment
        began = tf.timestamp()
        with tf.control_dependencies([began]):
            (words,) = remote_functions.call(READ_WORDS, [request.model, sealed[:-SENDER_BYTES]], [tf.uint8])
        words.set_shape([None])
        self._id_bytes = tf.size(words)
        self._sender = tf.bitcast(tf.reshape(sealed[-SENDER_BYTES:], [len(Sender._fields), -1]), tf.int32)
        self._block = make_block(COLUMN_BLOCK, request.model, words)
        self._kept: list[tf.Tensor] = []  # one for each server, ready when it has the block
        for server in range(shape.servers):
            with tf.device(device("ps", server)):
                job = tf.identity(self._sender)[0]
                self._kept += remote_functions.call(KEEP_COLUMN_BLOCK, [request.model, words, job], [tf.bool])
        with tf.control_dependencies([self._block.basics.tokens, *self._kept]):
            self._seconds_making = tf.timestamp() - began
        with tf.device(device("ps", 0)), tf.control_dependencies([self._kept[0]]):
            self._version = self._read_version()

    def report(self) -> tf.Tensor:
        """Train the block, and return the report."""
        shape, block = self._shape, self._block
        with tf.control_dependencies([self._seconds_making]):
            began = tf.timestamp()
        lanes = [self._train_lane(lane) for lane in range(shape.lanes)]
        with tf.control_dependencies([lane.end for lane in lanes]):
            seconds = tf.timestamp() - began
        metrics = (tf.concat(values, 0) for values in zip(*(lane.metrics for lane in lanes), strict=True))
        waited = tf.add_n([lane.waited for lane in lanes]) / shape.lanes
        end = tf.stack([lane.end for lane in lanes])
        ends = tf.stack([self._end(server, end) for server in range(shape.servers)])
        # Batches that a former worker has trained are part of the block, but their metrics are lost.
        is_trained = tf.concat([lane.is_trained for lane in lanes], 0)
        return report_of(
            block.basics,
            BatchMetrics(*metrics),
            StageSeconds(self._seconds_making, waited[0], seconds - tf.reduce_sum(waited), waited[1]),
            servers=ServersReport(
                ends[0, 0] - self._version, tf.reduce_min(ends[:, 1]), self._exchanged(is_trained), ends[:, 2:]
            ),
            measured=tf.logical_and(block.basics.rates.measured, is_trained),
        ).to_tensor()

    def _train_lane(self, number: int) -> LaneEnd:
        """Train a lane's share of the batches, from the first one that a server lacks."""
        shape, handles, counters = self._shape, self._handles, self._handles.counters[number]
        batches = tf.size(self._block.basics.pairs)
        first, end = (batches * bound // shape.lanes for bound in (number, number + 1))
        parts, done = [], []
        for server in range(shape.servers):
            part = ServerPart(server, handles.tables[server], counters[server], handles.generations[server])
            with tf.device(device("ps", server)), tf.control_dependencies([self._kept[server]]):
                sender = Sender(*tf.unstack(tf.identity(self._sender), num=len(Sender._fields)))
                done.append(begin(part.counter, part.generations, sender))
            parts.append(part)
        lane = Lane(self._block, self._sender, parts, shape.number_type, shape.mask_hits)
        return lane.train(first, first + tf.reduce_min(tf.stack(done)), end)

    def _exchanged(self, is_trained: tf.Tensor) -> Exchanged:
        block = self._block
        _, runs, tokens = tf.unstack(tf.shape(block.left), num=3)
        pairs = 2 * block.window + block.basics.rates.shared_negatives
        batches = tf.math.count_nonzero(is_trained, dtype=tf.int32)
        moved = tf.reduce_sum(tf.boolean_mask(block.moved, is_trained))
        return Exchanged(batches * runs * tokens * pairs, moved, self._id_bytes)

    def _end(self, server: int, trained: tf.Tensor) -> tf.Tensor:
        """Return a server's answer at the end: blocks trained before, whether it took this one, and its metrics."""
        with tf.device(device("ps", server)):
            arrived = tf.identity(trained)
            message = tf.identity(tf.concat([self._sender, [self._block.basics.lease_key]], 0))
            *fields, lease_key = tf.unstack(message, num=len(Sender._fields) + 1)
            accepted = is_valid(self._handles.generations[server], Sender(*fields), [arrived])
            (dropped,) = remote_functions.call(DROP_COLUMN_BLOCK, [lease_key, fields[0], accepted], [tf.bool])
            with tf.control_dependencies([dropped]):
                (metrics,) = remote_functions.call(RENEW_LEASE, [lease_key], [tf.float64])
            metrics.set_shape([len(METRIC_NAMES)])
            version, counted = tf.constant(0.0, tf.float64), []
            if server == 0:
                with tf.control_dependencies([metrics]):
                    version = self._read_version()
                with tf.control_dependencies([version]):
                    one = tf.cast(accepted, tf.int64)
                    counted = [tf.raw_ops.AssignAddVariableOp(resource=self._handles.version, value=one)]
            with tf.control_dependencies(counted):
                return tf.concat([[version], [tf.cast(accepted, tf.float64)], metrics], 0)

    def _read_version(self) -> tf.Tensor:
        return tf.cast(tf.raw_ops.ReadVariableOp(resource=self._handles.version, dtype=tf.int64), tf.float64)
