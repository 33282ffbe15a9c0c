"""cluster/slurm.sbatch: what it starts in a job, and how the job ends."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from support.child_process import wait_until
from support.pages import blocks

from gensim_tfw2v.cli import main as cli

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "cluster" / "slurm.sbatch"
# Stands for srun: runs the command on this machine as one task, without the flags before it, and passes signals on to
# all its processes.
SRUN = """#!/bin/bash
echo "$@" >>srun.log
while [[ $1 == -* ]]; do shift; done
trap 'kill -- -$!' TERM
SLURM_PROCID=0 setsid "$@" &
wait $!
"""
# Stands for the package: notes each command, and runs what $SERVER, $STATUS or $TRAIN says.
PACKAGE = """#!/bin/bash
printf '%q ' "$@" >>"$1.log"
echo >>"$1.log"
case $1 in
    server) eval "$SERVER" ;;
    cluster) eval "$STATUS" ;;
    train) eval "$TRAIN" ;;
esac
"""
SCONTROL = '#!/bin/bash\necho "$@" >>scontrol.log\n'
CORPUS = ["corpus.txt", "--output", "words.kv"]


@pytest.fixture
def job(tmp_path: Path) -> dict[str, str]:
    """Return the variables of a job whose programs are stand-ins; they write logs in the test's folder."""
    for name, text in {"srun": SRUN, "tfw2v": PACKAGE, "scontrol": SCONTROL}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "SLURM_JOB_ID": "42",
        "SLURM_CPUS_PER_TASK": "2",
        "SERVER": "exec sleep 60",
        "STATUS": "[[ -e server.log ]]",  # the task has begun
        "TRAIN": "true",
    }


def start(folder: Path, variables: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", str(SCRIPT), *arguments],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, variables: dict[str, str], *arguments: str) -> tuple[int, str]:
    """Run the script, and return its status and its errors."""
    process = start(folder, variables, *arguments)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


def commands(folder: Path, name: str) -> list[list[str]]:
    """Return the arguments of each command of the package that has been run with this name."""
    return [shlex.split(line) for line in (folder / f"{name}.log").read_text().splitlines()]


def test_a_job_starts_its_tasks_and_trains_by_commands_that_the_package_has(
    job: dict[str, str], tmp_path: Path
) -> None:
    assert run(tmp_path, job, *CORPUS, "--comment", "two words") == (0, "")
    for name in ("server", "cluster", "train"):
        for command in commands(tmp_path, name):
            parsed = cli.parse_arguments(command)
            assert parsed.cluster == "slurm"
            assert not parsed.allow_network
    (train,) = commands(tmp_path, "train")
    settings = cli.parse_arguments(train)
    assert (settings.checkpoint_dir, settings.resume) == ("tfw2v-checkpoints-42", True)
    assert (str(settings.corpus), settings.comment) == ("corpus.txt", "two words")
    assert "--cpus-per-task=2 " in (tmp_path / "srun.log").read_text()


def test_only_a_job_that_asks_for_it_uses_the_network(job: dict[str, str], tmp_path: Path) -> None:
    assert run(tmp_path, job, *CORPUS, "--allow-network") == (0, "")
    for name in ("server", "cluster", "train"):
        assert all(cli.parse_arguments(command).allow_network for command in commands(tmp_path, name))


def test_flags_of_the_job_come_before_those_of_the_script(job: dict[str, str], tmp_path: Path) -> None:
    assert run(tmp_path, job, *CORPUS, "--checkpoint-dir", "own", "--checkpoint-every", "60") == (0, "")
    (train,) = commands(tmp_path, "train")
    settings = cli.parse_arguments(train)
    assert (settings.checkpoint_dir, settings.checkpoint_every) == ("own", 60)


def test_a_training_that_fails_ends_the_job_with_its_status(job: dict[str, str], tmp_path: Path) -> None:
    assert run(tmp_path, job | {"TRAIN": "exit 3"}, *CORPUS) == (3, "")
    assert not (tmp_path / "scontrol.log").exists()


def test_a_job_near_its_limit_stops_its_training_and_is_requeued(job: dict[str, str], tmp_path: Path) -> None:
    variables = job | {"TRAIN": "trap 'echo >saved; exit 130' TERM; echo >begun; while true; do sleep 0.1; done"}
    with start(tmp_path, variables, *CORPUS) as process:
        wait_until((tmp_path / "begun").exists)
        process.send_signal(signal.SIGUSR1)
        _, errors = process.communicate(timeout=60)
    assert "stopped with a checkpoint; the job is requeued" in errors
    assert (tmp_path / "saved").exists()
    assert (tmp_path / "scontrol.log").read_text() == "requeue 42\n"


def test_a_training_that_has_just_finished_is_not_requeued(job: dict[str, str], tmp_path: Path) -> None:
    variables = job | {"TRAIN": "trap 'exit 0' TERM; echo >begun; while true; do sleep 0.1; done"}
    with start(tmp_path, variables, *CORPUS) as process:
        wait_until((tmp_path / "begun").exists)
        process.send_signal(signal.SIGUSR1)
        assert process.wait(60) == 0
    assert not (tmp_path / "scontrol.log").exists()


def test_a_task_that_dies_is_started_again(job: dict[str, str], tmp_path: Path) -> None:
    died = {"SERVER": "if [[ ! -e died ]]; then echo >died; kill -9 $$; fi; exec sleep 60"}
    variables = job | died | {"TRAIN": "until [[ $(wc -l <server.log) == 2 ]]; do sleep 0.1; done"}
    status, errors = run(tmp_path, variables, *CORPUS)
    assert status == 0
    assert "task 0 ended with status 137, and is started again\n" in errors


def test_tasks_that_cannot_start_end_the_job_with_what_is_wrong(job: dict[str, str], tmp_path: Path) -> None:
    variables = job | {"SERVER": "exit 2", "STATUS": "echo no answer from ps 0 >&2; exit 1"}
    status, errors = run(tmp_path, variables, *CORPUS)
    assert status == 1
    assert errors.startswith("no answer from ps 0\nslurm.sbatch: error: no cluster after ")
    assert len(commands(tmp_path, "server")) == 1
    assert not (tmp_path / "train.log").exists()


def test_tasks_that_never_answer_end_the_job(job: dict[str, str], tmp_path: Path) -> None:
    status, errors = run(tmp_path, job | {"STATUS": "exit 1", "TFW2V_WAIT": "1"}, *CORPUS)
    assert status == 1
    assert "error: no cluster after" in errors


def test_the_command_on_the_nodes_may_be_another_one(job: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "tfw2v").rename(tmp_path / "python")
    (tmp_path / "python").write_text('#!/bin/bash\nshift 2\nset -- "$@"\n' + PACKAGE.partition("\n")[2])
    assert run(tmp_path, job | {"TFW2V_REMOTE": "python -m gensim_tfw2v"}, *CORPUS) == (0, "")
    assert len(commands(tmp_path, "train")) == 1


def test_without_arguments_the_script_explains_itself_and_its_variables() -> None:
    done = subprocess.run(["bash", str(SCRIPT)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "cluster/slurm.sbatch CORPUS --output MODEL" in done.stderr
    assert "SBATCH" not in done.stderr
    page = (SCRIPT.parent / "README.md").read_text(encoding="utf8")
    for variable in {*re.findall(r"TFW2V_\w+", SCRIPT.read_text(encoding="utf8")), "TFW2V_PS", "TFW2V_PORT"}:
        assert variable in done.stderr
        assert variable in page


def test_outside_of_a_job_the_script_says_how_to_submit_it(job: dict[str, str], tmp_path: Path) -> None:
    del job["SLURM_JOB_ID"]
    status, errors = run(tmp_path, job, *CORPUS)
    assert status == 2
    assert "submit it: sbatch cluster/slurm.sbatch corpus.txt --output words.kv" in errors


def test_the_commands_of_the_page_have_flags_that_training_has() -> None:
    page = ROOT / "docs" / "how-to" / "slurm.md"
    submitted = [
        shlex.split(command) for block in blocks(page) for command in block.commands if "slurm.sbatch" in command
    ]
    assert submitted
    for command in submitted:
        place = command.index("cluster/slurm.sbatch")
        assert cli.parse_arguments(["train", *command[place + 1 :]]).output == Path("vectors.kv")
