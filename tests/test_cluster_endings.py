"""Tasks and coordinators that are lost, frozen or killed: what is kept, which errors are raised, what ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from child_process import environment, run_script
from contract import SENTENCES, SMALL, assert_finite, two_topics
from gensim.models.callbacks import CallbackAny2Vec
from interrupts import freeze, heed_interrupts
from placements import leases_on, shared_cluster

from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.cluster import leases
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import LocalCluster, _remove_left_folders, free_addresses
from gensim_tfw2v.placement.parameter_servers.tables import ServerTables


class AtEpochEnd(CallbackAny2Vec):
    """Kill or freeze the first task of a job when an epoch has ended, and remember the vectors of then."""

    def __init__(
        self, end: Callable[[subprocess.Popen[bytes]], None], cluster: LocalCluster, job: str, epoch: int
    ) -> None:
        self.end, self.process, self.left = end, cluster.processes[job, 0], epoch
        self.vectors: Any = None

    def on_epoch_end(self, model: Any) -> None:
        self.left -= 1
        if self.left == 0:
            self.vectors = model.wv.vectors.copy()
            self.end(self.process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process at once, and return when it has ended."""
    process.kill()
    process.wait()


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
    killing = AtEpochEnd(kill, mortal_cluster, "worker", 1)
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
    freeze(frozen)
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
    freezing = AtEpochEnd(freeze, mortal_cluster, "ps", 1)
    try:
        with pytest.raises(ClusterError, match=f"ps 0 at {mortal_cluster.addresses['ps'][0]}"):
            model.train(**corpus, epochs=2, callbacks=[freezing])
    finally:
        mortal_cluster.processes["ps", 0].send_signal(signal.SIGCONT)
    np.testing.assert_array_equal(model.wv.vectors, freezing.vectors)


def test_a_lost_server_raises_an_error_and_the_model_trains_on_when_it_is_back(mortal_cluster: LocalCluster) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=60)
    killing = AtEpochEnd(kill, mortal_cluster, "ps", 2)
    with pytest.raises(ClusterError, match="parameter server was lost"):
        model.train(**corpus, epochs=4, callbacks=[killing])
    np.testing.assert_array_equal(model.wv.vectors, killing.vectors)
    mortal_cluster.start("ps", 0)
    mortal_cluster.wait()
    assert model.train(**corpus, epochs=1)[1] == 3000 * 12
    assert_finite(model)


def test_a_call_that_does_not_end_keeps_this_process_from_another_cluster(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=2)
    monkeypatch.setattr("gensim_tfw2v.cluster.connection._LAST_CALLS_SECONDS", 0.5)
    addresses = mortal_cluster.addresses
    frozen = AtEpochEnd(freeze, mortal_cluster, "worker", 1)
    try:
        model.train(**corpus, epochs=2, callbacks=[frozen])
        with pytest.raises(ClusterError, match=f"worker 0 at {addresses['worker'][0]} has not answered"):
            connect({"ps": addresses["ps"], "worker": addresses["worker"][1:]})
    finally:
        frozen.process.send_signal(signal.SIGCONT)
    _wait_until(lambda: _trains_on_worker(model, corpus, 0))


def test_all_blocks_that_wait_for_workers_that_are_gone_give_up_together(
    mortal_cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, corpus = untrained_model(mortal_cluster, timeout=2)
    model.cluster_overlap = True
    model.train(**corpus, epochs=1)
    complaints = []
    silent_of = "gensim_tfw2v.placement.parameter_servers.dispatch.silent_of"
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
    _wait_until(lambda: _trains_on_worker(model, corpus, 0))


def test_what_a_lost_server_leaves_on_the_others_is_freed_by_the_next_training() -> None:
    with local_cluster(ps=2, workers=1) as cluster:
        model, corpus = untrained_model(cluster, timeout=60)
        process = cluster.processes["ps", 1]
        killing = AtEpochEnd(kill, cluster, "ps", 1)
        killing.process = process
        with pytest.raises(ClusterError, match="parameter server was lost"):
            model.train(**corpus, epochs=2, callbacks=[killing])
        cluster.start("ps", 1)
        cluster.wait()
        model.train(**corpus, epochs=1)
        assert not leases_on(cluster)


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


def test_tables_of_a_coordinator_that_was_killed_are_freed_by_the_next() -> None:
    before = leases_on(shared_cluster())
    script = f"""
import os
import numpy as np
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.placement.parameter_servers.tables import ServerTables
ServerTables(connect({shared_cluster().addresses!r}), 2).load("inputs", np.zeros((10, 3), np.float32))
print("made", flush=True)
os.kill(os.getpid(), 9)
"""
    done = run_script(script)
    assert done.stdout == "made\n", done.stderr
    assert len(leases_on(shared_cluster()) - before) == 1
    TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster())
    assert not leases_on(shared_cluster()) - before


def test_tables_of_a_coordinator_that_lives_are_not_freed_though_its_lease_has_run_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gensim_tfw2v.placement.parameter_servers.tables._LEASE_SECONDS", -1.0)
    connection = connect(shared_cluster())
    silent = ServerTables(connection, 2)
    silent.load("inputs", np.zeros((10, 3), np.float32))
    ServerTables(connection, 2).free()
    assert silent.rows("inputs", 0, 10).shape == (10, 3)
    silent.free()


def first_server_leases() -> dict[str, Any]:
    """Return the leases on the shared cluster's first server by name."""
    found: dict[str, Any] = connect(shared_cluster()).describe("ps", 0)["runs"]
    return found


def test_a_lease_is_renewed_while_a_callback_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gensim_tfw2v.cluster.keepalive.SECONDS_BETWEEN_RENEWALS", 0.1)
    earlier = first_server_leases()  # of other tests, which are freed in time

    class Slow(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            _wait_until(lambda: self.idle() > self.idle())

        def idle(self) -> float:
            (name,) = first_server_leases().keys() - earlier.keys()
            return float(first_server_leases()[name]["idle"])

    TFWord2Vec(SENTENCES, **SMALL | {"epochs": 1}, cluster=shared_cluster(), callbacks=[Slow()])


def test_the_folder_of_a_cluster_in_another_container_is_left_alone(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch / "pid").symlink_to("pid:[1]")  # as where processes are numbered apart, so that none has that number
    with local_cluster(ps=1, workers=1):
        with monkeypatch.context() as container:
            container.setattr(leases, "_PROCESS_NAMESPACE", scratch / "pid")
            container.setattr("gensim_tfw2v.cluster.local.is_running", lambda process: False)
            _remove_left_folders()
        assert list(scratch.glob("tfw2v-cluster-*"))


def test_a_local_cluster_with_a_stopped_task_ends_with_its_block() -> None:
    script = """
from interrupts import freeze
from gensim_tfw2v import TFWord2Vec, local_cluster
with local_cluster(ps=1, workers=2) as cluster:
    TFWord2Vec([["a", "b"]] * 50, min_count=1, cluster=cluster)
    freeze(cluster.processes["worker", 1])
print([process.poll() is not None for process in cluster.processes.values()])
"""
    done = run_script(script)
    assert done.stdout == "[True, True, True]\n", done.stderr


def test_a_local_cluster_with_a_task_that_hangs_while_the_coordinator_disconnects_ends_with_its_block() -> None:
    script = """
from interrupts import freeze
from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.cluster import local
kill_silent = local.LocalCluster.kill_silent
def kill_silent_and_freeze(cluster):
    kill_silent(cluster)
    freeze(cluster.processes["worker", 1])
local.LocalCluster.kill_silent = kill_silent_and_freeze
local._DISCONNECT_SECONDS = 5.0
with local_cluster(ps=1, workers=2) as cluster:
    TFWord2Vec([["a", "b"]] * 50, min_count=1, cluster=cluster)
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
