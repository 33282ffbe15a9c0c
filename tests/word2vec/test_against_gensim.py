"""With nothing left to chance, training moves vectors where gensim's own loops move them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gensim.models import Word2Vec
from gensim.test.utils import common_texts

from gensim_tfw2v import TFWord2Vec

# No subsampling, no drawn windows, no negatives: the Huffman tree leaves nothing to random numbers.
FIXED: dict[str, Any] = {
    "hs": 1, "negative": 0, "sample": 0, "shrink_windows": False, "window": 3, "min_count": 1, "vector_size": 12,
    "workers": 1, "epochs": 1, "seed": 5,
}  # fmt: skip
# gensim reads the sigmoid off a table whose index (83 steps a unit for a table of 83.3) leaves it up to this far off.
SIGMOID_TABLE_ERROR = 0.012
_SEEDS = 400  # a mean over so many trainings stands for what is expected


def trained(word2vec_class: type[Word2Vec], alpha: float, **arguments: Any) -> tuple[Word2Vec, np.ndarray, np.ndarray]:
    """Return a model after an epoch at a constant rate, with its vectors before it."""
    of_ours = {"optimizer": "sgd"} if word2vec_class is TFWord2Vec else {}
    model = word2vec_class(**FIXED | {"alpha": alpha, "min_alpha": alpha} | of_ours | arguments)
    model.build_vocab(common_texts)
    rng = np.random.default_rng(7)
    model.wv.vectors[:] = rng.normal(0, 0.5, model.wv.vectors.shape)
    model.syn1[:] = rng.normal(0, 0.5, model.syn1.shape)
    before = model.wv.vectors.copy(), model.syn1.copy()
    model.train(common_texts, total_examples=model.corpus_count, epochs=1)
    return model, *before


@pytest.mark.parametrize("cbow_mean", [0, 1])
def test_cbow_one_word_at_a_time_is_gensims_loop(cbow_mean: int) -> None:
    """With batches of one word both take the same steps one after the other, at any learning rate."""
    arguments = {"sg": 0, "cbow_mean": cbow_mean}
    ours, *_ = trained(TFWord2Vec, 0.1, batch_tokens=1, update_bound=1e3, **arguments)
    gensims, *_ = trained(Word2Vec, 0.1, **arguments)
    np.testing.assert_allclose(ours.wv.vectors, gensims.wv.vectors, atol=SIGMOID_TABLE_ERROR)
    np.testing.assert_allclose(ours.syn1, gensims.syn1, atol=SIGMOID_TABLE_ERROR)


@pytest.mark.parametrize("mode", [{"sg": 1}, {"sg": 0}, {"sg": 0, "cbow_mean": 0}], ids=["sg", "cbow", "cbow-sum"])
def test_small_steps_of_a_whole_batch_go_where_gensims_go(mode: dict[str, int]) -> None:
    """At a rate so small that order does not matter, a batch is the sum of gensim's single steps."""
    rate = 1e-4
    ours, *before = trained(TFWord2Vec, rate, batch_tokens=64, update_bound=1e3, **mode)
    gensims, *_ = trained(Word2Vec, rate, **mode)
    for name, start, mine, theirs in zip(
        ("inputs", "nodes"), before, (ours.wv.vectors, ours.syn1), (gensims.wv.vectors, gensims.syn1), strict=True
    ):
        moved, expected = (mine - start) / rate, (theirs - start) / rate
        np.testing.assert_allclose(moved, expected, atol=10 * SIGMOID_TABLE_ERROR, err_msg=name)
        assert np.abs(expected).max() > 10 * 10 * SIGMOID_TABLE_ERROR, "nothing moved far enough to tell"


@pytest.mark.parametrize("mode", [{"sg": 1}, {"sg": 0}], ids=["sg", "cbow"])
def test_the_loss_is_gensims(mode: dict[str, int]) -> None:
    losses = []
    for word2vec_class in (TFWord2Vec, Word2Vec):
        model = word2vec_class(**FIXED | mode)
        model.build_vocab(common_texts)
        model.train(common_texts, total_examples=model.corpus_count, epochs=1, compute_loss=True)
        losses.append(model.get_latest_training_loss())
    if mode["sg"]:
        assert losses[0] == pytest.approx(losses[1], rel=0.03)  # the table again
    else:  # gensim's Cython counts no loss for CBOW's tree; the number of decisions times log 2 is known, though
        model = TFWord2Vec(**FIXED | mode, optimizer="sgd")
        model.build_vocab(common_texts)
        lengths = dict(zip(model.wv.index_to_key, map(len, model.wv.expandos["code"]), strict=True))
        decisions = sum(lengths[word] for sentence in common_texts if len(sentence) > 1 for word in sentence)
        assert losses[0] == pytest.approx(decisions * np.log(2), rel=0.05)


def test_expected_negative_steps_are_gensims() -> None:
    """Averaged over many seeds, shared negatives push output rows as far as gensim's private ones."""
    means = []
    for word2vec_class in (TFWord2Vec, Word2Vec):
        moved = []
        for seed in range(_SEEDS):
            settings = FIXED | {"hs": 0, "negative": 5, "sg": 1, "seed": seed, "alpha": 1e-3, "min_alpha": 1e-3}
            of_ours = {"update_bound": 1e3, "optimizer": "sgd"} if word2vec_class is TFWord2Vec else {}
            model = word2vec_class(**settings | of_ours)
            model.build_vocab(common_texts)
            model.wv.vectors[:] = 0.3
            model.train(common_texts, total_examples=model.corpus_count, epochs=1)
            moved.append(model.syn1neg.mean(axis=1) / 1e-3)
        means.append(np.mean(moved, axis=0))
    # The means are some 0.07 off for want of seeds, and 0.1 for gensim's table: at 0 it reads 0.494 for the sigmoid.
    np.testing.assert_allclose(means[0], means[1], atol=0.3)
    assert np.abs(means[1]).max() > 1.0, "the test would pass whatever happened"
