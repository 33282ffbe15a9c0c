"""What graphs draw has the distributions that gensim draws from, and is cut into blocks as without a graph."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from gensim.models import Word2Vec
from support.drawn_blocks import COUNTS, WORDS, drawn, model_of, random_sentences
from support.plain_blocks import plain_block

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.batches import BatchShape, Block, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths
from gensim_tfw2v.blocks.sampling import NegativeSampler, keep_probabilities
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.native.random_numbers import RandomNumbers
from gensim_tfw2v.steps.draws.arguments import chunk_tensors
from gensim_tfw2v.steps.draws.grid import cut
from gensim_tfw2v.steps.draws.negatives import draw_negatives
from gensim_tfw2v.steps.draws.streams import seeds_of
from gensim_tfw2v.steps.draws.subsampling import KeptWords, subsample

DRAWS = 200_000
# Words that are always kept, and others that never are: nothing is left to chance.
EVERY_THIRD_WORD = (np.arange(WORDS) % 3 == 0).astype(np.float32)
CERTAIN: dict[str, dict[str, Any]] = {
    "skip-gram": {"skip_gram": True, "negative": 5, "tree": False, "windows": Windows.FIXED},
    "skip-gram, mean windows": {"skip_gram": True, "negative": 5, "tree": False, "windows": Windows.MEAN},
    "skip-gram, wide windows": {
        **{"skip_gram": True, "negative": 5, "tree": False},
        **{"windows": Windows.MEAN, "window": 25},
    },
    "skip-gram, tree": {"skip_gram": True, "negative": 0, "tree": True, "windows": Windows.FIXED},
    "skip-gram, both": {"skip_gram": True, "negative": 5, "tree": True, "windows": Windows.FIXED},
    "CBOW": {"skip_gram": False, "negative": 5, "tree": False, "windows": Windows.MEAN},
    "CBOW, wide windows": {
        **{"skip_gram": False, "negative": 5, "tree": False},
        **{"windows": Windows.FIXED, "window": 60},
    },
    "CBOW, tree": {"skip_gram": False, "negative": 0, "tree": True, "windows": Windows.FIXED},
}


def assert_is_distributed(counts: np.ndarray, shares: np.ndarray) -> None:
    """Fail if chi-squared says that counts are not of draws with these shares, by six standard deviations."""
    expected = counts.sum() * shares
    is_possible = expected > 0
    assert not counts[~is_possible].any()
    squares = ((counts - expected)[is_possible] ** 2 / expected[is_possible]).sum()
    freedom = is_possible.sum() - 1
    assert squares < freedom + 6 * np.sqrt(2 * freedom)
    assert squares > freedom - 6 * np.sqrt(2 * freedom)


def paths_of(paths: HuffmanPaths) -> list[list[tuple[int, int]]]:
    """Return the nodes and codes of each word's path."""
    spans = list(pairwise(paths.offsets.tolist()))
    steps = list(zip(paths.nodes.tolist(), paths.codes.tolist(), strict=True))
    return [steps[slice(*spans[word])] for word in paths.words.reshape(-1).tolist()]


def assert_equal_but_for_negatives(found: Block, expected: Block, maker: BlockMaker) -> None:
    for name in ("left", "right", "input_ids", "target_ids", "window", "tokens"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_allclose(found.pairs, expected.pairs, rtol=1e-6)
    if maker.negatives is None:
        assert found.candidate_ids is None
    else:
        assert found.candidate_ids is not None and expected.candidate_ids is not None
        assert found.candidate_ids.shape == expected.candidate_ids.shape
        places = expected.candidate_ids.shape[2] - maker.shape.shared_negatives
        np.testing.assert_array_equal(found.candidate_ids[..., :places], expected.candidate_ids[..., :places])
    if maker.tree is not None:
        assert found.tree is not None and expected.tree is not None
        assert found.tree.words.shape == expected.tree.words.shape
        assert paths_of(found.tree) == paths_of(expected.tree)


@pytest.mark.parametrize("name", CERTAIN)
def test_a_block_without_chance_is_that_of_the_plain_reference(name: str) -> None:
    maker, settings = model_of(**CERTAIN[name])
    for seed, keep in enumerate((None, EVERY_THIRD_WORD)):
        chosen = replace(maker, keep=keep)
        sentences = random_sentences(seed)
        expected = plain_block(chosen, sentences, [0])
        assert expected is not None
        assert_equal_but_for_negatives(drawn(chosen, settings, sentences, [seed]), expected, chosen)


@pytest.mark.parametrize("skip_gram", [True, False], ids=["skip-gram", "CBOW"])
def test_sentences_have_the_weights_of_a_block_that_is_made_here(skip_gram: bool) -> None:
    maker, settings = model_of(skip_gram, 5, tree=False, windows=Windows.FIXED, weighted=True)
    maker = replace(maker, keep=EVERY_THIRD_WORD)
    sentences = random_sentences(1, lengths=[7, 3, 20, 5, 11, 16, 2], weighted=True)
    expected = maker.make(sentences, RandomNumbers.seeded([0]))
    found = drawn(maker, settings, sentences, [3])
    assert expected is not None
    assert_equal_but_for_negatives(found, expected, maker)
    np.testing.assert_array_equal(found.weights, expected.weights)


def test_a_chunk_of_which_nothing_is_kept_has_no_token() -> None:
    maker, settings = model_of(True, 5, tree=False)
    found = drawn(replace(maker, keep=np.zeros(WORDS, np.float32)), settings, random_sentences(0), [1])
    assert found.tokens == 0
    assert found.pairs.tolist() == [0.0]


def test_tokens_are_cut_as_without_a_graph() -> None:
    for shape in (BatchShape(32, 8, 5), BatchShape(1024, 32, 22), BatchShape(100, 7, 1)):
        for tokens in (0, 1, 7, 8, 31, 32, 33, 1_000, 1_024, 1_025, 54_321):
            grid = cut(*map(tf.constant, (tokens, shape.batch_tokens, shape.run_tokens)))
            assert (int(grid.batches), int(grid.runs)) == shape.cut(tokens)


def test_words_are_kept_as_often_as_gensim_keeps_them() -> None:
    counts = {f"w{number}": int(count) for number, count in enumerate(COUNTS)}
    model = Word2Vec(min_count=1, sample=1e-2, vector_size=1)
    model.build_vocab_from_freq(counts, corpus_count=1)
    keep = keep_probabilities(model.wv, model.sample)
    assert keep is not None and 0.1 < keep.min() < 0.5
    ids = np.repeat(np.arange(WORDS, dtype=np.int32), DRAWS // WORDS)
    kept = kept_of(Sentences(ids, np.array([len(ids)], np.int32)), keep, seed=2)
    # gensim keeps a word unless a random number of 32 bits is above its `sample_int`.
    chances = (model.wv.expandos["sample_int"].astype(np.float64) + 1) / 2**32
    expected = DRAWS // WORDS * chances
    off = np.bincount(kept.ids, minlength=WORDS) - expected
    deviations = np.sqrt(expected * (1 - np.minimum(chances, 1)))
    assert (np.abs(off) <= 5 * deviations + 1e-6).all()


def kept_of(sentences: Sentences, keep: Float32Array, seed: int) -> KeptWords:
    """Return, as arrays, the words that are kept."""
    chunk = tf.nest.map_structure(tf.constant, chunk_tensors(sentences))
    found = subsample(chunk, tf.constant(keep), tf.constant(seeds_of([seed])[0]), weighted=False)
    return KeptWords(*(tensor.numpy() for tensor in found))


def test_kept_words_know_their_place_in_what_is_left_of_their_sentence() -> None:
    lengths = np.array([0, 5, 0, 0, 12, 1, 40, 0], np.int32)
    words = int(lengths.sum())
    kept = kept_of(Sentences(np.arange(words, dtype=np.int32), lengths), np.full(words, 0.5, np.float32), seed=7)
    assert 0.2 * words < len(kept.ids) < 0.8 * words
    sentences = np.repeat(np.arange(len(lengths)), lengths)[kept.ids]
    for place, sentence in enumerate(sentences.tolist()):
        assert kept.before[place] == np.count_nonzero(sentences[:place] == sentence)
        assert kept.after[place] == np.count_nonzero(sentences[place + 1 :] == sentence)


def test_negatives_have_the_distribution_of_gensims_table() -> None:
    model = Word2Vec(min_count=1, vector_size=1)
    model.build_vocab_from_freq({f"w{number}": int(count) for number, count in enumerate(COUNTS)}, corpus_count=1)
    table = tf.constant(NegativeSampler(model.cum_table).cumulative.astype(np.int64))
    found = draw_negatives(table, tf.constant(DRAWS), tf.constant(seeds_of([5])[2])).numpy()
    powers = COUNTS.astype(np.float64) ** 0.75
    assert_is_distributed(np.bincount(found, minlength=WORDS), powers / powers.sum())


def test_words_without_a_share_are_never_drawn() -> None:
    cumulative = np.array([0, 10, 10, 10, 40, 40], np.int64)
    found = draw_negatives(tf.constant(cumulative), tf.constant(50_000), tf.constant(seeds_of([6])[2])).numpy()
    # gensim looks up numbers from 0 to 39 in the same way: 0 is the first word's.
    assert_is_distributed(np.bincount(found, minlength=6), np.array([1, 10, 0, 0, 29, 0]) / 40)


def test_radii_are_uniform_and_the_same_on_both_sides() -> None:
    window = 5
    maker, settings = model_of(True, 5, tree=False, windows=Windows.DRAWN, window=window)
    words = 40_000
    sentences = Sentences(np.zeros(words, np.int32), np.array([words], np.int32))
    block = drawn(maker, settings, sentences, [8])
    inner = slice(window, words - window)
    left, right = (reach.reshape(-1)[:words][inner] for reach in (block.left, block.right))
    np.testing.assert_array_equal(left, right)
    assert_is_distributed(np.bincount(left, minlength=window + 1), np.array([0, *[1 / window] * window]))


def test_the_seed_decides_all_draws_and_purposes_have_different_ones() -> None:
    maker, settings = model_of(True, 5, tree=False)
    maker = replace(maker, keep=np.full(WORDS, 0.7, np.float32))
    sentences = random_sentences(0, lengths=[400] * 5)
    first, again, other = (drawn(maker, settings, sentences, entropy) for entropy in ([1, 2], [1, 2], [1, 3]))
    for name in ("left", "right", "input_ids", "candidate_ids", "pairs"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name), err_msg=name)
    assert first.tokens != other.tokens
    assert len({tuple(seed) for seed in seeds_of([1, 2]).tolist()}) == 3
