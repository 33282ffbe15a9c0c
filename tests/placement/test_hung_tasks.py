"""Tasks that hang (SIGSTOP): who trains their blocks, what they push later, and that nothing waits without an end."""

from __future__ import annotations

import contextlib
import functools
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.child_process import wait_until
from support.contract import SMALL, topic_gap, two_topics
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on
from support.interrupts import freeze
from support.placements import downpour

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster import connection, health, remote_functions
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.placement.calls import patience
from gensim_tfw2v.placement.calls.tickets import Tickets
from gensim_tfw2v.placement.calls.worker_thread import WorkerThread
from gensim_tfw2v.placement.downpour.placement import DownpourPlacement
from gensim_tfw2v.placement.remote import server_matrix
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.server_rows import block_graphs


@pytest.fixture
def cluster(mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalCluster]:
    """Return a cluster whose tasks a test may stop, and which is patient for short times only."""
    monkeypatch.setattr(health, "answers", functools.partial(answers, seconds=0.5))
    monkeypatch.setattr(patience, "_FLOOR_SECONDS", 1.0)
    monkeypatch.setattr(patience, "_COLD_SECONDS", 2.0)
    monkeypatch.setattr(connection, "_ANSWER_SECONDS", 2.0)
    yield mortal_cluster
    resume_all(mortal_cluster)


def resume_all(cluster: LocalCluster) -> None:
    """Let all tasks continue."""
    for process in cluster.processes.values():
        process.send_signal(signal.SIGCONT)


def name_of(cluster: LocalCluster, job: str, task: int) -> str:
    """Return how messages name a task."""
    return f"{job} {task} at {cluster.addresses[job][task]}"


def untrained(cluster: LocalCluster, **arguments: Any) -> tuple[TFWord2Vec, dict[str, Any]]:
    """Return a model with a vocabulary, and the arguments of train(): 24 blocks an epoch."""
    model = TFWord2Vec(**SMALL | {"batch_words": 1500} | arguments, cluster=cluster)
    sentences = two_topics(3000)
    model.build_vocab(sentences)
    return model, {"corpus_iterable": sentences, "total_examples": 3000, "epochs": 1}


class FreezeIn:
    """Stops a task at the first call of a function, which then continues."""

    def __init__(self, process: subprocess.Popen[bytes], function: Callable[..., Any]) -> None:
        self._process, self._function = process, function
        self.calls = 0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            freeze(self._process)
        return self._function(*arguments, **named)

    def __get__(self, instance: Any, _: type) -> Callable[..., Any]:
        return lambda *arguments, **named: self(instance, *arguments, **named)


@pytest.mark.slow
def test_servers_drop_what_comes_with_a_former_ticket(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for stale in (0, 2):  # requests that come with a former ticket
        placement = downpour(SETTINGS, maker_from(0), connect(cluster))
        sealed, calls = Tickets.sealed, []

        def seal(
            tickets: Tickets, assignment: Any, worker: int, stale: int = stale, sealed: Any = sealed, calls: Any = calls
        ) -> Any:
            calls.append(worker)
            message = sealed(tickets, assignment, worker)
            if len(calls) <= stale:
                tickets.renew(worker)
                tickets.end_former()
            return message

        with contextlib.closing(placement), monkeypatch.context() as patched:
            patched.setattr(Tickets, "sealed", seal)
            placement.load(random_tables())
            trained = placement.train_chunk(work_on(0))
            found.append((read(placement), trained.tokens, blocks_pushed(placement)))
        assert len(calls) == stale + 1
    (once, tokens, pushed), (after_dropped, *others) = found
    np.testing.assert_array_equal(after_dropped.inputs, once.inputs)
    np.testing.assert_array_equal(after_dropped.outputs, once.outputs)
    assert [tokens, pushed] == others == [60, 1]


def blocks_pushed(placement: DownpourPlacement) -> int:
    """Return how many blocks the first server has counted."""
    import tensorflow as tf

    with tf.device(connection.device("ps", 0)):
        return int(tf.raw_ops.ReadVariableOp(resource=placement._program.handles.version, dtype=tf.int64).numpy())


@pytest.mark.slow
@pytest.mark.parametrize("is_cancelled", [True, False], ids=["cancelled", "not cancelled"])
def test_a_hung_worker_that_goes_on_pushes_nothing(
    cluster: LocalCluster, is_cancelled: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if not is_cancelled:
        monkeypatch.setattr(WorkerThread, "_cancel", lambda *_: None)
    placement = downpour(SETTINGS, maker_from(0), connect(cluster))
    with contextlib.closing(placement):
        placement.load(random_tables())
        taken = freeze_who_takes_the_next(cluster, monkeypatch)
        placement.train_chunk(work_on(0))
        (number,) = taken
        name = name_of(cluster, "worker", number)
        assert [record.message for record in caplog.records if f"{name} has not finished" in record.message]
        after = read(placement)
        assert blocks_pushed(placement) == 1
        resume_all(cluster)
        wait_until(lambda: f"{name} is back" in caplog.text)
        np.testing.assert_array_equal(read(placement).inputs, after.inputs)
        assert blocks_pushed(placement) == 1


def freeze_who_takes_the_next(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Stop the worker that takes the next block in the midst of it; return a list that gets its number."""
    taken: list[int] = []
    sealed = Tickets.sealed

    def seal(tickets: Tickets, assignment: Any, worker: int) -> Any:
        if not taken:
            taken.append(worker)
            freeze(cluster.processes["worker", worker])
        return sealed(tickets, assignment, worker)

    monkeypatch.setattr(Tickets, "sealed", seal)
    return taken


@pytest.mark.slow
def test_blocks_that_wait_for_a_stopped_server_stay_with_their_workers(
    cluster: LocalCluster, caplog: pytest.LogCaptureFixture
) -> None:
    placement = downpour(SETTINGS, maker_from(0), connect(cluster))
    with contextlib.closing(placement):
        placement.load(random_tables())
        placement.train_chunk(work_on(0))
        for worker in (0, 1):  # now each has two seconds
            placement.training.dispatcher._work.patience.record(worker, 0.1)
        freeze(cluster.processes["ps", 1])
        later = threading.Timer(6.0, lambda: cluster.processes["ps", 1].send_signal(signal.SIGCONT))
        later.start()
        placement.train_chunk(work_on(0))
        later.join()
        assert "has not finished its block" not in caplog.text
        assert blocks_pushed(placement) == 2


@pytest.mark.slow
def test_a_worker_that_hangs_in_the_first_epoch_costs_no_words_and_one_warning(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model, corpus = untrained(cluster)
    taken = freeze_who_takes_the_next(cluster, monkeypatch)
    assert model.train(**corpus)[1] == 3000 * 12
    (worker,) = taken
    assert topic_gap(model.wv) > 0.5
    name = name_of(cluster, "worker", worker)
    warnings = [record.message for record in caplog.records if name in record.message]
    assert len(warnings) == 1, warnings
    assert "has not finished its block" in warnings[0]
    assert not connect(cluster).worker_locks.busy()


@pytest.mark.slow
def test_another_cluster_need_not_wait_for_a_hung_worker(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, corpus = untrained(cluster)
    taken = freeze_who_takes_the_next(cluster, monkeypatch)
    model.train(**corpus)
    others = [address for task, address in enumerate(cluster.addresses["worker"]) if task not in taken]
    part = {"ps": cluster.addresses["ps"], "worker": others}
    assert model.train(**corpus, cluster=part)[1] == 3000 * 12
    resume_all(cluster)
    assert model.train(**corpus)[1] == 3000 * 12


@pytest.mark.slow
def test_a_restarted_worker_joins_again_while_another_one_hangs(
    cluster: LocalCluster, caplog: pytest.LogCaptureFixture
) -> None:
    model, corpus = untrained(cluster)
    model.train(**corpus)
    hung, restarted = (cluster.processes["worker", task] for task in (0, 1))
    restarted.kill()
    restarted.wait()
    cluster.start("worker", 1)
    cluster.wait()
    freeze(hung)
    assert model.train(**corpus)[1] == 3000 * 12
    blocks = {task: found["blocks"] for task, found in model.training_report["tasks"].items()}
    assert blocks["worker 0"] == 0
    assert blocks["worker 1"] == blocks["ps 0"] > 0
    resume_all(cluster)
    wait_until(lambda: trains_on(0, model, corpus))


def trains_on(worker: int, model: TFWord2Vec, corpus: dict[str, Any]) -> bool:
    """Return whether a worker trains blocks in another training."""
    try:
        model.train(**corpus)
    except ClusterError:  # TensorFlow may take a moment to end the connection attempt in which the task stopped
        return False
    return bool(model.training_report["tasks"][f"worker {worker}"]["blocks"])


# The task that stops, the function in which it does, and whether training continues without it.
MOMENTS: dict[str, tuple[str, Any, str, bool]] = {
    "connecting": ("worker", connection, "strategy_for", False),
    "describing": ("worker", remote_functions, "call", False),
    "reviving": ("worker", connection, "connect_to", False),
    "sending a graph": ("worker", block_graphs, "_traced", True),
    "registering a model": ("worker", WorkerThread, "_register_model", True),
    "loading vectors": ("ps", RemoteTables, "load", False),
    "reading vectors": ("ps", RemoteTables, "read_into", False),
}


@pytest.mark.parametrize("moment", [pytest.param(moment, marks=pytest.mark.slow) for moment in MOMENTS])
def test_nothing_waits_without_an_end_for_a_task_that_stops_while(
    cluster: LocalCluster, moment: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    job, owner, function, goes_on = MOMENTS[moment]
    model, corpus = untrained(cluster, cluster_timeout=10 if goes_on else 2, recovery_timeout=5)
    if moment in ("connecting", "describing"):
        disconnect(cluster.addresses)
    elif moment == "sending a graph":
        block_graphs.worker_graphs.cache_clear()
    elif moment == "reviving":
        model.train(**corpus)
        cluster.processes["worker", 1].kill()
        cluster.processes["worker", 1].wait()
        cluster.start("worker", 1)
        cluster.wait()
    stopping = FreezeIn(cluster.processes[job, 0], getattr(owner, function))
    monkeypatch.setattr(owner, function, stopping)
    if goes_on:
        assert model.train(**corpus)[1] == 3000 * 12
    else:
        with pytest.raises(ClusterError, match=name_of(cluster, job, 0)):
            model.train(**corpus)
    assert stopping.calls
    resume_all(cluster)
    wait_until(lambda: trains_on(0, model, corpus))


@pytest.mark.slow
def test_words_on_a_server_that_hangs_are_an_error_that_names_it(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_matrix, "_ANSWER_SECONDS", 1.0)
    model, corpus = untrained(cluster, vectors_on_servers=True)
    model.train(**corpus)
    before = model.wv["cat1"]
    freeze(cluster.processes["ps", 1])
    with pytest.raises(ClusterError, match=name_of(cluster, "ps", 1)):
        [model.wv[word] for word in ("cat1", "cat2", "cat3", "dog1")]
    resume_all(cluster)
    np.testing.assert_array_equal(model.wv["cat1"], before)
    model.free_server_vectors()
