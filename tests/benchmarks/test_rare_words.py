"""The measures of rare words are what plain loops compute, and only some occurrences of a word get another name.

The command trains each system after each number of epochs, and leaves out what its results have.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rare_words
from gensim.models import KeyedVectors
from measuring.jobs import Job
from measuring.rare_words import (
    BURST,
    COUNTS,
    HALF,
    SPREAD,
    Renamed,
    agreement_by_band,
    reciprocal_ranks,
    rename_halves,
    rename_words,
)
from support.benchmark_commands import corpus_in, run_command


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a corpus of one anchor, twelve words of 400 occurrences each and one that is too rare."""
    words = ["anchor"] * 500 + [f"w{number}" for number in range(12)] * 400 + ["rare"] * 100
    np.random.default_rng(1).shuffle(words)
    path = tmp_path / "corpus.txt"
    path.write_text("".join(" ".join(words[first : first + 10]) + "\n" for first in range(0, len(words), 10)))
    return path


def test_as_many_occurrences_as_asked_for_get_another_name(corpus: Path, tmp_path: Path) -> None:
    renamed = rename_words(corpus, tmp_path / "renamed.txt", words=12, seed=3, anchors=1)
    before, after = (Counter(path.read_text().split()) for path in (corpus, tmp_path / "renamed.txt"))
    assert sorted(one.word for one in renamed) == sorted(f"w{number}" for number in range(12))
    assert Counter((one.count, one.kind) for one in renamed) == {(c, k): 2 for c in COUNTS for k in (SPREAD, BURST)}
    for one in renamed:
        assert (after[one.name], after[one.word]) == (one.count, before[one.word] - one.count)
    assert sum(before.values()) == sum(after.values())


def test_occurrences_of_a_burst_follow_each_other(corpus: Path, tmp_path: Path) -> None:
    renamed = rename_words(corpus, tmp_path / "renamed.txt", words=12, seed=3, anchors=1)
    text = (tmp_path / "renamed.txt").read_text().split()
    for one in renamed:
        other_name = [word == one.name for word in text if word in (one.word, one.name)]
        first, last = other_name.index(True), len(other_name) - other_name[::-1].index(True)
        assert (last - first == one.count) == (one.kind == BURST)


def test_other_numbers_of_occurrences_can_get_another_name(corpus: Path, tmp_path: Path) -> None:
    renamed = rename_words(corpus, tmp_path / "renamed.txt", words=13, seed=3, counts=[25], anchors=1)
    after = Counter((tmp_path / "renamed.txt").read_text().split())
    assert len(renamed) == 13  # `rare` has enough occurrences for this
    assert {after[one.name] for one in renamed} == {25}


def test_half_of_the_occurrences_of_the_most_frequent_words_get_another_name(corpus: Path, tmp_path: Path) -> None:
    renamed = rename_halves(corpus, tmp_path / "renamed.txt", words=3, seed=3)
    after = Counter((tmp_path / "renamed.txt").read_text().split())
    assert renamed[0] == Renamed("anchor", 250, HALF)
    assert [(after[one.name], after[one.word]) for one in renamed] == [(250, 250), (200, 200), (200, 200)]
    assert sum(after.values()) == len(corpus.read_text().split())


def test_a_corpus_without_words_to_rename_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text("a b c\n")
    with pytest.raises(ValueError, match=r"tiny\.txt has no word with 320 occurrences"):
        rename_words(path, tmp_path / "renamed.txt", words=6, seed=1)
    with pytest.raises(ValueError, match=r"tiny\.txt has no word with 20 occurrences"):
        rename_halves(path, tmp_path / "renamed.txt", words=6, seed=1)


def test_ranks_are_those_of_plain_loops() -> None:
    vectors = random_vectors(seed=1)
    renamed = [Renamed("w3", 6, SPREAD), Renamed("w4", 6, SPREAD), Renamed("w5", 80, BURST)]
    renamed += [Renamed("w6", 100, HALF), Renamed("w7", 50, HALF)]
    inverse = {}
    for one in renamed:
        by_nearness = [name for name, _ in vectors.most_similar(one.name, topn=len(vectors))]
        inverse[one.word] = 100 / (1 + by_nearness.index(one.word))
    expected = {"6 spread": (inverse["w3"] + inverse["w4"]) / 2, "80 burst": inverse["w5"]}
    expected["half"] = (inverse["w6"] + inverse["w7"]) / 2
    assert reciprocal_ranks(vectors, renamed) == pytest.approx(expected)


def test_agreement_is_the_mean_correlation_of_cosines_to_anchors() -> None:
    vectors, reference = random_vectors(seed=1), random_vectors(seed=2)
    anchors = reference.index_to_key[:8]
    correlations = [
        np.corrcoef(*([model.similarity(word, anchor) for anchor in anchors] for model in (vectors, reference)))[0, 1]
        for word in reference.index_to_key[8:]
    ]
    assert agreement_by_band(vectors, reference, 8) == pytest.approx(
        {"10 to 29": 100 * np.mean(correlations)}, rel=1e-4
    )
    assert agreement_by_band(vectors, vectors, 8) == pytest.approx({"10 to 29": 100})


def random_vectors(seed: int) -> KeyedVectors:
    """Return vectors of twenty words and their other names, each word with 20 occurrences."""
    vectors = KeyedVectors(5)
    names = [name for number in range(20) for name in (f"w{number}", Renamed(f"w{number}", 6, SPREAD).name)]
    vectors.add_vectors(names, np.random.default_rng(seed).normal(size=(len(names), 5)).astype(np.float32))
    vectors.expandos["count"] = np.full(len(names), 20)
    return vectors


class FakeRuns:
    """Stands in for programs that train: notes the jobs, saves random vectors, and can fail."""

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
        for turn, seeded in rare_words.in_turns(jobs, repeats):
            if is_done(seeded):
                continue
            self.jobs.append(seeded)
            record = {"round": turn, **dataclasses.asdict(seeded)}
            keep(record | ({"error": "no memory"} if self.fails(seeded) else self.result(seeded)))

    def run(self, job: Job) -> dict[str, Any]:
        self.jobs.append(job)
        return self.result(job)

    def result(self, job: Job) -> dict[str, Any]:
        vectors = random_vectors(job.seed)
        assert job.vectors_file is not None
        vectors.save(job.vectors_file)
        names = ("started_words_per_second", "build_vocab_seconds", "tensorflow_import_seconds", "first_graph_seconds",
                 "pairs_per_word", "bytes_per_word", "loopback_bytes_per_word")  # fmt: skip
        measured = {"words_per_second": 1.0, "train_seconds": 1.0, "peak_rss_bytes": 1, "finite": True}
        return {**dict.fromkeys(names), **measured, "scores": {"mean": float(job.epochs)}}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    runs = FakeRuns()
    monkeypatch.setattr(rare_words, "run_all", runs.run_all)
    monkeypatch.setattr(rare_words, "run", runs.run)
    return runs


def measured(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Run the command on a corpus of the words of `random_vectors`; return its status and both files of results."""
    corpus = folder / "corpus.txt"
    names = [f"w{number}" for number in range(20)]
    corpus.write_text("".join(f"{name} {name}\n" for name in names * 20))
    settings = ["--output", str(folder), "--words", "12", "--counts", "6", "--anchors", "4"]
    status = rare_words.main([str(corpus), *settings, *arguments])
    return status, json.loads((folder / "rare_words.json").read_text()), (folder / "rare_words.md").read_text()


SMALL = ("--modes", "cbow-neg", "--repeats", "2", "--references", "gensim")


def test_each_system_is_trained_after_each_number_of_epochs_and_ours_with_each_optimizer(
    fake: FakeRuns, tmp_path: Path
) -> None:
    _, results, _ = measured(tmp_path, *SMALL, "--epochs", "1", "5", "--optimizers", "sgd", "adagrad")
    settings = ["gensim", "tfw2v sgd", "tfw2v adagrad"]
    wanted = Counter((epochs, name, seed) for epochs in (1, 5) for name in settings for seed in (1, 2))
    assert Counter((run["epochs"], run["setting"], run["seed"]) for run in results["runs"]) == wanted


def test_a_reference_has_a_seed_of_its_own_and_the_most_epochs(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path, *SMALL, "--epochs", "1", "5")
    assert (fake.jobs[0].system, fake.jobs[0].epochs) == ("gensim", 5)
    assert fake.jobs[0].seed not in {job.seed for job in fake.jobs[1:]}


def test_the_page_has_scores_ranks_and_agreement_of_each_setting(fake: FakeRuns, tmp_path: Path) -> None:
    _, results, page = measured(tmp_path, *SMALL, "--epochs", "1", "5")
    ranks = [run["ranks"] for run in results["runs"] if (run["system"], run["epochs"]) == ("tfw2v", 5)]
    assert ranks[0]["mean"] == pytest.approx((ranks[0]["6 spread"] + ranks[0]["6 burst"]) / 2)
    mean, spread = (f"{f([one['mean'] for one in ranks]):.2f}" for f in (np.mean, lambda v: np.std(v, ddof=1)))
    rows = page.split("## Ranks")[1].split("##")[0].splitlines()
    (row,) = [line for line in rows if line.startswith("| cbow-neg | 5      | tfw2v")]
    assert row.endswith(f"| {mean} ± {spread} |")
    assert "## Agreement with gensim" in page
    assert "## Agreement with tfw2v" not in page


def test_runs_that_the_results_have_are_left_out(fake: FakeRuns, tmp_path: Path) -> None:
    fake.fails = lambda job: job.epochs == 5 and job.seed == 2
    status, _, page = measured(tmp_path, *SMALL, "--epochs", "1", "5")
    assert status == 1
    assert "no memory" in page
    fake.jobs.clear()
    fake.fails = lambda job: False
    status, results, _ = measured(tmp_path, *SMALL, "--epochs", "1", "5")
    assert status == 0
    assert {(job.epochs, job.seed) for job in fake.jobs[1:]} == {(5, 2)}
    assert len(results["runs"]) == 8
    fake.jobs.clear()
    measured(tmp_path, *SMALL, "--epochs", "1", "5")
    assert not fake.jobs  # nor is a reference trained


def test_results_of_other_settings_are_not_mixed(fake: FakeRuns, tmp_path: Path) -> None:
    measured(tmp_path, *SMALL)
    with pytest.raises(SystemExit, match="another window"):
        measured(tmp_path, *SMALL, "--window", "3")


def test_without_renamed_words_there_are_scores_alone(fake: FakeRuns, tmp_path: Path) -> None:
    _, results, page = measured(tmp_path, *SMALL, "--words", "0", "--references")
    assert "## Ranks" not in page
    assert {run["scores"]["mean"] for run in results["runs"]} == {5.0}


@pytest.mark.slow
def test_both_optimizers_are_measured_beside_gensim(tmp_path: Path) -> None:
    small = ("--vector-size", 10, "--modes", "cbow-neg", "--repeats", 1, "--workers", 1, "--epochs", 1)
    ranks = ("--words", 30, "--counts", 6, "--anchors", 4, "--optimizers", "sgd", "adagrad")
    done = run_command("rare_words.py", corpus_in(tmp_path), "--output", tmp_path / "results", *small, *ranks)
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "results" / "rare_words.json").read_text())["runs"]
    assert [run["setting"] for run in runs] == ["gensim", "tfw2v sgd", "tfw2v adagrad"]
    for run in runs:
        assert 0 < run["ranks"]["mean"] <= 100
        assert run["finite"]
