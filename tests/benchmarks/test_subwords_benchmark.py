"""`one_run.py --subwords` trains classes with n-grams, and scores words that it leaves out of the vocabulary."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import one_run
import pytest
from gensim.models import FastText
from gensim.test.utils import datapath
from measuring.jobs import Job
from measuring.scores import scores_of_left_out, without_left_out
from support.benchmark_commands import corpus_in


@pytest.fixture(scope="module")
def words() -> list[str]:
    """Return the words of both sets of pairs."""
    found: dict[str, None] = {}
    for name in ("wordsim353.tsv", "simlex999.txt"):
        lines = Path(datapath(name)).read_text(encoding="utf8").splitlines()
        found |= dict.fromkeys(word.lower() for line in lines if line[0] != "#" for word in line.split()[:2])
    return list(found)


def test_about_half_of_the_words_are_left_out_and_their_pairs_scored(words: list[str]) -> None:
    model = FastText(vector_size=8, min_count=1, bucket=200, seed=1)
    model.build_vocab([words], trim_rule=without_left_out)
    assert 0.4 < len(model.wv) / len(words) < 0.6
    scores = scores_of_left_out(model.wv)
    assert set(scores) == {"wordsim353", "simlex999", "mean"}
    assert np.isfinite(list(scores.values())).all()


def test_words_that_are_left_out_need_ngrams(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="--left-out scores words by their n-grams, and needs --subwords"):
        one_run.main(["gensim", str(corpus_in(tmp_path)), "--left-out"])


@pytest.mark.parametrize("system", ["gensim", "tfw2v"])
def test_a_run_trains_the_class_with_ngrams(system: str, tmp_path: Path) -> None:
    job = Job(system, str(corpus_in(tmp_path)), epochs=1, vector_size=4, subwords=True, scores=False)
    found = one_run.measure(job)
    assert found["finite"] and found["words_per_second"] > 0
