"""A cluster trains weighted sentences as one process does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.contract import SMALL, learnt_arrays, two_topics
from support.design_promises import DesignPromises
from support.design_trainings import SENTENCES, WORDS, train, untrained
from support.designs import designs_that
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec

TOPICS = two_topics(200)
SOME = np.linspace(0, 3, 200)
MODELS: dict[str, dict[str, Any]] = {
    "sg": {"sg": 1, "negative": 5, "compute_dtype": "float32"},
    "sg-hs": {"sg": 1, "hs": 1, "negative": 0},
    "cbow": {"sg": 0, "negative": 5},
    "cbow-hs": {"sg": 0, "hs": 1, "negative": 0},
}


@designs_that("weighs")
def test_sentences_of_weight_zero_train_nothing_and_others_learn(design: DesignPromises) -> None:
    model = untrained(design, workers=2, epochs=1)
    before = model.wv.vectors.copy()
    trained_words, raw_words = train(design, model, weights=[0, 0.5] * (len(SENTENCES) // 2))
    is_shared_out = design.distribution == "partition"  # sub-models draw their sentences, and are merged
    assert 2 * trained_words == (pytest.approx(WORDS, rel=0.2) if is_shared_out else raw_words)
    is_cat = np.array([word.startswith("cat") for word in model.wv.index_to_key])
    if not is_shared_out:
        np.testing.assert_allclose(model.wv.vectors[is_cat], before[is_cat], rtol=0, atol=1e-6)
    assert np.abs(model.wv.vectors - before)[~is_cat].min(axis=1).max() > 1e-4


@pytest.mark.parametrize(
    "mode", ["cbow", *(pytest.param(mode, marks=pytest.mark.slow) for mode in MODELS if mode != "cbow")]
)
def test_a_cluster_gives_the_vectors_of_one_process(mode: str) -> None:
    settings = SMALL | MODELS[mode] | {"workers": 1}
    found, expected, unweighted = (
        learnt_arrays(TFWord2Vec(TOPICS, weights=weights, cluster=cluster, **settings))
        for cluster, weights in ((shared_cluster(), SOME), (None, SOME), (None, None))
    )
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-5, err_msg=name)
        assert np.abs(unweighted[name] - values).max() > 1e-3, name
