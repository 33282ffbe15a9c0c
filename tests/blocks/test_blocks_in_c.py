"""C makes exactly the blocks that plain NumPy makes of the same sentences and seed, and so do its substitutes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.native_functions import WAYS, functions_run
from support.plain_blocks import plain_block

from gensim_tfw2v.blocks.batches import BatchShape, Block, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import HuffmanTree, build_huffman_tree
from gensim_tfw2v.blocks.sampling import NegativeSampler, cumulative_table
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.native.random_numbers import RandomNumbers


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the functions in C and in NumPy."""
    with functions_run(request.param):
        yield request.param


def zipf_counts(words: int) -> np.ndarray:
    """Return falling word counts."""
    return (10_000 / np.arange(1, words + 1)).astype(np.int64) + 1


def tree_of(counts: np.ndarray) -> HuffmanTree:
    """Return a Huffman tree of words with these counts."""
    return build_huffman_tree(counts, np.arange(len(counts)))


def sampler_of(counts: np.ndarray) -> NegativeSampler:
    """Return a sampler of words with these counts."""
    return NegativeSampler(cumulative_table(counts, 0.75, 2**31 - 1))


@st.composite
def makers(draw: st.DrawFn) -> BlockMaker:
    """Draw a maker of blocks."""
    words = draw(st.sampled_from([1, 2, 9, 300, 5_000]))
    counts = zipf_counts(words)
    run = draw(st.sampled_from([1, 3, 8, 16]))
    model = draw(st.sampled_from(["negatives", "tree", "both", "neither"]))
    kept = st.sampled_from([None, *(np.full(words, share, np.float32) for share in (0.0, 0.3, 1.0))])
    rising = np.linspace(0.01, 1, words, dtype=np.float32)
    return BlockMaker(
        skip_gram=draw(st.booleans()),
        window=draw(st.sampled_from([1, 2, 5, 10, 11, 40, 600])),
        windows=draw(st.sampled_from(Windows)),
        shape=BatchShape(run * draw(st.integers(1, 9)), run, draw(st.sampled_from([1, 2, 7, 30, 500]))),
        keep=draw(kept | st.just(rising)),
        negatives=sampler_of(counts) if model in ("negatives", "both") else None,
        tree=tree_of(counts) if model in ("tree", "both") else None,
        negative_pool=draw(st.sampled_from([None, 1, 7, 1000])),
    )


def some_sentences(words: int, lengths: list[int], seed: int) -> Sentences:
    """Return sentences of these lengths, in which the first words are frequent."""
    ids = np.minimum(np.random.default_rng(seed).zipf(1.3, sum(lengths)), words) - 1
    return Sentences(ids.astype(np.int32), np.array(lengths, np.int32))


def words_of(maker: BlockMaker) -> int:
    """Return a vocabulary size that a maker can have."""
    sizes = [maker.keep, maker.negatives and maker.negatives.cumulative, maker.tree and maker.tree.offsets[1:]]
    return next((len(array) for array in sizes if array is not None), 9)


def assert_same(ours: Any, expected: Any) -> None:
    """Check that two blocks, or parts of them, have the same types and the same bits."""
    assert type(ours) is type(expected)
    if dataclasses.is_dataclass(expected):
        for field in dataclasses.fields(expected):
            assert_same(getattr(ours, field.name), getattr(expected, field.name))
    elif isinstance(expected, np.ndarray):
        assert (ours.dtype, ours.shape, ours.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
    else:
        assert ours == expected


@settings(max_examples=400)
@given(
    maker=makers(),
    lengths=st.lists(st.integers(0, 30) | st.sampled_from([0, 1, 200]), max_size=20),
    entropy=st.lists(st.integers(0, 2**70), min_size=1, max_size=4),
)
def test_a_block_is_that_of_plain_numpy_to_the_last_bit(
    maker: BlockMaker, lengths: list[int], entropy: list[int]
) -> None:
    sentences = some_sentences(words_of(maker), lengths, seed=entropy[0])
    assert_same(maker.make(sentences, RandomNumbers.seeded(entropy)), plain_block(maker, sentences, entropy))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("skip_gram", [True, False])
@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("windows", Windows)
def test_a_large_block_is_that_of_plain_numpy_to_the_last_bit(skip_gram: bool, tree: bool, windows: Windows) -> None:
    counts = zipf_counts(20_000)
    keep = np.linspace(0.2, 1, len(counts), dtype=np.float32)
    negatives = None if tree else sampler_of(counts)
    shape = BatchShape(1024, 16, 22)
    maker = BlockMaker(skip_gram, 10, windows, shape, keep, negatives, tree_of(counts) if tree else None, 30_000)
    sentences = some_sentences(len(counts), [23] * 3000, seed=3)
    block = maker.make(sentences, RandomNumbers.seeded([5, 6]))
    assert_same(block, plain_block(maker, sentences, [5, 6]))


def test_all_arrays_of_a_block_begin_where_tensorflow_takes_them_without_copying() -> None:
    def arrays(part: Any) -> list[np.ndarray]:
        if isinstance(part, np.ndarray):
            return [part]
        fields = dataclasses.fields(part) if dataclasses.is_dataclass(part) else ()
        return [array for field in fields for array in arrays(getattr(part, field.name))]

    counts = zipf_counts(50)
    for skip_gram in (True, False):
        negatives = sampler_of(counts)
        maker = BlockMaker(skip_gram, 5, Windows.MEAN, BatchShape(16, 8, 7), None, negatives, tree_of(counts))
        block = maker.make(some_sentences(50, [9, 30], seed=1), RandomNumbers.seeded([1]))
        assert isinstance(block, Block)
        found = arrays(block)
        assert len(found) == 9 + (not skip_gram)
        assert all(array.ctypes.data % 64 == 0 and array.flags.c_contiguous for array in found)
