"""Clusters and coordinators that end, or are killed: which tasks and tables end with them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.callbacks import CallbackAny2Vec
from support.child_process import environment, run_script, wait_until
from support.contract import SENTENCES, SMALL
from support.interrupts import heed_interrupts
from support.placements import leases_on, shared_cluster

from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.local import _own_prefix, _remove_left_folders, free_addresses
from gensim_tfw2v.placement.remote.tables import RemoteTables
from gensim_tfw2v.runtime import processes


def test_the_tasks_of_a_killed_parent_end_and_the_next_cluster_removes_its_folder(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    wait_until(lambda: not any(answers(address) for address in addresses))
    assert list(scratch.glob("tfw2v-cluster-*"))
    monkeypatch.setattr("gensim_tfw2v.cluster.local._started", lambda *_: 1 / 0)  # no need for its tasks
    with pytest.raises(ZeroDivisionError), local_cluster(ps=1, workers=1):
        pass
    assert not list(scratch.glob("tfw2v-cluster-*"))


def test_tables_of_a_coordinator_that_was_killed_are_freed_by_the_next() -> None:
    before = leases_on(shared_cluster())
    script = f"""
import os
import numpy as np
from gensim_tfw2v.cluster.connection import connect, disconnect
from gensim_tfw2v.placement.remote.tables import RemoteTables
RemoteTables(connect({shared_cluster().addresses!r}), 2).load("inputs", np.zeros((10, 3), np.float32))
print("made", flush=True)
os.kill(os.getpid(), 9)
"""
    done = run_script(script)
    assert done.stdout == "made\n", done.stderr
    assert len(leases_on(shared_cluster()) - before) == 1
    TFWord2Vec(SENTENCES, **SMALL, cluster=shared_cluster())
    assert not leases_on(shared_cluster()) - before


@pytest.mark.slow
@pytest.mark.parametrize("distribution", ["downpour", "averaging"])
def test_tables_of_a_coordinator_killed_after_its_last_checkpoint_are_freed_when_that_is_resumed(
    distribution: str, tmp_path: Path
) -> None:
    cluster = shared_cluster()
    before = leases_on(cluster, "ps", "worker")
    script = f"""
import os
from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.model.table_sync import TableSync
TableSync.pull = lambda _: os.kill(os.getpid(), 9)
arguments = {SMALL | {"cluster": cluster.addresses, "distribution": distribution}!r}
TFWord2Vec({SENTENCES!r}, **arguments, checkpoint_dir={str(tmp_path)!r})
"""
    assert run_script(script).returncode == -signal.SIGKILL
    assert leases_on(cluster, "ps", "worker") - before
    model = TFWord2Vec.resume(tmp_path, cluster=cluster)
    assert not leases_on(cluster, "ps", "worker") - before
    assert len(model.epoch_losses) == model.epochs


def test_a_finished_training_is_resumed_without_its_cluster(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = TFWord2Vec(SENTENCES, **SMALL, checkpoint_dir=tmp_path)
    gone = {job: free_addresses(1) for job in ("ps", "worker")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gensim_tfw2v.cluster.connection._START_SECONDS", 0.1)
        found = TFWord2Vec.resume(tmp_path, cluster=gone)
    np.testing.assert_array_equal(found.wv.vectors, model.wv.vectors)
    assert "tables that the finished training may have left on its cluster are not freed" in caplog.text


def test_tables_of_a_coordinator_that_lives_are_not_freed_though_its_lease_has_run_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gensim_tfw2v.placement.remote.left_tables._LEASE_SECONDS", -1.0)
    connection = connect(shared_cluster())
    silent = RemoteTables(connection, 2)
    silent.load("inputs", np.zeros((10, 3), np.float32))
    RemoteTables(connection, 2).free()
    assert silent.rows("inputs", 0, 10).shape == (10, 3)
    silent.free()


def first_server_leases() -> dict[str, Any]:
    """Return the leases on the shared cluster's first server by name."""
    found: dict[str, Any] = connect(shared_cluster()).describe("ps", 0)["runs"]
    return found


def test_a_lease_is_renewed_while_a_callback_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gensim_tfw2v.cluster.leases._SECONDS_BETWEEN_RENEWALS", 0.1)
    earlier = first_server_leases()  # of other tests, which are freed in time

    class Slow(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            wait_until(lambda: self.idle() > self.idle())

        def idle(self) -> float:
            (name,) = first_server_leases().keys() - earlier.keys()
            return float(first_server_leases()[name]["idle"])

    TFWord2Vec(SENTENCES, **SMALL | {"epochs": 1}, cluster=shared_cluster(), callbacks=[Slow()])


def test_the_folder_of_a_cluster_in_another_container_is_left_alone(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch / "pid").symlink_to("pid:[1]")  # as where processes are numbered apart, so that none has that number
    folder = Path(tempfile.mkdtemp(prefix=f"{_own_prefix()}{os.getpid()}-"))
    monkeypatch.setattr("gensim_tfw2v.cluster.local.is_running", lambda process: False)
    with monkeypatch.context() as container:
        container.setattr(processes, "PROCESS_NAMESPACE", scratch / "pid")
        _remove_left_folders()
    assert folder.exists()
    _remove_left_folders()
    assert not folder.exists()


@pytest.mark.slow
def test_a_local_cluster_with_a_stopped_task_ends_with_its_block() -> None:
    script = """
from support.interrupts import freeze
from gensim_tfw2v import TFWord2Vec, local_cluster
with local_cluster(ps=1, workers=1) as cluster:
    TFWord2Vec([["a", "b"]] * 50, min_count=1, cluster=cluster)
    freeze(cluster.processes["worker", 0])
print([process.poll() is not None for process in cluster.processes.values()])
"""
    done = run_script(script)
    assert done.stdout == "[True, True]\n", done.stderr


LOSE_A_SERVER = """
from contextlib import ExitStack
from gensim.models.callbacks import CallbackAny2Vec
from support.contract import two_topics
from gensim_tfw2v import ClusterError, TFWord2Vec, local_cluster

class Killing(CallbackAny2Vec):
    def on_epoch_end(self, model):
        cluster.processes["ps", 0].kill()
        cluster.processes["ps", 0].wait()

block = ExitStack()
cluster = block.enter_context(local_cluster(ps=1, workers=1))
try:
    TFWord2Vec(two_topics(), min_count=1, cluster=cluster, callbacks=[Killing()], max_recoveries=0)
except ClusterError as error:
    print("ClusterError:", error)
"""


NO_ERROR_IS_LEFT = """
from tensorflow.python.eager import context
context.context().executor.wait()
print("none is left in its executor")
"""


@pytest.mark.parametrize("end", ["block.close()", "block.pop_all()"], ids=["end of the block", "end of the process"])
@pytest.mark.slow
def test_a_process_that_has_lost_a_server_ends_without_errors_that_are_left(end: str) -> None:
    """Nor with ignored exceptions, or an error for each graph."""
    done = run_script(LOSE_A_SERVER + (NO_ERROR_IS_LEFT if end == "block.close()" else "") + end)
    assert done.stdout.startswith("ClusterError: a parameter server was lost"), done.stderr
    assert done.stdout.endswith("none is left in its executor\n") == (end == "block.close()"), done.stderr
    assert done.returncode == 0
    assert "Exception ignored" not in done.stderr
    assert "Failed to remove function" not in done.stderr


@pytest.mark.slow
def test_a_local_cluster_with_a_task_that_hangs_while_the_coordinator_disconnects_ends_with_its_block() -> None:
    script = """
from support.interrupts import freeze
from gensim_tfw2v import TFWord2Vec, local_cluster
from gensim_tfw2v.cluster import local
kill_silent = local.LocalCluster.kill_silent
def kill_silent_and_freeze(cluster):
    kill_silent(cluster)
    freeze(cluster.processes["worker", 1])
local.LocalCluster.kill_silent = kill_silent_and_freeze
local._DISCONNECT_SECONDS = 2.0
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


@pytest.mark.slow
def test_ctrl_c_is_for_the_coordinator_and_tasks_end_with_the_block() -> None:
    script = """
import logging, sys
from support.contract import two_topics
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


@pytest.mark.parametrize("is_freed_first", [True, False])
def test_tables_have_no_name_that_is_still_to_be_freed(is_freed_first: bool) -> None:
    """A thread that waits for a server frees tables though they were given up; their name must not be used again."""
    connection = connect(shared_cluster())
    given_up = RemoteTables(connection, 2)
    given_up.load("inputs", np.zeros((10, 3), np.float32))
    for end in [given_up.free, given_up.free_later] if is_freed_first else [given_up.free_later, given_up.free]:
        end()
    tables = RemoteTables(connection, 2)
    tables.load("inputs", np.ones((10, 3), np.float32))
    RemoteTables(connection, 2).free()  # as the next training makes tables
    assert tables.rows("inputs", 0, 10).all()
    tables.free()


@pytest.mark.parametrize("executable", ["", "/bin/echo", "/no/such/program"])
def test_a_python_that_knows_no_program_of_its_own_starts_no_cluster(
    executable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that another program runs."""
    monkeypatch.setattr(sys, "executable", executable)
    message = f"sys.executable is '{executable}', .* start the tasks with `tfw2v server`"
    with pytest.raises(ClusterError, match=message), local_cluster():
        pass
