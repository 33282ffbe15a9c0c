"""cluster/local.sh and cluster/ssh.sh: what they ask for, and what they say when there will be no cluster."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.child_process import environment
from support.free_ports import free_ports

SCRIPTS = Path(__file__).parents[2] / "cluster"
REFUSED = "tfw2v: error: ps 0 runs another version"
# Stands for Python: its tasks do nothing, or end at once, and `cluster status` refuses them unless STATUS is 0.
REFUSING = f"""#!/bin/sh
case "$*" in
    *"cluster status"*) echo "{REFUSED}" >&2; exit $STATUS ;;
    *"--job worker"*) eval "$WORKER" ;;
    *) exec sleep 60 ;;
esac
"""
# Stands for ssh: runs its last argument, the command for the host, on this machine.
SSH = """#!/bin/sh
for command; do :; done
exec sh -c "$command"
"""
# A task that ends after twelve lines.
ENDING = """#!/bin/sh
for line in 1 2 3 4 5 6 7 8 9 10 11 12; do printf 'line %s\\r\\n' $line; done
exit 3
"""


def write_program(path: Path, text: str) -> Path:
    """Return a program of this text."""
    path.write_text(text)
    path.chmod(0o755)
    return path


def stand_ins(folder: Path, worker: str = "exec sleep 60", status: int = 1, remote: str = "exit 1") -> dict[str, str]:
    """Return variables with which nothing real is started; the tasks that are workers run the command `worker`."""
    program = write_program(folder / "python", REFUSING)
    write_program(folder / "ssh", SSH)
    return {
        "TFW2V_PYTHON": str(program),
        "TFW2V_PORT": str(free_ports(3)),
        "TFW2V_REMOTE": str(write_program(folder / "remote", f"#!/bin/sh\n{remote}\n")),
        "WORKER": worker,
        "STATUS": str(status),
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
    }


def run_script(
    folder: Path, *arguments: str, wait: int = 600, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, by default with stand-ins for what it starts."""
    script, *others = arguments
    return subprocess.run(
        ["bash", str(SCRIPTS / script), *others],
        cwd=folder,
        env={"TFW2V_WAIT": str(wait)} | dict(stand_ins(folder) if variables is None else variables),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("script", ["local.sh", "ssh.sh"])
def test_help_tells_the_usage(script: str, tmp_path: Path) -> None:
    done = run_script(tmp_path, script, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"  cluster/{script} " in done.stdout
    assert "FOLDER gets cluster.json" in done.stdout
    assert "set -euo" not in done.stdout


@pytest.mark.parametrize(
    "arguments", [["local.sh", "0"], ["local.sh", "1", "two"], ["local.sh", "1", "-1"], ["ssh.sh"]], ids=" ".join
)
def test_what_cannot_be_started_is_answered_by_the_usage(arguments: list[str], tmp_path: Path) -> None:
    done = run_script(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"  cluster/{arguments[0]} " in done.stderr
    assert not (tmp_path / "tfw2v-cluster").exists()


def test_why_there_is_no_cluster_is_told_in_the_words_of_its_status(tmp_path: Path) -> None:
    done = run_script(tmp_path, "local.sh", "1", "1", wait=1)
    assert done.returncode == 1
    assert REFUSED in done.stderr


def test_every_variable_of_a_script_is_explained_by_its_help_and_its_page() -> None:
    page = (SCRIPTS / "README.md").read_text(encoding="utf8")
    for script in ("local.sh", "ssh.sh"):
        source = (SCRIPTS / script).read_text(encoding="utf8") + (SCRIPTS / "common.sh").read_text(encoding="utf8")
        usage = subprocess.run(["bash", str(SCRIPTS / script), "--help"], capture_output=True, text=True, check=True)
        for variable in set(re.findall(r"TFW2V_\w+", source)):
            assert variable in usage.stdout
            assert variable in page


def test_a_task_that_ends_is_shown_with_the_end_of_its_log_without_waiting_for_the_others(tmp_path: Path) -> None:
    write_program(tmp_path / "ending", ENDING)
    done = run_script(tmp_path, "local.sh", "1", "1", "logs", variables=stand_ins(tmp_path, worker="exec ./ending"))
    assert done.returncode == 1
    last_lines = "".join(f"    line {number}\n" for number in range(3, 13))
    assert f"worker 0 has ended with exit status 3\nThe last lines of logs/worker-0.log:\n{last_lines}" in done.stderr
    assert "local.sh: error: worker 0 ended; see above\n" in done.stderr
    assert "ps 0 has ended" not in done.stderr


def test_a_task_that_ends_once_the_cluster_is_ready_is_shown_as_well(tmp_path: Path) -> None:
    variables = stand_ins(tmp_path, worker="exec sleep 1", status=0)
    done = run_script(tmp_path, "local.sh", "1", "1", "logs", variables=variables)
    assert done.returncode == 1
    ready, ended = done.stderr.index("ready: --cluster logs/cluster.json"), done.stderr.index("worker 0 has ended")
    assert ready < ended


def test_the_signal_that_ended_a_task_is_named(tmp_path: Path) -> None:
    write_program(tmp_path / "killed", "#!/bin/sh\nkill -9 $$\n")
    done = run_script(tmp_path, "local.sh", "1", "1", "logs", variables=stand_ins(tmp_path, worker="exec ./killed"))
    expected = "worker 0 has ended with exit status 137 (signal KILL)\nlogs/worker-0.log is empty\n"
    assert expected in done.stderr


def test_a_port_that_is_taken_is_named_before_anything_is_written(tmp_path: Path) -> None:
    variables = stand_ins(tmp_path)
    port = int(variables["TFW2V_PORT"]) + 1
    with socket.create_server(("127.0.0.1", port)):
        done = run_script(tmp_path, "local.sh", "1", "1", "logs", variables=variables)
    assert done.returncode == 1
    assert f"local.sh: error: port {port} is taken; TFW2V_PORT" in done.stderr
    assert not (tmp_path / "logs").exists()


def test_the_remote_command_may_be_another_one_with_arguments(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("ps a:1\nworker b:2\n")
    remote = 'case "$*" in *"--job ps"*) exec sleep 60 ;; esac; echo "$@"; echo "$TF_CONFIG"; exit 1'
    variables = stand_ins(tmp_path, remote=remote)
    variables |= {"TFW2V_REMOTE": f"{variables['TFW2V_REMOTE']} -m gensim_tfw2v"}
    done = run_script(tmp_path, "ssh.sh", "hosts", "logs", variables=variables)
    assert "    -m gensim_tfw2v server --job worker --task 0 --cluster env --allow-network\n" in done.stderr
    assert '    {"ps": ["a:1"], "worker": ["b:2"]}\n' in done.stderr


def test_a_remote_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("ps a:1\nworker b:2\n")
    variables = stand_ins(tmp_path) | {"TFW2V_REMOTE": "no-such-command -m gensim_tfw2v"}
    done = run_script(tmp_path, "ssh.sh", "hosts", "logs", variables=variables)
    complaint = "(the host has no command no-such-command; TFW2V_REMOTE names another)"
    assert f" 0 has ended with exit status 127 {complaint}" in done.stderr


def test_a_worker_on_a_list_of_hosts_may_have_a_number_of_cores_and_a_gpu(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("ps a:1\nworker b:2\nworker c:3 cores=8 gpu=0  # the large one\r\n")
    remote = 'echo "$@"; case "$*" in *"--task 1"*) exit 1 ;; *) exec sleep 60 ;; esac'
    done = run_script(tmp_path, "ssh.sh", "hosts", "logs", variables=stand_ins(tmp_path, remote=remote))
    assert "    server --job worker --task 1 --cluster env --allow-network --cores 8 --gpu 0\n" in done.stderr
    without = (tmp_path / "logs" / "worker-0.log").read_text()
    assert without.strip() == "server --job worker --task 0 --cluster env --allow-network"


@pytest.mark.parametrize(
    "line",
    ["worker b:2 cores=0", "worker b:2 cores=two", "worker b:2 8", "ps b:2 cores=2", "worker b:2 cores=2 gpu=all"],
)
def test_what_a_list_of_hosts_cannot_say_of_a_task_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(f"ps a:1\nworker c:3\n{line}\n")
    done = run_script(tmp_path, "ssh.sh", "hosts", "logs")
    assert done.returncode == 1
    assert f"ssh.sh: error: hosts: '{line.split()[-1]}' after an address; a worker may have cores=N" in done.stderr
    assert not (tmp_path / "logs").exists()


def test_workers_on_this_machine_have_one_core_or_as_many_as_the_command_says(tmp_path: Path) -> None:
    for arguments, cores in (([], 1), (["--cores", "3"], 3)):
        variables = stand_ins(tmp_path, worker='echo "$@"; exit 1')
        done = run_script(tmp_path, "local.sh", *arguments, "1", "1", "logs", variables=variables)
        assert re.search(rf"    .*server --job worker --task 0 .* --cores {cores}\n", done.stderr), done.stderr


@pytest.mark.parametrize("cores", ["0", "two", ""])
def test_a_wrong_number_of_cores_of_local_workers_is_named(cores: str, tmp_path: Path) -> None:
    done = run_script(tmp_path, "local.sh", "--cores", cores, "1", "1")
    assert done.returncode == 1
    assert done.stderr == f"local.sh: error: --cores: '{cores}' is not a whole number of 1 or more\n"


@pytest.mark.slow
def test_a_killed_task_of_a_real_cluster_is_shown_with_its_log(tmp_path: Path) -> None:
    variables = environment() | {"TFW2V_PYTHON": sys.executable, "TFW2V_PORT": str(free_ports(2))}
    with subprocess.Popen(
        ["bash", str(SCRIPTS / "local.sh"), "1", "1"], cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True
    ) as script:
        try:
            assert script.stderr is not None
            assert script.stderr.readline().startswith("ready: ")
            log = tmp_path / "tfw2v-cluster" / "worker-0.log"
            (process,) = re.findall(r"process (\d+)", log.read_text(encoding="utf8"))
            os.kill(int(process), signal.SIGKILL)
            errors = script.stderr.read()
        finally:
            script.terminate()
    assert script.returncode == 1
    assert "worker 0 has ended with exit status 137 (signal KILL)" in errors
    assert f"    tfw2v server: worker 0 of 127.0.0.1:{int(variables['TFW2V_PORT']) + 1} is ready" in errors


def test_a_list_of_hosts_may_have_the_line_ends_of_windows(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_bytes(b"ps a:1 # one\r\nworker b:2\r\n# none\r\nworker c:3\r\n")
    done = run_script(tmp_path, "ssh.sh", "hosts", "logs")
    assert " ended; see above\n" in done.stderr
    assert json.loads((tmp_path / "logs" / "cluster.json").read_text()) == {"ps": ["a:1"], "worker": ["b:2", "c:3"]}
