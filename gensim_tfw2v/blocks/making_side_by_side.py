"""A chunk → its block, made in parts by several threads, which need Python's lock only between calls of C functions.

One thread would leave the other cores idle for a large part of the time in which many cores train a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Int32Array
from gensim_tfw2v.blocks.bags import Bags
from gensim_tfw2v.blocks.batches import Block, BlockMaker
from gensim_tfw2v.blocks.chunk_parts import parts_of
from gensim_tfw2v.blocks.chunk_task import ChunkTask, PreparedBlock, prepare, words_of
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths

_Array = TypeVar("_Array", Int32Array, Float32Array)


def prepare_side_by_side(maker: BlockMaker, task: ChunkTask, cores: int) -> PreparedBlock | None:
    """Return the chunk's block, made by so many threads, or None if subsampling keeps no token.

    One thread draws what `prepare` draws. With more of them, each part draws its own random numbers, and its negatives
    from its share of the pool. The block has its own bags, because a worker sends it to its graph.
    """
    prepared = _prepared(maker, task, cores)
    return None if prepared is None else replace(prepared, block=prepared.block.with_own_bags())


def _prepared(maker: BlockMaker, task: ChunkTask, cores: int) -> PreparedBlock | None:
    count = min(cores, words_of(task) // tuning.LEAST_BLOCK_WORDS)  # smaller parts would waste much on padding
    parts = parts_of(task, count, maker.reader) if count > 1 else [task]
    if len(parts) == 1:
        return prepare(maker, task)
    pool = maker.negative_pool
    own = maker if pool is None else replace(maker, negative_pool=max(1, pool // len(parts)))
    with ThreadPoolExecutor(len(parts)) as threads:
        found = threads.map(lambda part: prepare(own, part), parts)
        prepared = [of_part for of_part in found if of_part is not None]
    return joined(maker, prepared) if prepared else None


def joined(maker: BlockMaker, parts: Sequence[PreparedBlock]) -> PreparedBlock:
    """Return blocks of one maker as one block, which has the batches of all of them in their order."""
    return PreparedBlock(
        _joined_blocks(maker.skip_gram, [part.block for part in parts]),
        np.concatenate([part.learning_rates for part in parts]),
        np.concatenate([part.measured for part in parts]),
    )


def _joined_blocks(skip_gram: bool, blocks: Sequence[Block]) -> Block:
    """Return the batches of all blocks as one block.

    Batches with fewer runs than others, and runs that are widened by less, are padded. Padded tokens have no contexts
    and padded places are no contexts of any token, so they train nothing.
    """
    runs = max(block.left.shape[1] for block in blocks)
    window = max(block.window for block in blocks)

    def runs_of(arrays: Iterable[Int32Array], are_widened: bool = False) -> Int32Array:
        return np.concatenate(
            [
                _padded(_widened(array, block, window) if are_widened else array, runs)
                for array, block in zip(arrays, blocks, strict=True)
            ]
        )

    def runs_if_used(arrays: Sequence[Int32Array | None], are_widened: bool = False) -> Int32Array | None:
        used = [array for array in arrays if array is not None]
        return runs_of(used, are_widened) if used else None

    trees = [block.tree for block in blocks if block.tree is not None]
    weights = [block.weights for block in blocks if block.weights is not None]
    block = Block(
        left=runs_of(block.left for block in blocks),
        right=runs_of(block.right for block in blocks),
        input_ids=runs_of((block.input_ids for block in blocks), are_widened=not skip_gram),
        candidate_ids=runs_if_used([block.candidate_ids for block in blocks], are_widened=skip_gram),
        target_ids=runs_if_used([block.target_ids for block in blocks]),
        tree=_joined_paths(trees, lambda words: runs_of(words, are_widened=True)) if trees else None,
        window=window,
        tokens=sum(block.tokens for block in blocks),
        pairs=np.concatenate([block.pairs for block in blocks]),
        weights=np.concatenate([_padded(array, runs) for array in weights]) if weights else None,
        bags=blocks[0].bags,
    )
    return block if blocks[0].documents is None else _with_joined_documents(block, blocks, runs)


def _with_joined_documents(joined_block: Block, blocks: Sequence[Block], runs: int) -> Block:
    """Return the joined block with the documents of all blocks; one of several blocks has a bag in each of them."""
    bags: list[Bags] = []
    numbers: list[Int32Array] = []
    for block in (block.with_own_bags() for block in blocks):
        assert block.bags is not None and block.documents is not None
        # Padding is 0, which stands for no document until all numbers are lowered by 1.
        shifted = np.where(block.documents < 0, 0, block.documents + np.int32(1 + sum(map(len, bags))))
        numbers.append(_padded(shifted, runs))
        bags.append(block.bags)
    return replace(
        joined_block,
        documents=np.concatenate(numbers) - np.int32(1),
        bags=Bags.joined(
            np.concatenate([each.members for each in bags]).astype(np.int64),
            np.concatenate([[0], np.cumsum(np.concatenate([each.sizes for each in bags]))]),
        ),
        unique_rows=np.concatenate([block.unique_rows for block in blocks if block.unique_rows is not None]),
    )


def _joined_paths(trees: Sequence[HuffmanPaths], runs_of: Callable[[Iterable[Int32Array]], Int32Array]) -> HuffmanPaths:
    """Return the Huffman paths of all blocks; a word of several blocks has a number, and a path, in each of them."""
    numbers = _starts([len(tree.offsets) - 1 for tree in trees])
    steps = _starts([len(tree.nodes) for tree in trees])
    offsets = [tree.offsets[:-1] + first for tree, first in zip(trees, steps, strict=True)]
    return HuffmanPaths(
        words=runs_of(tree.words + first for tree, first in zip(trees, numbers, strict=True)),
        nodes=np.concatenate([tree.nodes for tree in trees]),
        codes=np.concatenate([tree.codes for tree in trees]),
        offsets=np.concatenate([*offsets, [sum(len(tree.nodes) for tree in trees)]]).astype(np.int32),
    )


def _starts(lengths: Sequence[int]) -> Int32Array:
    """Return where each of consecutive pieces begins."""
    return (np.cumsum(lengths) - lengths).astype(np.int32)


def _widened(array: Int32Array, block: Block, window: int) -> Int32Array:
    """Return an array that begins with widened runs [S, R, P, ...], widened by `window` tokens instead."""
    if window == block.window:
        return array
    places = block.left.shape[2] + 2 * block.window
    more = np.zeros((*array.shape[:2], window - block.window), np.int32)
    return np.concatenate([more, array[:, :, :places], more, array[:, :, places:]], axis=2)


def _padded(array: _Array, runs: int) -> _Array:
    """Return an array [S, R, ...] with so many runs a batch."""
    missing = runs - array.shape[1]
    return np.pad(array, [(0, 0), (0, missing), (0, 0)]) if missing else array
