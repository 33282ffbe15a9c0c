"""Rounds on a cluster: equal vectors whatever the timing, every part counted once, and what backup workers change."""

from __future__ import annotations

import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child_process import wait_until
from contract import PURE_MODES, SMALL, assert_equal_models, assert_finite, topic_gap, two_topics
from event_files import values_of
from example_blocks import SETTINGS, maker_from, random_tables, read, work_on
from gensim.models.callbacks import CallbackAny2Vec
from interrupts import freeze, kill
from placements import leases_on
from resumed_training import Interrupted, train, untrained

from gensim_tfw2v import TensorBoardLog, TFWord2Vec, local_cluster
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.cluster import health
from gensim_tfw2v.cluster.connection import connect, device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.cluster.remote_functions import local
from gensim_tfw2v.placement.interface import ModelTables
from gensim_tfw2v.placement.parameter_servers import patience
from gensim_tfw2v.placement.parameter_servers.block_report import BlockReport, _numbers_in, _shapes
from gensim_tfw2v.placement.parameter_servers.graphs import Request
from gensim_tfw2v.placement.parameter_servers.placement import ClusterPlacement
from gensim_tfw2v.placement.parameter_servers.ramp_up import RampUp
from gensim_tfw2v.placement.parameter_servers.slots import Slots
from gensim_tfw2v.placement.parameter_servers.tickets import Tickets
from gensim_tfw2v.placement.parameter_servers.work import Attempt, Finished, Job
from gensim_tfw2v.placement.parameter_servers.worker_thread import WorkerThread
from gensim_tfw2v.placement.synchronous.placement import RoundPlacement
from gensim_tfw2v.placement.synchronous.waiting import RoundClock

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


@pytest.fixture
def all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut rounds into all parts from the beginning."""
    monkeypatch.setattr(RampUp, "limit", lambda ramp_up: ramp_up._most)


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


@pytest.mark.parametrize("mode", PURE_MODES.values(), ids=PURE_MODES.keys())
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
        """Have the worker go on."""
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


def placement_of(
    cluster: LocalCluster, workers: int = WORKERS, backup_workers: int = 0, row_type: str = "float32"
) -> RoundPlacement:
    return RoundPlacement(
        SETTINGS, maker_from(0), connect(cluster), workers, backup_workers, timeout=60.0, row_type=row_type
    )


def values_in(job: str, task: int, handle: Any, dtype: Any) -> np.ndarray:
    """Return the value of a variable of a task."""
    import tensorflow as tf

    with tf.device(device(job, task)):
        value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)
    return np.asarray(tf.cast(value, tf.float32 if dtype != tf.int32 else tf.int32).numpy())


def summed_by_numpy(before: ModelTables, slots: Slots, row_type: str, wanted: np.ndarray) -> ModelTables:
    """Return tables after the changes in the wanted slots were added to each row, in the order of the slots."""
    import tensorflow as tf

    tables = [before.inputs.copy(), before.outputs.copy()]
    for slot in np.flatnonzero(wanted):
        for shard in range(2):
            rows = values_in("ps", shard, slots.handles[slot].rows[shard], tf.int32)
            changes = values_in("ps", shard, slots.handles[slot].changes[shard], tf.as_dtype(row_type))
            counts, numbers = rows[:3], rows[3:]
            assert len(numbers) == len(changes) == counts.sum() > 0
            ends = np.cumsum(counts)
            for table, first, end in zip(tables, ends - counts, ends, strict=False):
                table[numbers[first:end] * 2 + shard] += changes[first:end]
    return ModelTables(tables[0], tables[1], None, np.ones(1, np.float32))


@pytest.mark.parametrize("row_type", ["float32", pytest.param("bfloat16", marks=pytest.mark.slow)])
def test_a_round_adds_the_changes_of_its_parts_in_their_order(
    row_type: str, cluster: LocalCluster, all_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = []
    placement = placement_of(cluster, row_type=row_type)
    add = Slots.add

    def note(slots: Slots, wanted: np.ndarray) -> None:
        with connect(cluster).worker_locks.hold_all(0.0) as alone:
            assert not alone, "tasks could be connected again in the midst of the sum"
        expected.append(summed_by_numpy(read(placement), slots, row_type, wanted))
        add(slots, wanted)

    monkeypatch.setattr(Slots, "add", note)
    monkeypatch.setattr(placement._dispatcher.servers, "call", lambda function: function())
    with contextlib.closing(placement):
        placement.load(random_tables())
        for seed in range(2):
            before = read(placement)
            trained = placement.train_chunk(work_on(0, seed, rate=0.5))
            assert trained.tokens == 60
            after = read(placement)
            assert np.abs(after.inputs - before.inputs).max() > 0.05
            np.testing.assert_array_equal(after.inputs, expected[-1].inputs)
            np.testing.assert_array_equal(after.outputs, expected[-1].outputs)
            assert pushed_parts(placement) == WORKERS * (seed + 1)
        (found,) = connect(cluster).describe("ps", 1)["runs"].values()  # what is freed if this process dies
        assert {f"slots/{WORKERS}/{row_type}/{what}/{2 * WORKERS - 1}" for what in ("rows", "changes")} <= set(
            found["tables"]
        )
    assert len(expected) == 2


def pushed_parts(placement: ClusterPlacement) -> int:
    """Return how many parts the servers have added."""
    import tensorflow as tf

    with tf.device(device("ps", 0)):
        return int(tf.raw_ops.ReadVariableOp(resource=placement._version, dtype=tf.int64).numpy())


def test_a_slot_keeps_nothing_that_comes_with_a_former_ticket(cluster: LocalCluster) -> None:
    import tensorflow as tf

    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        work, slots = placement._dispatcher._work, placement._slots
        assert slots is not None
        training = work.training
        job = Job(placement._request(work_on(0), WORKERS), slot=1)

        def put(sealed: Any) -> tuple[bool, list[int]]:
            """Return whether the servers took what a worker put into the slot, and how much is in all slots."""
            with tf.device(device("worker", 0)):
                answer = work.graphs.train(
                    training.handles_of(job), Request(local(job.request.model), local(sealed))
                ).numpy()
            sizes = [
                sum(values_in("ps", shard, slot.changes[shard], tf.float32).size for shard in range(2))
                for slot in slots.handles
            ]
            return bool(BlockReport.from_array(answer, 2).is_accepted), sizes

        thread = placement._dispatcher._threads[0]
        with thread._calling() as calls:
            thread._register_model(calls, job.request.model)
        former = training.tickets.sealed(job.request.assignment, 0)
        training.tickets.renew(0)
        training.tickets.end_former(0)
        assert put(former) == (False, [0, 0, 0])
        accepted, (first, second, third) = put(training.tickets.sealed(job.request.assignment, 0))
        assert accepted
        assert first == third == 0 < second


def test_a_late_report_does_not_free_a_slot_that_another_worker_is_to_write(cluster: LocalCluster) -> None:
    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        request = placement._request(work_on(0), WORKERS)
        numbers = np.zeros(_numbers_in(_shapes(servers=2, batches=0)))
        numbers[BlockReport._fields.index("is_accepted")] = 1
        thread = placement._dispatcher._threads[0]
        in_slot, at_once = Job(request, slot=0), Job(request)
        for job in (in_slot, at_once):
            thread._hand_in(Attempt(job, request), numbers, 0.0, 0.0)  # none of the thread's present attempts
        assert at_once.result.done()
        assert not in_slot.result.done()


def test_a_worker_whose_connection_was_lost_writes_nothing_any_more(cluster: LocalCluster) -> None:
    import tensorflow as tf

    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        thread, tickets = placement._dispatcher._threads[0], placement._tickets
        before = values_in("ps", 1, tickets.handles[1], tf.int32)
        job = Job(placement._request(work_on(0), WORKERS), slot=0)
        thread._attempts = [Attempt(job, job.request)]
        assert thread._recover(tf.errors.UnavailableError(None, None, "connection reset"))
        assert job.result.result(timeout=60).report.tokens == 60
        after = values_in("ps", 1, tickets.handles[1], tf.int32)
        assert (before != after).tolist() == [True, False, False]


def test_the_first_rounds_have_fewer_parts(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gensim_tfw2v.tuning.LEAST_BLOCKS_PER_RAMP_UP_PART", WORKERS)
    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        parts = []
        for seed in range(4):
            before = pushed_parts(placement)
            placement.train_chunk(work_on(0, seed))
            parts.append(pushed_parts(placement) - before)
        assert parts == [1, 2, 3, 3]
        assert placement.state()["blocks"] == 4 * WORKERS


class StopError(Exception):
    """What ends a training in these tests."""


def stop() -> None:
    """End a training."""
    raise StopError


@pytest.mark.slow
def test_a_training_resumed_in_the_midst_of_an_epoch_gives_the_vectors_of_one_that_was_not_interrupted(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    settings = {"distribution": "synchronous", "workers": WORKERS, "cluster": cluster, "epochs": 2}
    whole = train(untrained("skipgram-negative", **settings))
    model = untrained("skipgram-negative", checkpoint_dir=tmp_path, cache_memory=0, **settings)
    with pytest.raises(StopError):
        train(model, Interrupted(11_000, stop))
    from resumed_training import SENTENCES as ALL_SENTENCES

    assert_equal_models(whole, TFWord2Vec.resume(tmp_path, ALL_SENTENCES, cluster=cluster))


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


def test_a_part_that_cannot_be_trained_is_an_error_that_names_its_worker(
    cluster: LocalCluster, all_at_once: None
) -> None:
    wrong = work_on(100)  # ids of no word
    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        with pytest.raises(ClusterError, match=r"worker \d at .*the sentences have ids"):
            placement.train_chunk(wrong)
        assert isinstance(wrong, ChunkTask)
        assert placement.train_chunk(work_on(0)).tokens == 60


def test_slots_of_vectors_that_stay_on_servers_are_empty_after_training(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tensorflow as tf

    used: list[Slots] = []
    prepare = Slots.prepare
    monkeypatch.setattr(Slots, "prepare", lambda slots, *shape: (used.append(slots), prepare(slots, *shape)))
    model = TFWord2Vec(SENTENCES, **ROUNDS | {"epochs": 1}, cluster=cluster, vectors_on_servers=True)
    sizes = [
        values_in("ps", shard, slot.changes[shard], tf.bfloat16).size for slot in used[-1].handles for shard in range(2)
    ]
    assert sizes == [0] * 2 * WORKERS
    assert np.isfinite(model.wv["cat1"]).all()
    model.free_server_vectors()
    assert not leases_on(cluster)


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


def test_a_part_that_came_before_its_round_kept_nobody_waiting() -> None:
    clock = RoundClock(2)
    clock.begin(work_on(0).content)
    results: list[Future[Finished]] = [Future(), Future()]
    for worker, result in enumerate(results):
        result.set_result(Finished(NO_REPORT, worker, -100.0 * worker))
    clock.end_waiting(results)
    clock.end()
    assert clock.report()["waited_for"] == {"worker 0": 0.0, "worker 1": 0.0}
