"""The tree's hot nodes on a worker that trains a block with several cores: the last rows of its matrix.

Each batch trains the last rows of a table on a copy (`tuning.HOT_NODES`). Where tables have several shards, the nodes
next to the root are among the rows of all of them, so some rows of the matrix change places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.placement.server_rows.shape import GraphShape

SWAPS = tf.TensorSpec([None, 2], tf.int32)


class HotNodes(NamedTuple):
    """Where rows are once the hot nodes are the last ones."""

    places: Sequence[Int32Array]  # of the rows of inputs, outputs and nodes in the matrix
    swaps: Int32Array  # [2P, 2], rows that have changed places, each with the row that has its former place
    number: int  # of hot nodes


def hot_nodes_last(places: Sequence[Int32Array], nodes: Int32Array, rows: int, most: int) -> HotNodes:
    """Return the places of a matrix's rows with the hot nodes at the end.

    Parameters
    ----------
    places : sequence of array
        Of the rows of inputs, outputs and nodes, in the order of the shards.
    nodes : array
        The ids of all nodes in the matrix, in ascending order.
    rows : int
        Rows of the matrix.
    most : int
        How many nodes are hot, at most.
    """
    count = min(most, len(nodes))
    hot, last = places[-1][nodes[len(nodes) - count :]], np.arange(rows - count, rows, dtype=np.int32)
    moved, freed = np.setdiff1d(hot, last), np.setdiff1d(last, hot)
    order = np.arange(rows, dtype=np.int32)
    order[moved], order[freed] = freed, moved
    swaps = np.stack([np.concatenate([moved, freed]), np.concatenate([freed, moved])], 1)
    return HotNodes([order[of_table] for of_table in places] if len(moved) else places, swaps, count)


def swapped(shape: GraphShape, matrix: tf.Tensor, swaps: tf.Tensor) -> tf.Tensor:
    """Return a matrix whose rows have changed places, in a graph; swapped twice, they are where they were."""
    if shape.shards == 1 or not shape.objective.hierarchical_softmax:
        return matrix

    def swap() -> tf.Tensor:
        return tf.tensor_scatter_nd_update(matrix, swaps[:, :1], tf.gather(matrix, swaps[:, 1]))

    found: tf.Tensor = tf.cond(tf.size(swaps) > 0, swap, lambda: matrix)
    return found
