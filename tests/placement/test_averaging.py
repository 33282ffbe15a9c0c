"""Workers that have all tables and average them: what a round gives, what a lost worker costs, and what is left."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from support.child_process import wait_until
from support.contract import PURE_MODES, SMALL, assert_finite, topic_gap, two_topics
from support.epoch_vectors import EpochVectors
from support.example_blocks import SETTINGS, SIZE, WORDS, maker_from, random_tables, read, work_on
from support.interrupts import freeze, kill
from support.mode_cases import MODE_NAMES
from support.placements import shared_cluster

from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.blocks.chunk_parts import parts_of
from gensim_tfw2v.blocks.chunk_task import ChunkTask
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.averaging.averaged_tables import AveragedTables
from gensim_tfw2v.placement.averaging.exchange import WorkerPiece, rows_graph
from gensim_tfw2v.placement.averaging.placement import AveragingPlacement
from gensim_tfw2v.placement.averaging.round import Rounds, RoundSettings
from gensim_tfw2v.placement.averaging.worker_rows import RoundShape, TableHandles
from gensim_tfw2v.placement.calls.member import Member
from gensim_tfw2v.placement.calls.team import Team
from gensim_tfw2v.placement.calls.waiting import MembersLost, Waiting
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.steps.row_sharing import NOT_SHARED, RowSharing
from gensim_tfw2v.steps.rows import private_copy, read_rows
from gensim_tfw2v.steps.signature import Objective

AVERAGING: dict[str, Any] = {"distribution": "averaging", "seed": 3}
SENTENCES = two_topics(1500)


@pytest.mark.parametrize("mode", MODE_NAMES)
def test_each_mode_learns_and_callbacks_see_each_epochs_vectors(mode: str) -> None:
    seen = EpochVectors()
    settings = SMALL | PURE_MODES[mode] | AVERAGING | {"round_words": 3000}
    model = TFWord2Vec(SENTENCES, **settings, cluster=shared_cluster(), callbacks=[seen])
    assert_finite(model)
    assert topic_gap(model.wv) > 0.5
    assert model.epoch_losses[-1] < model.epoch_losses[0]
    assert len(seen.vectors) == model.epochs
    assert not any(np.array_equal(*pair) for pair in zip(seen.vectors, seen.vectors[1:], strict=False))
    np.testing.assert_array_equal(seen.vectors[-1], model.wv.vectors)


def test_the_report_says_what_rounds_cost() -> None:
    settings = SMALL | AVERAGING | {"sg": 1, "round_words": 9000, "epochs": 2}
    report = TFWord2Vec(SENTENCES, **settings, cluster=shared_cluster()).training_report
    assert report is not None
    rounds = report["rounds"]
    assert rounds["count"] == 4
    assert rounds["words"] == 9000
    assert 0 < rounds["share_averaging"] < 1
    assert rounds["waited_for"].keys() == {"worker 0", "worker 1"}
    assert report["raw_words"] == 2 * 12 * 1500
    assert report["bytes"] > 0
    assert {task["blocks"] for task in report["tasks"].values()} == {4}


@pytest.mark.slow
@pytest.mark.parametrize("is_refused", [False, True], ids=["silent link", "refused link"])
def test_training_continues_without_a_worker_that_the_others_do_not_reach(
    is_refused: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As if the link between two workers were broken: what needs both does not end, or fails, and all else does."""
    connect(shared_cluster())  # before anything is made, which another connection would take away
    empty = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]])
    hang, together = tf.function(empty.dequeue).get_concrete_function(), Waiting.together

    def wait_without_end(cancellable: Any) -> Any:
        if is_refused:
            raise tf.errors.UnavailableError(None, None, "failed to connect to all addresses")
        return cancellable.run(hang)

    def hang_together(calls: Waiting, kind: str, members: Sequence[Member], _: Any) -> Any:
        return together(calls, kind, members, wait_without_end)

    monkeypatch.setattr(Waiting, "together", hang_together)
    settings = SMALL | AVERAGING | {"round_words": 6000, "cluster_timeout": 2, "epochs": 2}
    model = TFWord2Vec(SENTENCES, **settings, cluster=shared_cluster())
    assert topic_gap(model.wv) > 0.3
    assert caplog.text.count("a link between workers may be broken") == 1
    assert model.training_report["tasks"]["worker 0"]["blocks"] > 2
    monkeypatch.undo()
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
    assert model.training_report["tasks"]["worker 1"]["blocks"] > 0


# -- one placement -----------------------------------------------------------------------------------------------------


def placement_on(cluster: LocalCluster, row_type: str = "float32", rows: int = 5) -> AveragingPlacement:
    """Return a placement that trains a chunk in parts of 30 words for all workers, with so many shared rows."""
    rounds = RoundSettings(30, 1000, 30, RowSharing(rows), row_type)
    return AveragingPlacement(SETTINGS, maker_from(0), connect(cluster), 60.0, rounds)


@pytest.fixture
def placement() -> Iterator[AveragingPlacement]:
    made = placement_on(shared_cluster(), "bfloat16")
    yield made
    made.close()


def tables_of_workers(placement: AveragingPlacement) -> list[dict[str, np.ndarray]]:
    """Return each worker's base and current tables, by name."""
    found = []
    for own in placement._team.tables():
        tables, number = own.tables, own._number
        names = [*own._names, *(f"current {number}/{name}" for name in own._names)]
        found.append({name: tables.rows(name, 0, tables.shape(name).rows) for name in names})
    return found


@pytest.mark.slow
def test_all_workers_have_the_same_tables_after_a_round_and_the_current_ones_are_the_base(
    placement: AveragingPlacement,
) -> None:
    placement.load(random_tables())
    for seed in range(3):
        placement.train_chunk(work_on(10, seed))
    first, second = tables_of_workers(placement)
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
        np.testing.assert_array_equal(values, first[name.rpartition("/")[2]])
    assert not np.array_equal(first["inputs"], random_tables().inputs)


def test_a_worker_without_a_part_gets_the_others_changes_once(placement: AveragingPlacement) -> None:
    """The second round has two steps, and a single part in them."""
    placement.load(random_tables())
    placement.train_chunk(work_on(10))
    before = read(placement).inputs
    content = Sentences(np.arange(10, 20, dtype=np.int32).repeat(6), np.array([60], np.int32))
    task = ChunkTask(content, (1, 1), 3e-5, 3e-5, exact_loss=True)
    placement.train_chunk(task)
    alone = LocalPlacement(SETTINGS, maker_from(0))
    alone.load(replace(random_tables(), inputs=before, outputs=read(placement).outputs))
    alone.train_chunk(task)
    change = read(placement).inputs - before
    np.testing.assert_allclose(change, read(alone).inputs - before, atol=0.1 * np.abs(change).max())
    first, second = tables_of_workers(placement)
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])


def test_a_worker_that_has_got_half_a_copy_of_the_tables_is_not_asked_for_rows_and_takes_no_part(
    placement: AveragingPlacement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker that sends its tables to one that is back is lost meanwhile."""
    placement.load(random_tables())
    team = placement._team
    back, source = team.members
    team.leave_out({back: "a test"})
    seen = []

    def lose_the_source(tables: AveragedTables, other: AveragedTables) -> None:
        tables.made().make("inputs", WORDS, SIZE)
        seen.append(read(placement).inputs)
        raise MembersLost({source: "a test"})

    monkeypatch.setattr(AveragedTables, "copy_from", lose_the_source)
    monkeypatch.setattr(Waiting, "together", lambda _, kind, members, function: function(None))
    monkeypatch.setattr(Team, "is_back", lambda _, member: True)
    with pytest.raises(ClusterError, match=r"all workers were lost.*none was left to train"):
        placement.train_chunk(work_on(10))
    np.testing.assert_array_equal(seen, [random_tables().inputs])


def test_small_changes_of_workers_are_added() -> None:
    """The rates are so small that workers find the same whether or not others train the same rows."""
    placement, task = placement_on(shared_cluster()), work_on(10, rate=3e-5)
    placement._words = 60  # so that the chunk is one round
    placement.load(random_tables())
    placement.train_chunk(task)
    expected = {name: values.astype(np.float64) for name, values in random_tables().present().items()}
    for part in parts_of(task, 4):
        alone = LocalPlacement(SETTINGS, maker_from(0))
        alone.load(random_tables())
        alone.train_chunk(part)
        for name, values in read(alone).present().items():
            expected[name] += values - random_tables().present()[name]
    found = read(placement)
    placement.close()
    for name, values in found.present().items():
        change = expected[name] - random_tables().present()[name]
        assert np.abs(change).max() > 1e-4
        np.testing.assert_allclose(values, expected[name], atol=2e-3 * np.abs(change).max())


# -- graphs ------------------------------------------------------------------------------------------------------------

OBJECTIVE = Objective(True, True, False, True, True, False)


def variable(values: np.ndarray) -> tf.Variable:
    return tf.Variable(private_copy(tf.constant(values)), trainable=False)


@pytest.mark.parametrize("row_type", ["float32", "bfloat16"])
@pytest.mark.parametrize("workers", [2, 3])
def test_an_average_is_the_base_and_the_sum_of_changes_on_every_worker(row_type: str, workers: int) -> None:
    """Rows that none, one, several and all workers have changed, in two pieces."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(WORDS, SIZE)).astype(np.float32)
    changed = rng.integers(0, 2, size=(workers, WORDS)).astype(bool)
    changed[:, :4], changed[:, 4:8] = True, False
    changes = (rng.normal(size=(workers, WORDS, SIZE)) * changed[:, :, None]).astype(np.float32)
    tables = [
        (variable(base + change), variable(base), variable(is_changed[:, None].astype(np.float32)))
        for change, is_changed in zip(changes, changed, strict=True)
    ]
    handles = [TableHandles(*(one.handle for one in of_worker)) for of_worker in tables]
    shape = RoundShape(OBJECTIVE, -1, row_type, NOT_SHARED)
    average = rows_graph(shape, ("/CPU:0",) * workers)
    sent = sum(
        np.asarray(average(*(WorkerPiece(table, tf.constant(bounds)) for table in handles)))
        for bounds in ([0, 17], [17, 40])
    )
    found = [np.array(read_rows(current.handle, np.arange(WORDS, dtype=np.int32))) for current, _, _ in tables]
    expected = base + ((np.stack([base] * workers) + changes) - base).sum(0)
    tolerance = 1e-6 if row_type == "float32" else 2**-6
    np.testing.assert_allclose(found[0], expected, rtol=tolerance, atol=4 * tolerance)
    for values in found[1:]:
        np.testing.assert_array_equal(values, found[0])
    np.testing.assert_array_equal(found[0][4:8], base[4:8])
    owners = np.arange(WORDS) % workers
    for worker in range(workers):
        assert sent[worker, 0] == (changed[worker] & (owners != worker)).sum()
        assert sent[worker, 1] == (workers - 1) * (changed.any(0) & (owners == worker)).sum()


# -- losses ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mortal_cluster() -> Iterator[LocalCluster]:
    """Return a cluster whose tasks tests may kill, and have to mend."""
    with local_cluster(ps=1, workers=3) as cluster:
        yield cluster


@pytest.mark.slow
def test_a_worker_killed_in_a_round_costs_the_round_and_no_words_and_joins_again(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Rounds._average_rows
    kills = iter([1])

    def average_with_a_death(*arguments: Any) -> None:
        for worker in kills:
            kill(mortal_cluster.processes["worker", worker])
        whole(*arguments)

    monkeypatch.setattr(Rounds, "_average_rows", average_with_a_death)
    settings = SMALL | AVERAGING | {"sg": 1, "round_words": 6000, "cluster": mortal_cluster, "max_recoveries": 0}
    model = TFWord2Vec(**settings)
    model.build_vocab(SENTENCES)
    corpus: dict[str, Any] = {"corpus_iterable": SENTENCES, "total_examples": len(SENTENCES)}
    _, raw_words = model.train(**corpus, epochs=2)
    assert raw_words == 2 * 12 * len(SENTENCES)
    assert topic_gap(model.wv) > 0.5
    blocks = {name: task["blocks"] for name, task in model.training_report["tasks"].items()}
    assert blocks["worker 1"] < blocks["worker 0"]
    mortal_cluster.start("worker", 1)
    mortal_cluster.wait()

    def is_back() -> bool:
        model.train(**corpus, epochs=1)
        return bool(model.training_report["tasks"]["worker 1"]["blocks"])

    wait_until(is_back)


@pytest.mark.slow
def test_a_worker_killed_after_the_average_costs_nothing(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The round is whole then: it is not trained again, and the others have its result as their base."""
    results = []
    keep = Rounds._keep

    def keep_after_a_death(*arguments: Any) -> Any:
        kill(mortal_cluster.processes["worker", 2])
        return keep(*arguments)

    for is_killed in (False, True):
        placement = placement_on(mortal_cluster)
        placement.load(random_tables())
        placement.train_chunk(work_on(10))
        if is_killed:
            monkeypatch.setattr(Rounds, "_keep", keep_after_a_death)
        placement.train_chunk(work_on(10, seed=1))
        monkeypatch.undo()
        results.append(read(placement).inputs)
        assert [len(of_worker) for of_worker in tables_of_workers(placement)] == [4] * (2 if is_killed else 3)
        for of_worker in tables_of_workers(placement):
            np.testing.assert_array_equal(of_worker["inputs"], results[0])
        placement.close()
    mortal_cluster.start("worker", 2)
    mortal_cluster.wait()


@pytest.mark.slow
@pytest.mark.parametrize("before", ["_train_parts", "_average_rows", "_keep"])
def test_a_hung_worker_is_left_out_and_joins_again(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    step = getattr(Rounds, before)
    process = mortal_cluster.processes["worker", 0]
    freezes = iter([process])

    def step_with_a_freeze(*arguments: Any) -> Any:
        for frozen in freezes:
            freeze(frozen)
        return step(*arguments)

    settings = SMALL | AVERAGING | {"sg": 1, "round_words": 6000, "cluster": mortal_cluster, "max_recoveries": 0}
    model = TFWord2Vec(**settings, cluster_timeout=5)
    model.build_vocab(SENTENCES)
    corpus: dict[str, Any] = {"corpus_iterable": SENTENCES, "total_examples": len(SENTENCES)}
    model.train(**corpus, epochs=1)  # so that all graphs are known
    monkeypatch.setattr(Rounds, before, step_with_a_freeze)
    try:
        _, raw_words = model.train(**corpus, epochs=2)
    finally:
        process.send_signal(signal.SIGCONT)
    assert raw_words == 2 * 12 * len(SENTENCES)
    assert topic_gap(model.wv) > 0.5

    def is_back() -> bool:
        model.train(**corpus, epochs=1)
        return bool(model.training_report["tasks"]["worker 0"]["blocks"])

    wait_until(is_back)


@pytest.mark.slow
def test_when_all_workers_are_lost_training_goes_on_from_the_last_epoch(mortal_cluster: LocalCluster) -> None:
    def restart_all(epoch: int) -> None:
        if epoch == 1:
            for worker in range(3):
                kill(mortal_cluster.processes["worker", worker])
                mortal_cluster.start("worker", worker)
            mortal_cluster.wait()

    settings = SMALL | AVERAGING | {"sg": 1, "round_words": 6000, "cluster": mortal_cluster, "epochs": 3}
    model = TFWord2Vec(**settings)
    model.build_vocab(SENTENCES)
    corpus: dict[str, Any] = {"corpus_iterable": SENTENCES, "total_examples": len(SENTENCES)}
    model.train(**corpus, epochs=3, callbacks=[EpochVectors(restart_all)])
    assert len(model.epoch_losses) == 3
    assert topic_gap(model.wv) > 0.5


@pytest.mark.slow
def test_the_loss_of_all_workers_is_an_error_that_says_so(mortal_cluster: LocalCluster) -> None:
    def kill_all(epoch: int) -> None:
        for worker in range(3):
            kill(mortal_cluster.processes["worker", worker])

    settings = SMALL | AVERAGING | {"sg": 1, "round_words": 6000, "cluster": mortal_cluster, "max_recoveries": 0}
    model = TFWord2Vec(**settings)
    model.build_vocab(SENTENCES)
    seen = EpochVectors(kill_all)
    try:
        with pytest.raises(ClusterError, match="all workers were lost"):
            model.train(SENTENCES, total_examples=len(SENTENCES), epochs=3, callbacks=[seen])
        np.testing.assert_array_equal(model.wv.vectors, seen.vectors[0])
    finally:
        for worker in range(3):
            mortal_cluster.start("worker", worker)
        mortal_cluster.wait()


@pytest.mark.slow
def test_one_worker_alone_trains_as_this_process_does() -> None:
    with local_cluster(ps=1, workers=1) as cluster:
        results = []
        for placement in (placement_on(cluster), LocalPlacement(SETTINGS, maker_from(0))):
            placement.load(random_tables())
            for seed in range(3):
                placement.train_chunk(work_on(0, seed))
            results.append(read(placement))
            placement.close()
    np.testing.assert_array_equal(results[0].inputs, results[1].inputs)
    np.testing.assert_array_equal(results[0].outputs, results[1].outputs)
