"""Sampling tables agree with gensim's, and negatives are drawn as they say."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

import numpy as np
import pytest
from gensim.models.word2vec import Word2Vec
from hypothesis import given
from hypothesis import strategies as st

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.blocks.sampling import NegativeSampler, keep_probabilities, kept_counts, word_counts
from gensim_tfw2v.native.random_numbers import RandomNumbers

COUNTS = {"the": 50_000, "of": 20_000, "cat": 500, "sat": 40, "mat": 7}


def vocabulary_of(counts: Mapping[str, float], **arguments: object) -> Word2Vec:
    """Return a gensim model with this vocabulary and no training."""
    model = Word2Vec(min_count=0, **arguments)
    model.build_vocab_from_freq(dict(counts))
    return model


def test_keep_probabilities_follow_the_word2vec_formula() -> None:
    model = vocabulary_of(COUNTS, sample=1e-3)
    threshold = 1e-3 * sum(COUNTS.values())
    expected = [min(1.0, (np.sqrt(count / threshold) + 1) * threshold / count) for count in COUNTS.values()]
    np.testing.assert_allclose(keep_probabilities(model.wv, model.sample), expected, rtol=1e-6)


@pytest.mark.parametrize("sample", [0, 10**9])
def test_no_subsampling_means_no_table(sample: float) -> None:
    assert keep_probabilities(vocabulary_of(COUNTS, sample=sample).wv, sample) is None


@given(
    counts=st.lists(st.integers(1, 10**9), max_size=50) | st.lists(st.floats(1e-6, 1), max_size=50),
    exponent=st.sampled_from([0.75, 0.0, 1.0, -0.5]),
)
def test_the_table_of_negatives_is_gensims_to_the_last_bit(counts: list[float], exponent: float) -> None:
    frequencies = {f"w{i}": count for i, count in enumerate(counts)}
    ours = TFWord2Vec(min_count=0, ns_exponent=exponent)
    ours.build_vocab_from_freq(dict(frequencies))
    theirs = vocabulary_of(frequencies, ns_exponent=exponent)
    assert ours.cum_table.dtype == theirs.cum_table.dtype
    np.testing.assert_array_equal(ours.cum_table, theirs.cum_table)


@pytest.mark.parametrize("exponent", [0.75, 0.0, 1.0, -0.5])
def test_negatives_are_drawn_as_often_as_gensim_wants(exponent: float) -> None:
    sampler = NegativeSampler(vocabulary_of(COUNTS, ns_exponent=exponent).cum_table)
    powers = np.array(list(COUNTS.values()), float) ** exponent
    np.testing.assert_allclose(sampler.shares(), powers / powers.sum(), atol=1e-8)
    drawn = sampler.draw(RandomNumbers.seeded([0]), 100_000)
    assert drawn.dtype == np.int32
    np.testing.assert_allclose(np.bincount(drawn, minlength=5) / 100_000, sampler.shares(), atol=5e-3)


@pytest.mark.parametrize("draws", [3, 5, 400])
def test_a_draw_is_the_word_that_gensims_bisection_finds(draws: int) -> None:
    table = vocabulary_of(COUNTS).cum_table
    uniform = (np.arange(draws) + np.random.Generator(np.random.SFC64([7])).random(draws)) * (float(table[-1]) / draws)
    expected = [bisect_left(table.tolist(), int(place)) for place in uniform]
    drawn = NegativeSampler(table).draw(RandomNumbers.seeded([7]), draws)
    assert sorted(drawn.tolist()) == expected


def test_negatives_come_in_random_order() -> None:
    sampler = NegativeSampler(vocabulary_of(COUNTS, ns_exponent=0).cum_table)
    halves = np.split(sampler.draw(RandomNumbers.seeded([0]), 10_000), 2)
    for half in halves:
        np.testing.assert_allclose(np.bincount(half, minlength=5) / 5_000, 0.2, atol=0.03)


def test_the_only_word_is_its_own_negative() -> None:
    model = vocabulary_of({"alone": 3})
    assert NegativeSampler(model.cum_table).draw(RandomNumbers.seeded([0]), 4).tolist() == [0, 0, 0, 0]


def test_frequent_words_are_kept_less_often_than_they_occur() -> None:
    model = vocabulary_of(COUNTS, sample=1e-3)
    keep = keep_probabilities(model.wv, model.sample)
    np.testing.assert_allclose(kept_counts(word_counts(model.wv), keep), keep * list(COUNTS.values()))
    np.testing.assert_array_equal(kept_counts(word_counts(model.wv), None), list(COUNTS.values()))
