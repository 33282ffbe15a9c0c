"""Training over processes of parameter servers and workers: the results, and what happens when a process dies."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contract import MODES, PURE_MODES, SENTENCES, assert_finite, learnt_arrays, topic_gap, two_topics
from event_files import values_of
from gensim.models.callbacks import CallbackAny2Vec
from interrupts import heed_interrupts
from placements import shared_cluster

import gensim_tfw2v
from gensim_tfw2v import TensorBoardLog, TFWord2Vec, local_cluster
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import LocalCluster, free_addresses
from gensim_tfw2v.cluster.specification import addresses_of
from gensim_tfw2v.cluster.tables import ServerTables
from gensim_tfw2v.placement.choice import ClusterOptions, choose_place
from gensim_tfw2v.progress import TrainingLog

SMALL: dict[str, Any] = {"vector_size": 8, "min_count": 1, "sample": 0, "epochs": 3}


def server_runs(cluster: LocalCluster) -> set[str]:
    """Return the trainings that have tables on the servers."""
    connection = connect(cluster)
    return {run for server in range(connection.servers) for run in connection.describe("ps", server)["runs"]}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
def test_one_worker_and_one_server_give_the_vectors_of_local_training(mode: dict[str, int]) -> None:
    local, remote = (
        TFWord2Vec(two_topics(), **SMALL | {"epochs": 2}, **mode, workers=1, cluster=cluster)
        for cluster in (None, shared_cluster(1, 1))
    )
    for name, array in learnt_arrays(local).items():
        np.testing.assert_allclose(learnt_arrays(remote)[name], array, atol=1e-5, err_msg=name)
    np.testing.assert_allclose(remote.epoch_losses, local.epoch_losses, rtol=1e-4)


@pytest.mark.parametrize(("workers", "overlap", "stale"), [(1, None, False), (1, True, False), (2, None, True)])
def test_a_place_says_whether_blocks_know_of_each_other(workers: int, overlap: bool | None, stale: bool) -> None:
    options = ClusterOptions(timeout=60.0, overlap=overlap, dtype=None)
    assert choose_place(shared_cluster(), workers, 10**6, 1, None, 1, options).stale == stale
    assert not choose_place(None, workers, 10**6, 1, None, 1, options).stale


def test_one_worker_logs_for_tensorboard_what_local_training_does_and_what_each_task_has_done(tmp_path: Path) -> None:
    arguments = SMALL | {"hs": 1, "workers": 1, "update_bound": 0.05, "compute_loss": True}
    for name, cluster in (("local", None), ("remote", shared_cluster(1, 1))):
        log = TensorBoardLog(tmp_path / name, every_seconds=0)
        TFWord2Vec(SENTENCES, **arguments, cluster=cluster, logdir=log)
    for tag in ("loss/epoch", "speed/pairs_per_word", "updates/share_of_bounded_rows"):
        local, remote = (values_of(tmp_path / name, tag) for name in ("local", "remote"))
        np.testing.assert_allclose(remote, local, rtol=1e-2, err_msg=tag)
        assert min(local) > 0, tag
    assert values_of(tmp_path / "remote" / "tasks" / "worker 0", "tasks/blocks") == [1, 2, 3]
    assert min(values_of(tmp_path / "remote", "workers/share_preparing_batches")) > 0


@pytest.mark.parametrize("overlap", [False, True], ids=["in-turn", "overlapping"])
@pytest.mark.parametrize("mode_name", list(PURE_MODES))
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
    assert model.training_report is not None
    model.train(SENTENCES, total_examples=150, epochs=1)
    assert model.training_report is None


def test_observers_of_progress_see_the_figures_of_every_task(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(TrainingLog, "end_epoch", lambda self, progress: seen.append(progress.tasks))
    TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster())
    assert [set(tasks) for tasks in seen] == [{"worker 0", "worker 1", "ps 0", "ps 1"}] * 3
    assert sum(seen[-1][f"worker {worker}"]["blocks"] for worker in range(2)) == 3


def test_the_environment_names_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"cluster": shared_cluster().addresses, "task": {"type": "chief", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
    assert addresses_of("env") == shared_cluster().addresses


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
def test_the_report_tells_what_went_over_the_wire(chosen: dict[str, Any], number_bytes: int) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, **chosen, cluster=shared_cluster())
    report = model.training_report
    assert report is not None
    # One chunk an epoch: rows of both tables there and back with their numbers, ids, a length a sentence, and a head
    # of 7 numbers, 2 rates and 7 seeds.
    rows = 2 * len(model.wv) * 2 * (number_bytes * 8 + 4)
    assert report["bytes"] == 3 * (rows + 4 * 600 + 4 * 150 + 4 * 7 + 8 * 2 + 8 * 7)
    assert report["raw_words"] == 1800
    assert report["staleness"]["max"] == 0
    assert report["tasks"]["ps 1"]["memory_bytes"] > 0


def test_a_worker_that_has_forgotten_a_model_is_told_of_it_again() -> None:
    class TrainOthers(CallbackAny2Vec):
        def on_epoch_end(self, model: TFWord2Vec) -> None:
            for window in range(1, 7):  # more models than a worker remembers
                TFWord2Vec(SENTENCES, **SMALL | {"epochs": 1}, window=window, cluster=shared_cluster(1, 1))

    arguments = SMALL | {"epochs": 2, "workers": 1, "window": 7}
    local, remote = (
        TFWord2Vec(SENTENCES, **arguments, cluster=cluster, callbacks=callbacks)
        for cluster, callbacks in ((None, ()), (shared_cluster(1, 1), [TrainOthers()]))
    )
    np.testing.assert_allclose(remote.wv.vectors, local.wv.vectors, atol=1e-5)


def test_frequent_words_are_spread_over_the_servers_and_tables_freed_in_the_end() -> None:
    connection = connect(shared_cluster())
    tables = ServerTables(connection, shards=4)
    values = np.random.default_rng(0).normal(size=(11, 3)).astype(np.float32)
    tables.load("inputs", values)
    assert tables.name in server_runs(shared_cluster())
    assert [f"task:{shard % 2}/" in tables.device_of(shard) for shard in range(4)] == [True] * 4
    back = np.zeros_like(values)
    tables.read_into("inputs", back)
    np.testing.assert_array_equal(back, values)
    tables.free()
    assert tables.name not in server_runs(shared_cluster())
    with pytest.raises(Exception, match="inputs"):
        list(_reading_freed(tables, values))


def _reading_freed(tables: ServerTables, values: np.ndarray) -> Iterator[Any]:
    """Read a table after it was freed, by a handle of the same name."""
    import tensorflow as tf

    with tf.device(tables.device_of(0)):
        handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[3, 3], shared_name=f"{tables.name}/inputs/0")
        yield tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32).numpy()


def test_tables_of_a_coordinator_that_was_killed_are_freed_by_the_next() -> None:
    before = server_runs(shared_cluster())
    script = f"""
import os
import numpy as np
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.cluster.tables import ServerTables
ServerTables(connect({shared_cluster().addresses!r}), 2).load("inputs", np.zeros((10, 3), np.float32))
print("made", flush=True)
os.kill(os.getpid(), 9)
"""
    done = run_script(script)
    assert done.stdout == "made\n", done.stderr
    assert len(server_runs(shared_cluster()) - before) == 1
    TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster())
    assert not server_runs(shared_cluster()) - before


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own that finds this package."""
    return subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, timeout=120
    )


def environment() -> dict[str, str]:
    paths = os.pathsep.join(path for path in [str(Path(__file__).parents[1]), *sys.path] if path)
    return os.environ | {"PYTHONPATH": paths}


class SignalAtEpochEnd(CallbackAny2Vec):
    """Kill or stop the first task of a job when an epoch has ended, and remember the vectors of then."""

    def __init__(self, cluster: LocalCluster, job: str, epoch: int, number: signal.Signals = signal.SIGKILL) -> None:
        self.process, self.left, self.number = cluster.processes[job, 0], epoch, number
        self.vectors: Any = None

    def on_epoch_end(self, model: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self.vectors = model.wv.vectors.copy()
            self.process.send_signal(self.number)
            if self.number == signal.SIGKILL:
                self.process.wait()


@pytest.fixture(scope="module")
def mortal_cluster() -> Iterator[LocalCluster]:
    """Return a cluster of one server and two workers that tests may stop and kill, and have to mend."""
    with local_cluster(ps=1, workers=2) as cluster:
        yield cluster


def untrained_model(cluster: LocalCluster, timeout: float) -> tuple[TFWord2Vec, dict[str, Any]]:
    """Return a model with a vocabulary, and the arguments of train(): 24 blocks an epoch."""
    model = TFWord2Vec(**SMALL | {"batch_words": 1500}, cluster=cluster, cluster_timeout=timeout)
    sentences = two_topics(3000)
    model.build_vocab(sentences)
    return model, {"corpus_iterable": sentences, "total_examples": 3000}


def test_a_lost_worker_costs_no_words_and_joins_again(mortal_cluster: LocalCluster) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=60)
    killing = SignalAtEpochEnd(mortal_cluster, "worker", 1)
    _, raw_words = model.train(**corpus, epochs=3, callbacks=[killing])
    mortal_cluster.start("worker", 0)
    mortal_cluster.wait()
    assert raw_words == 3 * 3000 * 12
    assert_finite(model)
    _wait_until(lambda: _trains_on_worker(model, corpus, 0))


def test_a_frozen_worker_does_not_hold_up_training_and_joins_again(
    mortal_cluster: LocalCluster, caplog: pytest.LogCaptureFixture
) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=6)
    model.train(**corpus, epochs=1)
    frozen = mortal_cluster.processes["worker", 1]
    frozen.send_signal(signal.SIGSTOP)
    try:
        for _ in range(2):  # the second meets a call that the first has left behind
            assert model.train(**corpus, epochs=1)[1] == 3000 * 12
    finally:
        frozen.send_signal(signal.SIGCONT)
    assert_finite(model)
    assert f"worker 1 at {mortal_cluster.addresses['worker'][1]} has not finished its block" in caplog.text
    _wait_until(lambda: _trains_on_worker(model, corpus, 1))


def test_a_frozen_server_raises_an_error_that_names_it(mortal_cluster: LocalCluster) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=4)
    freezing = SignalAtEpochEnd(mortal_cluster, "ps", 1, signal.SIGSTOP)
    try:
        with pytest.raises(ClusterError, match=f"ps 0 at {mortal_cluster.addresses['ps'][0]}"):
            model.train(**corpus, epochs=2, callbacks=[freezing])
    finally:
        mortal_cluster.processes["ps", 0].send_signal(signal.SIGCONT)
    np.testing.assert_array_equal(model.wv.vectors, freezing.vectors)


def test_a_lost_server_raises_an_error_and_the_model_trains_on_when_it_is_back(mortal_cluster: LocalCluster) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=60)
    killing = SignalAtEpochEnd(mortal_cluster, "ps", 2)
    with pytest.raises(ClusterError, match="parameter server was lost"):
        model.train(**corpus, epochs=4, callbacks=[killing])
    np.testing.assert_array_equal(model.wv.vectors, killing.vectors)
    mortal_cluster.start("ps", 0)
    mortal_cluster.wait()
    assert model.train(**corpus, epochs=1)[1] == 3000 * 12
    assert_finite(model)


def _trains_on_worker(model: Any, corpus: Any, worker: int) -> bool:
    model.train(**corpus, epochs=1)
    return bool(model.training_report["tasks"][f"worker {worker}"]["blocks"])


def _wait_until(is_true: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_the_tasks_of_a_killed_parent_end_and_the_next_cluster_removes_its_folder(scratch: Path) -> None:
    script = f"""
import os, tempfile
from gensim_tfw2v import local_cluster
tempfile.tempdir = {str(scratch)!r}
with local_cluster(ps=1, workers=1) as cluster:
    print(*cluster.addresses["ps"], *cluster.addresses["worker"], flush=True)
    os.kill(os.getpid(), 9)
"""
    addresses = run_script(script).stdout.split()
    assert len(addresses) == 2
    _wait_until(lambda: not any(answers(address) for address in addresses))
    (left,) = scratch.glob("tfw2v-cluster-*")
    with local_cluster(ps=1, workers=1):
        assert not left.exists()
    assert not list(scratch.glob("tfw2v-cluster-*"))


def test_tasks_of_another_version_are_refused_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = shared_cluster()
    connect(cluster)
    with monkeypatch.context() as other:
        other.setattr(gensim_tfw2v, "__version__", "0.0.1")
        for _ in range(2):  # to a connection that there is
            with pytest.raises(ClusterError, match=r"this process has gensim_tfw2v 0\.0\.1 .* worker 0 has package"):
                connect(cluster)
        disconnect(cluster.addresses)
        for _ in range(2):  # and to one that is to be made
            with pytest.raises(ClusterError, match="worker 0 has package"):
                connect(cluster)
        assert connect(cluster, any_version=True).describe_all()
    assert connect(cluster).describe_all()


STRATEGY = """
import tensorflow as tf
from gensim_tfw2v import TFWord2Vec

def strategy(addresses):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(addresses), rpc_layer="grpc")
    return tf.distribute.experimental.ParameterServerStrategy(resolver)

def blocks_on(addresses):
    from gensim_tfw2v.cluster.connection import connect
    return sum(task["blocks"] for task in connect(addresses).describe_all().values())

def train(cluster):
    TFWord2Vec([["a", "b"]] * 50, min_count=1, epochs=2, cluster=cluster)
"""


def test_a_strategy_trains_on_its_own_cluster_also_after_another_one() -> None:
    one, other = shared_cluster().addresses, shared_cluster(1, 1).addresses
    script = f"""
one, other = {one!r}, {other!r}
first = strategy(one)
train(first)
train(other)
before = blocks_on(other)
train(first)
print(blocks_on(other) == before)
"""
    done = run_script(STRATEGY + script)
    assert done.stdout == "True\n", done.stderr


def test_a_local_cluster_with_a_stopped_task_ends_with_its_block() -> None:
    script = """
import signal
from gensim_tfw2v import TFWord2Vec, local_cluster
with local_cluster(ps=1, workers=2) as cluster:
    TFWord2Vec([["a", "b"]] * 50, min_count=1, cluster=cluster)
    cluster.processes["worker", 1].send_signal(signal.SIGSTOP)
print([process.poll() is not None for process in cluster.processes.values()])
"""
    done = run_script(script)
    assert done.stdout == "[True, True, True]\n", done.stderr


def test_a_task_whose_parent_ended_before_it_could_look_ends_too(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text(json.dumps({"ps": free_addresses(1), "worker": free_addresses(1)}))
    task = "-m gensim_tfw2v server --job ps --task 0 --cluster cluster.json --with-parent $$"
    # The shell ends at once. Its output does when the task has ended as well, which has it open.
    subprocess.run(
        ["sh", "-c", f"'{sys.executable}' {task} &"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        timeout=120,
        check=True,
    )


def test_ctrl_c_is_for_the_coordinator_and_tasks_end_with_the_block() -> None:
    script = """
import logging, sys
from contract import two_topics
from gensim_tfw2v import TFWord2Vec, local_cluster
with local_cluster(ps=1, workers=1) as cluster:
    model = TFWord2Vec(vector_size=8, min_count=1)
    model.build_vocab(two_topics())
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
    try:
        model.train(two_topics(), total_examples=model.corpus_count, epochs=100_000, cluster=cluster)
    except KeyboardInterrupt:
        print("interrupted, tasks:", [process.poll() for process in cluster.processes.values()])
print("left, tasks:", [process.poll() for process in cluster.processes.values()])
"""
    # In a session, and so a process group, of its own, to all of which a terminal sends Ctrl-C.
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    try:
        assert process.stdout is not None
        trained = any(line.startswith("EPOCH 1: training on") for line in process.stdout)
        assert trained, process.communicate(timeout=60)[1]
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert output.endswith("interrupted, tasks: [None, None]\nleft, tasks: [0, 0]\n"), errors


def test_a_task_that_was_not_started_by_this_package_is_named() -> None:
    addresses = {"ps": free_addresses(1), "worker": free_addresses(1)}
    script = f"""
import tensorflow as tf
spec = tf.train.ClusterSpec({addresses!r})
servers = [tf.distribute.Server(spec, job_name=job, task_index=0) for job in ("ps", "worker")]
print("ready", flush=True)
servers[0].join()
"""
    with subprocess.Popen([sys.executable, "-c", script], env=environment(), stdout=subprocess.PIPE) as servers:
        try:
            assert servers.stdout is not None
            assert servers.stdout.readline() == b"ready\n"
            with pytest.raises(ClusterError, match=r"ps 0 .* was not started by `tfw2v server`"):
                connect(addresses)
        finally:
            disconnect(addresses)
            servers.kill()
