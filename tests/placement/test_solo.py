"""A design made of the library alone, registered by one call: it trains, resumes, and survives its worker."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import solo
from support.contract import PURE_MODES, SMALL, assert_equal_models, topic_gap, two_topics
from support.epoch_vectors import EpochVectors
from support.interrupts import kill, stopped_after
from support.placements import leases_on, shared_cluster
from support.solo import Solo, choose_solo

from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.placement.designs import register_design

SOLO: dict[str, Any] = {"distribution": "solo", "seed": 3, "workers": 1, "batch_words": 1500}
SENTENCES = two_topics(1500)
LIBRARY = ("contract", "request", "block_size", "remote", "tasks", "calls")


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """Have `distribution="solo"` name the design."""
    remove = register_design("solo", choose=choose_solo)
    yield
    remove()


def test_a_design_needs_the_library_and_no_other_design() -> None:
    imported = [
        node.module for node in ast.walk(ast.parse(Path(solo.__file__).read_text())) if isinstance(node, ast.ImportFrom)
    ]
    of_placement = [name.split(".")[2] for name in imported if name and name.startswith("gensim_tfw2v.placement.")]
    assert of_placement
    assert set(of_placement) <= set(LIBRARY)


@pytest.mark.parametrize("mode", PURE_MODES)
def test_a_worker_alone_trains_as_this_process_does_and_its_tables_are_freed(mode: str) -> None:
    settings = SMALL | PURE_MODES[mode] | SOLO
    seen = EpochVectors()
    found = TFWord2Vec(SENTENCES, **settings, cluster=shared_cluster(), callbacks=[seen])
    here = TFWord2Vec(SENTENCES, **settings | {"distribution": "downpour"})
    assert_equal_models(found, here)
    assert len(seen.vectors) == found.epochs
    assert not leases_on(shared_cluster(), "worker")


def test_a_training_that_stopped_in_an_epoch_goes_on_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = SMALL | SOLO | {"sg": 1, "cluster": shared_cluster()}
    corpus = {"total_examples": len(SENTENCES), "total_words": 12 * len(SENTENCES), "epochs": 2}
    model = TFWord2Vec(**settings, checkpoint_dir=tmp_path / "checkpoints", checkpoint_every="3000 words")
    model.build_vocab(SENTENCES)
    with stopped_after(14, Solo, monkeypatch):
        model.train(SENTENCES, **corpus)
    resumed = TFWord2Vec.resume(tmp_path / "checkpoints", SENTENCES, cluster=shared_cluster())
    whole = TFWord2Vec(**settings)
    whole.build_vocab(SENTENCES)
    whole.train(SENTENCES, **corpus)
    assert_equal_models(resumed, whole)


# -- losses ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mortal_cluster() -> Iterator[LocalCluster]:
    """Return a cluster whose tasks tests may kill, and have to mend."""
    with local_cluster(ps=1, workers=2) as cluster:
        yield cluster


def trained_with_a_death(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, chunk: int, **settings: Any
) -> TFWord2Vec:
    """Return a model whose first worker was killed before this chunk was trained."""
    train_chunk, left = Solo.train_chunk, iter(range(chunk))

    def train_after_a_death(*arguments: Any) -> Any:
        if next(left, None) == chunk - 1:
            kill(cluster.processes["worker", 0])
        return train_chunk(*arguments)

    monkeypatch.setattr(Solo, "train_chunk", train_after_a_death)
    model = TFWord2Vec(**SMALL | SOLO | {"sg": 1} | settings, cluster=cluster)
    model.build_vocab(SENTENCES)
    try:
        model.train(SENTENCES, total_examples=len(SENTENCES), total_words=12 * len(SENTENCES), epochs=2)
    finally:
        cluster.start("worker", 0)
        cluster.wait()
    return model


@pytest.mark.slow
@pytest.mark.parametrize("has_checkpoints", [False, True])
def test_another_worker_goes_on_where_the_killed_one_was_last_kept(
    has_checkpoints: bool, mortal_cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = {"checkpoint_dir": tmp_path, "checkpoint_every": "3000 words"} if has_checkpoints else {}
    model = trained_with_a_death(mortal_cluster, monkeypatch, chunk=18, **checkpoints)  # the second epoch's sixth
    assert len(model.epoch_losses) == 2
    assert model.epoch_losses[1] < model.epoch_losses[0]
    assert topic_gap(model.wv) > 0.5
    assert not connect(mortal_cluster).describe("worker", 1)["runs"]


@pytest.mark.slow
def test_the_loss_of_the_worker_is_an_error_where_training_may_not_go_on(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ClusterError, match="all workers were lost, and the vectors with them"):
        trained_with_a_death(mortal_cluster, monkeypatch, chunk=3, max_recoveries=0)


@pytest.mark.slow
def test_the_model_keeps_the_last_epochs_vectors_when_its_worker_is_killed(mortal_cluster: LocalCluster) -> None:
    def kill_it(epoch: int) -> None:
        kill(mortal_cluster.processes["worker", 0])

    seen = EpochVectors(kill_it)
    model = TFWord2Vec(**SMALL | SOLO | {"sg": 1, "max_recoveries": 0, "epochs": 2}, cluster=mortal_cluster)
    model.build_vocab(SENTENCES)
    try:
        with pytest.raises(ClusterError, match="all workers were lost"):
            model.train(SENTENCES, total_examples=len(SENTENCES), epochs=2, callbacks=[seen])
    finally:
        mortal_cluster.start("worker", 0)
        mortal_cluster.wait()
    np.testing.assert_array_equal(model.wv.vectors, seen.vectors[0])
