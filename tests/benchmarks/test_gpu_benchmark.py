"""`scripts/check-gpu` runs its whole course on the CPU, and says which device is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import gpu
import pytest
from support.benchmark_commands import corpus_in

ROOT = Path(__file__).parents[2]
SMALL = ("--small", "--words", 20_000, "--vocabulary", 300, "--epochs", 1, "--workers", 1)


def check_gpu(folder: Path, *options: object) -> subprocess.CompletedProcess[str]:
    """Run the script on a tiny corpus, with this Python's environment; its results are in the folder."""
    command = ["scripts/check-gpu", "--corpus", corpus_in(folder), "--output", folder, "--name", "tiny", *options]
    variables = {"TFW2V_VENV": sys.prefix, "TFW2V_STEP": "plain"}
    return subprocess.run(
        [*map(str, command)], cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, timeout=600
    )


@pytest.mark.slow
def test_the_whole_course_runs_on_the_cpu(tmp_path: Path) -> None:
    done = check_gpu(tmp_path, "--device", "cpu", *SMALL)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "tiny.json").read_text())
    assert done.stdout == (tmp_path / "tiny.md").read_text() + "\n"
    facts = results["facts"]
    assert facts["device"] == "cpu"
    assert "passed" in facts["contract suite"]
    assert facts["tables are on"].endswith("CPU:0")
    assert float(facts["furthest row"]) == 0
    assert 10 < int(facts["launches a batch"]) < 400
    assert 10 < int(facts["launches of a block's draws"]) < 200
    assert [(run["corpus"], run["system"], run["device"]) for run in results["runs"]] == [
        (corpus, *system)
        for corpus in ("zipf.txt", "corpus.txt")
        for system in (*[("tfw2v", "cpu")] * 4, ("gensim", None), ("tfw2v-cluster", "cpu"))
    ]
    assert all(run["finite"] for run in results["runs"])
    assert "## Profile of the step" in done.stdout


@pytest.mark.slow
def test_a_device_that_is_not_there_ends_the_check_at_once(tmp_path: Path) -> None:
    done = check_gpu(tmp_path, "--device", "gpu:77", *SMALL)
    assert done.returncode == 2
    assert "device='gpu:77' is not there; choose one of 'cpu'" in done.stderr


def test_the_most_telling_runs_come_first() -> None:
    arguments = SimpleNamespace(device="gpu", corpus="wiki.txt", epochs=5, workers=8)
    jobs = gpu.jobs(arguments, "zipf.txt")  # type: ignore[arg-type]
    assert [(job.corpus, job.device, job.draws, job.batch_tokens) for job in jobs[:4]] == [
        ("zipf.txt", "gpu", None, 8192),
        ("zipf.txt", "gpu", None, None),
        ("zipf.txt", "gpu", "host", None),
        ("zipf.txt", "cpu", None, None),
    ]
    assert [(job.system, job.workers, job.epochs, job.scores) for job in jobs[4:7]] == [
        ("gensim", 8, 1, False),
        ("tfw2v-cluster", 2, 1, False),
        ("tfw2v", 8, 5, True),
    ]


def test_kernels_are_shown_by_time_and_the_rest_together() -> None:
    step = gpu.Step({}, {f"kernel {number}": number / 1e3 for number in range(1, 23)}, tokens=1_000)
    table = gpu._profile_table(step)
    assert table[:2] == [["kernel", "ns/token"], ["kernel 22", "22000.0"]]
    assert table[-1] == ["2 others", "3000.0"]
