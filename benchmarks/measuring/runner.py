"""Runs jobs in sequence, each in a process of its own, with the systems in turns."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from measuring.checkout import BENCHMARKS, HERE
from measuring.jobs import Job
from measuring.memory import FamilyMemory

_System = TypeVar("_System")
_LAST_LINES = 5  # of a failed run's messages


class RunFailedError(Exception):
    """A run ended without a result; the message says how."""


def in_turns(jobs: Sequence[Job], repeats: int) -> Iterator[tuple[int, Job]]:
    """Yield (round, job) for every round of all jobs, in reverse order in every other round. Each round has a seed.

    If the machine is slow for a while, this affects all jobs; and no job is always the first.
    """
    for turn in range(repeats):
        for job in order_of(turn, jobs):
            yield turn, dataclasses.replace(job, seed=job.seed + turn)


def order_of(turn: int, systems: Sequence[_System]) -> Sequence[_System]:
    """Return what a round measures in the order of that round: every other round has the reverse order."""
    return systems if turn % 2 == 0 else systems[::-1]


def run(job: Job) -> dict[str, Any]:
    """Return the results of a job in a new process; raise RunFailedError with its last messages if it failed.

    `process_seconds` of the results are those from the start of the process until training ended.
    """
    command = [sys.executable, str(BENCHMARKS / "one_run.py"), *job.to_arguments()]
    began = time.time()
    with (
        tempfile.TemporaryFile("w+") as messages,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages, text=True) as process,
    ):
        try:
            with FamilyMemory(process.pid) as memory:
                printed, _ = process.communicate()
        except BaseException:
            process.kill()
            raise
        messages.seek(0)
        last_lines = messages.read().strip().splitlines()[-_LAST_LINES:]
    lines = printed.strip().splitlines()
    if process.returncode or not lines:
        raise RunFailedError(f"{job.system} ended with status {process.returncode}: " + "\n".join(last_lines))
    result: dict[str, Any] = json.loads(lines[-1])
    trained_at = result.pop("trained_at")
    result["process_seconds"] = trained_at - began
    result["peak_rss_bytes"] = max(result["peak_rss_bytes"], memory.peak_until(trained_at))
    return result


def run_all(
    jobs: Sequence[Job],
    repeats: int,
    keep: Callable[[dict[str, Any]], None],
    say: Callable[[str], None],
    is_done: Callable[[Job], bool] = lambda job: False,
) -> None:
    """Run every job `repeats` times in turns, and call `keep` with the record of each run when it ends.

    The record of a failed run has the reason as its "error", and the other runs continue. Runs that are done already
    are left out.
    """
    turns = [(turn, job) for turn, job in in_turns(jobs, repeats) if not is_done(job)]
    for number, (turn, job) in enumerate(turns, start=1):
        label = f"[{number}/{len(turns)}] {_label_of(job)} round {turn + 1}"
        record = {"round": turn, **dataclasses.asdict(job), "corpus": Path(job.corpus).name}
        if job.graph is not None:
            record["graph"] = Path(job.graph).name
        try:
            record |= run(job)
        except RunFailedError as failure:
            record["error"] = str(failure)
            say(f"{label}: FAILED, {failure}")
        else:
            say(f"{label}: {record['words_per_second']:,.0f} words/s")
        keep(record)


def _label_of(job: Job) -> str:
    system = job.system if job.revision == HERE else f"{job.system} {job.revision}"
    shown = {"workers": job.workers, **job.own_arguments()}
    if job.emulated_threads is not None:
        shown["emulated_threads"] = job.emulated_threads
    return f"{system} {job.mode} {job.vector_size}" + "".join(f" {name}={value}" for name, value in shown.items())
