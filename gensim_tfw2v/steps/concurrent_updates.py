"""The share of a block's changes that is pushed for rows that other blocks train at the same time.

Blocks in flight start from about the same rows, so each block finds about the same changes as the others. A row is
trained against other rows, its partners. Take a direction along which the partners' vectors have the mean square λ.
Along this direction, p pairs at learning rate η move the row by the share 1 - exp(-a) of the distance to where it would
settle. Here a is approximately η s p λ, and s is the slope of the sigmoid. The product η s p is the row's strength.

If n such blocks were trained one after the other, they would move the row by the share 1 - exp(-n a). If they are
trained at the same time, they all start at the same place, and the sum of their changes is n (1 - exp(-a)). So each
change is scaled by the quotient of the two, direction by direction. Rows of rare words keep nearly all of a change.
Where all blocks find the same change, each keeps 1 / n of it, above all along the direction that all vectors have in
common. Each of the longest directions has its own λ; all other directions share one.

CBOW trains outputs and nodes against the mean of several inputs, its contexts. The part that all inputs have in common
is equally long in their mean. Along all other directions, the mean square of a mean of C contexts is 1 / C of the
inputs' mean square. On the other hand, every target moves all of its contexts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Int32Array
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.steps.adagrad import rate_factor, states_of, vectors_of
from gensim_tfw2v.steps.row_sharing import RowSharing
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.steps.signature import Objective


class HotRows(NamedTuple):
    """The rows that a block trains most, and shared rows, of all its tables one after the other."""

    rows: Any  # [K], in the worker's matrix; for each table, shared rows come first, then those trained most
    strengths: Any  # [K], η s p of each
    counts: Any  # [3], how many rows are of inputs, outputs, nodes
    concurrent_blocks: Any  # n, blocks that are trained at a time, this one included
    moment_weights: (
        Any  # [2], weights of E[x xᵀ] and E[x] E[x]ᵀ, for inputs x, in the second moment of outputs' partners
    )


HOT_ROWS = HotRows(
    tf.TensorSpec([None], tf.int32),
    tf.TensorSpec([None], tf.float32),
    tf.TensorSpec([3], tf.int32),
    tf.TensorSpec([], tf.float32),
    tf.TensorSpec([2], tf.float32),
)


def hot_rows_of(
    block: Block,
    of_tables: Sequence[Int32Array],
    settings: StepSettings,
    rate: float,
    concurrent_blocks: int,
    shared: Sequence[Int32Array],
) -> HotRows:
    """Return which of a worker's rows the block trains most; none if it is the only block in flight and shares no rows.

    Parameters
    ----------
    block : Block
        The block, with rows numbered as in the worker's matrix.
    of_tables : sequence of ndarray
        The matrix's rows of inputs, outputs and nodes, in the order of their ids: which rows are hot, and in which
        order, must not depend on the number of servers.
    rate : float
        The block's mean learning rate.
    shared : sequence of ndarray
        Shared rows of inputs, outputs and nodes, as places in `of_tables`. They come first, however much they are
        trained.
    """
    weights = moment_weights(block, settings)
    if concurrent_blocks == 1 and not any(map(len, shared)):
        return HotRows(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(3, np.int32), np.float32(1), weights)
    of_matrix = strengths_by_row(block, sum(map(len, of_tables)), settings)
    found = []
    for own, first, by_row in zip(of_tables, shared, of_matrix, strict=True):
        places, most = most_trained(rate * by_row[own], first)
        found.append((own[places], most))
    numbers, strengths = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    counts = np.array([len(of_table) for of_table, _ in found], np.int32)
    return HotRows(numbers, strengths, counts, np.float32(concurrent_blocks), weights)


def moment_weights(block: Block, settings: StepSettings) -> Float32Array:
    """Return the weights [2] of E[x xᵀ] and E[x] E[x]ᵀ, for inputs x, in the second moment of outputs' partners.

    They are inputs, or in CBOW means or sums of a target's contexts.
    """
    contexts = _contexts(block, settings)
    if settings.mean_context or settings.skip_gram:
        return np.array([1 / contexts, 1 - 1 / contexts], np.float32)
    return np.array([contexts, contexts**2 - contexts], np.float32)


def _contexts(block: Block, settings: StepSettings) -> float:
    """Return how many inputs a target of CBOW has on average; 1 for skip-gram, and for a block without targets."""
    contexts = block.left + block.right
    if settings.skip_gram or not contexts.any():
        return 1.0
    return float(contexts.sum(dtype=np.int64)) / int(np.count_nonzero(contexts))


def strengths_by_row(
    block: Block, rows: int, settings: StepSettings
) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return approximately s p of each row [U], as a row of inputs, of outputs and of nodes."""
    of_inputs, of_outputs, of_nodes = tuning.SLOPES
    pairs = float(block.pairs.sum())
    of_pair = 0.0  # s p of an input row in a pair
    outputs = nodes = np.zeros(rows, np.float32)
    if block.candidate_ids is not None:
        context_targets, drawn = np.split(block.candidate_ids, [-settings.shared_negatives], axis=2)
        targets = context_targets if block.target_ids is None else block.target_ids
        outputs = _divided_equally(targets, pairs, rows) + _divided_equally(drawn, pairs * settings.negative, rows)
        outputs *= of_outputs
        of_pair += of_inputs * (1 + settings.negative)
    if block.tree is not None:
        tree = block.tree
        lengths = np.diff(tree.offsets)
        # Every place of the widened runs counts the same, as with the other rows.
        passes = np.repeat(_divided_equally(tree.words, pairs, len(lengths)), lengths)
        nodes = np.bincount(tree.nodes, passes, minlength=rows).astype(np.float32)
        # Summed along the paths: the order of rows depends on the number of servers, and rounding on that order.
        of_pair += tuning.TREE_INPUT_SLOPE * float(passes.sum()) / max(pairs, 1.0)
        nodes *= of_nodes
    return _of_inputs(block, pairs * _contexts(block, settings) * of_pair, rows), outputs, nodes


def _of_inputs(block: Block, pairs: float, rows: int) -> Float32Array:
    """Return each input row's part of `pairs` pairs: each row of a bag has the part of the bag."""
    if block.bags is None:
        return _divided_equally(block.input_ids, pairs, rows)
    of_bags = _divided_equally(block.input_ids, pairs, len(block.bags))
    return np.bincount(block.bags.members, np.repeat(of_bags, block.bags.sizes), rows).astype(np.float32)


def _divided_equally(ids: Int32Array, pairs: float, rows: int) -> Float32Array:
    """Return each row's part of `pairs` pairs if every place of `ids` has the same part."""
    return (np.bincount(ids.reshape(-1), minlength=rows) * (pairs / ids.size)).astype(np.float32)


def most_trained(strengths: Float32Array, first: Int32Array) -> tuple[Int32Array, Float32Array]:
    """Return the rows `first`, then those with the greatest strengths, and the strength of each row."""
    is_other = strengths > 0
    is_other[first] = False
    others = np.flatnonzero(is_other).astype(np.int32)
    limits = [limit - len(first) for limit in (tuning.ALL_PROBE_ROWS, tuning.MOST_HOT_ROWS)]
    limits = [limit for limit in limits if 0 < limit < len(others)]
    if limits:
        others = others[np.argpartition(-strengths[others], limits)[: tuning.MOST_HOT_ROWS - len(first)]]
    trained = np.concatenate([first, others])
    return trained, strengths[trained].astype(np.float32)


def at_rates_of_states(hot: HotRows, rows: tf.Tensor) -> HotRows:
    """Return hot rows with the strengths that follow from their states, given the rows [K, D + 1] with these."""
    return hot._replace(strengths=hot.strengths * rate_factor(states_of(rows)))


class ConcurrentUpdates:
    """Scales a block's changes, in the graph that trains it.

    Directions are computed from the vectors of probe rows at the beginning of the part of the block whose changes are
    pushed next. Early in a training, vectors grow many times over within a block, and so do the changes that every
    other block finds. Directions of an earlier part are reused as long as the mean square of the vectors is about the
    same.

    Parameters
    ----------
    sharing : RowSharing
        The first rows of each table are pushed after every part of the block.
    partners : Partners, optional
        Directions that an earlier block found; `partners` has those of the latest part.
    """

    def __init__(
        self, hot_rows: HotRows, objective: Objective, sharing: RowSharing, partners: Partners | None = None
    ) -> None:
        self._used, self._tables = objective.tables(), objective.moved_tables()
        self._have_states = objective.adagrad
        self._sharing = sharing
        self._concurrent_blocks = hot_rows.concurrent_blocks
        self._moment_weights = hot_rows.moment_weights
        self._strengths = tf.split(hot_rows.strengths, hot_rows.counts, num=3)
        rows = tf.split(hot_rows.rows, hot_rows.counts, num=3)
        self.rows = [rows[table] for table in self._tables]  # [K] of each of the T tables that move
        self.shared_rows = tf.concat([of_table[: sharing.rows] for of_table in self.rows], 0)  # [T * H]
        probes = [tf.concat(_probes(of_table), 0) for of_table in rows]
        self.probe_rows = tf.concat(probes, 0)  # [S]
        self.probe_counts = tf.stack([tf.size(of_table) for of_table in probes])
        self._weights = [tf.concat(_weighted(*_probes(of_table)), 0) for of_table in self._strengths]  # of probe rows
        self.partners = no_partners() if partners is None else partners

    def of_part(self, moves: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Return the scaled moves [T * H, D] of shared rows in a part of the block."""
        of_tables = tf.split(moves, len(self._tables))
        strengths = [self._strengths[table][: self._sharing.rows] / self._sharing.parts for table in self._tables]
        return tf.concat(self._scaled(of_tables, strengths, vectors), 0)

    def of_block(self, moves: Sequence[tf.Tensor], shared: tf.Tensor, vectors: tf.Tensor) -> list[tf.Tensor]:
        """Return each table's scaled moves [K, D]; for shared rows, those of the last part, `shared` [T * H, D]."""
        first, others = slice(None, self._sharing.rows), slice(self._sharing.rows, None)
        of_tables = zip(tf.split(shared, len(self._tables)), moves, strict=True)
        both = [tf.concat([of_part, of_block[others]], 0) for of_part, of_block in of_tables]
        strengths = [self._strengths[table] for table in self._tables]
        strengths = [tf.concat([part[first] / self._sharing.parts, part[others]], 0) for part in strengths]
        return self._scaled(both, strengths, vectors)

    def _scaled(
        self, moves: Sequence[tf.Tensor], strengths: Sequence[tf.Tensor], vectors: tf.Tensor
    ) -> list[tf.Tensor]:
        """Return each table's scaled moves of rows with these strengths."""
        self.partners = self._partners_for(vectors)
        partners = [self.partners.of_others if table else self.partners.of_inputs for table in self._tables]

        def scaled() -> list[tf.Tensor]:
            of_tables = zip(moves, strengths, partners, strict=True)
            return [scaled_moves(*arguments, self._concurrent_blocks, self._have_states) for arguments in of_tables]

        # If no other block is in flight, the block keeps all of its changes.
        kept: list[tf.Tensor] = tf.cond(self._concurrent_blocks > 1, scaled, lambda: list(moves))
        return kept

    def _partners_for(self, vectors: tf.Tensor) -> Partners:
        """Return the partners' directions for these vectors of probe rows: the earlier ones, if still accurate."""
        of_tables = tf.split(vectors_of(vectors, self._have_states), self.probe_counts, num=3)
        squares = tf.stack([_mean_square(*of_table) for of_table in zip(of_tables, self._weights, strict=True)])
        before = self.partners

        def compute() -> Partners:
            outputs = self._used[1:]
            of_outputs = (tf.concat([found[t] for t in outputs], 0) for found in (of_tables, self._weights))
            moment, mean = _moments(of_tables[0], self._weights[0])
            mean_moment = tf.matmul(mean, mean, transpose_a=True)
            of_contexts = self._moment_weights[0] * moment + self._moment_weights[1] * mean_moment
            return Partners(squares, _directions(_moments(*of_outputs)[0]), _directions(of_contexts))

        # Squares that are not finite do not equal anything.
        is_same = tf.reduce_all(tf.abs(squares - before.squares) <= tuning.NOTABLE_CHANGE * before.squares)
        partners: Partners = tf.cond((self._concurrent_blocks > 1) & ~is_same, compute, lambda: before)
        return partners


def _probes(of_table: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the values of a table's probe rows: all of its first hot rows, and a sample of the others."""
    return of_table[: tuning.ALL_PROBE_ROWS], of_table[tuning.ALL_PROBE_ROWS :: tuning.EVERY_PROBE_ROW]


def _weighted(first: tf.Tensor, sample: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    return first, sample * tuning.EVERY_PROBE_ROW


class Directions(NamedTuple):
    """The directions in which vectors are longest."""

    squares: tf.Tensor  # [L], mean squares along them
    directions: tf.Tensor  # [D, L]
    other_square: tf.Tensor  # mean square along any other direction


class Partners(NamedTuple):
    """Directions of the vectors that rows are trained against."""

    squares: tf.Tensor  # [3], mean squares of each table's probe rows, when the directions were computed
    of_inputs: Directions  # of outputs and nodes, the partners of input rows
    of_others: Directions  # of inputs, or of CBOW's means of inputs, the partners of outputs and nodes


def no_partners() -> Partners:
    none = Directions(tf.zeros([0]), tf.zeros([0, 0]), tf.zeros([]))
    return Partners(tf.fill([3], -1.0), none, none)  # squares that no vectors have


def _mean_square(vectors: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return the mean square length of vectors [K, D] with these weights [K]."""
    squares = tf.reduce_sum(tf.square(vectors), 1)
    return tf.math.divide_no_nan(tf.reduce_sum(weights * squares), tf.reduce_sum(weights))


def _moments(vectors: tf.Tensor, weights: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the second moment [D, D] and the mean [1, D] of vectors [K, D] with these weights [K]."""
    shares = tf.math.divide_no_nan(weights, tf.reduce_sum(weights))
    weighted = vectors * shares[:, None]
    return tf.matmul(weighted, vectors, transpose_a=True), tf.reduce_sum(weighted, 0, keepdims=True)


def _directions(moment: tf.Tensor) -> Directions:
    """Return the longest directions of vectors with this second moment [D, D]."""
    # Squares of very long vectors overflow. The steps show whether training diverges (`training/divergence`).
    moment = tf.where(tf.math.is_finite(moment), moment, 0.0)
    size = tf.shape(moment)[0]
    count = tf.minimum(size, tuning.DIRECTIONS)
    basis = tf.random.stateless_normal(tf.stack([size, count]), seed=(0, 0))
    for _ in range(tuning.POWER_ITERATIONS):
        basis = tf.linalg.qr(tf.matmul(moment, basis)).q
    within = tf.matmul(basis, tf.matmul(moment, basis), transpose_a=True)
    squares, turned = tf.linalg.eigh(within)
    others = tf.maximum(tf.linalg.trace(moment) - tf.reduce_sum(squares), 0.0)
    return Directions(
        squares, tf.matmul(basis, turned), tf.math.divide_no_nan(others, tf.cast(size - count, tf.float32))
    )


def scaled_moves(
    moves: tf.Tensor,
    strengths: tf.Tensor,
    partners: Directions,
    concurrent_blocks: tf.Tensor,
    have_states: bool = False,
) -> tf.Tensor:
    """Return the scaled moves [K, D] of rows with these strengths [K].

    The states of rows keep all of their change: they are sums over the steps of all blocks.
    """
    if have_states:
        scaled = scaled_moves(vectors_of(moves, have_states), strengths, partners, concurrent_blocks)
        return tf.concat([scaled, states_of(moves)[:, None]], 1)
    along_others = _share_kept(strengths[:, None] * partners.other_square, concurrent_blocks)
    shares = _share_kept(strengths[:, None] * partners.squares, concurrent_blocks) - along_others
    along = tf.matmul(moves, partners.directions) * shares
    return moves * along_others + tf.matmul(along, partners.directions, transpose_b=True)


def _share_kept(exponents: tf.Tensor, concurrent_blocks: tf.Tensor) -> tf.Tensor:
    """Return the share of a change that is kept, for each `a`."""
    alone = 1.0 - tf.exp(-tf.maximum(exponents, tuning.NEGLIGIBLE_EXPONENT))
    kept = (1.0 - tf.exp(-concurrent_blocks * exponents)) / (concurrent_blocks * alone)
    return tf.where(exponents > tuning.NEGLIGIBLE_EXPONENT, kept, 1.0)
