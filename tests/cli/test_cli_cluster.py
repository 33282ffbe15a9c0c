"""`tfw2v server` and `tfw2v cluster status`: what they refuse, and what they show of tasks."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from gensim.models import KeyedVectors
from support.child_process import environment, run_script
from support.command_line import SMALL, error_of, run, write_corpus
from support.error_table import cases_under
from support.placements import shared_cluster

from gensim_tfw2v.cluster.local import free_addresses

SILENT = {"ps": ["127.0.0.1:9"], "worker": ["127.0.0.1:7"]}  # discard and echo, which nothing serves


def cluster_file(folder: Path, content: object) -> Path:
    """Return a file of addresses."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(content))
    return path


def test_a_task_that_the_cluster_does_not_have_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("server", "--job", "worker", "--task", 3, "--cluster", cluster_file(tmp_path, SILENT)) == 2
    assert "no task 3 of job 'worker'" in error_of(capsys)


def test_a_server_whose_port_is_in_use_names_its_address(tmp_path: Path) -> None:
    addresses = shared_cluster().addresses
    command = ["server", "--job", "ps", "--task", "0", "--cluster", str(cluster_file(tmp_path, addresses))]
    done = run_script(f"import sys; from gensim_tfw2v.cli.main import main; sys.exit(main({command!r}))")
    assert done.returncode == 2
    port = addresses["ps"][0].rpartition(":")[2]
    assert f"cannot serve at {addresses['ps'][0]}: port {port} is taken by another process\n" in done.stderr


def test_a_server_says_that_it_is_ready_by_one_write(tmp_path: Path) -> None:
    """Otherwise lines of servers that print to one place at the same time are mixed. A datagram keeps writes apart."""
    addresses = {"ps": free_addresses(1), "worker": free_addresses(1)}
    command = ["server", "--job", "ps", "--task", "0", "--cluster", str(cluster_file(tmp_path, addresses))]
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    here.settimeout(60)
    unbuffered = environment() | {"PYTHONUNBUFFERED": "1"}
    with (
        here,
        there,
        subprocess.Popen([sys.executable, "-m", "gensim_tfw2v", *command], stdout=there, env=unbuffered) as server,
    ):
        try:
            written = here.recv(1000).decode()
        finally:
            server.terminate()
    assert re.fullmatch(r"tfw2v server: ps 0 of \S+ is ready .*\n", written)


@pytest.mark.parametrize("cores", ["0", "-1", "1.5", "all"])
def test_a_wrong_number_of_cores_is_named(cores: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = cluster_file(tmp_path, SILENT)
    assert run("server", "--job", "worker", "--task", 0, "--cluster", cluster, f"--cores={cores}") == 2
    assert f"argument --cores: {cores!r} is not a whole number of 1 or more" in error_of(capsys)


def test_a_server_without_any_cluster_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert run("server", "--job", "ps", "--task", 0) == 2
    assert "give --cluster FILE, --job and --task" in error_of(capsys)


def test_the_status_of_no_cluster_says_how_to_name_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert run("cluster", "status") == 2
    error = error_of(capsys)
    assert "no cluster is named: give --cluster FILE" in error
    assert "or set the environment variable TF_CONFIG" in error


def test_status_reads_the_environment_where_it_names_a_cluster(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": SILENT, "task": {"type": "chief"}}))
    for arguments in ([], ["--cluster", "env"]):
        assert run("cluster", "status", *arguments) == 1
        assert "no answer from ps 0, worker 0" in capsys.readouterr().err


def test_an_environment_that_is_asked_for_and_names_no_cluster_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert run("cluster", "status", "--cluster", "env") == 2
    assert "the environment variable TF_CONFIG is not set" in error_of(capsys)


@pytest.mark.parametrize("task", [{"type": "chief"}, {"type": "chief", "index": 0}], ids=str)
def test_a_server_where_the_environment_makes_it_the_coordinator_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], task: object
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": SILENT, "task": task}))
    assert run("server") == 2
    error = error_of(capsys)
    assert "the coordinator and not a server" in error
    assert "tfw2v train --cluster env" in error


def in_slurm(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """Make this process one of a Slurm job of two tasks on one node."""
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node1", "SLURM_TASKS_PER_NODE": "2"}
    for name, value in (job | variables).items():
        monkeypatch.setenv(name, value)


def test_status_reads_the_slurm_job(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    in_slurm(monkeypatch)
    assert run("cluster", "status", "--cluster", "slurm") == 1
    output = capsys.readouterr()
    assert "no answer from ps 0, worker 0" in output.err
    assert [line.split()[2] for line in output.out.splitlines()[1:]] == ["127.0.0.1:10140", "127.0.0.1:10141"]


@pytest.mark.parametrize("command", [["cluster", "status"], ["server"], ["train", "corpus.txt", "--output", "model"]])
def test_a_command_outside_of_any_slurm_job_is_refused(
    monkeypatch: pytest.MonkeyPatch, scratch: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)
    write_corpus(scratch)
    assert run(*command, "--cluster", "slurm") == 2
    assert "this process is in no Slurm job: SLURM_JOB_NODELIST is not set" in error_of(capsys)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [([], ("worker", 0, 3)), (["--job", "ps", "--task", "0"], ("ps", 0, 3)), (["--cores", "2"], ("worker", 0, 2))],
    ids=str,
)
def test_a_task_of_slurm_has_the_place_and_the_cores_that_slurm_gives_it(
    monkeypatch: pytest.MonkeyPatch, flags: list[str], expected: tuple[str, int, int]
) -> None:
    own = {"SLURM_STEP_ID": "0", "SLURM_NODEID": "0", "SLURM_LOCALID": "1", "SLURM_CPUS_PER_TASK": "3"}
    in_slurm(monkeypatch, **own)
    served = []
    monkeypatch.setattr("gensim_tfw2v.placement.server.serve", lambda *arguments: served.append(arguments))
    assert run("server", "--cluster", "slurm", *flags) == 0
    ((task, *_, cores, gpu),) = served
    assert task.cluster == {"ps": ["127.0.0.1:10140"], "worker": ["127.0.0.1:10141"]}
    assert (task.job, task.number, cores, task.joins, gpu) == (*expected, False, None)


def test_a_check_says_whether_a_task_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = ["server", "--job", "worker", "--task", 1, "--check", "--cluster"]
    addresses = shared_cluster().addresses
    assert run(*check, cluster_file(tmp_path, addresses)) == 0
    assert capsys.readouterr() == ("", "")
    assert run(*check, cluster_file(tmp_path, addresses | {"worker": [*SILENT["worker"], *SILENT["ps"]]})) == 1
    assert "no answer from worker 1 at 127.0.0.1:9" in error_of(capsys)
    assert run(*check, cluster_file(tmp_path, SILENT)) == 2
    assert "the cluster has no task 1 of job 'worker': it has 1 of them" in error_of(capsys)


def test_a_check_loads_neither_gensim_nor_tensorflow() -> None:
    """Kubernetes and Docker run one every few seconds."""
    config = json.dumps({"cluster": SILENT, "task": {"type": "ps", "index": 0}})
    done = run_script(
        f"""
import os, sys
os.environ["TF_CONFIG"] = {config!r}
from gensim_tfw2v.cli.main import main
print(main(["server", "--check"]), {{"gensim", "tensorflow"}} & set(sys.modules))
"""
    )
    assert done.stdout == "1 set()\n"
    assert "no answer from ps 0 at 127.0.0.1:9" in done.stderr


@pytest.mark.parametrize("content", [[], {"ps": ["a:1"]}, {"ps": ["a:1"], "worker": ["a"]}], ids=str)
def test_a_file_that_holds_no_cluster_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: object
) -> None:
    file = cluster_file(tmp_path, content)
    assert run("cluster", "status", "--cluster", file) == 2
    assert "cluster" in error_of(capsys)
    train = ["train", write_corpus(tmp_path), "--output", tmp_path / "model", "--cluster", file]
    assert run(*train) == 2
    assert str(file) in error_of(capsys)


def test_status_names_silent_tasks_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cluster", "status", "--cluster", cluster_file(tmp_path, SILENT)) == 1
    output = capsys.readouterr()
    assert "no answer from ps 0, worker 0" in output.err
    assert [line.split()[3] for line in output.out.splitlines()[1:]] == ["silent", "silent"]


def test_status_shows_each_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = cluster_file(tmp_path, shared_cluster().addresses)
    assert run("cluster", "status", "--cluster", file, "--json") == 0
    tasks = json.loads(capsys.readouterr().out)
    assert set(tasks) == {"ps 0", "ps 1", "worker 0", "worker 1"}
    processes = {process.pid for process in shared_cluster().processes.values()}
    assert {task["process"] for task in tasks.values()} == processes


def test_status_shows_the_cores_of_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("cluster", "status", "--cluster", cluster_file(tmp_path, shared_cluster().addresses)) == 0
    titles, *rows = capsys.readouterr().out.splitlines()
    assert " cores  blocks" in titles
    assert [row[titles.index("cores") :].split()[0] for row in rows] == ["-", "-", "1", "1"]


def test_training_from_the_command_line_runs_on_the_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = cluster_file(tmp_path, shared_cluster().addresses)
    output = tmp_path / "vectors.txt"
    assert run("train", write_corpus(tmp_path), "--output", output, *SMALL, "--cluster", file) == 0
    assert output.read_text().splitlines()[0].endswith(" 8")


def test_vectors_that_stay_on_the_servers_are_written_from_there(tmp_path: Path) -> None:
    file = cluster_file(tmp_path, shared_cluster().addresses)
    train = ["train", write_corpus(tmp_path), *SMALL, "--cluster", file, "--vectors-on-servers", "--output"]
    assert run(*train, tmp_path / "vectors.kv") == 0
    assert KeyedVectors.load(str(tmp_path / "vectors.kv"), mmap="r").vectors.shape[1] == 8


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--output", "model"], "whole model"),
        (["--output", "vectors.kv", "--logdir", "log"], "--logdir"),
        (["--output", "vectors.kv", "--cluster"], "--cluster"),
    ],
    ids=str,
)
def test_vectors_on_servers_that_cannot_be_are_refused(
    scratch: Path, capsys: pytest.CaptureFixture[str], flags: list[str], message: str
) -> None:
    cluster = [] if flags[-1] == "--cluster" else ["--cluster", cluster_file(scratch, SILENT)]
    flags = [flag for flag in flags if flag != "--cluster"]
    assert run("train", write_corpus(scratch), *SMALL, "--vectors-on-servers", *flags, *cluster) == 2
    assert message in error_of(capsys)


CHANGES = cases_under("Commands of workers that join and leave")


@pytest.mark.parametrize("command", CHANGES)
def test_wrong_commands_of_workers_that_join_and_leave_are_named(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*command.split()) in (1, 2)
    error = error_of(capsys)
    assert [part for part in CHANGES[command] if part not in error] == []


def test_a_server_cannot_leave(capsys: pytest.CaptureFixture[str]) -> None:
    address = shared_cluster().addresses["ps"][1]
    assert run("cluster", "drain", address) == 1
    assert "ps 1 has vectors, and only workers can leave a training" in error_of(capsys)
