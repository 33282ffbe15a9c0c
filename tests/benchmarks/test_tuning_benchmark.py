"""The benchmark of searched settings: what its data sets hold and score, its tables, and a small run of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tuning
from gensim.models import Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess
from measuring.tuning_tasks import Text
from support.benchmark_commands import run_command


def lines_of(name: str) -> list[str]:
    """Return the lines of a file in gensim's wheel."""
    return Path(datapath(name)).read_text(encoding="latin1").splitlines()


def test_the_corpus_of_news_has_none_of_the_judged_articles_and_is_scored_by_peoples_judgements(tmp_path: Path) -> None:
    task = Text()
    task.write(tmp_path / "corpus.txt")
    lines = (tmp_path / "corpus.txt").read_text().splitlines()
    assert len(lines) == 300
    model = Word2Vec(corpus_file=str(tmp_path / "corpus.txt"), min_count=2, vector_size=8, epochs=1, seed=1, workers=1)
    judged = [simple_preprocess(line) for line in lines_of("lee.cor")]
    assert not {" ".join(words) for words in judged} & set(lines)
    unit = [[model.wv.get_vector(word, norm=True) for word in words if word in model.wv] for words in judged]
    means = [np.mean(vectors, axis=0) for vectors in unit]
    judgements = [[float(cell) for cell in line.split()] for line in lines_of("similarities0-1.txt")]
    ours, theirs = [], []
    for first in range(50):
        for second in range(first + 1, 50):
            one, other = means[first], means[second]
            ours.append(float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)))
            theirs.append(judgements[first][second])
    assert task.scores(model)["correlation"] == pytest.approx(float(np.corrcoef(ours, theirs)[0, 1]), abs=1e-5)


RUN: dict[str, Any] = {
    "task": "items",
    "metric": "hits@10",
    "validation": {"defaults": 0.05, "found": 0.25},
    "settings": {"sg": 1, "epochs": 27},
    "trainings": [[{}, 0.1, 1.0]] * 3,
    "seconds": 12.34,
    "gensim_seconds": 1.25,
    "scores": {
        "tfw2v defaults": [{"hit rate": 0.02}, {"hit rate": 0.04}],
        "tfw2v found": [{"hit rate": 0.1}, {"hit rate": 0.1}],
        "gensim defaults": [{"hit rate": 0.05}],
        "gensim found": [{"hit rate": 0.125}],
    },
}


def test_tables_have_the_mean_scores_of_defaults_and_found_settings() -> None:
    _, defaults, found = tuning.table_of([RUN])
    assert defaults == ["items", "defaults", "hits@10", "0.0500", "hit rate 3.00 ± 1.41", "hit rate 5.00", "", ""]
    assert found == ["items", "found", "hits@10", "0.2500", "hit rate 10.00 ± 0.00", "hit rate 12.50", "12.3", "1.2"]
    assert tuning.settings_table([RUN])[1] == ["items", "3", "`sg=1, epochs=27`"]


@pytest.mark.slow
def test_a_small_run_searches_and_scores(tmp_path: Path) -> None:
    options = ["--tasks", "text", "graph", "--trials", "2", "--epochs", "1", "--repeats", "1", "--workers", "1"]
    done = run_command("tuning.py", *options, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads((tmp_path / "tuning.json").read_text())["runs"]
    assert [run["task"] for run in runs] == ["text", "graph"]
    for run in runs:
        assert len(run["trainings"]) == 3
        assert run["validation"]["found"] >= run["validation"]["defaults"]
        assert all(np.isfinite(list(scores[0].values())).all() for scores in run["scores"].values())
