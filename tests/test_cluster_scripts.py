"""cluster/local.sh and cluster/ssh.sh: what they ask for, and what they say when there will be no cluster."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "cluster"
REFUSED = "tfw2v: error: ps 0 runs another version"
# Stands for Python: its tasks do nothing, or end at once, and `cluster status` refuses them.
REFUSING = f"""#!/bin/sh
case "$*" in
    *"cluster status"*) echo "{REFUSED}" >&2; exit 1 ;;
    *"--job worker"*) $WORKER ;;
    *) exec sleep 60 ;;
esac
"""
# Stands for the ssh that begins a task elsewhere.
ENDING = "#!/bin/sh\nexit 1\n"


def write_program(path: Path, text: str) -> Path:
    """Return a program of this text."""
    path.write_text(text)
    path.chmod(0o755)
    return path


def run_script(
    folder: Path, *arguments: str, worker: str = "exec sleep 60", wait: int = 600
) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder where nothing real is started; the tasks that are workers run this command."""
    program = write_program(folder / "python", REFUSING)
    write_program(folder / "ssh", ENDING)
    script, *others = arguments
    stand_ins = {"TFW2V_PYTHON": str(program), "WORKER": worker, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", str(SCRIPTS / script), *others],
        cwd=folder,
        env={"TFW2V_WAIT": str(wait)} | stand_ins,
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


def test_a_task_that_ends_is_told_of_without_waiting_for_the_others(tmp_path: Path) -> None:
    done = run_script(tmp_path, "local.sh", "1", "2", "logs", worker="exit 1")
    assert done.returncode == 1
    assert "error: a task has ended; see logs/worker-0.log" in done.stderr


def test_a_list_of_hosts_may_have_the_line_ends_of_windows(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_bytes(b"ps a:1 # one\r\nworker b:2\r\n# none\r\nworker c:3\r\n")
    done = run_script(tmp_path, "ssh.sh", "hosts", "logs")
    assert "error: a task has ended; see logs/ps-0.log" in done.stderr
    assert json.loads((tmp_path / "logs" / "cluster.json").read_text()) == {"ps": ["a:1"], "worker": ["b:2", "c:3"]}
