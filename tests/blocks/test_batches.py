"""Blocks hold every kept token once, with windows inside its sentence and what its targets need."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.example_trees import model_of

from gensim_tfw2v.blocks.batches import BatchShape, BlockMaker, Windows, draw_windows, subsample
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.huffman_paths import HuffmanPaths
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.native.random_numbers import RandomNumbers

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=12).map(lambda lengths: np.array(lengths, np.int32))


SHAPE = BatchShape(batch_tokens=16, run_tokens=4, shared_negatives=3)


def maker(skip_gram: bool = True, window: int = 5, shape: BatchShape = SHAPE) -> BlockMaker:
    """Return a maker of blocks over a vocabulary of ten words."""
    cumulative = np.linspace(0, 2**31 - 1, 11)[1:].astype(np.uint32)
    return BlockMaker(
        skip_gram, window, Windows.DRAWN, shape, keep=None, negatives=NegativeSampler(cumulative), tree=None
    )


def ids_for(lengths: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return random ids below ten for sentences of these lengths."""
    return np.random.default_rng(seed).integers(0, 10, lengths.sum()).astype(np.int32)


@given(lengths=LENGTHS, window=st.integers(1, 9), shrink=st.booleans(), seed=st.integers(0, 9))
def test_windows_stay_within_their_sentence_and_reach(
    lengths: np.ndarray, window: int, shrink: bool, seed: int
) -> None:
    sentences, grid = Sentences(ids_for(lengths), lengths), (1, 1, int(lengths.sum()) + 2)
    found_left, found_right, largest = draw_windows(sentences, grid, window, shrink, RandomNumbers.seeded([seed]))
    assert found_left.shape == found_right.shape == grid
    left, right = found_left.reshape(-1), found_right.reshape(-1)
    assert largest == max(left.max(), right.max())
    assert not left[-2:].any() and not right[-2:].any(), "padding has contexts"
    place = 0
    for length in lengths:
        for position in range(length):
            before, after = left[place], right[place]
            assert 0 <= before <= min(position, window)
            assert 0 <= after <= min(length - 1 - position, window)
            if not shrink:
                assert (before, after) == (min(position, window), min(length - 1 - position, window))
            place += 1


def test_shrunk_windows_are_drawn_evenly() -> None:
    sentence = Sentences(np.zeros(60_000, np.int32), np.array([60_000], np.int32))
    left, _, _ = draw_windows(sentence, (1, 1, 60_000), 5, True, RandomNumbers.seeded([0]))
    drawn = np.bincount(left.reshape(-1)[10:], minlength=6)
    assert drawn[0] == 0
    np.testing.assert_allclose(drawn[1:] / drawn.sum(), 0.2, atol=0.01)


def test_subsampling_keeps_words_at_their_probability() -> None:
    ids = np.repeat(np.arange(3, dtype=np.int32), 20_000)
    lengths = np.full(6_000, 10, np.int32)
    keep = np.array([0.1, 0.5, 1.0], np.float32)
    kept = subsample(Sentences(ids, lengths), keep, RandomNumbers.seeded([0]))
    np.testing.assert_allclose(np.bincount(kept.ids) / 20_000, [0.1, 0.5, 1.0], atol=0.02)
    assert kept.lengths.sum() == len(kept.ids)


@given(lengths=LENGTHS, seed=st.integers(0, 9))
def test_subsampling_keeps_each_sentence_its_own_words(lengths: np.ndarray, seed: int) -> None:
    sentence_of = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    keep = np.full(len(lengths), 0.5, np.float32)
    kept = subsample(Sentences(sentence_of, lengths), keep, RandomNumbers.seeded([seed]))
    kept_of_each = np.bincount(kept.ids, minlength=len(lengths))
    np.testing.assert_array_equal(kept_of_each[kept_of_each > 0], kept.lengths)


@given(lengths=LENGTHS, window=st.sampled_from([1, 5, 30]), run=st.sampled_from([1, 4, 8]))
def test_a_block_holds_every_token_once_in_order(lengths: np.ndarray, window: int, run: int) -> None:
    ids = ids_for(lengths)
    made = maker(window=window, shape=BatchShape(run * 2, run, 3))
    block = made.make(Sentences(ids, lengths), RandomNumbers.seeded([1]))
    assert block.tokens == len(ids)
    np.testing.assert_array_equal(block.input_ids.reshape(-1)[: len(ids)], ids)
    assert not (block.left + block.right).reshape(-1)[len(ids) :].any(), "padding has contexts"


@given(lengths=LENGTHS, window=st.sampled_from([1, 5, 30]), skip_gram=st.booleans())
def test_a_widened_run_has_each_context_at_its_distance(lengths: np.ndarray, window: int, skip_gram: bool) -> None:
    ids = ids_for(lengths)
    block = maker(skip_gram, window).make(Sentences(ids, lengths), RandomNumbers.seeded([1]))
    batches, runs, run_tokens = block.left.shape
    wide = block.candidate_ids[..., : run_tokens + 2 * block.window] if skip_gram else block.input_ids
    flat = wide.reshape(batches * runs, -1)
    for token in range(len(ids)):
        run, place = divmod(token, run_tokens)
        left, right = block.left.reshape(-1)[token], block.right.reshape(-1)[token]
        centre = place + block.window
        expected = ids[token - left : token + right + 1]
        np.testing.assert_array_equal(flat[run, centre - left : centre + right + 1], expected)


def test_pairs_count_contexts_for_skip_gram_and_targets_for_cbow() -> None:
    ids, lengths = np.arange(6, dtype=np.int32), np.array([1, 2, 3], np.int32)
    full = [0, 1, 1, 2, 2, 2]
    for skip_gram, expected in ((True, sum(full)), (False, np.count_nonzero(full))):
        fixed = BlockMaker(skip_gram, 5, Windows.FIXED, SHAPE, None, maker().negatives, None)
        assert fixed.make(Sentences(ids, lengths), RandomNumbers.seeded([0])).pairs.sum() == expected


@given(lengths=LENGTHS, window=st.integers(1, 9), skip_gram=st.booleans())
def test_every_batch_counts_its_own_pairs(lengths: np.ndarray, window: int, skip_gram: bool) -> None:
    block = maker(skip_gram, window).make(Sentences(ids_for(lengths), lengths), RandomNumbers.seeded([1]))
    expected = np.zeros(len(block.left))
    for batch, run, place in np.ndindex(block.left.shape):
        contexts = block.left[batch, run, place] + block.right[batch, run, place]
        expected[batch] += contexts if skip_gram else contexts > 0
    np.testing.assert_array_equal(block.pairs, expected)


@given(lengths=LENGTHS, window=st.sampled_from([1, 5, 30]), skip_gram=st.booleans(), sampling=st.booleans())
def test_every_place_of_a_widened_run_has_its_huffman_path_and_in_cbow_a_run_has_its_output_rows(
    lengths: np.ndarray, window: int, skip_gram: bool, sampling: bool
) -> None:
    model = model_of([60, 30, 20, 9, 8, 7, 5, 5, 1, 1])
    negatives = maker().negatives if sampling else None
    made = BlockMaker(skip_gram, window, Windows.DRAWN, SHAPE, None, negatives, HuffmanTree.of(model.wv))
    ids = ids_for(lengths)
    block = made.make(Sentences(ids, lengths), RandomNumbers.seeded([1]))
    batches, runs, run_tokens = block.left.shape
    shape = (batches, runs, run_tokens + 2 * block.window)
    wide = np.empty(shape, np.int32)
    for batch, run, place in np.ndindex(shape):
        token = (batch * runs + run) * run_tokens + place - block.window
        wide[batch, run, place] = ids[min(max(token, 0), len(ids) - 1)]
    assert block.tree is not None and block.tree.words.shape == shape
    assert (block.target_ids is not None) == (sampling and not skip_gram)
    if block.target_ids is not None:
        assert block.target_ids.shape == block.left.shape
        np.testing.assert_array_equal(block.target_ids.reshape(-1)[: len(ids)], ids)
    for place, word in np.ndenumerate(wide):
        points, codes = (model.wv.expandos[name][word].tolist() for name in ("point", "code"))
        assert path_of(block.tree, place) == (points, codes)
    if not sampling:
        assert block.candidate_ids is None
    elif skip_gram:
        np.testing.assert_array_equal(block.candidate_ids[..., :-3], wide)
    else:
        assert block.candidate_ids.shape == (batches, runs, 3)


def path_of(paths: HuffmanPaths, place: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Return the rows and codes on the path of the word at a place."""
    own = slice(*paths.offsets[paths.words[place] :][:2].tolist())
    return paths.nodes[own].tolist(), paths.codes[own].tolist()


def test_subsampling_everything_away_gives_no_block() -> None:
    nothing_kept = BlockMaker(True, 5, Windows.DRAWN, SHAPE, np.zeros(10, np.float32), maker().negatives, None)
    lengths = np.array([4], np.int32)
    assert nothing_kept.make(Sentences(ids_for(lengths), lengths), RandomNumbers.seeded([0])) is None


def test_the_same_seed_gives_the_same_block() -> None:
    lengths = np.array([30, 3], np.int32)
    sentences = Sentences(ids_for(lengths), lengths)
    first, second, other = (maker().make(sentences, RandomNumbers.seeded([seed])) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.candidate_ids, second.candidate_ids)
    np.testing.assert_array_equal(first.left, second.left)
    assert not np.array_equal(first.candidate_ids, other.candidate_ids)


@given(tokens=st.integers(1, 5000), run=st.sampled_from([1, 8, 32]), runs=st.integers(1, 64))
def test_cutting_holds_all_tokens_with_less_than_a_run_of_padding_a_batch(tokens: int, run: int, runs: int) -> None:
    batches, runs_each = BatchShape(run * runs, run, 1).cut(tokens)
    assert tokens <= batches * runs_each * run < tokens + batches * run
    assert runs_each <= runs
