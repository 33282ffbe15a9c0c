"""Settings of training: each does what gensim's does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.contract import PURE_MODES, SENTENCES, assert_finite, topic_gap, two_topics

ARGUMENTS: dict[str, Any] = {"vector_size": 8, "min_count": 1, "workers": 1, "sample": 0, "epochs": 2}


def loss_of_first_steps(word2vec_class: type[Any], **arguments: Any) -> float:
    """Return the loss of one epoch whose learning rate is next to nothing: it counts the work done."""
    still = ARGUMENTS | {"alpha": 1e-4, "min_alpha": 1e-4, "epochs": 1, "compute_loss": True}
    return float(word2vec_class(two_topics(), **still | arguments).get_latest_training_loss())


@pytest.mark.parametrize("vector_size", [1, *(pytest.param(size, marks=pytest.mark.slow) for size in (3, 100)), 300])
def test_vectors_have_the_asked_size(word2vec_class: type[Any], pure_mode: dict[str, int], vector_size: int) -> None:
    model = word2vec_class(**ARGUMENTS | {"vector_size": vector_size}, **pure_mode)
    model.build_vocab(SENTENCES)
    before = model.wv.vectors.copy()
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2)
    assert model.wv.vectors.shape == (11, vector_size)
    assert_finite(model)
    assert (model.wv.vectors != before).any(axis=0).all(), "a number of the vectors was not trained"


@pytest.mark.parametrize("window", [*(pytest.param(window, marks=pytest.mark.slow) for window in (1, 50)), 500])
def test_windows_from_one_to_hundreds_train(word2vec_class: type[Any], pure_mode: dict[str, int], window: int) -> None:
    model, usual = (
        word2vec_class([["a", "b", "c", "d", "e"] * 150] * 3, window=reach, **ARGUMENTS, **pure_mode)
        for reach in (window, 5)
    )
    assert_finite(model)
    assert np.abs(model.wv.vectors - usual.wv.vectors).max() > 1e-3


def test_a_wide_window_joins_words_that_a_narrow_one_keeps_apart(word2vec_class: type[Any]) -> None:
    """Two words of one topic, 11 places apart and with the same filler between them in both topics."""
    topics = [sentence[:2] for sentence in two_topics()]
    filler = [f"filler{number}" for number in range(10)]
    sentences = [[first, *filler, second] for first, second in topics]
    arguments = ARGUMENTS | {"sg": 1, "epochs": 20, "shrink_windows": False, "alpha": 0.05, "vector_size": 16}
    gaps = {window: topic_gap(word2vec_class(sentences, window=window, **arguments).wv) for window in (1, 50)}
    assert abs(gaps[1]) < 0.2
    assert gaps[50] > 1


def test_fixed_windows_make_more_pairs_than_shrunk_ones(word2vec_class: type[Any]) -> None:
    """With window 3 a shrunk window reaches 2 words on average: two thirds of the pairs, about."""
    shrunk, fixed = (
        loss_of_first_steps(word2vec_class, sg=1, window=3, shrink_windows=shrink) for shrink in (True, False)
    )
    assert 1.3 < fixed / shrunk < 1.6


@pytest.mark.parametrize("sg", [0, 1])
def test_more_negatives_make_more_work(word2vec_class: type[Any], sg: int) -> None:
    """Every pair costs about log 2 for the true word and for each negative while nothing is learnt."""
    few = loss_of_first_steps(word2vec_class, sg=sg, negative=5)
    many = loss_of_first_steps(word2vec_class, sg=sg, negative=20)
    assert many / few == pytest.approx(21 / 6, rel=0.1)


@pytest.mark.parametrize("ns_exponent", [-1.0, -0.5, 0.0, 0.75, 1.0])
def test_any_exponent_of_the_negatives_trains(
    word2vec_class: type[Any], lee: list[list[str]], ns_exponent: float
) -> None:
    arguments = ARGUMENTS | {"min_count": 5, "vector_size": 16}
    model = word2vec_class(lee[:100], sg=1, ns_exponent=ns_exponent, **arguments)
    assert_finite(model)
    assert np.abs(model.syn1neg).max() > 0
    weights = model.wv.expandos["count"].astype(float) ** ns_exponent
    drawn = np.diff(model.cum_table.astype(float), prepend=0) / 2**31
    np.testing.assert_allclose(drawn, weights / weights.sum(), atol=1e-8)


@pytest.mark.parametrize("sg", [0, 1])
def test_the_exponent_decides_which_words_are_negatives(word2vec_class: type[Any], sg: int) -> None:
    """A word that is never predicted as a neighbour moves in the output table only when drawn as a negative.

    'alone' stands in sentences of one word and is as frequent as all others together, or much rarer:
    with exponent 8 it is drawn only when frequent, with exponent -8 only when rare.
    """

    def movement(ns_exponent: float, repeats: int) -> float:
        sentences = [["human", "graph", "user", "trees"] * 2] * 20 + [["alone"]] * repeats
        model = word2vec_class(sentences, sg=sg, ns_exponent=ns_exponent, **ARGUMENTS | {"epochs": 5})
        return float(np.abs(model.syn1neg[model.wv.get_index("alone")]).max())

    assert movement(8, repeats=200) > 0 == movement(8, repeats=2)
    assert movement(-8, repeats=2) > 0 == movement(-8, repeats=200)


@pytest.mark.parametrize("method", ["negative", "hierarchical"])
def test_sum_and_mean_of_context_both_learn_and_differ(word2vec_class: type[Any], method: str) -> None:
    arguments = ARGUMENTS | {"epochs": 20, "vector_size": 16, "alpha": 0.01} | PURE_MODES[f"cbow-{method}"]
    total, mean = (word2vec_class(two_topics(), cbow_mean=cbow_mean, **arguments) for cbow_mean in (0, 1))
    for model in (total, mean):
        assert_finite(model)
        assert topic_gap(model.wv) > 0.6
    assert not np.allclose(total.wv.vectors, mean.wv.vectors, atol=1e-3)


@pytest.mark.parametrize(
    ("sample", "least", "most"), [(0, 1.0, 1.0), (1e-3, 0.5, 0.9), (1e-5, 0.1, 0.4), (50, 0.5, 0.98)]
)
def test_sample_says_how_many_frequent_words_are_dropped(
    word2vec_class: type[Any], lee: list[list[str]], sample: float, least: float, most: float
) -> None:
    model = word2vec_class(**ARGUMENTS | {"sample": sample})
    model.build_vocab(lee)
    trained, raw = model.train(lee, total_examples=len(lee), epochs=2)
    assert least <= trained / raw <= most
    assert_finite(model)


def test_locked_words_keep_their_vectors(word2vec_class: type[Any], mode: dict[str, int]) -> None:
    model = word2vec_class(**ARGUMENTS, **mode)
    model.build_vocab(SENTENCES)
    model.wv.vectors_lockf = np.ones(11, dtype=np.float32)
    locked = [model.wv.get_index(word) for word in ("human", "trees")]
    model.wv.vectors_lockf[locked] = 0
    before = model.wv.vectors.copy()
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2)
    unchanged = np.flatnonzero((model.wv.vectors == before).all(axis=1))
    np.testing.assert_array_equal(unchanged, sorted(locked))


@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_one_lock_factor_serves_all_words(word2vec_class: type[Any], pure_mode: dict[str, int], factor: float) -> None:
    model = word2vec_class(**ARGUMENTS, **pure_mode)
    model.build_vocab(SENTENCES)
    model.wv.vectors_lockf = np.full(1, factor, dtype=np.float32)
    before = model.wv.vectors.copy()
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2)
    changed = (model.wv.vectors != before).any(axis=1)
    assert changed.all() == changed.any() == bool(factor)


def test_a_lock_factor_between_scales_the_step(word2vec_class: type[Any]) -> None:
    moved = {}
    for factor in (0.1, 1.0):
        model = word2vec_class(sg=1, seed=5, **ARGUMENTS)
        model.build_vocab(SENTENCES)
        model.wv.vectors_lockf = np.full(11, factor, dtype=np.float32)
        before = model.wv.vectors.copy()
        model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
        moved[factor] = np.linalg.norm(model.wv.vectors - before)
    assert 0 < moved[0.1] < 0.5 * moved[1.0]


@pytest.mark.parametrize("batch_words", [1, 50, 100_000])
def test_any_batch_words_trains_all_words(word2vec_class: type[Any], batch_words: int) -> None:
    model = word2vec_class(batch_words=batch_words, **ARGUMENTS)
    model.build_vocab(SENTENCES)
    assert model.batch_words == batch_words
    assert model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2) == (1200, 1200)


def test_queue_factor_and_report_delay_are_accepted(word2vec_class: type[Any]) -> None:
    model = word2vec_class(**ARGUMENTS)
    model.build_vocab(SENTENCES)
    settings = {"total_examples": len(SENTENCES), "epochs": 1, "queue_factor": 4, "report_delay": 0.1}
    assert model.train(SENTENCES, **settings) == (600, 600)


@pytest.mark.parametrize("sg", [0, 1])
def test_sentences_are_scored_after_hierarchical_softmax(word2vec_class: type[Any], sg: int) -> None:
    """A sentence of one topic is likelier than one that mixes two: score() reads what was learnt."""
    sentences = two_topics()
    arguments = ARGUMENTS | {"epochs": 10, "alpha": 0.05, "sg": sg, "hs": 1, "negative": 0}
    model = word2vec_class(sentences, **arguments)
    mixed = [[f"{'cat' if place % 2 else 'dog'}{place}" for place in range(12)]]
    scores = model.score([*sentences[:20], *mixed], total_sentences=21)
    assert np.isfinite(scores).all()
    assert scores[:20].min() > scores[20]


@pytest.mark.parametrize("sg", [0, 1])
def test_output_words_are_predicted_after_negative_sampling(word2vec_class: type[Any], sg: int) -> None:
    model = word2vec_class(two_topics(), **ARGUMENTS | {"epochs": 15, "alpha": 0.05, "sg": sg})
    predicted = model.predict_output_word(["cat1", "cat2", "cat3"], topn=10)
    assert np.isfinite([probability for _, probability in predicted]).all()
    assert all(word.startswith("cat") for word, _ in predicted)
