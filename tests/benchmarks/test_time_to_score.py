"""Systems train with one more epoch after another until they score as gensim does, and the table says how soon."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import time_to_score
from measuring.jobs import Job
from measuring.runner import in_turns
from support.benchmark_commands import corpus_in, run_command


def test_the_fewest_epochs_with_at_least_the_target_reach_it() -> None:
    assert time_to_score.reaching(30.0, {1: 29.0, 3: 31.0, 2: 30.0}) == 2
    assert time_to_score.reaching(30.0, {1: 30.5}) == 1


def test_no_epochs_reach_a_target_that_is_above_all_scores() -> None:
    assert time_to_score.reaching(30.0, {1: 29.0, 2: 29.9}) is None
    assert time_to_score.reaching(30.0, {}) is None


def a_run(system: str, epochs: int, score: float | None, turn: int = 0, **others: Any) -> dict[str, Any]:
    """Return a made-up run, of two seconds more with each epoch."""
    return {
        "mode": "sg-neg",
        "system": system,
        "epochs": epochs,
        "round": turn,
        "seed": 1 + turn,
        "process_seconds": 2.0 * epochs,
        "build_vocab_seconds": None,
        "train_seconds": 1.5 * epochs,
        "words_per_second": 1000.0,
        "scores": {"mean": score},
        **others,
    }


class FakeRuns:
    """Stands in for processes that train: notes the jobs; a system scores as many points as its number of epochs."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.score: Callable[[Job], float | None] = lambda job: float(job.epochs)
        self.fails: Callable[[Job], bool] = lambda job: False

    def run_all(
        self, jobs: Sequence[Job], repeats: int, keep: Callable[[dict[str, Any]], None], say: Callable[[str], None]
    ) -> None:
        for turn, job in in_turns(jobs, repeats):
            self.jobs.append(job)
            run = a_run(job.system, job.epochs, self.score(job), turn, mode=job.mode)
            keep({**dataclasses.asdict(job), **run, **({"error": "no memory"} if self.fails(job) else {})})


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    runs = FakeRuns()
    monkeypatch.setattr(time_to_score, "run_all", runs.run_all)
    return runs


def measured(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], dict[str, list[str]]]:
    """Run the command; return its status, its results, and the cells of each line of the first table by system."""
    settings = ["--output", str(folder), "--modes", "sg-neg", "--repeats", "2", *arguments]
    status = time_to_score.main([str(corpus_in(folder)), *settings])
    lines = (folder / "time_to_score.md").read_text().partition("## Results")[2].partition("##")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| sg-neg")]
    return status, json.loads((folder / "time_to_score.json").read_text()), {row[1]: row for row in cells}


def test_epochs_are_added_until_the_score_is_reached(fake: FakeRuns, tmp_path: Path) -> None:
    fake.score = lambda job: 5.0 if job.system == "gensim" else 2.0 * job.epochs
    status, results, rows = measured(tmp_path)
    assert status == 0
    assert [(job.system, job.epochs, job.seed) for job in fake.jobs] == [
        *[("gensim", 5, 1), ("tfw2v", 1, 1), ("tfw2v", 1, 2), ("gensim", 5, 2)],
        *[("tfw2v", epochs, seed) for epochs in (2, 3) for seed in (1, 2)],
    ]
    assert [(result["system"], result["reached"], result["epochs"]) for result in results["results"]] == [
        ("gensim", True, 5),
        ("tfw2v", True, 3),
    ]
    assert rows["tfw2v"][2:6] == ["2", "3", "6.0 (6.0 to 6.0)", "1.67 (1.67 to 1.67)"]
    assert rows["gensim"][3:6] == ["5", "10.0 (10.0 to 10.0)", "1.00 (1.00 to 1.00)"]


def test_the_target_is_gensims_mean_and_the_mean_over_seeds_reaches_it(fake: FakeRuns, tmp_path: Path) -> None:
    fake.score = lambda job: 5.0 if job.system == "gensim" else job.epochs + {1: 3.5, 2: 2.5}[job.seed]
    _, results, rows = measured(tmp_path)
    assert results["results"][1]["epochs"] == 2  # 5.5 and 4.5
    assert rows["tfw2v"][-1] == "5.00 ± 0.71"


def test_a_system_that_stays_below_the_score_has_not_reached_it(fake: FakeRuns, tmp_path: Path) -> None:
    fake.score = lambda job: 5.0 if job.system == "gensim" else {1: 3.0, 2: 4.9, 3: 4.0}[job.epochs]
    status, results, rows = measured(tmp_path, "--most-epochs", "3")
    assert status == 0
    assert rows["tfw2v"][3:6] == ["not reached", "-", "-"]
    assert rows["tfw2v"][-1] == "4.90 ± 0.00 (best, at 2)"
    assert (results["results"][1]["reached"], results["results"][1]["ratio"]) == (False, None)


def test_each_system_stops_when_it_has_reached_the_score(
    fake: FakeRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("fasttext", "pWord2Vec"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    fake.score = lambda job: {"gensim": 3.0, "tfw2v": 3.0, "fasttext": 1.0 + job.epochs}[job.system]
    modes = ("--modes", "cbow-hs")  # which pWord2Vec does not have
    measured(tmp_path, "--systems", "tfw2v", "fasttext", "pword2vec", "word2vec", "--most-epochs", "4", *modes)
    trained = {(job.system, job.epochs) for job in fake.jobs}
    assert trained == {("gensim", 5), ("tfw2v", 1), ("fasttext", 1), ("fasttext", 2)}


def test_a_system_whose_runs_fail_is_not_tried_with_more_epochs(fake: FakeRuns, tmp_path: Path) -> None:
    fake.fails = lambda job: job.system == "tfw2v"
    status, _, rows = measured(tmp_path)
    assert status == 1
    assert {(job.system, job.epochs) for job in fake.jobs} == {("gensim", 5), ("tfw2v", 1)}
    assert list(rows) == ["gensim"]
    assert "no memory" in (tmp_path / "time_to_score.md").read_text()


def test_nothing_is_reached_where_gensim_has_no_score(
    fake: FakeRuns, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.score = lambda job: None
    _, results, _ = measured(tmp_path)
    assert results["results"] == []
    assert "gensim has no score" in capsys.readouterr().err


def test_the_optimizer_is_ours_alone_and_is_not_given_by_default(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path)
    assert {job.optimizer for job in fake.jobs} == {None}
    fake.jobs.clear()
    measured(tmp_path, "--optimizer", "sgd")
    assert {(job.system, job.optimizer) for job in fake.jobs} == {("gensim", None), ("tfw2v", "sgd")}


def test_seconds_of_a_program_are_its_own_and_not_those_of_the_process_that_starts_it() -> None:
    assert time_to_score.seconds_of(a_run("tfw2v", 3, 1.0)) == 6.0
    assert time_to_score.seconds_of(a_run("fasttext", 3, 1.0)) == 4.5
    assert time_to_score.seconds_of(a_run("word2vec", 3, 1.0, build_vocab_seconds=1.0)) == 5.5


@pytest.mark.parametrize("arguments", [(), ("--quick", __file__)])
def test_a_corpus_or_a_quick_run_is_asked_for(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        time_to_score.main([*arguments])
    assert "give either a corpus or --quick" in capsys.readouterr().err


def size_of(picture: Path) -> tuple[int, int]:
    """Return the width and height that the header of a PNG file has."""
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height


def test_the_seconds_are_drawn_and_the_report_shows_them(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path)
    assert size_of(tmp_path / "time_to_score-seconds.png")[0] == 750
    assert "](time_to_score-seconds.png)" in (tmp_path / "time_to_score.md").read_text()


def test_a_committed_result_is_drawn_without_measuring(fake: FakeRuns, tmp_path: Path) -> None:
    committed = Path(time_to_score.__file__).parent / "results" / "time_to_score.json"
    copy = tmp_path / "again.json"
    copy.write_bytes(committed.read_bytes())
    assert time_to_score.main(["--draw", str(copy)]) == 0
    assert fake.jobs == []
    assert size_of(tmp_path / "again-seconds.png") == size_of(committed.with_name("time_to_score-seconds.png"))


@pytest.mark.slow
def test_a_quick_run_measures_whole_processes(tmp_path: Path) -> None:
    small = ("--quick", "--modes", "cbow-neg", "--repeats", 1, "--most-epochs", 1, "--workers", 1)
    done = run_command("time_to_score.py", *small, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "time_to_score.json").read_text())
    assert [(run["system"], run["epochs"]) for run in results["runs"]] == [("gensim", 5), ("tfw2v", 1)]
    for run in results["runs"]:
        assert run["process_seconds"] > run["build_vocab_seconds"] + run["train_seconds"]
    assert [result["system"] for result in results["results"]] == ["gensim", "tfw2v"]
