"""A worker's work on a portion as a graph: make its block, pull rows of the trial point, put the gradient in a slot."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.calls.worker_graphs import WorkerGraphs
from gensim_tfw2v.placement.lbfgs.gradient import portion_gradient
from gensim_tfw2v.placement.lbfgs.portion import PORTION, Portion
from gensim_tfw2v.placement.lbfgs.task_functions import MAKE_PORTION
from gensim_tfw2v.placement.remote.handles import Handles
from gensim_tfw2v.placement.server_rows.graphs import fetch_model_graph
from gensim_tfw2v.placement.server_rows.messages import shard_messages, split_ticket
from gensim_tfw2v.placement.server_rows.pull import pull_rows
from gensim_tfw2v.placement.server_rows.shape import GraphShape, handles_spec
from gensim_tfw2v.placement.server_rows.sums import put_changes
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.placement.tasks.graphs import REQUEST, concrete
from gensim_tfw2v.steps.signature import Objective


@functools.lru_cache(maxsize=32)
def gradient_graphs(shape: GraphShape) -> WorkerGraphs:
    """Return the functions that run on workers."""

    def train(handles: Handles, request: Request) -> tf.Tensor:
        return _train(shape, handles, request)

    with sending_graphs():
        return WorkerGraphs(fetch_model_graph(), train=concrete(train, handles_spec(shape), REQUEST))


call_on_disconnect(gradient_graphs.cache_clear)


@functools.cache
def local_gradient_graph(objective: Objective) -> Any:
    """Return the function (portion, rows) → losses and gradient that runs in this process."""

    def gradient(portion: Portion, rows: tf.Tensor) -> Any:
        return portion_gradient(objective, portion.block, portion.rates, portion.lookups, portion.held, rows)

    return concrete(gradient, PORTION, tf.TensorSpec([None, None], tf.float32))


def _train(shape: GraphShape, handles: Handles, request: Request) -> tf.Tensor:
    """Return the report of a portion whose gradient is in its slot."""
    began = tf.timestamp()
    packed, ticket = split_ticket(request.assignment)
    with tf.control_dependencies([began]):
        portion = _make_portion(Request(request.model, packed))
    with tf.control_dependencies([portion.tokens]):
        made = tf.timestamp()
    messages = shard_messages(shape, portion.lease_key, ticket, portion.rows)
    rows, version = pull_rows(shape, handles, messages)
    with tf.control_dependencies([rows]):
        pulled = tf.timestamp()
    with tf.control_dependencies([pulled]):
        found = portion_gradient(
            shape.objective, portion.block, portion.rates, portion.lookups, portion.held, tf.identity(rows)
        )
    with tf.control_dependencies(list(found)):
        computed = tf.timestamp()
    done = put_changes(shape, handles, portion.rows, messages, found.gradient)
    with tf.control_dependencies([done.metrics]):
        pushed = tf.timestamp()
    nothing = tf.zeros_like(found.losses)
    return BlockReport(
        tokens=portion.tokens,
        staleness=done.version - version,
        is_accepted=done.is_accepted,
        seconds=tf.stack([made - began, pulled - made, computed - pulled, pushed - computed]),
        rows=tf.reduce_sum(portion.rows.counts, 0),
        most_moved=tf.constant([-1.0, 0.0], tf.float64),
        worker=portion.metrics,
        servers=done.metrics,
        batches=BatchMetrics(found.losses, nothing, nothing),
        measured=tf.ones_like(found.losses),
        pairs=portion.pairs,
    ).to_tensor()


def _make_portion(request: Request) -> Portion:
    """Return the portion as the worker's Python makes it."""
    portion: Portion = remote_functions.call_for(MAKE_PORTION, request, PORTION)
    return portion
