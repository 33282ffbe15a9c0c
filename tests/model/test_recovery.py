"""Servers that are killed, hung or exchanged in the midst of training: it continues by itself."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import assert_equal_models, topic_gap, two_topics
from support.interrupts import freeze
from support.placements import leases_on, shared_cluster
from support.resumed_training import (
    EPOCHS,
    SENTENCES,
    SETTINGS,
    WORDS,
    Interrupted,
    corpus_of,
    killed,
    train,
    untrained,
)
from support.stopping import StopError, stop

from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.checkpoints.folder import CheckpointFolder
from gensim_tfw2v.checkpoints.manifest import MANIFEST_FILE
from gensim_tfw2v.cluster import connection
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.model import loop, recovery
from gensim_tfw2v.model.loop import TrainingLoop
from gensim_tfw2v.placement.downpour.placement import DownpourPlacement
from gensim_tfw2v.placement.remote.tables import RemoteTables


class Harmed:
    """Sentences during the reading of which a server is harmed, and mended by a thread after some seconds, if any."""

    def __init__(self, cluster: LocalCluster, harm: str, sentence: int, seconds: float | None = 1.0) -> None:
        self._cluster, self._harm, self._seconds, self.left = cluster, harm, seconds, sentence
        self.sentences = two_topics(3000)

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in self.sentences:
            if self.left == 0:
                threading.Thread(target=self.kill_and_start if self._harm == "kill" else self._hang).start()
            self.left -= 1
            yield sentence

    def kill_and_start(self) -> None:
        """Kill the server and start it again."""
        server = self._cluster.processes["ps", 1]
        server.kill()
        server.wait()
        if self._seconds is not None:
            time.sleep(self._seconds)
            self._cluster.start("ps", 1)

    def _hang(self) -> None:
        server = self._cluster.processes["ps", 1]
        freeze(server)
        time.sleep(self._seconds or 0)
        server.send_signal(signal.SIGCONT)


def trained(cluster: LocalCluster, corpus: Harmed, **settings: Any) -> TFWord2Vec:
    """Return a model that was trained for three epochs of 24 blocks on the cluster."""
    model = TFWord2Vec(
        vector_size=8, min_count=1, sample=0, epochs=3, batch_words=1500, cluster=cluster, cache_memory=0, **settings
    )
    model.build_vocab(corpus.sentences)
    _, raw_words = model.train(corpus, total_examples=3000, total_words=36000, epochs=3)
    assert raw_words == 3 * 36000
    assert len(model.epoch_losses) == 3
    return model


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", [False, True])
def test_a_killed_server_costs_what_was_trained_since_the_last_copy(
    checkpoints: bool, mortal_cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restored: list[int] = []
    monkeypatch.setattr(DownpourPlacement, "restore", lambda _, state: restored.append(state["blocks"]))
    settings = {"checkpoint_dir": tmp_path, "checkpoint_every": "6000 words"} if checkpoints else {}
    model = trained(mortal_cluster, Harmed(mortal_cluster, "kill", 8000), **settings)
    assert model.training_report is not None
    report = model.training_report["recoveries"]
    assert report["count"] == 1
    assert 0 < report["raw_words_again"] <= 36000
    assert len(restored) == 1
    assert restored[0] >= 24  # blocks, of which more may be in flight the more have been trained
    assert topic_gap(model.wv) > 0.5
    assert not leases_on(mortal_cluster)


@pytest.mark.slow
def test_vectors_on_servers_outlive_a_killed_server(mortal_cluster: LocalCluster, tmp_path: Path) -> None:
    model = trained(
        mortal_cluster,
        Harmed(mortal_cluster, "kill", 5000),
        vectors_on_servers=True,
        checkpoint_dir=tmp_path,
        checkpoint_every="6000 words",
    )
    model.export_vectors(tmp_path / "vectors.kv")
    from gensim.models import KeyedVectors

    assert topic_gap(KeyedVectors.load(str(tmp_path / "vectors.kv"))) > 0.5
    model.free_server_vectors()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["skipgram-negative", "documents"])
def test_a_killed_coordinator_and_then_everything_at_once_are_resumed(
    mode: str, mortal_cluster: LocalCluster, tmp_path: Path
) -> None:
    killed(mode, tmp_path, 8000, cluster=mortal_cluster)
    assert len(leases_on(mortal_cluster)) == 1
    killed(mode, tmp_path, 5000, cluster=mortal_cluster, others=True)
    for job, task in mortal_cluster.processes:
        mortal_cluster.processes[job, task].wait()
        mortal_cluster.start(job, task)
    model = untrained(mode)
    resumed = type(model).resume(tmp_path, corpus_of(model, SENTENCES), cluster=mortal_cluster)
    assert len(resumed.epoch_losses) == EPOCHS
    assert topic_gap(resumed.wv) > 0.5
    assert not leases_on(mortal_cluster)


@pytest.mark.slow
@pytest.mark.parametrize("checkpoints", [False, True])
def test_a_server_that_is_lost_after_the_last_block_is_waited_for(
    checkpoints: bool, mortal_cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = untrained("skipgram-negative", epochs=1, cluster=mortal_cluster)
    train(whole)
    harmed = Harmed(mortal_cluster, "kill", 0)
    finish = TrainingLoop._finish_checkpoints

    def kill_and_finish(loop: TrainingLoop) -> None:
        if harmed.left == 0:
            harmed.left = -1
            harmed.kill_and_start()
        finish(loop)

    monkeypatch.setattr(TrainingLoop, "_finish_checkpoints", kill_and_finish)
    settings: dict[str, Any] = {"checkpoint_dir": tmp_path} if checkpoints else {}
    model = train(untrained("skipgram-negative", epochs=1, cluster=mortal_cluster, **settings))
    assert model.training_report is not None
    assert model.training_report["recoveries"]["count"] == 1
    assert_equal_models(whole, model)


@pytest.mark.slow
def test_vectors_on_servers_begin_anew_where_a_server_is_killed_before_the_first_checkpoint(
    mortal_cluster: LocalCluster, tmp_path: Path
) -> None:
    corpus = Harmed(mortal_cluster, "kill", 2000)
    settings: dict[str, Any] = {"vectors_on_servers": True, "checkpoint_dir": tmp_path, "checkpoint_every": "1e9 words"}
    model = trained(mortal_cluster, corpus, **settings)
    assert model.training_report is not None
    assert model.training_report["recoveries"]["count"] == 1
    model.free_server_vectors()
    assert not leases_on(mortal_cluster)


@pytest.mark.slow
def test_vectors_of_a_resumed_model_stay_on_the_servers_when_another_one_is_trained(
    mortal_cluster: LocalCluster, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"cluster": mortal_cluster, "vectors_on_servers": True, "epochs": 1}
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, cache_memory=0, **settings)
    with pytest.raises(StopError):
        train(model, Interrupted(4500, stop))
    model.free_server_vectors()
    resumed = TFWord2Vec.resume(tmp_path, SENTENCES, cluster=mortal_cluster)
    before = resumed.wv[0]
    other = train(untrained("skipgram-negative", **settings))
    np.testing.assert_array_equal(resumed.wv[0], before)
    for trained_model in (resumed, other):
        trained_model.free_server_vectors()


@pytest.mark.slow
def test_tables_that_could_not_be_filled_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise StopError

    cluster = shared_cluster()
    before = leases_on(cluster)
    settings: dict[str, Any] = {"cluster": cluster, "vectors_on_servers": True, "epochs": 1}
    with monkeypatch.context() as patched:
        patched.setattr(RemoteTables, "fill", fail)
        with pytest.raises(StopError):
            train(untrained("skipgram-negative", **settings))
    model = train(untrained("skipgram-negative", **settings))
    model.free_server_vectors()
    assert leases_on(cluster) <= before


def test_servers_whose_connection_fails_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import tensorflow as tf

    monkeypatch.setattr(recovery, "_SECONDS_BETWEEN_TRIALS", 0)
    answers = iter([tf.errors.UnavailableError(None, None, "it has just ended"), ClusterError("no answer"), None])

    def connect() -> Any:
        if (error := next(answers)) is not None:
            raise error
        return "where to train"

    waiting = recovery.Recovery(TFWord2Vec(), connect, None, "run")
    assert waiting.wait_for_cluster(ClusterError("lost")) == "where to train"  # type: ignore[comparison-overlap]


@pytest.mark.slow
def test_a_restarted_server_that_misses_a_check_on_a_busy_machine_is_asked_again(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = connect(mortal_cluster).describe("ps", 1)
    Harmed(mortal_cluster, "kill", 0, seconds=0).kill_and_start()
    mortal_cluster.wait()
    answering, missed = connection.answering, iter([True])

    def miss_one(addresses: Iterable[str]) -> set[str]:
        return answering(addresses) - ({mortal_cluster.addresses["ps"][1]} if next(missed, False) else set())

    monkeypatch.setattr(connection, "answering", miss_one)
    assert connect(mortal_cluster).describe("ps", 1) != before
    assert next(missed, None) is None  # a check was missed


@pytest.mark.slow
def test_a_hung_server_costs_what_was_trained_since_the_last_checkpoint(
    mortal_cluster: LocalCluster, tmp_path: Path
) -> None:
    trained(mortal_cluster, Harmed(mortal_cluster, "", -1))  # so that the tasks know the graphs
    corpus = Harmed(mortal_cluster, "hang", 5000, seconds=30)
    model = trained(mortal_cluster, corpus, cluster_timeout=5, checkpoint_dir=tmp_path, checkpoint_every="6000 words")
    assert model.training_report is not None
    assert model.training_report["recoveries"]["count"] == 1
    assert topic_gap(model.wv) > 0.5


@pytest.mark.slow
def test_a_killed_server_is_recovered_from_while_a_checkpoint_hangs(
    mortal_cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loop, "STORAGE_SECONDS", 0.5)
    has_recovered = threading.Event()
    write, restore = CheckpointFolder.write, recovery.Recovery.restore

    def write_and_hang(folder: CheckpointFolder, *arguments: Any) -> Any:
        if folder.checkpoints():
            has_recovered.wait(100)
        return write(folder, *arguments)

    def restore_and_end_the_hang(recovering: recovery.Recovery) -> Any:
        has_recovered.set()
        return restore(recovering)

    monkeypatch.setattr(CheckpointFolder, "write", write_and_hang)
    monkeypatch.setattr(recovery.Recovery, "restore", restore_and_end_the_hang)
    corpus = Harmed(mortal_cluster, "kill", 5000)
    model = trained(mortal_cluster, corpus, checkpoint_dir=tmp_path, checkpoint_every="6000 words")
    assert model.training_report is not None
    assert model.training_report["recoveries"]["count"] == 1
    assert "training does not wait" in caplog.text


def test_checkpoints_whose_storage_hangs_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recovery, "STORAGE_SECONDS", 0.5)
    model = TFWord2Vec(SENTENCES[:100], vector_size=4, min_count=1, checkpoint_dir=tmp_path)
    folder = CheckpointFolder(tmp_path)
    manifest = folder.checkpoints()[-1] / MANIFEST_FILE
    manifest.unlink()
    os.mkfifo(manifest)  # whoever opens it waits for one who writes to it
    recovering = recovery.Recovery(model, pytest.fail, folder, "run")
    recovering.keep([], {})
    found: list[Any] = []
    restoring = threading.Thread(target=lambda: found.append(recovering.restore()), daemon=True)
    restoring.start()
    restoring.join(30)
    assert [one.checkpoint for one in found] == [None]
    assert f"{manifest.parent} does not answer" in caplog.text


@pytest.mark.slow
def test_a_server_that_stays_away_is_waited_for_as_long_as_asked(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gensim_tfw2v.cluster.connection._ANSWER_SECONDS", 3.0)
    corpus = Harmed(mortal_cluster, "kill", 5000, seconds=None)
    with pytest.raises(ClusterError, match="did not answer within recovery_timeout=1 s"):
        trained(mortal_cluster, corpus, recovery_timeout=1)


@pytest.mark.slow
def test_a_training_goes_from_two_servers_to_three_to_one_process_and_back(tmp_path: Path) -> None:
    with local_cluster(ps=2, workers=1) as two, local_cluster(ps=3, workers=1) as three:
        whole = train(untrained("skipgram-negative", cluster=two))
        model = untrained("skipgram-negative", cluster=two, checkpoint_dir=tmp_path, cache_memory=0)
        with pytest.raises(StopError):
            train(model, Interrupted(5000, stop))
        for cluster, sentence in ((three, 11000), (None, 10500)):
            with pytest.raises(StopError):
                TFWord2Vec.resume(tmp_path, Interrupted(sentence, stop), cluster=cluster, cache_memory=0)
        resumed = TFWord2Vec.resume(tmp_path, SENTENCES, cluster=two)
        assert_equal_models(whole, resumed)
        assert SETTINGS["workers"] == 1
        assert 12 * len(SENTENCES) == WORDS
        assert np.isfinite(resumed.wv.vectors).all()
