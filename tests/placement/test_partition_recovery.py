"""Sub-models that continue: from a checkpoint, without the sub-models of lost workers, and from the last merge."""

from __future__ import annotations

import itertools
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import PURE_MODES, SMALL, assert_equal_models, topic_gap, two_topics
from support.design_trainings import ends_within
from support.epoch_vectors import EpochVectors
from support.interrupts import freeze, kill, stopped_after
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.checkpoints.folder import Checkpoint
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.placement.partition.local_partition import LocalPartitionPlacement
from gensim_tfw2v.placement.partition.placement import PartitionPlacement

PARTITION: dict[str, Any] = {"distribution": "partition", "seed": 3, "submodels": 2}
SENTENCES = two_topics(1500)
WORDS = 12 * len(SENTENCES)
CORPUS: dict[str, Any] = {"corpus_iterable": SENTENCES, "total_examples": len(SENTENCES)}


def test_a_training_with_a_huffman_tree_that_stopped_in_an_epoch_goes_on_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SMALL | PARTITION | PURE_MODES["cbow-hierarchical"] | {"workers": 1, "batch_words": 1500, "submodels": 3}
    corpus = {"total_examples": len(SENTENCES), "total_words": WORDS, "epochs": 3}
    stopped = tmp_path / "stopped"
    model = TFWord2Vec(**settings, checkpoint_dir=stopped, checkpoint_every="3000 words")
    model.build_vocab(SENTENCES)
    with stopped_after(6, LocalPartitionPlacement, monkeypatch):
        model.train(SENTENCES, **corpus)
    before = shutil.copytree(stopped, tmp_path / "before")
    whole = TFWord2Vec(**settings)
    whole.build_vocab(SENTENCES)
    whole.train(SENTENCES, **corpus)
    # The last checkpoint was written when training stopped, with merged vectors; the first in the midst of it.
    assert_equal_models(TFWord2Vec.resume(stopped, SENTENCES), whole)
    assert_equal_models(TFWord2Vec.resume(min(before.glob("checkpoint-*")), SENTENCES), whole)
    assert_equal_models(TFWord2Vec.resume(stopped, SENTENCES), whole)  # it is finished


def test_sub_models_go_on_elsewhere_as_many_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster has two workers; what began with two sub-models there continues with two in this process."""
    settings = SMALL | PARTITION | {"workers": 1, "submodels": None, "batch_words": 3000, "epochs": 4}
    settings |= {"sampling": "equal"}
    model = TFWord2Vec(**settings, cluster=shared_cluster(), checkpoint_dir=tmp_path, checkpoint_every="3000 words")
    model.build_vocab(SENTENCES)
    with stopped_after(4, PartitionPlacement, monkeypatch):
        model.train(**CORPUS, epochs=4, total_words=WORDS)
    tables = [f"submodel{number}.{table}" for number in range(2) for table in ("inputs", "outputs", "trained")]
    assert set(tables) <= set(Checkpoint(tmp_path).arrays)
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES)
    assert topic_gap(resumed.wv) > 0.5
    report = resumed.training_report["submodels"]
    assert [submodel["lost"] for submodel in report] == [0, 0]
    assert 0 <= sum(submodel["words"] for submodel in report) - 4 * WORDS <= 4 * 6000  # chunks in flight


def test_sub_models_of_one_process_continue_on_a_cluster_without_waiting_for_chunks_that_are_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = TFWord2Vec(**SMALL | PARTITION | {"workers": 1, "batch_words": 1500}, checkpoint_dir=tmp_path)
    model.build_vocab(SENTENCES)
    with stopped_after(8, LocalPartitionPlacement, monkeypatch):
        model.train(**CORPUS, epochs=3, total_words=WORDS)
    with ends_within(50):
        resumed = TFWord2Vec.resume(tmp_path, SENTENCES, cluster=shared_cluster())
    assert topic_gap(resumed.wv) > 0.5


def test_a_checkpoint_of_sub_models_is_refused_by_another_design(tmp_path: Path) -> None:
    model = TFWord2Vec(**SMALL | PARTITION, checkpoint_dir=tmp_path)
    model.build_vocab(SENTENCES)
    model.train(**CORPUS, epochs=1)
    other = TFWord2Vec(**SMALL, seed=3, checkpoint_dir=tmp_path)
    other.build_vocab(SENTENCES)
    with pytest.raises(ValueError, match=r"distribution is 'downpour', and the training in .* began with 'partition'"):
        other.train(**CORPUS, epochs=2, resume=True)


# -- losses ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mortal_cluster() -> Iterator[LocalCluster]:
    """Return a cluster whose tasks tests may kill, and have to mend."""
    with local_cluster(ps=1, workers=3) as cluster:
        yield cluster


def untrained(cluster: LocalCluster, **settings: Any) -> TFWord2Vec:
    model = TFWord2Vec(**SMALL | PARTITION | {"sg": 1, "submodels": 3, "batch_words": 1000} | settings, cluster=cluster)
    model.build_vocab(SENTENCES)
    return model


@pytest.mark.slow
def test_a_killed_worker_costs_its_sub_model_and_the_report_says_so(mortal_cluster: LocalCluster) -> None:
    def kill_one(epoch: int) -> None:
        if epoch == 1:
            kill(mortal_cluster.processes["worker", 1])

    model = untrained(mortal_cluster, max_recoveries=0)
    try:
        _, raw_words = model.train(**CORPUS, epochs=3, callbacks=[EpochVectors(kill_one)])
    finally:
        mortal_cluster.start("worker", 1)
        mortal_cluster.wait()
    assert raw_words == 3 * 12 * len(SENTENCES)
    assert topic_gap(model.wv) > 0.5
    assert model.training_report is not None
    first, lost, last = model.training_report["submodels"]
    assert first["lost"] == last["lost"] == 0
    share = 12 * len(SENTENCES) / 3
    assert lost["words"] == pytest.approx(share, rel=0.15)
    assert lost["lost"] == pytest.approx(3 * share, rel=0.15)
    model.train(**CORPUS, epochs=1)
    assert [found["lost"] for found in model.training_report["submodels"]] == [0, 0, 0]


@pytest.mark.slow
def test_a_lost_sub_model_stays_lost_where_training_goes_on(
    mortal_cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill_one(epoch: int) -> None:
        kill(mortal_cluster.processes["worker", 1])

    class Change(CallbackAny2Vec):
        def on_epoch_end(self, model: Any) -> None:
            model.wv.vectors[:] *= 1.1  # all sub-models that are left continue with these

    model = untrained(mortal_cluster, max_recoveries=0, checkpoint_dir=tmp_path)
    try:
        with stopped_after(9, PartitionPlacement, monkeypatch):
            model.train(**CORPUS, total_words=WORDS, epochs=3, callbacks=[EpochVectors(kill_one)])
    finally:
        mortal_cluster.start("worker", 1)
        mortal_cluster.wait()
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES, workers=1, callbacks=[Change()])
    report = resumed.training_report
    assert report is not None
    first, lost, last = report["submodels"]
    assert first["lost"] == last["lost"] == 0
    assert lost["words"] == pytest.approx(WORDS / 3, rel=0.15)
    assert lost["lost"] == pytest.approx(WORDS, rel=0.15)
    assert topic_gap(resumed.wv) > 0.5


@pytest.mark.slow
def test_a_worker_killed_while_it_trains_does_not_hold_up_the_others(mortal_cluster: LocalCluster) -> None:
    class KillInTheMidst(CallbackAny2Vec):
        def on_epoch_begin(self, model: Any) -> None:
            mortal_cluster.processes["worker", 2].kill()

    model = untrained(mortal_cluster, max_recoveries=0)
    try:
        model.train(**CORPUS, epochs=2, callbacks=[KillInTheMidst()])
    finally:
        mortal_cluster.processes["worker", 2].wait()
        mortal_cluster.start("worker", 2)
        mortal_cluster.wait()
    assert topic_gap(model.wv) > 0.5
    assert model.training_report is not None
    assert [found["lost"] > 0 for found in model.training_report["submodels"]].count(True) <= 1


@pytest.mark.slow
def test_the_loss_of_all_workers_is_an_error_that_says_so(mortal_cluster: LocalCluster) -> None:
    def kill_all(epoch: int) -> None:
        for worker in range(3):
            kill(mortal_cluster.processes["worker", worker])

    model = untrained(mortal_cluster, max_recoveries=0)
    seen = EpochVectors(kill_all)
    try:
        with pytest.raises(ClusterError, match="all workers were lost"):
            model.train(**CORPUS, epochs=3, callbacks=[seen])
        np.testing.assert_array_equal(model.wv.vectors, seen.vectors[0])
    finally:
        for worker in range(3):
            mortal_cluster.start("worker", worker)
        mortal_cluster.wait()


def restart_workers(cluster: LocalCluster) -> None:
    """Kill all workers, and start them again."""
    for worker in range(3):  # all at once, so that no checkpoint has some of them alone
        cluster.processes["worker", worker].kill()
    for worker in range(3):
        cluster.processes["worker", worker].wait()
        cluster.start("worker", worker)
    cluster.wait()


@pytest.mark.slow
def test_when_all_workers_are_lost_sub_models_go_on_from_the_last_checkpoint(
    mortal_cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_chunk, chunks = PartitionPlacement.train_chunk, itertools.count(1)
    restore_tables, restored = PartitionPlacement.restore_tables, itertools.count()

    def with_a_restart(*arguments: Any) -> Any:
        if next(chunks) == 10:  # in the second epoch of six chunks
            while not any(tmp_path.glob("checkpoint-*")):
                time.sleep(0.01)
            restart_workers(mortal_cluster)
        return train_chunk(*arguments)

    def counted(*arguments: Any) -> None:
        next(restored)
        restore_tables(*arguments)

    monkeypatch.setattr(PartitionPlacement, "train_chunk", with_a_restart)
    monkeypatch.setattr(PartitionPlacement, "restore_tables", counted)
    model = untrained(mortal_cluster, sampling="equal", checkpoint_dir=tmp_path, checkpoint_every="3000 words")
    model.train(**CORPUS, total_words=WORDS, epochs=3)
    assert topic_gap(model.wv) > 0.5
    report = model.training_report
    assert report is not None
    assert report["recoveries"]["count"] == 1
    assert next(restored) == 1
    assert [found["lost"] for found in report["submodels"]] == [0, 0, 0]
    assert 0 <= sum(found["words"] for found in report["submodels"]) - 3 * WORDS <= 4 * 3000  # chunks in flight


@pytest.mark.slow
def test_when_all_workers_are_lost_sub_models_begin_again_from_the_last_merge(mortal_cluster: LocalCluster) -> None:
    def restart_all(epoch: int) -> None:
        if epoch == 1:
            restart_workers(mortal_cluster)

    model = untrained(mortal_cluster)
    model.train(**CORPUS, epochs=3, callbacks=[EpochVectors(restart_all)])
    assert len(model.epoch_losses) == 3
    assert topic_gap(model.wv) > 0.5


@pytest.mark.slow
def test_when_all_workers_are_lost_before_the_first_merge_training_begins_again(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_chunk, chunks = PartitionPlacement.train_chunk, itertools.count(1)

    def with_a_restart(*arguments: Any) -> Any:
        if next(chunks) == 10:  # in the second epoch of six chunks
            restart_workers(mortal_cluster)
        return train_chunk(*arguments)

    monkeypatch.setattr(PartitionPlacement, "train_chunk", with_a_restart)
    model = untrained(mortal_cluster)
    model.train(**CORPUS, total_words=WORDS, epochs=3)
    assert topic_gap(model.wv) > 0.5
    assert len(model.epoch_losses) == 3
    report = model.training_report
    assert report is not None
    assert report["recoveries"]["count"] == 1
    assert report["recoveries"]["raw_words_again"] >= WORDS


@pytest.mark.slow
def test_a_hung_worker_costs_its_sub_model_and_not_the_others(mortal_cluster: LocalCluster) -> None:
    process = mortal_cluster.processes["worker", 0]

    def hang(epoch: int) -> None:
        if epoch == 1:
            freeze(process)

    model = untrained(mortal_cluster, max_recoveries=0, cluster_timeout=5)
    model.train(**CORPUS, epochs=1)  # so that all graphs are known
    try:
        model.train(**CORPUS, epochs=3, callbacks=[EpochVectors(hang)])
    finally:
        process.send_signal(signal.SIGCONT)
    assert topic_gap(model.wv) > 0.5
    assert model.training_report is not None
    assert [found["lost"] > 0 for found in model.training_report["submodels"]] == [True, False, False]
