"""TFDoc2Vec on clusters: what one process learns, tags of all kinds, and vectors of new documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models.doc2vec import TaggedDocument
from support.contract import assert_equal_models, learnt_arrays
from support.documents import MODES, SMALL, SUMMED, TOPICS, arrays_of, lee, similarities, unit
from support.event_files import events_of
from support.placements import shared_cluster

from gensim_tfw2v import TFDoc2Vec

DESIGNS = ("downpour", "synchronous", "averaging")
EACH_DESIGN = pytest.mark.parametrize("distribution", DESIGNS)
DOWNPOUR_FIRST = pytest.mark.parametrize(
    "distribution", [pytest.param(each, marks=[] if each == "downpour" else pytest.mark.slow) for each in DESIGNS]
)
EACH_MODE = pytest.mark.parametrize(
    "mode",
    [pytest.param(mode, id=name, marks=[] if name == "dm" else pytest.mark.slow) for name, mode in SUMMED.items()],
)


def on_cluster(documents: Any = TOPICS, **settings: Any) -> TFDoc2Vec:
    """Return a model that two workers have trained."""
    return TFDoc2Vec(documents, **SMALL | {"workers": 2, "cluster": shared_cluster()} | settings)


def same_topic(model: TFDoc2Vec) -> float:
    """Return by how much documents of one topic are more alike than others."""
    near = unit(model.dv.vectors) @ unit(model.dv.vectors).T
    same = np.arange(60)[:, None] % 3 == np.arange(60) % 3
    others = ~np.eye(60, dtype=bool)
    return float(near[same & others].mean() - near[~same].mean())


@DOWNPOUR_FIRST
@EACH_MODE
def test_documents_of_one_topic_are_alike(mode: dict[str, Any], distribution: str) -> None:
    settings = mode | {"epochs": 40}
    here = same_topic(TFDoc2Vec(TOPICS, **SMALL | settings))
    assert same_topic(on_cluster(distribution=distribution, **settings)) > 0.85 * here > 0.1


@pytest.mark.slow
@EACH_DESIGN
@pytest.mark.parametrize("optimizer", ["sgd", "adagrad"])
@pytest.mark.parametrize("mode", ["dm", "dbow"])
def test_similarities_of_documents_are_those_of_one_process(mode: str, optimizer: str, distribution: str) -> None:
    settings: dict[str, Any] = {**MODES[mode], "vector_size": 50, "min_count": 2, "epochs": 20, "optimizer": optimizer}
    documents = lee()
    here, other = (similarities(TFDoc2Vec(documents, **SMALL | settings | {"seed": seed})) for seed in (3, 4))
    there = similarities(on_cluster(documents, distribution=distribution, **settings))
    assert np.corrcoef(here, there)[0, 1] > np.corrcoef(here, other)[0, 1] - 0.05


@DOWNPOUR_FIRST
def test_tags_may_be_of_both_types_several_or_none(distribution: str) -> None:
    tags: list[list[Any]] = [[tag, "ABC"[tag % 3]] if tag > 4 else [] for tag in range(60)]
    documents = [TaggedDocument(each.words, own) for each, own in zip(TOPICS, tags, strict=True)]
    before = TFDoc2Vec(**SMALL)
    before.build_vocab(documents)
    model = on_cluster(documents, dm=0, epochs=40, distribution=distribution)
    assert np.all(model.dv.vectors == before.dv.vectors, axis=1).tolist() == [index < 5 for index in range(63)]
    for topic in range(3):
        of_topic = np.array([model.dv[tag] for tag in range(5, 60) if tag % 3 == topic]).mean(0)
        nearest = model.dv.similar_by_vector(of_topic, topn=63)
        assert next(tag for tag, _ in nearest if isinstance(tag, str)) == "ABC"[topic]


@pytest.mark.slow
@EACH_DESIGN
def test_locked_documents_stay(distribution: str) -> None:
    for mode in ("dm", "dbow"):
        model = TFDoc2Vec(**SMALL | MODES[mode], cluster=shared_cluster(), distribution=distribution)
        model.build_vocab(TOPICS)
        before = model.dv.vectors.copy()
        model.dv.vectors_lockf = np.resize(np.array([0, 1], np.float32), 60)
        model.train(TOPICS, total_examples=60, epochs=2)
        is_same = np.all(np.isclose(model.dv.vectors, before, rtol=0, atol=1e-7), axis=1)
        assert is_same.tolist() == [tag % 2 == 0 for tag in range(60)]


@pytest.mark.slow
def test_reproducible_trainings_are_equal_with_any_number_of_workers_and_in_one_process() -> None:
    settings: dict[str, Any] = {"reproducible": True, "distribution": "synchronous", "dm": 0, "dbow_words": 1}
    one, two = (on_cluster(**settings | {"workers": workers}) for workers in (1, 2))
    assert_equal_models(one, two)
    assert_equal_models(one, TFDoc2Vec(TOPICS, **SMALL | settings | {"distribution": "downpour", "workers": 2}))


@DOWNPOUR_FIRST
def test_new_documents_are_inferred_in_this_process(distribution: str) -> None:
    model = on_cluster(distribution=distribution)
    before = {name: values.copy() for name, values in learnt_arrays(model).items()}
    found = model.infer_corpus(TOPICS[:7])
    alone = TFDoc2Vec(**SMALL)
    alone.build_vocab(TOPICS)
    for name, values in arrays_of(model).items():
        arrays_of(alone)[name][...] = values
    alone.optimizer, alone.workers = model.optimizer, 1
    model.workers = 1
    np.testing.assert_array_equal(model.infer_corpus(TOPICS[:7]), alone.infer_corpus(TOPICS[:7]))
    assert found.shape == (7, 20) and np.isfinite(found).all()
    for name, values in learnt_arrays(model).items():
        np.testing.assert_array_equal(values, before[name], err_msg=name)


def test_a_cluster_logs_what_one_process_logs(tmp_path: Path) -> None:
    on_cluster(logdir=tmp_path / "cluster", distribution="synchronous")
    TFDoc2Vec(TOPICS, **SMALL, logdir=tmp_path / "here")
    there, here = (events_of(tmp_path / place).Tags() for place in ("cluster", "here"))
    for kind in ("scalars", "tensors"):
        assert set(there[kind]) >= {tag for tag in here[kind] if not tag.startswith("system/")}


def test_lines_of_a_file_are_documents_on_a_cluster(tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text("".join(" ".join(each.words) + "\n" for each in TOPICS), encoding="utf8")
    settings: dict[str, Any] = {"schedule": "linear", "workers": 1}
    from_file = on_cluster(None, corpus_file=str(path), **settings)
    np.testing.assert_array_equal(from_file.dv.vectors, on_cluster(**settings).dv.vectors)
