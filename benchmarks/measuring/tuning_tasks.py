"""Small data sets whose settings are searched: a corpus, the metric of the search, and scores that it does not see."""

from __future__ import annotations

import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from measuring.checkout import ROOT
from measuring.corpora import articles


class Task(ABC):
    """A data set: what is searched on, and how the vectors are scored."""

    name: str
    metric: str
    """Of the search."""
    fixed: ClassVar[dict[str, Any]]
    """Settings that all models have."""

    @abstractmethod
    def write(self, path: Path) -> None:
        """Write the corpus, one sentence a line. It has nothing of what `scores` compares with."""

    @abstractmethod
    def scores(self, model: Any) -> dict[str, float]:
        """Return scores of a model that was trained on the corpus."""


class Items(Task):
    """Films that people rated in turn (MovieLens 100K): the last one of each person is predicted."""

    name, metric = "items", "hits@10"
    fixed: ClassVar[dict[str, Any]] = {"vector_size": 50, "min_count": 2}

    def __init__(self) -> None:
        self._example = example("items")
        sessions = self._example.read_sessions(self._example.folder_of_ratings())
        self._known = [session[:-1] for session in sessions]
        self._following = [session[-1] for session in sessions]

    def write(self, path: Path) -> None:
        _write_lines(path, self._known)

    def scores(self, model: Any) -> dict[str, float]:
        recommend = self._example.by_prediction(model)
        hit_rate, ndcg = self._example.measured(recommend, self._known, self._following)
        return {"hit rate": hit_rate, "NDCG": ndcg}


class Text(Task):
    """News of Lee, Pincombe and Welsh: similarities of 50 other articles are compared with people's judgements."""

    name, metric = "text", "halves"
    fixed: ClassVar[dict[str, Any]] = {"min_count": 2}

    def __init__(self) -> None:
        self._articles = articles("lee_background.cor", "utf8")
        self._judged = articles("lee.cor", "latin1")
        from gensim.test.utils import datapath

        self._judgements = np.loadtxt(datapath("similarities0-1.txt"))

    def write(self, path: Path) -> None:
        _write_lines(path, self._articles)

    def scores(self, model: Any) -> dict[str, float]:
        unit = model.wv.get_normed_vectors()
        ids = [[model.wv.key_to_index[word] for word in words if word in model.wv] for words in self._judged]
        means = np.array([unit[numbers].mean(axis=0) for numbers in ids])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        pairs = np.triu_indices(len(means), k=1)
        correlation = np.corrcoef((means @ means.T)[pairs], self._judgements[pairs])[0, 1]
        return {"correlation": float(correlation)}


class Graph(Task):
    """Walks over pictures of digits: labels and hidden links are predicted from vectors of nodes."""

    name, metric = "graph", "hits@10"
    fixed: ClassVar[dict[str, Any]] = {"vector_size": 64, "min_count": 1}

    def __init__(self) -> None:
        self._example = example("graphs")
        self._random = np.random.default_rng(1)
        self._graph = self._example.read_graph(self._random)

    def write(self, path: Path) -> None:
        _write_lines(path, self._example.random_walks(self._graph, 10, self._random))

    def scores(self, model: Any) -> dict[str, float]:
        vectors = self._example.vectors_in_order(model.wv, len(self._graph.labels))
        labels, groups, links = self._example.scores(vectors, self._graph)
        return {"labels": labels, "groups": groups, "links": links}


TASKS: dict[str, type[Task]] = {task.name: task for task in (Items, Text, Graph)}


def _write_lines(path: Path, sentences: Iterable[list[str]]) -> None:
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf8")


def example(name: str) -> ModuleType:
    """Return a program of the folder examples/ as a module."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
