"""`workers=-1` stands for all cores that the process may use, wherever there is a number of cores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gensim.models import Word2Vec as GensimWord2Vec
from support.command_line import run, write_corpus
from support.contract import SENTENCES, SMALL

from gensim_tfw2v import RandomWalks, TFWord2Vec, Word2VecVectorizer, tune
from gensim_tfw2v.runtime.cores import allowed_cores

CLUSTER = {"ps": ["127.0.0.1:2222"], "worker": ["127.0.0.1:2223"]}


def test_a_model_has_the_number_of_cores() -> None:
    assert TFWord2Vec(workers=-1).workers == allowed_cores()
    assert TFWord2Vec(workers=3).workers == 3


def test_a_saved_model_keeps_the_number_and_trains_in_gensim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TFWord2Vec(SENTENCES, **SMALL | {"workers": -1}).save(str(tmp_path / "model"))
    here = allowed_cores()
    monkeypatch.setenv("TFW2V_CORES", str(here + 1))
    assert TFWord2Vec.load(str(tmp_path / "model")).workers == here
    model = GensimWord2Vec.load(str(tmp_path / "model"))
    trained, _ = model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
    assert (model.workers, trained > 0) == (here, True)


def test_a_model_may_get_all_cores_later() -> None:
    model = TFWord2Vec(SENTENCES, **SMALL | {"workers": 7})
    model.workers = -1
    model.train(SENTENCES, total_examples=len(SENTENCES), epochs=1)
    assert model.workers == allowed_cores()


@pytest.mark.parametrize("cores", ["1", "3"])
def test_on_a_cluster_all_cores_are_not_one_worker_that_trains_block_after_block(
    cores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFW2V_CORES", cores)
    assert TFWord2Vec(workers=-1, cluster=CLUSTER).workers == max(2, allowed_cores())
    assert TFWord2Vec(workers=1, cluster=CLUSTER).workers == 1
    assert TFWord2Vec(workers=-1).workers == allowed_cores()


def test_a_training_resumes_on_all_cores(tmp_path: Path) -> None:
    settings: dict[str, Any] = SMALL | {"workers": 1, "epochs": 1}
    TFWord2Vec(SENTENCES, **settings, checkpoint_dir=tmp_path / "checkpoints")
    model = TFWord2Vec.resume(tmp_path / "checkpoints", SENTENCES, epochs=2, workers=-1)
    assert model.workers == allowed_cores()


def test_walks_vectorizers_searches_and_commands_take_all_cores(tmp_path: Path) -> None:
    assert list(RandomWalks([(1, 2)], walks_per_node=1, walk_length=3, workers=-1))
    vectorizer = Word2VecVectorizer(workers=-1, min_count=1, vector_size=4).fit(SENTENCES)
    assert vectorizer.get_params()["workers"] == -1
    write_corpus(tmp_path)
    corpus, model = tmp_path / "corpus.txt", tmp_path / "model"
    assert tune(corpus, metric="loss", trials=1, epochs=1, rounds=1, settings={"min_count": 1}, workers=-1).arguments
    assert run("train", corpus, "--output", model, "--min-count", 1, "--epochs", 1, "--workers", -1, "--quiet") == 0
    assert TFWord2Vec.load(str(model)).workers == allowed_cores()


@pytest.mark.parametrize("workers", [0, -2, 1.5])
def test_other_numbers_are_refused_with_what_may_be_given(workers: float) -> None:
    with pytest.raises(ValueError, match=f"workers must be a whole number of at least 1, or -1 for all .*{workers}"):
        TFWord2Vec(workers=workers)  # type: ignore[arg-type]
