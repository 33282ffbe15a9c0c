"""`benchmarks/partition.py`: what is sampled, what missing words come to, and that it continues from its results."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from measuring.partition_models import SampledSentences, Trained, agreement_when_missing, merge
from partition import cells
from support.benchmark_commands import corpus_in, run_command

WORDS, SIZE = 400, 6


def trained(noise: float, count: int = 3) -> list[Trained]:
    """Return sub-models whose vectors are noisy copies of the same ones."""
    random = np.random.default_rng(1)
    truth = random.standard_normal((WORDS, SIZE))
    made = []
    for _ in range(count):
        vectors = (truth + noise * random.standard_normal(truth.shape)).astype(np.float32)
        made.append(Trained(SimpleNamespace(vectors=vectors), np.zeros(WORDS, bool), 1.0, 100))
    return made


def test_every_pass_draws_other_sentences_with_the_rate(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("".join(f"word{number}\n" for number in range(2000)))
    sampled = SampledSentences(str(corpus), 0.25, seed=1)
    first, second = list(sampled), list(sampled)
    assert 400 < len(first) < 600
    assert first != second
    assert sampled.words == len(first) + len(second)
    assert list(SampledSentences(str(corpus), 0.25, seed=1)) == first
    assert len(list(SampledSentences(str(corpus), 1.0, seed=1))) == 2000


def test_each_number_of_models_has_the_budgets_up_to_it_and_one_single_model() -> None:
    arguments = SimpleNamespace(repeats=1, models=[2, 5], budgets=[1.0, 2.0])
    found = [(models, budget) for models, budget, _ in cells(arguments)]
    assert found == [(1, 1.0), (2, 1.0), (2, 2.0), (5, 1.0), (5, 2.0), (5, 5.0)]


def test_words_that_no_sub_model_trained_are_zeros() -> None:
    models = trained(0.1)
    for model in models:
        model.untrained[[3, 7]] = True
    models[0].untrained[5] = True
    vectors, _ = merge(models, "alir")
    assert np.flatnonzero(~vectors.any(axis=1)).tolist() == [3, 7]


def test_agreement_is_whole_without_noise_and_lower_with_it() -> None:
    exact, noisy = (agreement_when_missing(trained(noise), 0.3, seed=1) for noise in (0.0, 0.5))
    assert exact["lacking_cosine"] == pytest.approx(1, abs=1e-4)
    assert exact["lacking_neighbours"] > 0.99
    assert noisy["lacking_cosine"] < noisy["whole_cosine"]
    assert noisy["lacking_neighbours"] < noisy["whole_neighbours"]


@pytest.mark.slow
def test_partition_measures_all_and_goes_on_from_its_results(tmp_path: Path) -> None:
    corpus, small = corpus_in(tmp_path), ("--models", 2, "--vector-size", 8, "--epochs", 1, "--repeats", 1)
    command = (corpus, *small, "--output", tmp_path, "--workers", 1)
    done = run_command("partition.py", *command)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 trainings" in done.stderr
    saved = json.loads((tmp_path / "partition.json").read_text())
    assert [(run["models"], run["budget"]) for run in saved["runs"]] == [(1, 1.0), (2, 1.0), (2, 2.0)]
    assert saved["runs"][2]["words"] == [1500, 1500]
    assert set(saved["runs"][1]["merged"]) == {"alir", "average", "pca", "concatenate"}
    assert "## Missing words" in (tmp_path / "partition.md").read_text()
    again = run_command("partition.py", *command)
    assert "0 of 3 trainings" in again.stderr
    assert json.loads((tmp_path / "partition.json").read_text())["runs"] == saved["runs"]
    other = run_command("partition.py", *command, "--missing", 0.5)
    assert "3 of 3 trainings" in other.stderr
