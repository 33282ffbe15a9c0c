"""Who reaches the ports of a cluster's tasks and of its coordinator, tried with real processes."""

from __future__ import annotations

import ast
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.child_process import environment, run_script, wait_until
from support.command_line import error_of, run, write_corpus
from support.contract import SENTENCES, SMALL
from support.namespaces import (
    FAR,
    NEAR,
    OTHER,
    SERVING,
    Program,
    address,
    inside,
    limit_ports,
    two_machines,
    wait_for_rounds,
)
from support.placements import shared_cluster

import gensim_tfw2v
from gensim_tfw2v import ClusterError, TFWord2Vec
from gensim_tfw2v.cluster import exposure, listening
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.local import LocalCluster
from gensim_tfw2v.cluster.strategy import own_port
from gensim_tfw2v.runtime.system import bound_interface

PORTS = PS_PORT, WORKER_PORT, COORDINATOR_PORT = 23450, 23451, 23452
ON_NETWORK = {"ps": ["10.77.0.9:23450"], "worker": ["127.0.0.1:23451"]}
ROUNDING = 1e-5
LOCAL_PORTS = range(40000, 40200)


@pytest.fixture
def machines() -> Iterator[None]:
    """Have two emulated machines."""
    with two_machines():
        yield


def cluster_file(folder: Path, addresses: object) -> Path:
    """Return a file of addresses."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(addresses))
    return path


def addresses_on(host: str) -> dict[str, list[str]]:
    """Return the addresses of a server and a worker of one host."""
    return {"ps": [f"{host}:{PS_PORT}"], "worker": [f"{host}:{WORKER_PORT}"]}


def as_coordinator(addresses: dict[str, list[str]], host: str) -> str:
    """Return the TF_CONFIG of the coordinator of a cluster, at its port of a host."""
    cluster = addresses | {"chief": [f"{host}:{COORDINATOR_PORT}"]}
    return json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}})


@contextlib.contextmanager
def tasks(file: Path, *flags: str) -> Iterator[Path]:
    """Run a server and a worker on the serving machine; yield the folder of their logs, `ps` and `worker`."""
    running = []
    try:
        for job in ("ps", "worker"):
            command = [*inside(SERVING), sys.executable, "-m", "gensim_tfw2v", "server", "--job", job, "--task", "0"]
            with (file.parent / job).open("wb") as log:
                running.append(
                    subprocess.Popen([*command, "--cluster", file, *flags], env=environment(), stdout=log, stderr=log)
                )
        yield file.parent
    finally:
        for process in running:
            process.kill()
            process.wait()


def wait_until_ready(logs: Path) -> None:
    """Return when both tasks say that they are ready."""
    wait_until(lambda: all(" is ready " in (logs / job).read_text() for job in ("ps", "worker")))


@pytest.mark.slow
@pytest.mark.usefixtures("machines")
def test_tasks_and_coordinator_are_closed_to_who_hammers_them_from_before_their_start(tmp_path: Path) -> None:
    addresses = addresses_on("127.0.0.1")
    file = cluster_file(tmp_path, addresses)
    hammered = [f"{address(SERVING, link)}:{port}" for link in (NEAR, FAR) for port in PORTS]
    with Program(OTHER, "hammer", *hammered) as hammer, tasks(file) as logs:
        wait_until_ready(logs)
        hammer.ask("count")
        assert hammer.ask("count")["held"] == 0
        assert wait_for_rounds(hammer) == 0
        assert "Open to this machine alone" in (logs / "ps").read_text()
        with Program(SERVING, "coordinator", "env", TF_CONFIG=as_coordinator(addresses, "127.0.0.1")) as coordinator:
            found = coordinator.ask("train")
            assert found["difference"] < ROUNDING
            assert set(found["interfaces"]) == {"lo"}
            hammer.ask("count")
            assert hammer.ask("count")["held"] == 0
            assert wait_for_rounds(hammer) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("machines")
def test_a_local_cluster_is_closed_to_who_hammers_every_port_that_it_may_choose() -> None:
    limit_ports(SERVING, LOCAL_PORTS)
    hammered = [f"{address(SERVING, NEAR)}:{port}" for port in LOCAL_PORTS]
    with Program(OTHER, "hammer", *hammered) as hammer, Program(SERVING, "coordinator", "local") as coordinator:
        found = coordinator.ask("train")
        assert found["difference"] < ROUNDING
        assert set(found["ports"]) <= set(LOCAL_PORTS)
        wait_until(lambda: hammer.ask("count")["held"] == 0)
        assert wait_for_rounds(hammer) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("machines")
def test_tasks_on_a_network_answer_its_interface_alone_and_train(tmp_path: Path) -> None:
    addresses = addresses_on(address(SERVING, NEAR))
    file = cluster_file(tmp_path, addresses)
    own = as_coordinator(addresses, address(OTHER, NEAR))  # no task calls it there
    far = [f"{address(SERVING, FAR)}:{port}" for port in (PS_PORT, WORKER_PORT)]
    with (
        Program(OTHER, "hammer", *far) as by_far,
        Program(SERVING, "hammer", f"127.0.0.1:{PS_PORT}") as by_loopback,
        tasks(file, "--allow-network") as logs,
    ):
        wait_until_ready(logs)
        assert f"Open to network interface {NEAR}" in (logs / "worker").read_text()
        with Program(OTHER, "coordinator", "env", TF_CONFIG=own) as coordinator:
            assert "allow_network=True" in coordinator.ask("train")["error"]
            found = coordinator.ask("train", "allow_network")
        assert found["difference"] < ROUNDING
        assert set(found["interfaces"]) == {"lo"}
        for hammer in (by_far, by_loopback):
            hammer.ask("count")
            assert hammer.ask("count")["held"] == 0
            assert wait_for_rounds(hammer) == 0


@pytest.mark.slow
@pytest.mark.usefixtures("machines")
def test_a_strangers_call_from_before_the_start_is_never_carried_out(tmp_path: Path) -> None:
    """TensorFlow's own client writes a file on the server as soon as one answers."""
    file = cluster_file(tmp_path, addresses_on("127.0.0.1"))
    with Program(OTHER, "intruder", f"{address(SERVING, NEAR)}:{PS_PORT}", tmp_path / "written") as intruder:
        intruder.ask("begin")
        with tasks(file) as logs:
            wait_until_ready(logs)
            with Program(SERVING, "coordinator", file) as coordinator:
                assert coordinator.ask("train")["difference"] < ROUNDING
            assert intruder.ask("tries") > 0
    assert not (tmp_path / "written").exists()


def test_the_coordinators_port_answers_this_machine_alone() -> None:
    connect(shared_cluster())
    sockets = list(listening._own_sockets(own_port()))
    interfaces = [bound_interface(one) for one in sockets if listening._is_listening(one)]
    assert interfaces
    assert set(interfaces) == {"lo"}


@pytest.mark.slow
def test_a_strategy_of_the_users_own_is_kept_to_this_machine() -> None:
    script = f"""
import tensorflow as tf
from gensim_tfw2v.cluster import connection, listening
from gensim_tfw2v.cluster.strategy import own_port
from gensim_tfw2v.runtime.system import bound_interface
spec = tf.train.ClusterSpec({shared_cluster(1, 1).addresses!r})
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")
strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)

def interfaces():
    sockets = listening._own_sockets(own_port())
    return [bound_interface(one) for one in sockets if listening._is_listening(one)]

print(set(interfaces()))
connection.connect(strategy)
print(set(interfaces()))
"""
    assert run_script(script).stdout.splitlines() == ["{''}", "{'lo'}"]


def test_a_task_on_a_network_is_refused_unless_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cluster_file(tmp_path, ON_NETWORK)
    assert run("server", "--job", "ps", "--task", 0, "--cluster", file) == 2
    assert "ps 0 at 10.77.0.9:23450 is on a network" in error_of(capsys)
    assert run("server", "--job", "ps", "--task", 0, "--cluster", file, "--allow-network") == 2
    assert "no network interface of this machine has the address 10.77.0.9" in error_of(capsys)


def test_a_coordinator_uses_no_network_unless_that_is_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = r"ps 0 at 10\.77\.0\.9:23450 is on a network.*allow_network=True"
    with pytest.raises(ClusterError, match=refused):
        TFWord2Vec(cluster=ON_NETWORK)
    with pytest.raises(ClusterError, match=refused):
        TFWord2Vec(SENTENCES, **SMALL).train(SENTENCES, total_examples=len(SENTENCES), epochs=1, cluster=ON_NETWORK)
    file = cluster_file(tmp_path, ON_NETWORK)
    for command in (["cluster", "status"], ["train", write_corpus(tmp_path), "--output", tmp_path / "model"]):
        assert run(*command, "--cluster", file) == 2
        assert "--allow-network" in error_of(capsys)


def test_a_name_that_means_loopback_here_is_refused_on_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposure, "interface_of", lambda host: "lo")
    with pytest.raises(ClusterError, match="node1 is this machine's loopback here"):
        exposure.exposure_of("ps 0", "node1:23450", allow_network=True, insecure=False)
    assert exposure.exposure_of("ps 0", "node1:23450", allow_network=True, insecure=True).interface is None


def test_a_system_that_cannot_keep_ports_closed_serves_only_if_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposure, "why_not", lambda: "an old kernel")
    with pytest.raises(ClusterError, match=r"an old kernel.*--insecure"):
        exposure.exposure_of("ps 0", "127.0.0.1:23450", allow_network=False, insecure=False)
    opened = exposure.exposure_of("ps 0", "127.0.0.1:23450", allow_network=False, insecure=True)
    assert opened.interface is None
    assert "every network interface" in str(opened)
    opened.apply()  # leaves the port as it is


def test_on_such_a_system_a_local_cluster_and_its_coordinator_warn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(exposure, "why_not", lambda: "an old kernel")
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    exposure._warn_once.cache_clear()
    LocalCluster({"ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}, tmp_path)
    exposure.keep_to_this_machine({1})
    exposure._warn_once.cache_clear()
    assert ["--insecure" in command for command in started] == [True, True]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "open on every network interface" in caplog.text
    assert "an old kernel" in caplog.text


PACKAGE = Path(gensim_tfw2v.__file__).parent
# These read what their own child processes write to a pipe.
OWN_PIPES = {"file_parts.py"}
RUNS_WHAT_IT_READS = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "eval", "exec", "allow_pickle"}


@pytest.mark.parametrize("folder", ["cluster", "placement", "corpus"])
def test_nothing_that_comes_from_a_network_or_an_encoded_corpus_can_be_a_program(folder: str) -> None:
    found = {}
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                names |= {module.partition(".")[0] for module in modules}
            elif isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.keyword):
                names.add(node.arg or "")
        if names & RUNS_WHAT_IT_READS and path.name not in OWN_PIPES:
            found[path.name] = names & RUNS_WHAT_IT_READS
    assert not found
