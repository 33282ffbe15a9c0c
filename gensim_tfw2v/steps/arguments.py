"""Blocks and settings → the arguments of the graph that trains a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from gensim_tfw2v.arrays import Float32Array, Int32Array, aligned
from gensim_tfw2v.blocks.batches import Block
from gensim_tfw2v.blocks.chunk_task import PreparedBlock
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.settings import ALL_WORDS, StepSettings
from gensim_tfw2v.steps.signature import HUFFMAN_PATHS, NO_BAGS, BlockTensors, Objective, Rates
from gensim_tfw2v.steps.signature import Bags as BagTensors
from gensim_tfw2v.steps.signature import HuffmanPaths as HuffmanPathTensors


def objective_of(settings: StepSettings) -> Objective:
    """Return the graph's shape for these settings."""
    return Objective(
        skip_gram=settings.skip_gram,
        negative_sampling=settings.negative > 0,
        hierarchical_softmax=settings.hierarchical_softmax,
        mean_context=settings.mean_context,
        mask_accidental_hits=settings.negative > 0 and settings.mask_accidental_hits,
        bfloat16_products=settings.skip_gram and settings.compute_dtype == "bfloat16",
        adagrad=settings.have_states,
        freezes_inputs=settings.freeze in ("inputs", ALL_WORDS),
        freezes_outputs=settings.freeze in ("outputs", ALL_WORDS),
        even_contexts=settings.even_contexts,
        weighted=settings.weighted,
        bags=settings.bags,
        documents=settings.documents,
        concatenated=settings.concatenated,
    )


def graph_definition(settings: StepSettings) -> bytes:
    """Return the serialised GraphDef of the function that trains a block."""
    definition: bytes = block_function(objective_of(settings), kernel()).graph.as_graph_def().SerializeToString()
    return definition


def block_tensors(block: Block) -> BlockTensors:
    """Return the block as arrays for the graph, empty where the objective does not use them."""
    return BlockTensors(
        left=block.left,
        right=block.right,
        inputs=block.input_ids,
        candidates=_or_empty(block.candidate_ids),
        targets=_or_empty(block.target_ids),
        tree=_huffman_path_tensors(block.tree),
        window=np.int32(block.window),
        weights=np.zeros((0, 0, 0), np.float32) if block.weights is None else block.weights,
        bags=NO_BAGS if block.bags is None else BagTensors(block.bags.members, block.bags.offsets),
        documents=_or_empty(block.documents),
    )


def as_tensors(arguments: Any) -> list[tf.Tensor]:
    """Return the arrays, numbers and tensors in nested arguments as tensors, flat.

    The tensors have the memory of aligned arrays, which must not change while they are used. TensorFlow's own
    conversion would copy each array with Python's lock held.
    """
    return [value if tf.is_tensor(value) else _tensor_of(np.asarray(value)) for value in tf.nest.flatten(arguments)]


def _tensor_of(array: Any) -> tf.Tensor:
    return tf.experimental.dlpack.from_dlpack(aligned(array).__dlpack__())


def _or_empty(ids: Int32Array | None) -> Int32Array:
    return np.zeros((0, 0, 0), np.int32) if ids is None else ids


def _huffman_path_tensors(paths: HuffmanPaths | None) -> HuffmanPathTensors:
    if paths is None:
        return HuffmanPathTensors(*(np.zeros([0] * spec.shape.rank, np.int32) for spec in HUFFMAN_PATHS))
    return HuffmanPathTensors(paths.words, paths.nodes, paths.codes, paths.offsets)


def rates(settings: StepSettings, prepared: PreparedBlock, lock_factors: Float32Array) -> Rates:
    """Return the rates that scale the steps of one block."""
    of_chunk = rates_of_chunk(settings, np.max(prepared.learning_rates, initial=0), lock_factors)
    return of_chunk._replace(learning_rates=prepared.learning_rates, measured=prepared.measured)


def rates_of_chunk(settings: StepSettings, fastest: float | np.float32, lock_factors: Float32Array) -> Rates:
    """Return the rates of a chunk's block without those of its batches: learning rates, and which are measured.

    Parameters
    ----------
    fastest : float
        The highest learning rate of the chunk.
    """
    return Rates(
        learning_rates=np.zeros(0, np.float32),
        max_step=np.float32(max(settings.max_step, settings.max_step_rates * fastest)),
        lock_factors=lock_factors,
        negative=np.float32(settings.negative),
        shared_negatives=np.int32(settings.shared_negatives),
        measured=np.zeros(0, bool),
        radius_chance=np.float32(_radius_chance(settings)),
    )


def _radius_chance(settings: StepSettings) -> float:
    """Return the probability of each radius of a token's window except the widest."""
    return 1 / settings.window if settings.mean_windows else 0.0
