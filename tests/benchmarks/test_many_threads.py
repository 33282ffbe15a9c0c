"""The benchmark of many threads: which runs it makes, how they are told to emulate, and what its tables say."""

from __future__ import annotations

import ctypes
import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import many_threads
import one_run
import pytest
from measuring.emulated_threads import NoEmulationError, emulate_threads_in
from measuring.jobs import Job
from measuring.runner import in_turns
from report.thread_table import EMULATED, GENSIM, THREADS, tables_of, threads_of, way_of
from support.benchmark_commands import corpus_in, run_command


def a_run(way: str, threads: int, score: float | None, **others: Any) -> dict[str, Any]:
    """Return a made-up run."""
    return {
        "mode": "sg-neg",
        "system": "gensim" if way == GENSIM else "tfw2v",
        "optimizer": None if way == GENSIM else "sgd",
        "workers": 1 if way == EMULATED else threads,
        "emulated_threads": threads if way == EMULATED else None,
        "seed": 1,
        "scores": {"analogies": 1.0, "mean": score},
        "finite": True,
        **others,
    }


class FakeRuns:
    """Stands in for programs that train: notes the jobs, and makes up their scores."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.fails: Callable[[Job], bool] = lambda job: False

    def run_all(
        self,
        jobs: Sequence[Job],
        repeats: int,
        keep: Callable[[dict[str, Any]], None],
        say: Callable[[str], None],
        is_done: Callable[[Job], bool],
    ) -> None:
        for turn, job in in_turns(jobs, repeats):
            if not is_done(job):
                self.jobs.append(job)
                result = {"error": "no memory"} if self.fails(job) else {"scores": {"mean": 20.0}, "finite": True}
                keep({"round": turn, **dataclasses.asdict(job), **result})


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    runs = FakeRuns()
    monkeypatch.setattr(many_threads, "run_all", runs.run_all)
    monkeypatch.setattr(many_threads, "_check_emulation", lambda: None)
    return runs


def measured(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Run the command on a small corpus; return its status and both files of results."""
    status = many_threads.main([str(corpus_in(folder)), "--output", str(folder), *arguments])
    results = json.loads((folder / "many_threads.json").read_text())
    return status, results, (folder / "many_threads.md").read_text()


SMALL = ("--modes", "sg-neg", "--threads", "1", "8")


def test_ours_is_trained_with_each_optimizer_in_both_ways_and_gensims_once(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path, *SMALL, "--threads", "8")
    assert [(job.system, job.optimizer, job.workers, job.emulated_threads) for job in fake.jobs] == [
        ("tfw2v", "sgd", 8, None),
        ("tfw2v", "adagrad", 8, None),
        ("tfw2v", "sgd", 1, 8),
        ("tfw2v", "adagrad", 1, 8),
        ("gensim", None, 8, None),
    ]


def test_threads_of_ours_are_not_fewer_where_there_are_fewer_cores(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path, *SMALL, "--ways", THREADS)
    assert {(job.workers, job.cores) for job in fake.jobs} == {(1, 1), (8, 8)}


def test_by_default_all_modes_have_1_to_64_threads(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path, "--ways", GENSIM)
    modes = ("sg-neg", "cbow-neg", "sg-hs", "cbow-hs")
    assert [(job.mode, job.workers) for job in fake.jobs] == [
        (mode, threads) for mode in modes for threads in (1, 2, 4, 8, 16, 32, 64)
    ]


def test_the_first_words_of_a_corpus_can_be_trained_alone(
    fake: FakeRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = []
    monkeypatch.setattr(many_threads, "run_all", lambda jobs, *_: words.append(Path(jobs[0].corpus).read_text()))
    measured(tmp_path, *SMALL, "--words", "10")
    assert len(words[0].split()) == 10


def test_runs_that_the_results_of_threads_have_are_left_out(fake: FakeRuns, tmp_path: Path) -> None:
    fake.fails = lambda job: job.workers == 8
    status, _, page = measured(tmp_path, *SMALL, "--ways", THREADS, GENSIM)
    assert status == 1
    assert "no memory" in page
    fake.jobs.clear()
    fake.fails = lambda job: False
    status, results, _ = measured(tmp_path, *SMALL, "--ways", THREADS, EMULATED, GENSIM, "--optimizers", "sgd")
    assert status == 0
    assert [(job.system, job.workers, job.emulated_threads) for job in fake.jobs] == [
        ("tfw2v", 1, 1),
        ("tfw2v", 8, None),
        ("tfw2v", 1, 8),
        ("gensim", 8, None),
    ]
    assert len(results["runs"]) == 7  # two of another optimizer and of gensim with one thread among them


def test_results_of_other_settings_are_not_mixed_with_these(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path, *SMALL)
    with pytest.raises(SystemExit, match="another window"):
        measured(tmp_path, *SMALL, "--window", "3")


def test_a_library_that_cannot_emulate_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda path: SimpleNamespace())
    with pytest.raises(SystemExit, match=r"has no function tfw2v_emulate_threads.*--ways threads gensim"):
        measured(tmp_path, *SMALL)
    assert not (tmp_path / "many_threads.json").exists()


def test_the_library_is_told_how_many_threads_to_emulate(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    def function(threads: int) -> None:
        told.append(threads)

    monkeypatch.setattr(ctypes, "CDLL", lambda path: SimpleNamespace(tfw2v_emulate_threads=function))
    emulate_threads_in(Path("library.so"), 16)
    assert told == [16]


def test_a_library_without_the_function_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda path: SimpleNamespace())
    with pytest.raises(NoEmulationError, match=r"library\.so has no function tfw2v_emulate_threads"):
        emulate_threads_in(Path("library.so"), 2)


def test_a_run_that_emulates_has_one_worker(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--emulated-threads needs --workers 1, got 2"):
        one_run.main(["tfw2v", str(corpus_in(tmp_path)), "--emulated-threads", "8", "--workers", "2"])


def test_a_job_of_threads_is_read_again_from_its_arguments(tmp_path: Path) -> None:
    job = Job("tfw2v", str(corpus_in(tmp_path)), cores=16, emulated_threads=32)
    arguments = one_run._parser().parse_args(job.to_arguments())
    assert (arguments.cores, arguments.emulated_threads) == (16, 32)


def test_a_run_has_the_threads_that_train_or_that_are_emulated() -> None:
    runs = [a_run(way, 8, 20.0) for way in (THREADS, EMULATED, GENSIM)]
    assert [way_of(run) for run in runs] == [THREADS, EMULATED, GENSIM]
    assert [threads_of(run) for run in runs] == [8, 8, 8]


def test_a_row_is_a_mode_way_and_optimizer_and_a_column_a_number_of_threads() -> None:
    runs = [
        a_run(GENSIM, 8, 19.0),
        a_run(THREADS, 8, 18.0, optimizer="adagrad"),
        a_run(EMULATED, 8, 17.0),
        a_run(THREADS, 8, 20.0),
        a_run(THREADS, 1, 21.0),
        a_run(THREADS, 8, 22.0, seed=2),
        a_run(THREADS, 1, 16.0, mode="cbow-neg"),
    ]
    assert tables_of(runs)["Score: mean"] == [
        ["mode", "way", "optimizer", "1 thread", "8 threads"],
        ["sg-neg", "threads", "sgd", "21.00", "21.00 ± 1.41"],
        ["sg-neg", "emulated", "sgd", "-", "17.00"],
        ["sg-neg", "threads", "adagrad", "-", "18.00"],
        ["sg-neg", "gensim", "-", "-", "19.00"],
        ["cbow-neg", "threads", "sgd", "16.00", "-"],
    ]


def test_differences_are_to_gensims_mean_with_as_many_threads() -> None:
    runs = [
        a_run(THREADS, 1, 20.0),
        a_run(THREADS, 8, 18.0),
        a_run(THREADS, 8, 19.0, seed=2),
        a_run(GENSIM, 8, 20.0),
        a_run(GENSIM, 1, 19.5),
        a_run(EMULATED, 16, 20.0),
    ]
    assert tables_of(runs)["Difference to gensim's mean"][1:] == [
        ["sg-neg", "threads", "sgd", "+0.50", "-1.50", "-"],
        ["sg-neg", "emulated", "sgd", "-", "-", "-"],
    ]


def test_every_score_has_a_table_and_the_main_one_is_first() -> None:
    assert list(tables_of([a_run(THREADS, 1, 20.0)])) == ["Score: mean", "Score: analogies"]
    walks = [a_run(way, 1, None, scores={"links": 60.0, "communities": 80.0}) for way in (THREADS, GENSIM)]
    assert list(tables_of(walks)) == ["Score: communities", "Difference to gensim's communities", "Score: links"]


def test_vectors_that_are_not_finite_have_no_score() -> None:
    runs = [a_run(THREADS, 1, 20.0, finite=False), a_run(GENSIM, 1, None)]
    tables = tables_of(runs)
    assert [row[-1] for row in tables["Score: mean"][1:]] == ["**not finite**", "-"]
    assert tables["Difference to gensim's mean"][1][-1] == "**not finite**"


def test_without_runs_that_succeeded_there_are_no_tables() -> None:
    assert tables_of([a_run(THREADS, 1, None, error="no memory")]) == {}


@pytest.mark.slow
def test_more_threads_than_cores_are_scored_beside_gensims(tmp_path: Path) -> None:
    small = ("--modes", "cbow-neg", "--optimizers", "adagrad", "--threads", 1, 6, "--ways", THREADS, GENSIM)
    sizes = ("--vector-size", 10, "--epochs", 1, "--output", tmp_path)
    done = run_command("many_threads.py", corpus_in(tmp_path), *small, *sizes)
    assert done.returncode == 0, done.stderr
    assert "| cbow-neg | threads | adagrad   |" in (tmp_path / "many_threads.md").read_text()
