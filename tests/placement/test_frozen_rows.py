"""Frozen tables on a cluster: servers send their rows to workers, and get no changes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.contract import SMALL, learnt_arrays, two_topics
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.steps.settings import FREEZABLE

SENTENCES = two_topics(400)
MODES: dict[str, dict[str, int]] = {"sg": {"sg": 1, "negative": 5}, "cbow-both": {"sg": 0, "hs": 1, "negative": 5}}
EITHER = pytest.mark.parametrize("freeze", FREEZABLE)


def trained(mode: str) -> TFWord2Vec:
    """Return a model that one process has trained; two models of a mode are equal."""
    settings: dict[str, Any] = {**SMALL, **MODES[mode], "seed": 3, "workers": 1, "compute_dtype": "float32"}
    return TFWord2Vec(SENTENCES, **settings)


def train_further(model: TFWord2Vec, freeze: str | None, cluster: Any = None, workers: int = 1) -> TFWord2Vec:
    """Train a model with the same sentences, and return it."""
    model.workers = workers
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2, freeze=freeze, cluster=cluster)
    return model


def sent_bytes(model: TFWord2Vec) -> int:
    """Return the bytes that the workers of the last training sent."""
    assert model.training_report is not None
    tasks = model.training_report["tasks"]
    return sum(metrics["sent_bytes"] for task, metrics in tasks.items() if task.startswith("worker"))


@pytest.mark.slow
@EITHER
@pytest.mark.parametrize("mode", MODES)
def test_a_cluster_gives_the_vectors_of_one_process(mode: str, freeze: str) -> None:
    found = learnt_arrays(train_further(trained(mode), freeze, shared_cluster()))
    expected = learnt_arrays(train_further(trained(mode), freeze))
    before = learnt_arrays(trained(mode))
    for name, values in expected.items():
        if (name == "vectors") == (freeze == "inputs"):
            assert found[name].tobytes() == before[name].tobytes(), name
        np.testing.assert_allclose(found[name], values, atol=1e-5, err_msg=name)


@pytest.mark.slow
@EITHER
def test_workers_send_no_changes_of_frozen_rows(freeze: str) -> None:
    every = train_further(trained("sg"), None, shared_cluster(), workers=2)
    others = train_further(trained("sg"), freeze, shared_cluster(), workers=2)
    assert sent_bytes(others) < 0.75 * sent_bytes(every)
