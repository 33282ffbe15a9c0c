"""A worker's work on a portion as a graph: make its block, pull rows of the trial point, put the gradient in a slot."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from gensim_tfw2v.blocks.chunk_task import BatchMetrics
from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.calls.program import WorkerGraphs
from gensim_tfw2v.placement.lbfgs.gradient import portion_gradient
from gensim_tfw2v.placement.lbfgs.portion import PORTION
from gensim_tfw2v.placement.server_rows.block_graphs import fetch_model_graph, stage_block
from gensim_tfw2v.placement.server_rows.push import servers_report
from gensim_tfw2v.placement.server_rows.shape import GraphShape, Handles, handles_spec
from gensim_tfw2v.placement.server_rows.sums import put_changes
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import StageSeconds
from gensim_tfw2v.placement.tasks.graph_parts import REQUEST, concrete, report_of
from gensim_tfw2v.steps.signature import Objective


@functools.lru_cache(maxsize=32)
def gradient_graphs(shape: GraphShape) -> WorkerGraphs:
    """Return the functions that run on workers."""
    with sending_graphs():
        train = concrete(lambda *arguments: _train(shape, *arguments), handles_spec(shape), REQUEST)
        return WorkerGraphs(fetch_model_graph(), train)


call_on_disconnect(gradient_graphs.cache_clear)


@functools.cache
def local_gradient_graph(objective: Objective) -> Any:
    """Return the function (portion, rows) → losses and gradient that runs in this process."""
    rows = tf.TensorSpec([None, None], tf.float32)
    return concrete(lambda *arguments: portion_gradient(objective, *arguments), PORTION.specs, rows)


def _train(shape: GraphShape, handles: Handles, request: Request) -> tf.Tensor:
    """Return the report of a portion whose gradient is in its slot."""
    portion, messages, rows, version, seconds = stage_block(shape, handles, request, kind=PORTION)
    needed = portion.extra.needed
    with tf.control_dependencies([rows]):
        pulled = tf.timestamp()
    with tf.control_dependencies([pulled]):
        found = portion_gradient(shape.objective, portion, tf.identity(rows))
    with tf.control_dependencies(list(found)):
        computed = tf.timestamp()
    done = put_changes(shape, handles, needed, messages, found.gradient)
    with tf.control_dependencies([done.metrics]):
        pushed = tf.timestamp()
    making, pulling = tf.unstack(seconds, num=2)
    nothing = tf.zeros_like(found.losses)
    return report_of(
        portion.basics,
        BatchMetrics(found.losses, nothing, nothing),
        StageSeconds(making, pulling, computed - pulled, pushed - computed),
        servers=servers_report(done, version, needed),
    ).to_tensor()
