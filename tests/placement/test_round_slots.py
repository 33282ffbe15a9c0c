"""Slots of rounds: servers add each part's changes once, in the order of the parts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.contract import SMALL, two_topics
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on
from support.placements import leases_on

from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, ChunkTask
from gensim_tfw2v.cluster.connection import connect, device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.cluster.remote_functions import local
from gensim_tfw2v.cluster.task import METRIC_NAMES
from gensim_tfw2v.placement.block_size import InFlightLimits
from gensim_tfw2v.placement.calls.ramp_up import all_present
from gensim_tfw2v.placement.calls.work import Attempt, Job
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.calls import ONE_CORE
from gensim_tfw2v.placement.request import ClusterRequest, CorpusSize, TrainingOptions
from gensim_tfw2v.placement.server_rows.slots import Slots
from gensim_tfw2v.placement.synchronous.local_rounds import LocalRounds
from gensim_tfw2v.placement.synchronous.placement import RoundPlacement
from gensim_tfw2v.placement.synchronous.round_size import RoundSize
from gensim_tfw2v.placement.tasks.assignment import Request
from gensim_tfw2v.placement.tasks.block_report import BlockReport, ServersReport, StageSeconds, TableRows

WORKERS = 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Return a cluster of two servers and three workers."""
    with local_cluster(ps=2, workers=WORKERS) as started:
        yield started


def placement_of(cluster: LocalCluster, row_type: str = "float32") -> RoundPlacement:
    """Return a placement whose rounds have a part for each worker."""
    options = TrainingOptions(
        distribution="synchronous",
        workers=WORKERS,
        skip_gram=True,
        tree=False,
        timeout=60.0,
        of_design={"backup_workers": 0},
    )
    request = ClusterRequest(connect(cluster), CorpusSize(0, 1), InFlightLimits(), options)
    return RoundPlacement(SETTINGS, maker_from(0), request, RoundSize(1000, WORKERS), row_type, all_present)


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


@pytest.mark.slow
@pytest.mark.parametrize("row_type", ["float32", "bfloat16"])
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
    monkeypatch.setattr(placement.training.dispatcher.servers, "call", lambda function: function())
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


@pytest.mark.slow
def test_rounds_on_servers_give_the_bits_of_rounds_in_one_process(cluster: LocalCluster, all_at_once: None) -> None:
    with (
        contextlib.closing(placement_of(cluster)) as on_servers,
        contextlib.closing(LocalRounds(SETTINGS, maker_from(0), ONE_CORE, parts=WORKERS)) as here,
    ):
        for placement in (on_servers, here):
            placement.load(random_tables())
            for seed in range(3):
                placement.train_chunk(work_on(0, seed, rate=0.5))
        np.testing.assert_array_equal(read(on_servers).inputs, read(here).inputs)
        np.testing.assert_array_equal(read(on_servers).outputs, read(here).outputs)


def pushed_parts(placement: RoundPlacement) -> int:
    """Return how many parts the servers have added."""
    import tensorflow as tf

    with tf.device(device("ps", 0)):
        return int(tf.raw_ops.ReadVariableOp(resource=placement._program.handles.version, dtype=tf.int64).numpy())


@pytest.mark.slow
def test_a_slot_keeps_nothing_that_comes_with_a_former_ticket(cluster: LocalCluster) -> None:
    import tensorflow as tf

    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        work, slots = placement.training.dispatcher._work, placement._slots
        program, tickets = work.program, work.trained.tickets
        job = Job(placement.training.request(work_on(0), WORKERS), place=1)

        def put(sealed: Any) -> tuple[bool, list[int]]:
            """Return whether the servers took what a worker put into the slot, and how much is in all slots."""
            with tf.device(device("worker", 0)):
                request = Request(local(job.request.model), local(sealed))
                answer = program.graphs.train(program.handles_of(job.place), request).numpy()
            sizes = [
                sum(values_in("ps", shard, slot.changes[shard], tf.float32).size for shard in range(2))
                for slot in slots.handles
            ]
            return bool(BlockReport.from_array(answer, 2).is_accepted), sizes

        thread = placement.training.dispatcher._threads[0]
        with thread._calling() as calls:
            thread._register_model(calls, job.request.model)
        former = tickets.sealed(job.request.assignment, 0)
        tickets.renew(0)
        tickets.end_former()
        assert put(former) == (False, [0, 0, 0])
        accepted, (first, second, third) = put(tickets.sealed(job.request.assignment, 0))
        assert accepted
        assert first == third == 0 < second


@pytest.mark.slow
def test_a_late_report_does_not_free_a_slot_that_another_worker_is_to_write(cluster: LocalCluster) -> None:
    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        request = placement.training.request(work_on(0), WORKERS)
        nothing = np.zeros(0)
        numbers = BlockReport(
            tokens=0,
            seconds=StageSeconds(),
            most_moved=np.zeros(2),
            worker=np.zeros(len(METRIC_NAMES)),
            batches=BatchMetrics(nothing, nothing, nothing),
            measured=nothing,
            pairs=nothing,
            servers=ServersReport(0, 1, TableRows(0, 0, 0), np.zeros((2, len(METRIC_NAMES)))),
        ).to_tensor()
        thread = placement.training.dispatcher._threads[0]
        in_slot, at_once = Job(request, place=0), Job(request)
        for job in (in_slot, at_once):
            thread._hand_in(Attempt(job, request), numbers.numpy(), 0.0, 0.0)  # none of the thread's present attempts
        assert at_once.result.done()
        assert not in_slot.result.done()


@pytest.mark.slow
def test_a_worker_whose_connection_was_lost_writes_nothing_any_more(cluster: LocalCluster) -> None:
    import tensorflow as tf

    with contextlib.closing(placement_of(cluster)) as placement:
        placement.load(random_tables())
        thread, tickets = placement.training.dispatcher._threads[0], placement.training.dispatcher._work.trained.tickets
        before = values_in("ps", 1, tickets.handles[1], tf.int32)
        job = Job(placement.training.request(work_on(0), WORKERS), place=0)
        thread._attempts = [Attempt(job, job.request)]
        assert thread._recover(tf.errors.UnavailableError(None, None, "connection reset"))
        assert job.result.result(timeout=60).report.tokens == 60
        after = values_in("ps", 1, tickets.handles[1], tf.int32)
        assert (before != after).tolist() == [True, False, False]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_slots_of_vectors_that_stay_on_servers_are_empty_after_training(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tensorflow as tf

    used: list[Slots] = []
    prepare = Slots.prepare
    monkeypatch.setattr(Slots, "prepare", lambda slots, *shape: (used.append(slots), prepare(slots, *shape)))
    settings: dict[str, Any] = {"distribution": "synchronous", "workers": WORKERS, "batch_words": 900, "epochs": 1}
    model = TFWord2Vec(two_topics(1500), **SMALL | settings, cluster=cluster, vectors_on_servers=True)
    sizes = [
        values_in("ps", shard, slot.changes[shard], tf.bfloat16).size for slot in used[-1].handles for shard in range(2)
    ]
    assert sizes == [0] * 2 * WORKERS
    assert np.isfinite(model.wv["cat1"]).all()
    model.free_server_vectors()
    assert not leases_on(cluster)
