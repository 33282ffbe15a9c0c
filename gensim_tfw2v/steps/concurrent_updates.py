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
from gensim_tfw2v.blocks.bags import Bags
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.steps.adagrad import rate_factor, states_of, vectors_of
from gensim_tfw2v.steps.partner_directions import Directions, partner_directions, probes_of, weights_of_probes
from gensim_tfw2v.steps.row_sharing import RowSharing
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.steps.signature import Objective

_NO_RIVAL = np.float32(1e-12)  # a strength at which a row keeps all of its change


class HotRows(NamedTuple):
    """The rows that a block trains most, and shared rows, of all its tables one after the other."""

    rows: Any  # [K], in the worker's matrix; for each table, rows that blocks share, then those trained most
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
    most_rows: int = tuning.MOST_HOT_ROWS,
) -> HotRows:
    """Return which of a worker's rows the block trains most; none if it is the only block in flight.

    Parameters
    ----------
    block : Block
        The block, with rows numbered as in the worker's matrix.
    of_tables : sequence of ndarray
        The matrix's rows of inputs, outputs and nodes, in the order of their ids: which rows are hot, and in which
        order, must not depend on the number of servers.
    rate : float
        The block's mean learning rate.
    most_rows : int
        The most rows of a table.
    """
    weights = moment_weights(block, settings)
    if concurrent_blocks == 1:
        return HotRows(np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(3, np.int32), np.float32(1), weights)
    of_matrix = strengths_by_row(block, sum(map(len, of_tables)), settings)
    found, none = [], np.zeros(0, np.int32)
    for own, by_row in zip(of_tables, of_matrix, strict=True):
        places, most = most_trained(rate * by_row[own], none, most_rows)
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
    contexts = block.left + block.right + _tags_of_tokens(block)
    if settings.skip_gram or not contexts.any():
        return 1.0
    return float(contexts.sum(dtype=np.int64)) / int(np.count_nonzero(contexts))


def _tags_of_tokens(block: Block) -> Int32Array | int:
    """Return how many tags [S, R, B] the document of each token has."""
    if block.bags is None or block.documents is None:
        return 0
    return np.append(block.bags.sizes, np.int32(0))[block.documents]


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
    if block.documents is not None:
        return _of_words_and_tags(block, block.documents, block.bags, pairs, rows)
    of_bags = _divided_equally(block.input_ids, pairs, len(block.bags))
    return np.bincount(block.bags.members, np.repeat(of_bags, block.bags.sizes), rows).astype(np.float32)


def _of_words_and_tags(block: Block, documents: Int32Array, tags: Bags, pairs: float, rows: int) -> Float32Array:
    """Return each row's part of `pairs` pairs of words and contexts, among which are the tags of documents."""
    of_words, of_tags = (block.left + block.right).sum(dtype=np.int64), np.sum(_tags_of_tokens(block), dtype=np.int64)
    of_context = pairs / max(1, of_words + of_tags)
    words = _divided_equally(block.input_ids, of_words * of_context, rows)
    tokens = np.bincount(documents[documents >= 0], minlength=len(tags))
    strengths = words + np.bincount(tags.members, np.repeat(tokens * of_context, tags.sizes), rows).astype(np.float32)
    if block.unique_rows is not None:  # They are trained, and no other block finds the same changes.
        strengths[block.unique_rows] = np.minimum(strengths[block.unique_rows], _NO_RIVAL)
    return strengths


def _divided_equally(ids: Int32Array, pairs: float, rows: int) -> Float32Array:
    """Return each row's part of `pairs` pairs if every place of `ids` has the same part."""
    return (np.bincount(ids.reshape(-1), minlength=rows) * (pairs / ids.size)).astype(np.float32)


def most_trained(
    strengths: Float32Array, first: Int32Array, limit: int = tuning.MOST_HOT_ROWS
) -> tuple[Int32Array, Float32Array]:
    """Return the rows `first`, then those with the greatest strengths, and the strength of each row.

    They are at most `limit` rows. Those from which probe rows are taken come first.
    """
    is_other = strengths > 0
    is_other[first] = False
    others = np.flatnonzero(is_other).astype(np.int32)
    chosen = {end - len(first) for end in (tuning.ALL_PROBE_ROWS, tuning.MOST_PROBED_ROWS, limit)}
    ends = sorted(end for end in chosen if 0 < end < len(others))
    if ends:
        others = others[np.argpartition(-strengths[others], ends)[: limit - len(first)]]
    trained = np.concatenate([first, others])
    return trained, strengths[trained].astype(np.float32)


def at_rates_of_states(hot: HotRows, rows: tf.Tensor) -> HotRows:
    """Return hot rows with the strengths that follow from their states, given the rows [K, D + 1] with these."""
    return hot._replace(strengths=hot.strengths * rate_factor(states_of(rows)))


def kept_changes(hot: HotRows, objective: Objective, start: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
    """Return the part of a block's changes of hot rows that the block keeps.

    Parameters
    ----------
    start, end : tensor
        The hot rows [K, D] at the beginning of the block and at its end, with their states if they have some.
    """
    if objective.adagrad:
        hot = at_rates_of_states(hot, start)

    def scaled() -> tf.Tensor:
        vectors = vectors_of(start, objective.adagrad)
        probes = [probes_of(of_table) for of_table in tf.split(vectors, hot.counts, num=3)]
        strengths = tf.split(hot.strengths, hot.counts, num=3)
        weights = [weights_of_probes(of_table) for of_table in strengths]
        of_inputs, of_others = partner_directions(probes, weights, objective.tables(), hot.moment_weights)
        of_tables = zip(
            tf.split(end - start, hot.counts, num=3), strengths, (of_inputs, of_others, of_others), strict=True
        )
        kept = [scaled_moves(*arguments, hot.concurrent_blocks, objective.adagrad) for arguments in of_tables]
        return tf.concat(kept, 0)

    # If no other block is in flight, the block keeps all of its changes.
    return tf.cond(hot.concurrent_blocks > 1, scaled, lambda: end - start)


class ConcurrentUpdates:
    """Scales the changes of rows that blocks share, in the graph that trains them.

    Directions are computed from the vectors of probe rows at the beginning of the block. Directions of an earlier block
    are reused as long as the mean square of the vectors is about the same.

    Parameters
    ----------
    sharing : RowSharing
        How many of the first hot rows of each table are shared.
    partners : Partners, optional
        Directions that an earlier block found; `partners` has those of this one.
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
        probes = [probes_of(of_table) for of_table in tf.split(hot_rows.rows, hot_rows.counts, num=3)]
        self.probe_rows = tf.concat(probes, 0)  # [S]
        self.probe_counts = tf.stack([tf.size(of_table) for of_table in probes])
        self._weights = [weights_of_probes(of_table) for of_table in self._strengths]
        self.partners = no_partners() if partners is None else partners

    def of_shared(self, moves: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """Return the scaled moves [T * H, D] of shared rows."""
        strengths = [self._strengths[table][: self._sharing.rows] for table in self._tables]
        self.partners = self._partners_for(vectors)
        partners = [self.partners.of_others if table else self.partners.of_inputs for table in self._tables]

        def scaled() -> tf.Tensor:
            of_tables = zip(tf.split(moves, len(self._tables)), strengths, partners, strict=True)
            kept = [scaled_moves(*arguments, self._concurrent_blocks, self._have_states) for arguments in of_tables]
            return tf.concat(kept, 0)

        # If no other block is in flight, the block keeps all of its changes.
        return tf.cond(self._concurrent_blocks > 1, scaled, lambda: moves)

    def _partners_for(self, vectors: tf.Tensor) -> Partners:
        """Return the partners' directions for these vectors of probe rows: the earlier ones, if still accurate."""
        of_tables = tf.split(vectors_of(vectors, self._have_states), self.probe_counts, num=3)
        squares = tf.stack([_mean_square(*of_table) for of_table in zip(of_tables, self._weights, strict=True)])
        before = self.partners

        def compute() -> Partners:
            return Partners(squares, *partner_directions(of_tables, self._weights, self._used, self._moment_weights))

        # Squares that are not finite do not equal anything.
        is_same = tf.reduce_all(tf.abs(squares - before.squares) <= tuning.NOTABLE_CHANGE * before.squares)
        partners: Partners = tf.cond((self._concurrent_blocks > 1) & ~is_same, compute, lambda: before)
        return partners


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
