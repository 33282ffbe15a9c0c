"""Rounds on a cluster: equal vectors whatever the timing, every part counted once, and what backup workers change."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.child_process import wait_until
from support.contract import SMALL, assert_equal_models, assert_finite, topic_gap, two_topics
from support.event_files import values_of
from support.example_blocks import work_on
from support.interrupts import freeze, kill
from support.mode_cases import MODE_ARGUMENTS
from support.placements import leases_on

from gensim_tfw2v import TensorBoardLog, TFWord2Vec, local_cluster
from gensim_tfw2v.cluster import health
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.placement.calls import patience
from gensim_tfw2v.placement.calls.tickets import Tickets
from gensim_tfw2v.placement.calls.work import Finished
from gensim_tfw2v.placement.calls.worker_thread import WorkerThread
from gensim_tfw2v.placement.server_rows.slots import Slots
from gensim_tfw2v.placement.synchronous.round_clock import RoundClock

WORKERS = 3
SENTENCES = two_topics(1500)
WORDS = 12 * len(SENTENCES)
# Rounds of three blocks of 900 words, seven an epoch.
ROUNDS: dict[str, Any] = {
    **SMALL,
    **{"distribution": "synchronous", "workers": WORKERS, "batch_words": 900, "alpha": 0.05, "seed": 3},
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Return a cluster of two servers and three workers, which tests that stop or kill tasks have to mend."""
    with local_cluster(ps=2, workers=WORKERS) as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(cluster: LocalCluster) -> TFWord2Vec:
    """Return a model that was trained in rounds, and nothing disturbed it."""
    return TFWord2Vec(SENTENCES, **ROUNDS, sg=1, cluster=cluster)


NO_REPORT: Any = None


class AtEpochEnd(CallbackAny2Vec):
    """Keeps the vectors of each epoch's end."""

    def __init__(self) -> None:
        self.vectors: list[np.ndarray] = []

    def on_epoch_end(self, model: Any) -> None:
        self.vectors.append(model.wv.vectors.copy())


@pytest.mark.parametrize("mode", MODE_ARGUMENTS)
def test_rounds_learn_in_every_mode_and_callbacks_see_a_current_model(
    mode: dict[str, int], cluster: LocalCluster
) -> None:
    seen = AtEpochEnd()
    model = TFWord2Vec(SENTENCES, **ROUNDS, **mode, cluster=cluster, callbacks=[seen])
    assert_finite(model)
    assert model.epoch_losses == sorted(model.epoch_losses, reverse=True)
    assert len(model.epoch_losses) == len(seen.vectors) == 3
    assert not any(np.array_equal(*pair) for pair in zip(seen.vectors, seen.vectors[1:], strict=False))
    np.testing.assert_array_equal(seen.vectors[-1], model.wv.vectors)
    report = model.training_report
    assert report is not None
    assert report["rounds"]["count"] == 21
    assert report["rounds"]["words"] == pytest.approx(WORDS / 7)
    assert report["staleness"]["max"] == 0
    assert set(report["rounds"]["waited_for"]) == {f"worker {worker}" for worker in range(WORKERS)}
    assert report["tasks"]["worker 0"]["round_wait_seconds"] >= 0
    assert not leases_on(cluster)


def test_two_runs_give_equal_vectors_and_the_log_of_one_says_for_whom_others_waited(
    undisturbed: TFWord2Vec, cluster: LocalCluster, tmp_path: Path
) -> None:
    log = TensorBoardLog(tmp_path, every_seconds=0, pairs=[], projector="none")
    model = TFWord2Vec(SENTENCES, **ROUNDS, sg=1, cluster=cluster, logdir=log)
    assert topic_gap(undisturbed.wv) > 0.5
    assert_equal_models(model, undisturbed)
    assert model.training_report is not None
    for worker, share in model.training_report["rounds"]["waited_for"].items():
        logged = values_of(tmp_path / "tasks" / worker, "tasks/waited_for_share")
        assert logged[-1] == pytest.approx(share, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("vectors_on_servers", [False, True])
def test_one_part_a_round_gives_the_vectors_of_one_worker(vectors_on_servers: bool, cluster: LocalCluster) -> None:
    downpour, rounds = (
        TFWord2Vec(
            SENTENCES,
            **ROUNDS | {"workers": 1, "distribution": distribution, "epochs": 1},
            cluster=cluster,
            vectors_on_servers=vectors_on_servers,
        )
        for distribution in ("downpour", "synchronous")
    )
    if vectors_on_servers:
        np.testing.assert_array_equal(downpour.wv.vectors[:], rounds.wv.vectors[:])
        downpour.free_server_vectors()
        rounds.free_server_vectors()
    else:
        assert_equal_models(downpour, rounds)


class Stopping:
    """Stops a worker when it takes its nth block, and calls `then` in a thread of its own."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, cluster: LocalCluster, block: int, stop: Callable[[Any], None]
    ) -> None:
        self.worker: int | None = None
        self._cluster, self._left, self._stop = cluster, block, stop
        self._lock = threading.Lock()
        sealed = Tickets.sealed

        def seal(tickets: Tickets, assignment: Any, worker: int) -> Any:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self.worker = worker
                    self._stop(cluster.processes["worker", worker])
            return sealed(tickets, assignment, worker)

        monkeypatch.setattr(Tickets, "sealed", seal)

    def go_on(self) -> None:
        """Let the worker continue."""
        self._cluster.processes["worker", self.worker].send_signal(signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("returns", [True, False])
def test_a_killed_worker_changes_no_vector_whether_or_not_it_returns(
    returns: bool, undisturbed: TFWord2Vec, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(process: Any) -> None:
        kill(process)
        if returns:  # it is connected again while others train its part
            restart()

    def restart() -> None:
        assert killing.worker is not None
        cluster.start("worker", killing.worker)
        cluster.wait()

    killing = Stopping(monkeypatch, cluster, 20, end)
    model = TFWord2Vec(SENTENCES, **ROUNDS, sg=1, cluster=cluster)
    if not returns:
        restart()
    assert_equal_models(model, undisturbed)
    wait_until(lambda: trains_on(killing.worker, cluster))


def trains_on(worker: int | None, cluster: LocalCluster) -> bool:
    """Return whether a worker trains blocks in another training."""
    model = TFWord2Vec(SENTENCES, **ROUNDS, cluster=cluster)
    assert model.training_report is not None
    return bool(model.training_report["tasks"][f"worker {worker}"]["blocks"])


@pytest.mark.slow
@pytest.mark.parametrize("hangs", [True, False], ids=["until others have its part", "for a moment"])
def test_a_worker_that_stops_changes_no_vector(
    hangs: bool, undisturbed: TFWord2Vec, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    if hangs:
        monkeypatch.setattr(health, "answers", functools.partial(answers, seconds=0.5))
        monkeypatch.setattr(patience, "_FLOOR_SECONDS", 1.0)
        monkeypatch.setattr(patience, "_COLD_SECONDS", 2.0)
    stopping = Stopping(monkeypatch, cluster, 20, freeze)
    handed_over = threading.Event()
    hand_over = WorkerThread._hand_over

    def note(thread: WorkerThread, *arguments: Any) -> None:
        hand_over(thread, *arguments)
        handed_over.set()

    monkeypatch.setattr(WorkerThread, "_hand_over", note)

    def mend() -> None:
        wait_until(lambda: stopping.worker is not None)
        handed_over.wait(60.0 if hangs else 2.0)
        stopping.go_on()

    mending = threading.Thread(target=mend)
    mending.start()
    model = TFWord2Vec(SENTENCES, **ROUNDS, sg=1, cluster=cluster)
    mending.join()
    assert handed_over.is_set() == hangs
    assert_equal_models(model, undisturbed)
    wait_until(lambda: trains_on(stopping.worker, cluster))


@pytest.mark.slow
def test_a_slow_worker_changes_no_vector_and_shows_in_the_report(
    undisturbed: TFWord2Vec, cluster: LocalCluster
) -> None:
    process = cluster.processes["worker", 1]
    is_over = threading.Event()

    def slow_down() -> None:
        while not is_over.wait(0.01):
            process.send_signal(signal.SIGSTOP)
            is_over.wait(0.09)
            process.send_signal(signal.SIGCONT)

    slowing = threading.Thread(target=slow_down)
    slowing.start()
    model = TFWord2Vec(SENTENCES, **ROUNDS, sg=1, cluster=cluster)
    is_over.set()
    slowing.join()
    assert_equal_models(model, undisturbed)
    assert model.training_report is not None
    shares = model.training_report["rounds"]["waited_for"]
    assert max(shares, key=lambda task: shares[task]) == "worker 1"


class Harmed:
    """The sentences; a server is killed and started again while they are read."""

    def __init__(self, cluster: LocalCluster, sentence: int) -> None:
        self._cluster, self._left = cluster, sentence

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in SENTENCES:
            if self._left == 0:
                kill(self._cluster.processes["ps", 1])
                self._cluster.start("ps", 1)
            self._left -= 1
            yield sentence


@pytest.mark.slow
def test_a_killed_server_changes_no_vector_where_there_are_checkpoints(
    undisturbed: TFWord2Vec, cluster: LocalCluster, tmp_path: Path
) -> None:
    checkpoints = {"checkpoint_dir": tmp_path, "checkpoint_every": "5400 words", "cache_memory": 0}
    model = TFWord2Vec(**ROUNDS, sg=1, cluster=cluster, **checkpoints)
    model.build_vocab(SENTENCES)
    model.train(Harmed(cluster, 2200), total_examples=len(SENTENCES), total_words=WORDS, epochs=3)
    assert model.training_report is not None
    assert model.training_report["recoveries"]["count"] == 1
    assert_equal_models(model, undisturbed)
    assert not leases_on(cluster)


@pytest.mark.parametrize("backup_workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_rounds_go_on_without_a_stopped_worker_and_count_its_part_once(
    backup_workers: int, cluster: LocalCluster, all_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = Stopping(monkeypatch, cluster, 10, freeze)
    rounds_meanwhile: list[int] = []
    end = RoundClock.end

    def end_and_mend(clock: RoundClock) -> None:
        end(clock)
        if stopping.worker is not None:
            rounds_meanwhile.append(1)
            if len(rounds_meanwhile) == 4:
                stopping.go_on()

    monkeypatch.setattr(RoundClock, "end", end_and_mend)
    parts: list[int] = []
    added = Slots.add

    def note(slots: Slots, wanted: np.ndarray) -> None:
        parts.append(int(wanted.sum()))
        added(slots, wanted)

    monkeypatch.setattr(Slots, "add", note)
    model = TFWord2Vec(**ROUNDS, sg=1, cluster=cluster, backup_workers=backup_workers)
    model.build_vocab(SENTENCES)
    trained, raw = model.train(SENTENCES, total_examples=len(SENTENCES), epochs=3)
    assert trained == raw == 3 * WORDS  # sample=0 keeps every word
    report = model.training_report
    assert report is not None
    assert report["blocks"] == sum(parts)
    assert report["trained_words"] == 3 * WORDS
    assert len(rounds_meanwhile) > 4
    assert topic_gap(model.wv) > 0.5
    assert not leases_on(cluster)


def test_backup_workers_leave_a_worker_to_wait_for(cluster: LocalCluster) -> None:
    for arguments in ({"backup_workers": WORKERS}, {"workers": 1, "backup_workers": 1}):
        workers = arguments.get("workers", WORKERS)
        with pytest.raises(ValueError, match=rf"backup_workers={arguments['backup_workers']} .*workers={workers}"):
            TFWord2Vec(SENTENCES, **ROUNDS | arguments, cluster=cluster)


def test_the_clock_says_for_whom_others_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    clock = RoundClock(3)
    for reports in ({0: 101.0, 1: 104.0, 2: 103.0}, {0: 105.5, 1: 106.0}, {2: 111.0}):
        clock.begin(work_on(0).content)
        results: list[Future[Finished]] = [Future() for _ in reports]
        for result, (worker, moment) in zip(results, reports.items(), strict=True):
            result.set_result(Finished(NO_REPORT, worker, moment))
        clock.end_waiting([*results, Future()])  # one part is late
        now += 5.0
        clock.end()
    # Of 15 seconds, the others waited (3 + 1) / 2 for worker 1 in the first round, and 0.5 in the second.
    assert clock.report() == {
        **{"count": 3, "words": 60.0, "seconds": 5.0},
        "waited_for": {"worker 0": 0.0, "worker 1": pytest.approx(2.5 / 15), "worker 2": 0.0},
    }
    assert [clock.tasks()[f"worker {worker}"]["round_wait_seconds"] for worker in range(3)] == [3.5, 0.0, 1.0]


def test_a_worker_of_several_parts_waits_from_its_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    clock = RoundClock(2)
    clock.begin(work_on(0).content)
    results: list[Future[Finished]] = [Future() for _ in range(4)]
    for result, worker, moment in zip(results, (0, 1, 0, 1), (101.0, 102.0, 103.0, 104.0), strict=True):
        result.set_result(Finished(NO_REPORT, worker, moment))
    clock.end_waiting(results)
    now += 5.0
    clock.end()
    assert [clock.tasks()[f"worker {worker}"]["round_wait_seconds"] for worker in range(2)] == [1.0, 0.0]
    assert clock.report()["waited_for"] == {"worker 0": 0.0, "worker 1": pytest.approx(1 / 5)}


def test_a_part_that_came_before_its_round_kept_nobody_waiting() -> None:
    clock = RoundClock(2)
    clock.begin(work_on(0).content)
    results: list[Future[Finished]] = [Future(), Future()]
    for worker, result in enumerate(results):
        result.set_result(Finished(NO_REPORT, worker, -100.0 * worker))
    clock.end_waiting(results)
    clock.end()
    assert clock.report()["waited_for"] == {"worker 0": 0.0, "worker 1": 0.0}
