"""Tasks that are lost or frozen while they train: what is kept, who is told, who joins again."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from gensim.test.utils import datapath
from support.child_process import environment, wait_until
from support.contract import SMALL, topic_gap, two_topics
from support.interrupts import freeze, kill
from support.placements import leases_on

from gensim_tfw2v import TFWord2Vec, encode_corpus
from gensim_tfw2v.cluster import connection
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.placement.downpour.placement import DownpourPlacement
from gensim_tfw2v.placement.remote.left_tables import free_left_tables
from gensim_tfw2v.placement.remote.tables import RemoteTables


class AtEpochEnd(CallbackAny2Vec):
    """Kill or freeze a task of a job when an epoch has ended, and remember the vectors of then."""

    def __init__(
        self,
        end: Callable[[subprocess.Popen[bytes]], None],
        cluster: LocalCluster,
        job: str,
        epoch: int,
        task: int = 0,
    ) -> None:
        self.end, self.process, self.left = end, cluster.processes[job, task], epoch
        self.vectors: Any = None

    def on_epoch_end(self, model: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self.vectors = None if model.vectors_on_servers else model.wv.vectors.copy()
            self.end(self.process)


def untrained_model(cluster: LocalCluster, timeout: float) -> tuple[TFWord2Vec, dict[str, Any]]:
    """Return a model with a vocabulary, and the arguments of train(): 24 blocks an epoch."""
    model = TFWord2Vec(**SMALL | {"batch_words": 1500}, cluster=cluster, cluster_timeout=timeout, max_recoveries=0)
    sentences = two_topics(3000)
    model.build_vocab(sentences)
    return model, {"corpus_iterable": sentences, "total_examples": 3000}


@pytest.mark.slow
def test_a_worker_that_was_frozen_before_training_does_not_hold_it_up_and_joins_again(
    mortal_cluster: LocalCluster,
) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=3)
    model.train(**corpus, epochs=1)
    frozen = mortal_cluster.processes["worker", 1]
    freeze(frozen)
    try:
        for _ in range(2):
            assert model.train(**corpus, epochs=1)[1] == 3000 * 12
    finally:
        frozen.send_signal(signal.SIGCONT)
    assert topic_gap(model.wv) > 0.5
    wait_until(lambda: _trains_on_worker(model, corpus, 1))


@pytest.mark.slow
def test_a_frozen_server_raises_an_error_that_names_it(mortal_cluster: LocalCluster) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=3)
    freezing = AtEpochEnd(freeze, mortal_cluster, "ps", 1)
    try:
        with pytest.raises(ClusterError, match=f"ps 0 at {mortal_cluster.addresses['ps'][0]}"):
            model.train(**corpus, epochs=2, callbacks=[freezing])
    finally:
        mortal_cluster.processes["ps", 0].send_signal(signal.SIGCONT)
    np.testing.assert_array_equal(model.wv.vectors, freezing.vectors)


@pytest.mark.slow
def test_a_server_that_is_lost_after_training_costs_nothing(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=60)
    close = DownpourPlacement.close

    def killed_before(placement: DownpourPlacement) -> None:
        kill(mortal_cluster.processes["ps", 0])
        close(placement)

    with monkeypatch.context() as patched:
        patched.setattr(DownpourPlacement, "close", killed_before)
        assert model.train(**corpus, epochs=1)[1] == 3000 * 12
    assert "tables on the servers are freed when the next training begins" in caplog.text
    mortal_cluster.start("ps", 0)
    mortal_cluster.wait()
    assert model.train(**corpus, epochs=1)[1] == 3000 * 12
    assert topic_gap(model.wv) > 0.5
    assert not leases_on(mortal_cluster)


def test_a_call_that_does_not_end_keeps_this_process_from_another_cluster(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gensim_tfw2v.cluster.connection._LAST_CALLS_SECONDS", 0.5)
    addresses = mortal_cluster.addresses
    with (
        connect(mortal_cluster).worker_locks.hold(0),
        pytest.raises(ClusterError, match=f"worker 0 at {addresses['worker'][0]} has not answered"),
    ):
        connect({"ps": addresses["ps"], "worker": addresses["worker"][1:]})


@pytest.mark.slow
def test_all_blocks_that_wait_for_workers_that_are_gone_give_up_together(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=2)
    model.cluster_overlap = True
    model.train(**corpus, epochs=1)
    complaints = []
    silent_of = "gensim_tfw2v.placement.calls.dispatch.silent_of"
    monkeypatch.setattr(silent_of, lambda tasks: complaints.append(1) or list(tasks))
    frozen = [mortal_cluster.processes["worker", task] for task in (0, 1)]
    for process in frozen:
        freeze(process)
    try:
        with pytest.raises(ClusterError, match="no worker has finished a block for 4 s"):
            model.train(**corpus, epochs=1)
    finally:
        for process in frozen:
            process.send_signal(signal.SIGCONT)
    assert len(complaints) == 1
    wait_until(lambda: _trains_on_worker(model, corpus, 0))


@pytest.mark.slow
def test_what_a_lost_server_leaves_on_the_others_is_freed_by_the_next_training(mortal_cluster: LocalCluster) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=60)
    killing = AtEpochEnd(kill, mortal_cluster, "ps", 1, task=1)
    with pytest.raises(ClusterError, match="parameter server was lost"):
        model.train(**corpus, epochs=2, callbacks=[killing])
    mortal_cluster.start("ps", 1)
    mortal_cluster.wait()
    model.train(**corpus, epochs=1)
    assert not leases_on(mortal_cluster)


def _trains_on_worker(model: Any, corpus: Any, worker: int) -> bool:
    model.train(**corpus, epochs=1)
    return bool(model.training_report["tasks"][f"worker {worker}"]["blocks"])


@pytest.mark.slow
def test_a_lost_worker_costs_no_words_and_a_lost_server_costs_the_vectors(
    mortal_cluster: LocalCluster, tmp_path: Path
) -> None:
    words = encode_corpus(datapath("lee_background.cor"), tmp_path / "corpus", shard_words=1).words
    corpus: dict[str, Any] = {"corpus_file": str(tmp_path / "corpus"), "total_words": words}
    model = TFWord2Vec(
        vector_size=8, min_count=1, sample=0, batch_words=3000, cluster=mortal_cluster, vectors_on_servers=True
    )
    other = TFWord2Vec([["a", "b"]] * 20, min_count=1, epochs=1, cluster=mortal_cluster, vectors_on_servers=True)
    model.build_vocab(corpus_file=corpus["corpus_file"])
    trained, _ = model.train(**corpus, epochs=3, callbacks=[AtEpochEnd(kill, mortal_cluster, "worker", 1)])
    assert trained == 3 * words

    with pytest.raises(ClusterError, match=r"the model had them nowhere else .*train anew"):
        model.train(**corpus, epochs=3, callbacks=[AtEpochEnd(kill, mortal_cluster, "ps", 1)])
    with pytest.raises(ClusterError, match="when training begins"):
        model.wv["the"]
    with pytest.raises(ClusterError, match="out of reach"):
        [other.wv[word] for word in "ab"]  # one of which the lost server had
    other.free_server_vectors()  # what is left of them


@pytest.mark.slow
def test_a_worker_that_was_away_at_the_beginning_joins_the_training(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection, "_START_SECONDS", 1.0)
    disconnect(mortal_cluster.addresses)
    kill(mortal_cluster.processes["worker", 1])
    model, corpus = untrained_model(mortal_cluster, timeout=60)
    is_back = f"worker 1 at {mortal_cluster.addresses['worker'][1]} is back"

    class Starting(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            if is_back not in caplog.text:
                mortal_cluster.start("worker", 1)
                mortal_cluster.wait()
                wait_until(lambda: is_back in caplog.text)

    assert model.train(**corpus, epochs=3, callbacks=[Starting()])[1] == 3 * 3000 * 12
    assert model.training_report["tasks"]["worker 1"]["blocks"] > 0


class Foreign:
    """A server of TensorFlow's own, which knows no function of this package, in a process of its own."""

    def __init__(self, address: str) -> None:
        script = f"""
import time
import tensorflow as tf
server = tf.distribute.Server({{"worker": [{address!r}]}}, job_name="worker", task_index=0)
time.sleep(600)
"""
        self.process = subprocess.Popen([sys.executable, "-c", script], env=environment(), stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_foreign_server_at_a_lost_workers_address_is_named_and_holds_up_no_block(
    mortal_cluster: LocalCluster, caplog: pytest.LogCaptureFixture
) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=60)
    address = mortal_cluster.addresses["worker"][1]
    model.train(**corpus, epochs=1)
    kill(mortal_cluster.processes["worker", 1])
    foreign = Foreign(address)
    try:
        wait_until(lambda: answers(address))
        assert model.train(**corpus, epochs=1)[1] == 3000 * 12

        class Waiting(CallbackAny2Vec):  # type: ignore[misc]
            def on_epoch_end(self, model: Any) -> None:
                wait_until(lambda: f"worker 1 at {address} cannot be called: " in caplog.text)

        assert model.train(**corpus, epochs=2, callbacks=[Waiting()])[1] == 2 * 3000 * 12
    finally:
        kill(foreign.process)


@pytest.mark.slow
def test_tables_are_freed_on_the_workers_that_are_there(mortal_cluster: LocalCluster) -> None:
    disconnect(mortal_cluster.addresses)  # workers may have been started again
    connected = connect(mortal_cluster)
    tables = RemoteTables(connected, 1, [("worker", 1)])
    tables.load("inputs", np.zeros((10, 3), np.float32))
    tables.free_later()
    kill(mortal_cluster.processes["worker", 0])
    free_left_tables(connected, {})
    assert not connected.describe("worker", 1)["runs"]
