"""The graphs of one worker in a round: train a part, scale changes, keep the result.

Handles of the tables are arguments, so that one trace serves all trainings with the same shape.

Each worker has two copies of every table: the base, which is the result of the last whole round and the same on all
workers, and the current table, which the worker trains.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import tensorflow as tf

from gensim_tfw2v import tuning
from gensim_tfw2v.cluster.connection import call_on_disconnect, sending_graphs
from gensim_tfw2v.placement.averaging.round_block import OWN_BLOCK, RoundRows, TrainedRows
from gensim_tfw2v.placement.averaging.worker_rows import (
    RoundShape,
    WorkerHandles,
    handle_specs,
    shared_rows,
    strengths_of,
    write_shared_rows,
)
from gensim_tfw2v.placement.contract import TABLES
from gensim_tfw2v.placement.tasks.graph_parts import BYTES, NAME, concrete, register_model_graph
from gensim_tfw2v.placement.tasks.own_training import report_when_done, timed_block, train_batches
from gensim_tfw2v.placement.tasks.plain_block import fresh_training
from gensim_tfw2v.placement.tasks.refused_steps import most_moved
from gensim_tfw2v.steps.adagrad import rate_factor, states_of, vectors_of
from gensim_tfw2v.steps.concurrent_updates import (
    ConcurrentUpdates,
    HotRows,
    Partners,
    at_rates_of_states,
    scaled_moves,
)
from gensim_tfw2v.steps.partner_directions import Directions
from gensim_tfw2v.steps.rows import add_to_rows, read_rows, write_rows
from gensim_tfw2v.steps.side_by_side import TrainSideBySide
from gensim_tfw2v.steps.signature import Tables


class WorkerGraphs(NamedTuple):
    """Concrete functions that run on one worker."""

    register_model: Any  # (name, bytes of a `WorkerModel`) → True
    train: Any  # (handles, model's name, assignment, partners) → report, partners
    scale: Any  # (handles, partners, workers) → done
    keep: Any  # (handles) → done


_DIRECTIONS = Directions(
    tf.TensorSpec([None], tf.float32), tf.TensorSpec([None, None], tf.float32), tf.TensorSpec([], tf.float32)
)
_PARTNERS = Partners(tf.TensorSpec([3], tf.float32), _DIRECTIONS, _DIRECTIONS)


@functools.lru_cache(maxsize=32)
def worker_graphs(shape: RoundShape) -> WorkerGraphs:
    """Return the functions that run on one worker."""
    with sending_graphs():
        train_block = fresh_training(shape.objective)
        handles = handle_specs(shape)
        return WorkerGraphs(
            register_model=register_model_graph(),
            train=concrete(lambda *arguments: _train(shape, train_block, *arguments), handles, NAME, BYTES, _PARTNERS),
            scale=concrete(
                lambda *arguments: _scale(shape, *arguments), handles, _PARTNERS, tf.TensorSpec([], tf.float32)
            ),
            keep=concrete(lambda handles: _keep(shape, handles), handles),
        )


call_on_disconnect(worker_graphs.cache_clear)


def _train(
    shape: RoundShape,
    train_block: TrainSideBySide,
    handles: WorkerHandles,
    name: tf.Tensor,
    assignment: tf.Tensor,
    given: Partners,
) -> tuple[tf.Tensor, Partners]:
    """Make a part's block, train it on the current tables, and return the report and the partners' directions."""
    timed = timed_block(OWN_BLOCK, name, assignment)
    rows: RoundRows = timed.block.extra
    hot = _hot_rows(shape, handles, rows)
    updates = ConcurrentUpdates(hot, shape.objective, shape.sharing, given)
    starts = shared_rows(shape, handles.current) if shape.sharing.rows else []
    probes = _read_current(shape, handles, updates.probe_rows, updates.probe_counts)
    batches = train_batches(train_block, _tables(shape, handles), timed, [*starts, probes, hot.strengths])
    with tf.control_dependencies(list(batches)):
        done = [_add_strengths(shape, handles, rows.trained)]
        if starts:
            done.append(_scale_shared_rows(shape, handles, updates, starts, probes))
    with tf.control_dependencies(done):
        moved = most_moved(batches, lambda: _changes(shape, handles, rows))
    return report_when_done(timed, batches, [moved], moved), updates.partners


def _hot_rows(shape: RoundShape, handles: WorkerHandles, of_block: RoundRows) -> HotRows:
    """Return the hot rows of a block, with the strengths that follow from their states if they have some."""
    hot = of_block.hot
    if not shape.objective.adagrad:
        return hot
    return at_rates_of_states(hot, _read_current(shape, handles, hot.rows, hot.counts))


def _tables(shape: RoundShape, handles: WorkerHandles) -> Tables:
    """Return the current tables, with the inputs in place of tables that the objective does not use."""
    of_tables = dict(shape.with_numbers(handles.current))
    return Tables(*(of_tables.get(table, handles.current[0]) for table in range(len(TABLES))))


def _read_current(shape: RoundShape, handles: WorkerHandles, rows: tf.Tensor, counts: tf.Tensor) -> tf.Tensor:
    """Return these rows of the current tables; `counts` [3] says how many are of inputs, outputs and nodes."""
    of_table = tf.split(rows, counts, num=len(TABLES))
    return tf.concat([read_rows(handle, of_table[table]) for table, handle in shape.with_numbers(handles.current)], 0)


def _changes(shape: RoundShape, handles: WorkerHandles, of_block: RoundRows) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the words [U] whose rows a block has trained, and how far each row [U, D] is from the base."""
    words, changes = [], []
    for table, own in shape.with_numbers(handles.tables):
        if table != TABLES.index("nodes"):
            rows = [
                tf.split(of_all.rows, of_all.counts, num=len(TABLES))[table]
                for of_all in (of_block.trained, of_block.hot)
            ]
            words.append(tf.concat(rows, 0))
            change = read_rows(own.current, words[-1]) - read_rows(own.base, words[-1])
            changes.append(vectors_of(change, shape.objective.adagrad))
    return tf.concat(words, 0), tf.concat(changes, 0)


def _add_strengths(shape: RoundShape, handles: WorkerHandles, trained: TrainedRows) -> tf.Tensor:
    rows = tf.split(trained.rows, trained.counts, num=len(TABLES))
    strengths = tf.split(trained.strengths[:, None], trained.counts, num=len(TABLES))
    return tf.add_n(
        [add_to_rows(own.strengths, rows[table], strengths[table]) for table, own in shape.with_numbers(handles.tables)]
    )


def _scale_shared_rows(
    shape: RoundShape, handles: WorkerHandles, updates: ConcurrentUpdates, starts: list[tf.Tensor], probes: tf.Tensor
) -> tf.Tensor:
    """Scale the part's changes of shared rows, and keep the rows that the changes started from."""
    start = tf.concat(starts, 0)
    moved = tf.concat(shared_rows(shape, handles.current), 0) - start
    kept = start + updates.of_shared(moved, probes)
    with tf.control_dependencies([tf.raw_ops.AssignVariableOp(resource=handles.start, value=start)]):
        return tf.add_n(write_shared_rows(shape, handles.current, kept))


def _scale(shape: RoundShape, handles: WorkerHandles, partners: Partners, workers: tf.Tensor) -> tf.Tensor:
    """Scale a worker's changes of the rows that it has trained most in the round."""
    written = []
    for number, (current, base, strengths) in enumerate(handles.tables):
        found = strengths_of(strengths)
        most, rows = tf.math.top_k(found, tf.minimum(tf.size(found), tuning.MOST_HOT_ROWS))
        is_trained = most > 0
        most, rows = tf.boolean_mask(most, is_trained), tf.boolean_mask(rows, is_trained)
        before = read_rows(base, rows)
        if shape.objective.adagrad:
            most *= rate_factor(states_of(before))
        of_table = partners.of_others if number else partners.of_inputs
        change = read_rows(current, rows) - before
        moved = scaled_moves(change, most, of_table, workers, shape.objective.adagrad)
        written.append(write_rows(current, rows, before + moved))
    return tf.add_n(written)


def _keep(shape: RoundShape, handles: WorkerHandles) -> tf.Tensor:
    """Make the current rows the base, and begin a round without changes."""
    written = []
    for current, base, strengths in handles.tables:
        found = strengths_of(strengths)
        rows = tf.cast(tf.where(found > 0)[:, 0], tf.int32)
        written.append(write_rows(base, rows, read_rows(current, rows)))
        with tf.control_dependencies([rows]):
            written.append(write_rows(strengths, rows, tf.zeros([tf.size(rows), 1])))
    if shape.sharing.rows:
        bases = [table.base for table in handles.tables]
        written += write_shared_rows(shape, bases, tf.concat(shared_rows(shape, handles.current), 0))
    return tf.add_n(written)
