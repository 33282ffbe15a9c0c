"""What the documentation shows does what it says."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from support.clone import files_of_clone, in_a_clone

from gensim_tfw2v import local_cluster

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.slow
def test_the_quickstart_prints_falling_losses_and_neighbours() -> None:
    command = [sys.executable, str(ROOT / "examples" / "quickstart.py")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("epoch")]
    assert len(losses) == 30
    assert losses[-1] < 0.8 * losses[0]
    assert "rural" in next(line for line in done.stdout.splitlines() if line.startswith("fire:"))


@pytest.mark.slow
def test_a_program_for_schedulers_trains_on_the_cluster_in_tf_config_and_starts_no_task() -> None:
    command = [sys.executable, str(ROOT / "examples" / "cluster_from_tf_config.py")]
    with local_cluster(ps=1, workers=1) as cluster:
        config = json.dumps({"cluster": cluster.addresses, "task": {"type": "chief"}})
        done = subprocess.run(
            command, env=ENVIRONMENT | {"TF_CONFIG": config}, capture_output=True, text=True, check=True
        )
        assert all(process.poll() is None for process in cluster.processes.values())
    assert re.search(r"^worker 0: (\d+) of \1 blocks", done.stdout, re.MULTILINE)
    assert "tfw2v server" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_job_that_gets_sigterm_in_the_middle_continues_to_the_vectors_of_one_that_was_not_stopped(
    tmp_path: Path,
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (programs / "python").chmod(0o755)
    environment = ENVIRONMENT | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def job(folder: str) -> subprocess.Popen[str]:
        command = ["bash", "examples/preempted.sbatch", str(tmp_path / folder)]
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)

    stopped = job("stopped")
    while stopped.poll() is None and not list((tmp_path / "stopped").glob("checkpoints/checkpoint-*")):
        time.sleep(0.05)
    stopped.send_signal(signal.SIGTERM)
    output, _ = stopped.communicate(timeout=120)
    assert (stopped.returncode, output.split()[:2]) == (130, ["stopped", "after"])
    vectors = []
    for folder in ("stopped", "whole"):
        again = job(folder)
        assert "finished after 80 epochs" in again.communicate(timeout=200)[0]
        vectors.append(KeyedVectors.load(str(tmp_path / folder / "vectors.kv")).vectors)
    np.testing.assert_array_equal(*vectors)


RESULTS = ROOT / "benchmarks" / "results"
PAGES = sorted(page for folder in (".", "benchmarks", "cluster") for page in (ROOT / folder).glob("*.md"))
PAGES += sorted((ROOT / "docs").rglob("*.md"))
PAGES += sorted(RESULTS.glob("*.md"))
LINK = re.compile(r"\]\((?!https?://)([^)]+)")


def headings(page: Path) -> set[str]:
    """Return what links to the headings of a page end with."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf8"), flags=re.DOTALL)
    lines = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line).lower().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_file_and_heading_that_a_page_links_to_is_there(page: Path) -> None:
    missing = []
    for link in LINK.findall(page.read_text(encoding="utf8")):
        name, _, heading = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (heading and heading not in headings(target)):
            missing.append(link)
    assert missing == []


@in_a_clone
def test_every_result_in_the_repository_is_cited_by_a_page() -> None:
    results = [ROOT / name for name in files_of_clone(RESULTS)]
    pages = [page for page in PAGES if page.parent != RESULTS]
    cited = {(page.parent / link).resolve() for page in pages for link in LINK.findall(page.read_text(encoding="utf8"))}
    assert results
    assert [path.name for path in results if not {path, path.with_suffix(".md")} & cited] == []
