"""A block's changes, corrected for what other blocks changed after the block's rows were pulled.

A block moves a row by a share of the distance to where the row would settle: by 1 - exp(-a) of it, direction by
direction (`concurrent_updates` has the exponent a). If other blocks have moved the row by m meanwhile, the distance is
m shorter. So the block would have moved it by (1 - exp(-a)) m less, had it begun with the row as it is now. Where all
blocks find the same change, those that are pushed later add nothing. Rows of rare words keep their sum.

With Adagrad, other blocks have also let the row's state grow, so that the block's steps would have been shorter.
"""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf

from gensim_tfw2v import tuning
from gensim_tfw2v.steps.adagrad import states_of, vectors_of
from gensim_tfw2v.steps.concurrent_updates import HotRows, scaled_moves
from gensim_tfw2v.steps.partner_directions import Directions, partner_directions, probes_of, weights_of_probes
from gensim_tfw2v.steps.signature import Objective


def corrected_changes(
    hot: HotRows, objective: Objective, start: tf.Tensor, end: tf.Tensor, read_now: Callable[[], tf.Tensor]
) -> tf.Tensor:
    """Return the changes [K, D] of hot rows that the block would have made, had it begun with the rows as they are now.

    Parameters
    ----------
    start, end : tensor
        The hot rows [K, D], with their states if they have some: as they were pulled, and as the block left them.
    read_now : callable
        Returns them as the servers have them.
    """
    have_states = objective.adagrad
    partners = _partners(hot, objective, vectors_of(start, have_states), vectors_of(end, have_states))
    with tf.control_dependencies(tf.nest.flatten(partners)):  # so that fewer blocks are pushed before this one
        now = read_now()
    # The branches have the same inputs: rows of servers are read before the decision.
    return tf.cond(
        hot.concurrent_blocks > 1,
        lambda: _corrected_changes(hot, have_states, (start, end, now), partners),
        lambda: end - start,
    )


def _corrected_changes(
    hot: HotRows, have_states: bool, rows: tuple[tf.Tensor, ...], partners: tuple[Directions, Directions]
) -> tf.Tensor:
    start, end, now = rows
    change, missed, strengths = end - start, now - start, hot.strengths
    if have_states:
        slower, rates = _rates(states_of(start), states_of(change), states_of(missed))
        states = states_of(change)
        change, missed = vectors_of(change, True) * slower[:, None], vectors_of(missed, True)
        strengths *= rates
    of_inputs, of_others = partners
    changes, missed_of, strengths_of = (tf.split(of_all, hot.counts, num=3) for of_all in (change, missed, strengths))
    of_tables = zip(changes, missed_of, strengths_of, (of_inputs, of_others, of_others), strict=True)
    corrected = tf.concat([_corrected(*of_table, hot.concurrent_blocks) for of_table in of_tables], 0)
    return tf.concat([corrected, states[:, None]], 1) if have_states else corrected


def _partners(hot: HotRows, objective: Objective, start: tf.Tensor, end: tf.Tensor) -> tuple[Directions, Directions]:
    """Return the directions of the rows' partners: means over the block, from its beginning and its end."""
    probes = [
        tf.concat([probes_of(before), probes_of(after)], 0)
        for before, after in zip(*(tf.split(rows, hot.counts, num=3) for rows in (start, end)), strict=True)
    ]
    weights = [tf.tile(weights_of_probes(of_table), [2]) for of_table in tf.split(hot.strengths, hot.counts, num=3)]
    return partner_directions(probes, weights, objective.tables(), hot.moment_weights)


def _rates(before: tf.Tensor, growth: tf.Tensor, missed: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return how much shorter the steps would have been after the growth of states that was missed, and their rate [K].

    Both are means over the block: steps that share a sum of squares have the length of the difference of its roots.
    """
    growth, missed = tf.maximum(growth, 0.0), tf.maximum(missed, 0.0)
    roots = [_root(before) + _root(before + growth), _root(before + missed) + _root(before + missed + growth)]
    return roots[0] / roots[1], 2 * tuning.ADAGRAD_FACTOR / roots[1]


def _root(states: tf.Tensor) -> tf.Tensor:
    return tf.sqrt(tuning.ADAGRAD_START + states)


def _corrected(
    change: tf.Tensor, missed: tf.Tensor, strengths: tf.Tensor, partners: Directions, concurrent_blocks: tf.Tensor
) -> tf.Tensor:
    """Return the corrected changes [K, D] of a table's rows."""
    of_others = _moved_share(strengths[:, None] * partners.other_square)
    shares = _moved_share(strengths[:, None] * partners.squares) - of_others
    along = tf.matmul(missed, partners.directions) * shares
    change -= missed * of_others + tf.matmul(along, partners.directions, transpose_b=True)
    # Some blocks are pushed between the moment when the servers' rows were read, and the push.
    unseen = 1.0 + (concurrent_blocks - 1.0) * tuning.UNSEEN_SHARE
    return scaled_moves(change, strengths, partners, unseen)


def _moved_share(exponents: tf.Tensor) -> tf.Tensor:
    return 1.0 - tf.exp(-exponents)
