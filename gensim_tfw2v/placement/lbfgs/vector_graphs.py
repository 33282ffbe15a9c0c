"""Sums and products of vectors as graphs: each server works on its slices; the coordinator adds up the products."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.server_rows.shape import GraphShape
from gensim_tfw2v.placement.tasks.graph_parts import concrete
from gensim_tfw2v.steps.rows import private_copy

_HANDLE = tf.TensorSpec([], tf.resource)
_NUMBER = tf.TensorSpec([], tf.float64)


class VectorGraphs(NamedTuple):
    """Concrete functions of handles of vectors and of numbers → a number, 0 where there is nothing to return.

    Each server has the numbers on its device.
    """

    devices: tuple[str, ...]  # of the servers
    clear: Any  # (target)
    set_sum: Any  # (target, first, second, factor)
    scale_add: Any  # (target, other, partner, keep, factor) → product
    replace: Any  # (old, new)
    dot: Any  # (first, second) → product
    set_scales: Any  # (scales, source, least)
    scale_rows: Any  # (target, scales, partner, factor) → product
    scaled_square: Any  # (vector, scales) → product


@functools.lru_cache(maxsize=32)
def vector_graphs(shape: GraphShape) -> VectorGraphs:
    """Return the functions for vectors that have the shards of a model's tables."""
    with sending_graphs():
        return VectorGraphs(
            devices=tuple(shape.device_of(server) for server in range(shape.servers)),
            clear=_graph(shape, 1, 0, _clear),
            set_sum=_graph(shape, 3, 1, _set_sum),
            scale_add=_graph(shape, 3, 2, _scale_add),
            replace=_graph(shape, 2, 0, _replace),
            dot=_graph(shape, 2, 0, _dot),
            set_scales=_graph(shape, 2, 1, _set_scales),
            scale_rows=_graph(shape, 3, 1, _scale_rows),
            scaled_square=_graph(shape, 2, 0, _scaled_square),
        )


call_on_disconnect(vector_graphs.cache_clear)

_OfSlices = Callable[[list[tf.Tensor], list[tf.Tensor]], tf.Tensor]
"""Works on slices of vectors, given by their handles, with some numbers; returns a float64 once all is done."""


def _graph(shape: GraphShape, vectors: int, numbers: int, of_slices: _OfSlices) -> Any:
    """Return the function that applies `of_slices` to all slices of `vectors` vectors, with `numbers` numbers."""

    def run(*arguments: Any) -> tf.Tensor:
        of_vectors, sent = arguments[:vectors], arguments[vectors:]
        of_shards = []
        for shard in range(shape.shards):
            with tf.device(shape.device_of(shard)):
                own = [of_servers[shard % shape.servers] for of_servers in sent]
                tables = range(len(shape.tables()))
                of_tables = [of_slices([vector[table][shard] for vector in of_vectors], own) for table in tables]
                of_shards.append(tf.add_n(of_tables))
        # The coordinator adds them up, in the order of shards. On a server, the sum would wait for an operation that
        # TensorFlow places on the coordinator, whose port no server of another machine can reach.
        return tf.add_n([tf.constant(0.0, tf.float64), *of_shards])

    vector = tuple((_HANDLE,) * shape.shards for _ in shape.tables())
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


def _clear(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    # Where shapes are known, TensorFlow makes the zeros once, and every call would assign the same memory.
    return _assigned(slices[0], private_copy(tf.zeros_like(_values(slices[0]))))


def _set_sum(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    target, first, second = slices
    factor = tf.cast(numbers[0], tf.float32)
    return _assigned(target, _values(first) + factor * _values(second))


def _scale_add(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    target, other, partner = slices
    keep, factor = (tf.cast(number, tf.float32) for number in numbers)
    value = tf.math.multiply_no_nan(_values(target), keep) + factor * _values(other)
    product = _product(value, _values(partner))
    with tf.control_dependencies([product]):
        return product + _assigned(target, value)


def _replace(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    old, new = slices
    before, after = _values(old), _values(new)
    change = after - before
    copy = private_copy(after)
    with tf.control_dependencies([change, copy]):
        return _assigned(old, copy) + _assigned(new, change)


def _dot(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    return _product(_values(slices[0]), _values(slices[1]))


def _set_scales(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    scales, source = slices
    lengths = tf.sqrt(tf.reduce_sum(tf.square(_values(source)), 1, keepdims=True))
    return _assigned(scales, 1 / tf.maximum(lengths, tf.cast(numbers[0], tf.float32)))


def _scale_rows(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    target, scales, partner = slices
    value = _values(target) * (tf.cast(numbers[0], tf.float32) * _values(scales))
    product = _product(value, _values(partner))
    with tf.control_dependencies([product]):
        return product + _assigned(target, value)


def _scaled_square(slices: list[tf.Tensor], numbers: list[tf.Tensor]) -> tf.Tensor:
    values = _values(slices[0])
    return _product(values * _values(slices[1]), values)
