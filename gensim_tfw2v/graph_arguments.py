"""Blocks and settings → the arguments of the graph in `gensim_tfw2v.steps`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from gensim_tfw2v import maths
from gensim_tfw2v.batches import LOOKUP_WINDOW, Block
from gensim_tfw2v.placement import StepSettings
from gensim_tfw2v.segments import Segments
from gensim_tfw2v.steps import SEGMENTS, TREE_RUNS, BlockTensors, Lookups, Objective, Rates, block_function
from gensim_tfw2v.steps import Segments as SegmentTensors
from gensim_tfw2v.steps import TreeRuns as TreeTensors
from gensim_tfw2v.tree_paths import every_passing
from gensim_tfw2v.tree_runs import MOST_PLACES, TreeRuns
from gensim_tfw2v.vocabulary import Float32Array, Int32Array
from gensim_tfw2v.work import PreparedBlock


def objective_of(settings: StepSettings) -> Objective:
    """Return the graph's shape for these settings."""
    return Objective(
        skip_gram=settings.skip_gram,
        negative_sampling=settings.negative > 0,
        hierarchical_softmax=settings.hierarchical_softmax,
        mean_context=settings.mean_context,
        lookup_weights=settings.window <= LOOKUP_WINDOW,
        spare_targets=settings.negative > 0 and settings.spare_targets,
        count_bounded=settings.count_bounded,
        half_products=settings.compute_dtype == "bfloat16",
    )


def graph_definition(settings: StepSettings) -> bytes:
    """Return the serialised GraphDef of the function that trains a block."""
    definition: bytes = block_function(objective_of(settings)).graph.as_graph_def().SerializeToString()
    return definition


def block_tensors(block: Block) -> BlockTensors:
    """Return the block as arrays for the graph, empty where the objective has no use for them."""
    none = np.zeros((0, 0, 0), np.int32)
    return BlockTensors(
        left=block.left,
        right=block.right,
        inputs=_numbers(block.input_ids, block.input_segments),
        input_segments=_segment_tensors(block.input_segments),
        candidates=none if block.candidate_ids is None else _numbers(block.candidate_ids, block.candidate_segments),
        candidate_segments=_segment_tensors(block.candidate_segments),
        tree_runs=_tree_tensors(block.tree_runs),
        window=np.int32(block.window),
    )


def _numbers(ids: Int32Array, segments: Segments | None) -> Int32Array:
    """Return for each id its number among the distinct ones of its batch."""
    assert segments is not None
    return segments.numbers.reshape(ids.shape)


def _segment_tensors(segments: Segments | None) -> SegmentTensors:
    if segments is None:
        return SegmentTensors(*_nothing(SEGMENTS))
    return SegmentTensors._make(getattr(segments, name) for name in SegmentTensors._fields)


def _tree_tensors(runs: TreeRuns | None) -> TreeTensors:
    if runs is None:
        return TreeTensors(*_nothing(TREE_RUNS))
    fill = np.zeros((len(runs.back.unowned), 2, 2), np.int32)
    fill[:, 0, 1] = runs.back.unowned
    return TreeTensors(
        run_splits=runs.run_splits,
        hidden=runs.hidden,
        nodes=runs.node_numbers,
        passed=runs.passed,
        node_segments=_segment_tensors(runs.node_segments),
        places=runs.back.places,
        splits=runs.back.splits,
        owners=runs.back.owners,
        fill=fill,
    )


def _nothing(specs: Any) -> Any:
    """Return empty arrays of these ranks."""
    return tf.nest.map_structure(lambda spec: np.zeros([0] * spec.shape.rank, np.int32), specs)


def rates(settings: StepSettings, prepared: PreparedBlock, lock_factors: Float32Array) -> Rates:
    """Return what scales the steps of one block."""
    return Rates(
        learning_rates=prepared.learning_rates,
        bound=np.float32(max(settings.update_bound, settings.bound_rates * np.max(prepared.learning_rates, initial=0))),
        lock_factors=lock_factors,
        negative=np.float32(settings.negative),
        shared_negatives=np.int32(settings.shared_negatives),
        measured=prepared.measured,
        radius_chance=np.float32(_radius_chance(settings)),
    )


def _radius_chance(settings: StepSettings) -> float:
    """Return how likely each radius of a token's window is, but for the widest."""
    return 1 / settings.window if settings.mean_windows else 0.0


@functools.lru_cache(maxsize=16)
def lookups_for(settings: StepSettings) -> Lookups:
    """Return the pair weights of every possible token, so that the graph need not compute them token by token."""
    return pair_lookups(
        objective_of(settings),
        tf.constant(settings.window, tf.int32),
        tf.constant(settings.run_tokens, tf.int32),
        tf.constant(settings.shared_negatives, tf.int32),
        tf.constant(settings.negative, tf.float32),
        tf.constant(_radius_chance(settings), tf.float32),
    )


def pair_lookups(
    objective: Objective,
    window: tf.Tensor,
    run_tokens: tf.Tensor,
    shared: tf.Tensor,
    negative: tf.Tensor,
    radius_chance: tf.Tensor,
) -> Lookups:
    """Return the look-up tables that the objective's graph uses."""
    masks = shares = weights = turns = tf.zeros([0, 0])
    if not objective.skip_gram:
        weights = maths.cbow_sampling_weights(run_tokens, shared, negative)
    if objective.lookup_weights:
        reach = tf.range(window + 1)
        # [(W + 1)², B]: every (left, right), repeated for every place in a run
        grids = tf.meshgrid(reach, reach, indexing="ij")
        left, right = (tf.repeat(tf.reshape(grid, [-1, 1]), run_tokens, axis=1) for grid in grids)
        masks = _as_rows(maths.window_mask(left, right, window, radius_chance))
        if objective.skip_gram:
            weights = maths.skip_gram_sampling_weights(masks, shared, negative)
        else:
            shares = _as_rows(maths.window_shares(left, right, window, radius_chance))
    if objective.hierarchical_softmax:
        first, middle, end = (tf.constant(edges) for edges in every_passing(MOST_PLACES))
        turns = maths.tree_turns(first, middle, end, MOST_PLACES)
    return Lookups(masks, shares, weights, turns)


def _as_rows(weights: tf.Tensor) -> tf.Tensor:
    return tf.reshape(weights, [-1, tf.shape(weights)[-1]])
