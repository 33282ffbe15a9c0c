"""Vectors of L-BFGS on parameter servers: slices that never leave their servers. Each call returns one number.

Each server works on its slices; the coordinator adds up their products.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.lbfgs.vector_space import POINT, VectorSpace, vector_names
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.server_rows.shape import GraphShape
from gensim_tfw2v.placement.tasks.graph_parts import HANDLE, concrete
from gensim_tfw2v.steps.rows import private_copy

_SCALES = "scales"

Slices = tuple[tuple[Any, ...], ...]
"""Handles of each table's shards."""


class ServerVectors(VectorSpace):
    """Vectors beside a model's tables; the tables are the accepted point.

    Parameters
    ----------
    history : int
        Decides how many vectors there are, as in `vector_names`.
    shape : GraphShape
        Of the tables, whose shards the vectors have.
    call : callable
        Calls a function that calls servers, and raises an error if one is lost.
    """

    def __init__(
        self, tables: RemoteTables, history: int, shape: GraphShape, call: Callable[[Callable[[], Any]], Any]
    ) -> None:
        self._call, self._graphs = call, _vector_graphs(shape)
        self.devices = [shape.device_of(server) for server in range(shape.servers)]
        of_model = [TABLES[table] for table in shape.tables()]
        self.slices: dict[str, Slices] = call(lambda: _make_vectors(tables, vector_names(history), of_model))

    def clear(self, target: str) -> None:
        self._run("clear", [target])

    def set_sum(self, target: str, first: str, factor: float, second: str) -> None:
        self._run("set_sum", [target, first, second], factor)

    def scale_add(self, target: str, keep: float, factor: float, other: str, partner: str) -> float:
        return self._run("scale_add", [target, other, partner], keep, factor)

    def replace(self, old: str, new: str) -> None:
        self._run("replace", [old, new])

    def dot(self, first: str, second: str) -> float:
        return self._run("dot", [first, second])

    def set_scales(self, source: str, least: float) -> None:
        self._run("set_scales", [_SCALES, source], least)

    def scale_rows(self, target: str, factor: float, partner: str) -> float:
        return self._run("scale_rows", [target, _SCALES, partner], factor)

    def scaled_square(self, vector: str) -> float:
        return self._run("scaled_square", [vector, _SCALES])

    def _run(self, operation: str, vectors: Sequence[str], *numbers: float) -> float:
        slices = [self.slices[name] for name in vectors]

        def run() -> float:
            sent = [
                tuple(remote_functions.sent_to(device, np.float64(number)) for device in self.devices)
                for number in numbers
            ]
            return float(self._graphs[operation](*slices, *sent).numpy())

        return float(self._call(run))


def _make_vectors(tables: RemoteTables, names: Sequence[str], of_model: Sequence[str]) -> dict[str, Slices]:
    """Make a table for each part of a vector that has none, and return the handles of all vectors and of the scales."""
    slices = {}
    for name in (*names, _SCALES):
        of_vector = [table if name == POINT else f"{name}/{table}" for table in of_model]
        for own, table in zip(of_vector, of_model, strict=True):
            shape = tables.shape(table)
            if not tables.handles(own):
                tables.make(own, shape.rows, 1 if name == _SCALES else shape.columns)
        slices[name] = tuple(tuple(tables.handles(own)) for own in of_vector)
    return slices


# -- graphs ------------------------------------------------------------------------------------------------------------

_NUMBER = tf.TensorSpec([], tf.float64)
_OfSlices = Callable[..., tf.Tensor]
"""Works on slices of vectors, given by their handles, with some float32; returns a float64 once all is done."""


@functools.lru_cache(maxsize=32)
def _vector_graphs(shape: GraphShape) -> Mapping[str, Any]:
    """Return concrete functions of handles of vectors, and of numbers, which each server has on its device.

    Each returns a number, 0 where there is nothing to return.
    """
    with sending_graphs():
        return {name: _graph(shape, *operation) for name, operation in _OPERATIONS.items()}


call_on_disconnect(_vector_graphs.cache_clear)


def _graph(shape: GraphShape, vectors: int, numbers: int, of_slices: _OfSlices) -> Any:
    """Return the function that applies `of_slices` to all slices of `vectors` vectors, with `numbers` numbers."""

    def run(*arguments: Any) -> tf.Tensor:
        of_vectors, sent = arguments[:vectors], arguments[vectors:]
        of_shards = []
        for shard in range(shape.shards):
            with tf.device(shape.device_of(shard)):
                own = [tf.cast(of_servers[shard % shape.servers], tf.float32) for of_servers in sent]
                tables = range(len(shape.tables()))
                of_tables = [of_slices(*(vector[table][shard] for vector in of_vectors), *own) for table in tables]
                of_shards.append(tf.add_n(of_tables))
        # The coordinator adds them up, in the order of shards. On a server, the sum would wait for an operation that
        # TensorFlow places on the coordinator, whose port no server of another machine can reach.
        return tf.add_n([tf.constant(0.0, tf.float64), *of_shards])

    vector = tuple((HANDLE,) * shape.shards for _ in shape.tables())
    signature = (*(vector,) * vectors, *((_NUMBER,) * shape.servers,) * numbers)
    return concrete(run, *signature)


def _values(handle: tf.Tensor) -> tf.Tensor:
    return tf.ensure_shape(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32), [None, None])


def _assigned(handle: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Assign a value whose memory nothing else uses, because operations change rows in place; return 0 when done."""
    with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handle, value=value)]):
        return tf.constant(0.0, tf.float64)


def _product(first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
    """Return the sum of products: those of a row in float32, and the sum of rows in float64."""
    return tf.reduce_sum(tf.cast(tf.reduce_sum(first * second, 1), tf.float64))


def _assigned_with_product(target: tf.Tensor, value: tf.Tensor, partner: tf.Tensor) -> tf.Tensor:
    product = _product(value, _values(partner))
    with tf.control_dependencies([product]):
        return product + _assigned(target, value)


def _clear(target: tf.Tensor) -> tf.Tensor:
    # Where shapes are known, TensorFlow makes the zeros once, and every call would assign the same memory.
    return _assigned(target, private_copy(tf.zeros_like(_values(target))))


def _set_sum(target: tf.Tensor, first: tf.Tensor, second: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    return _assigned(target, _values(first) + factor * _values(second))


def _scale_add(
    target: tf.Tensor, other: tf.Tensor, partner: tf.Tensor, keep: tf.Tensor, factor: tf.Tensor
) -> tf.Tensor:
    value = tf.math.multiply_no_nan(_values(target), keep) + factor * _values(other)
    return _assigned_with_product(target, value, partner)


def _replace(old: tf.Tensor, new: tf.Tensor) -> tf.Tensor:
    before, after = _values(old), _values(new)
    change = after - before
    copy = private_copy(after)
    with tf.control_dependencies([change, copy]):
        return _assigned(old, copy) + _assigned(new, change)


def _dot(first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
    return _product(_values(first), _values(second))


def _set_scales(scales: tf.Tensor, source: tf.Tensor, least: tf.Tensor) -> tf.Tensor:
    lengths = tf.sqrt(tf.reduce_sum(tf.square(_values(source)), 1, keepdims=True))
    return _assigned(scales, 1 / tf.maximum(lengths, least))


def _scale_rows(target: tf.Tensor, scales: tf.Tensor, partner: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    return _assigned_with_product(target, _values(target) * (factor * _values(scales)), partner)


def _scaled_square(vector: tf.Tensor, scales: tf.Tensor) -> tf.Tensor:
    values = _values(vector)
    return _product(values * _values(scales), values)


# By the name of the method of `VectorSpace`: how many vectors and numbers it takes, and what it does.
_OPERATIONS: dict[str, tuple[int, int, _OfSlices]] = {
    "clear": (1, 0, _clear),
    "set_sum": (3, 1, _set_sum),
    "scale_add": (3, 2, _scale_add),
    "replace": (2, 0, _replace),
    "dot": (2, 0, _dot),
    "set_scales": (2, 1, _set_scales),
    "scale_rows": (3, 1, _scale_rows),
    "scaled_square": (2, 0, _scaled_square),
}
