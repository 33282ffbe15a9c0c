"""Training over processes of parameter servers and workers: its vectors, its log and its report."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import PURE_MODES, SENTENCES, SMALL, topic_gap, two_topics
from support.placements import leases_on, shared_cluster

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.cluster.connection import connect, device
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.block_size import InFlightLimits
from gensim_tfw2v.placement.calls import worker_thread
from gensim_tfw2v.placement.choice import choose_placement
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.placement.remote.variables import destroy, make_in_turn
from gensim_tfw2v.placement.request import CorpusSize, TrainingOptions
from gensim_tfw2v.placement.tasks.block_report import BlockReport
from gensim_tfw2v.training.display import TrainingLog

SIDE_BY_SIDE = [
    pytest.param(
        mode_name,
        overlap,
        id=f"{mode_name}-{'overlapping' if overlap else 'in-turn'}",
    )
    for mode_name in PURE_MODES
    for overlap in (False, True)
]


@pytest.mark.parametrize(("workers", "overlap", "words"), [(1, None, 131_072), (1, True, 131_072), (2, None, 62_500)])
def test_blocks_side_by_side_are_smaller_than_those_of_one_worker(
    workers: int, overlap: bool | None, words: int
) -> None:
    options = TrainingOptions(
        distribution=DEFAULT_DESIGN,
        workers=workers,
        skip_gram=True,
        tree=False,
        timeout=60.0,
        of_design={"cluster_overlap": overlap, "blocks_per_call": None},
    )
    assert choose_placement(shared_cluster(), CorpusSize(10**6, 1), InFlightLimits(), options).block_words == words


@pytest.mark.slow
@pytest.mark.parametrize(("mode_name", "overlap"), SIDE_BY_SIDE)
def test_two_workers_side_by_side_learn_what_belongs_together(mode_name: str, overlap: bool) -> None:
    # Overlapping has four blocks in flight: of the 14 of an epoch, not of the 4 that are enough for two.
    blocks = {"batch_words": 500, "epochs": 15} if overlap else {"batch_words": 1500, "epochs": 30}
    arguments = SMALL | PURE_MODES[mode_name] | blocks | {"alpha": 0.05}
    model = TFWord2Vec(two_topics(), **arguments, cluster=shared_cluster(), cluster_overlap=overlap)
    least = 1.0 if "skipgram" in mode_name else 0.5 * topic_gap(TFWord2Vec(two_topics(), **arguments).wv)
    assert topic_gap(model.wv) > least
    assert model.training_report is not None
    assert min(model.training_report["tasks"][f"worker {worker}"]["blocks"] for worker in range(2)) > 10


def test_the_argument_of_train_is_for_one_call_only() -> None:
    model = TFWord2Vec(**SMALL)
    model.build_vocab(SENTENCES)
    model.train(SENTENCES, total_examples=150, epochs=1, cluster=shared_cluster())
    assert model.training_report is not None and "tasks" in model.training_report
    model.train(SENTENCES, total_examples=150, epochs=1)
    assert model.training_report == {"device": "cpu", "draws": "host", "optimizer": "adagrad"}


def test_observers_of_progress_see_the_metrics_of_every_task(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(TrainingLog, "end_epoch", lambda self, progress: seen.append(progress.tasks))
    TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster())
    assert [set(tasks) for tasks in seen] == [{"worker 0", "worker 1", "ps 0", "ps 1"}] * 3
    assert sum(seen[-1][f"worker {worker}"]["blocks"] for worker in range(2)) == 3


def test_a_model_trained_on_a_cluster_is_saved_and_copied_without_it(tmp_path: Path) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster())
    model.save(str(tmp_path / "model"))
    for other in (TFWord2Vec.load(str(tmp_path / "model")), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.wv.vectors, model.wv.vectors)
        assert other.cluster is None


@pytest.mark.parametrize(
    ("chosen", "number_bytes"),
    [
        ({"workers": 1}, 4),
        ({"workers": 2}, 2),
        ({"workers": 1, "cluster_dtype": "bfloat16"}, 2),
        ({"workers": 2, "cluster_dtype": "float32"}, 4),
    ],
    ids=["in-turn", "side-by-side", "in-turn-and-short", "side-by-side-and-long"],
)
def test_the_report_has_the_bytes_that_were_sent(chosen: dict[str, Any], number_bytes: int) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, **chosen, cluster=shared_cluster())
    report = model.training_report
    assert report is not None
    # One chunk an epoch: rows of both tables there and back with their numbers, ids, a length a sentence, and a head.
    rows = 2 * len(model.wv) * 2 * (number_bytes * 8 + 4)
    again = rows // 2 if chosen["workers"] > 1 else 0  # once: two are in flight from the third block on
    assert 0 < report["bytes"] - 3 * (rows + 4 * 600 + 4 * 150) - again < 3 * 1000
    assert report["raw_words"] == 1800
    assert report["staleness"]["max"] == 0
    assert report["tasks"]["ps 1"]["memory_bytes"] > 0


def test_a_report_that_is_none_is_an_error_that_names_its_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    class CutShort:
        """Reads a report as if its last number had not come."""

        @staticmethod
        def from_array(numbers: Any, servers: int, exchanged: type[Any]) -> BlockReport:
            return BlockReport.from_array(numbers[:-1], servers, exchanged)

    monkeypatch.setattr(worker_thread, "BlockReport", CutShort)
    with pytest.raises(ClusterError, match=r"^worker \d at 127\.0\.0\.1:\d+: a report of 2 servers cannot"):
        TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster())


def test_frequent_words_are_spread_over_the_servers_and_tables_freed_in_the_end() -> None:
    connection = connect(shared_cluster())
    tables = RemoteTables(connection, shards=4)
    values = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)
    tables.load("inputs", values)
    assert tables.name in leases_on(shared_cluster())
    assert [f"task:{shard % 2}/" in tables.device_of(shard) for shard in range(4)] == [True] * 4
    back = np.zeros_like(values)
    tables.read_into("inputs", back)
    np.testing.assert_array_equal(back, values)
    tables.free()
    assert tables.name not in leases_on(shared_cluster())
    with pytest.raises(Exception, match="inputs"):
        list(_reading_freed(tables, values))


def test_shards_are_where_graphs_expect_them_after_a_program_has_made_variables_of_its_own() -> None:
    import tensorflow as tf

    connection = connect(shared_cluster())
    with connection.strategy.scope():
        own = tf.Variable(3.0)  # the next turn is that of another server
    tables = RemoteTables(connection, shards=4)
    values = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)
    tables.load("inputs", values)
    assert [handle.device for handle in tables.handles("inputs")] == [tables.device_of(shard) for shard in range(4)]
    np.testing.assert_array_equal(tables.rows("inputs", 0, 11), values)
    assert own.numpy() == 3
    tables.free()


class InTurn:
    """A strategy that places variables on these devices, one after the other."""

    def __init__(self, devices: list[str]) -> None:
        self.left = devices
        self.extended = self  # where TensorFlow's strategies have the next method

    def _create_variable(self, creator: Any, **arguments: Any) -> Any:
        import tensorflow as tf

        with tf.device(self.left.pop(0)):
            return creator(**arguments)


def test_the_strategy_decides_where_a_shard_is_made() -> None:
    import tensorflow as tf

    connect(shared_cluster())
    first, second = device("ps", 0), device("ps", 1)
    strategy, name = InTurn([second, second, first, second]), "a test's variable"
    handle = make_in_turn(strategy, ("ps", 0), name, lambda: tf.fill([2, 3], 5.0), (2, 3))
    assert strategy.left == [second]
    assert handle.device == first
    with tf.device(first):
        np.testing.assert_array_equal(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32).numpy(), 5.0)
    with tf.device(second), pytest.raises(tf.errors.FailedPreconditionError):
        other = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2, 3], shared_name=name)
        tf.raw_ops.ReadVariableOp(resource=other, dtype=tf.float32).numpy()
    destroy(("ps", 0), name)


def test_zeros_are_loaded_into_new_tables_and_over_what_a_table_has() -> None:
    tables = RemoteTables(connect(shared_cluster()), shards=2)
    zeros, back = np.zeros((11, 3), np.float32), np.ones((11, 3), np.float32)
    for values in (zeros, np.ones_like(zeros), zeros):
        tables.load("outputs", values)
        tables.read_into("outputs", back)
        np.testing.assert_array_equal(back, values)
    tables.free()


def _reading_freed(tables: RemoteTables, values: np.ndarray) -> Iterator[Any]:
    """Read a table after it was freed, by a handle of the same name."""
    import tensorflow as tf

    with tf.device(tables.device_of(0)):
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[3, 3], shared_name=f"{tables.name}/inputs/0")
        yield tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32).numpy()
