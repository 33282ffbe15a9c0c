"""Blocks that graphs draw, as the arrays of those that are made without a graph, and makers and sentences for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf

from gensim_tfw2v.blocks.batches import BatchShape, Block, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import build_huffman_tree
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths
from gensim_tfw2v.blocks.sampling import NegativeSampler, cumulative_table
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.steps.arguments import objective_of
from gensim_tfw2v.steps.draws.arguments import chunk_tensors, draw_tables
from gensim_tfw2v.steps.draws.block import draw_block
from gensim_tfw2v.steps.draws.streams import seeds_of
from gensim_tfw2v.steps.settings import StepSettings
from support.example_blocks import SETTINGS

WORDS, SIZE = 60, 6
COUNTS = (4000 / np.arange(1, WORDS + 1)).astype(np.int64) + 1


def model_of(
    skip_gram: bool,
    negative: int,
    tree: bool,
    windows: Windows = Windows.DRAWN,
    window: int = 3,
    weighted: bool = False,
    **settings: Any,
) -> tuple[BlockMaker, StepSettings]:
    """Return the maker of a model's blocks, and the settings of its steps."""
    shape = BatchShape(batch_tokens=32, run_tokens=8, shared_negatives=5)
    maker = BlockMaker(
        skip_gram=skip_gram,
        window=window,
        windows=windows,
        shape=shape,
        keep=None,
        negatives=NegativeSampler(cumulative_table(COUNTS, 0.75, 2**31 - 1)) if negative else None,
        tree=build_huffman_tree(COUNTS, np.arange(WORDS)) if tree else None,
    )
    return maker, replace(
        SETTINGS,
        skip_gram=skip_gram,
        window=window,
        run_tokens=shape.run_tokens,
        negative=negative,
        shared_negatives=shape.shared_negatives,
        hierarchical_softmax=tree,
        mask_accidental_hits=negative > 0,
        mean_windows=windows is Windows.MEAN,
        weighted=weighted,
        **settings,
    )


def random_sentences(seed: int, lengths: Sequence[int] = (9, 1, 0, 30, 2, 47), weighted: bool = False) -> Sentences:
    """Return sentences of these lengths, whose weights are 0, 1/2 or 2 if they have any."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, WORDS, sum(lengths)).astype(np.int32)
    weights = rng.choice(np.array([0, 0.5, 2], np.float32), len(lengths)) if weighted else None
    return Sentences(ids, np.array(lengths, np.int32), weights)


def normal_tables(maker: BlockMaker) -> ModelTables:
    """Return those tables that a model has, of normal random numbers."""
    rng = np.random.default_rng(0)
    inputs, outputs, nodes = (rng.normal(0, 0.3, (WORDS, SIZE)).astype(np.float32) for _ in range(3))
    return ModelTables(inputs, outputs if maker.negatives else None, nodes if maker.tree else None, np.ones(1, "f4"))


def drawn(maker: BlockMaker, settings: StepSettings, sentences: Sentences, entropy: Sequence[int]) -> Block:
    """Return the block that a graph draws of these sentences; its Huffman paths are those of all words."""
    arrays = chunk_tensors(sentences), draw_tables(maker)
    chunk, tables = tf.nest.map_structure(tf.constant, arrays)
    seeds, shared = tf.constant(seeds_of(entropy)), tf.constant(settings.shared_negatives)
    found, tokens, pairs = draw_block(objective_of(settings), chunk, tables, seeds, shared)
    ids = {name: _ids(getattr(found, name)) for name in ("left", "right", "inputs", "candidates", "targets")}
    return Block(
        left=ids["left"],
        right=ids["right"],
        input_ids=ids["inputs"],
        candidate_ids=ids["candidates"] if ids["candidates"].size else None,
        target_ids=ids["targets"] if ids["targets"].size else None,
        tree=HuffmanPaths(*(_ids(part) for part in found.tree)) if maker.tree else None,
        window=int(found.window),
        tokens=int(tokens),
        pairs=pairs.numpy(),
        weights=found.weights.numpy() if settings.weighted else None,
    )


def _ids(tensor: tf.Tensor) -> Any:
    return tensor.numpy().astype(np.int32)
