"""The validation loss on clusters: that of this process for the same vectors, wherever the vectors are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.contract import PURE_MODES, learnt_arrays
from support.overfitting import OTHERS, SETTINGS, TRAINED, Snapshots, assert_learnt
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.local import LocalCluster

SHORT: dict[str, Any] = {**SETTINGS, "epochs": 4}


def loss_of(model: Any) -> float:
    """Return the validation loss that this process measures for a model's vectors, which it leaves as they are."""
    copy = TFWord2Vec(**SETTINGS | {"sg": model.sg, "hs": model.hs, "negative": model.negative})
    copy.build_vocab(TRAINED)
    for name, array in learnt_arrays(model).items():
        (copy.wv.vectors if name == "vectors" else getattr(copy, name))[:] = array
    copy.train(TRAINED, total_examples=len(TRAINED), epochs=1, start_alpha=1e-12, end_alpha=1e-12, validation=OTHERS)
    return copy.validation_losses[0]


@pytest.mark.slow
@pytest.mark.parametrize("mode", PURE_MODES)
def test_one_worker_of_a_cluster_has_the_losses_of_this_process(mode: str) -> None:
    here, there = (
        TFWord2Vec(TRAINED, validation=OTHERS, cluster=cluster, **SHORT | PURE_MODES[mode])
        for cluster in (None, shared_cluster())
    )
    np.testing.assert_allclose(there.validation_losses, here.validation_losses, rtol=1e-4)


@pytest.mark.parametrize(
    "distribution",
    [
        "downpour",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("synchronous", "averaging", "partition", "columns", "lbfgs")
        ),
    ],
)
def test_the_loss_on_a_cluster_is_that_of_this_process_for_the_same_vectors(distribution: str) -> None:
    model = TFWord2Vec(
        TRAINED,
        validation=OTHERS,
        cluster=shared_cluster(),
        distribution=distribution,
        **SHORT | {"workers": 2, "batch_words": 100},
    )
    assert len(model.validation_losses) == 4
    assert model.validation_losses[-1] == pytest.approx(loss_of(model), rel=1e-5)


@pytest.mark.parametrize("distribution", ["downpour", pytest.param("averaging", marks=pytest.mark.slow)])
def test_early_stopping_on_a_cluster_gives_back_the_best_epoch(distribution: str) -> None:
    snapshots = Snapshots()
    model = TFWord2Vec(
        TRAINED,
        validation=OTHERS,
        early_stopping=2,
        cluster=shared_cluster(),
        distribution=distribution,
        callbacks=[snapshots],
        **SETTINGS | {"workers": 2, "batch_words": 200},
    )
    assert model.epochs == len(model.validation_losses) < SETTINGS["epochs"]
    assert_learnt(model, snapshots.learnt[int(np.argmin(model.validation_losses))])


class Harmed:
    """Sentences; when so many have been read over all passes, a server is killed and started again."""

    def __init__(self, cluster: LocalCluster, sentence: int) -> None:
        self._cluster, self.left = cluster, sentence

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in TRAINED:
            if self.left == 0:
                threading.Thread(target=self._kill_and_start).start()
            self.left -= 1
            yield sentence

    def _kill_and_start(self) -> None:
        server = self._cluster.processes["ps", 1]
        server.kill()
        server.wait()
        self._cluster.start("ps", 1)


@pytest.mark.slow
@pytest.mark.parametrize("epoch", [3, 12])
def test_the_best_epochs_vectors_outlive_a_killed_server(epoch: int, mortal_cluster: LocalCluster) -> None:
    model = TFWord2Vec(cluster=mortal_cluster, cache_memory=0, **SETTINGS | {"batch_words": 200})
    model.build_vocab(TRAINED)
    corpus = Harmed(mortal_cluster, epoch * len(TRAINED))
    model.train(corpus, total_examples=len(TRAINED), epochs=15, validation=OTHERS, early_stopping=15)
    assert model.training_report is not None
    assert model.training_report["recoveries"]["count"] == 1
    assert len(model.validation_losses) == 15
    assert loss_of(model) == pytest.approx(min(model.validation_losses), rel=1e-5)


def test_vectors_that_stay_on_servers_have_a_validation_loss() -> None:
    model = TFWord2Vec(TRAINED, validation=OTHERS, cluster=shared_cluster(), vectors_on_servers=True, **SHORT)
    assert len(model.validation_losses) == 4
    assert 0 < model.validation_losses[-1] < model.validation_losses[0]
    model.free_server_vectors()


def test_early_stopping_needs_the_vectors_here() -> None:
    with pytest.raises(ValueError, match=r"early_stopping .* vectors_on_servers=True"):
        TFWord2Vec(validation=0.1, early_stopping=1, cluster=shared_cluster(), vectors_on_servers=True)
