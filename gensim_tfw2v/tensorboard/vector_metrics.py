"""Metrics of vectors: their lengths, the nearest neighbours of some words, and evaluation scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.evaluation.scores import Scores
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.tensorboard.spelling import as_markdown

_HOT_WORDS = 100  # the most frequent words
_RARE_WORDS = 1000  # the least frequent words
_NEIGHBOUR_WORDS = 100_000  # neighbours are searched among this many first words
_PROBES = 10


def tables_by_name(tables: ModelTables) -> Iterator[tuple[str, Float32Array]]:
    """Yield the tables that the model has, with their names."""
    for name, table in (("input", tables.inputs), ("output", tables.outputs), ("node", tables.nodes)):
        if table is not None:
            yield name, table


@dataclass(frozen=True)
class NormGroups:
    """Ids of the words whose mean norms are logged."""

    hot: npt.NDArray[np.int64]
    rare: npt.NDArray[np.int64]

    @classmethod
    def of(cls, by_count: npt.NDArray[np.int64]) -> NormGroups:
        """Return the groups of a vocabulary, given all its ids by falling count."""
        half = (len(by_count) + 1) // 2
        return cls(by_count[: min(_HOT_WORDS, half)], by_count[-min(_RARE_WORDS, half) :])

    def mean_norms(self, tables: ModelTables) -> dict[str, float]:
        """Return the points by tag. Tree nodes are left out, because they belong to no words."""
        return {
            f"norms/{name}_vectors_of_{group}_words": float(np.linalg.norm(table[ids], axis=1).mean())
            for name, table in tables_by_name(tables)
            if name != "node"
            for group, ids in (("hot", self.hot), ("rare", self.rare))
        }


def percentages(scores: Scores) -> dict[str, float]:
    """Return the scores that exist, by name and in percent."""
    values = {score.name: score.spearman for score in scores.pairs}
    values |= {score.name: score.accuracy for score in scores.analogies}
    return {name: 100 * value for name, value in values.items() if value is not None}


def choose_probes(words: Sequence[str], by_count: npt.NDArray[np.int64]) -> list[str]:
    """Return some frequent and some middling words, evenly spaced by the logarithm of their rank in `by_count`."""
    first = min(50, len(words) // 4)  # the most frequent words have uninformative neighbours
    ranks = np.unique(np.geomspace(first + 1, max(len(words) // 2, first + 1), _PROBES).astype(int)) - 1
    return [words[by_count[rank]] for rank in ranks]


@dataclass
class Neighbours:
    """Finds the nearest neighbours of probe words, and which of them are new since the last time."""

    words: Sequence[str]
    probes: Mapping[str, int]  # word → id
    count: int
    _last: dict[str, set[str]] = field(default_factory=dict)

    def table(self, inputs: Float32Array) -> str:
        """Return a Markdown table of the probes' neighbours; those that are new since the last time are bold."""
        lines = ["| word | nearest words, **new ones** in bold |", "|---|---|"]
        for probe, nearest in self._nearest(inputs).items():
            before = self._last.get(probe)
            shown = [
                f"**{as_markdown(word)}**" if before is not None and word not in before else as_markdown(word)
                for word in nearest
            ]
            self._last[probe] = set(nearest)
            lines.append(f"| {as_markdown(probe)} | {', '.join(shown)} |")
        return "\n".join(lines)

    def _nearest(self, inputs: Float32Array) -> dict[str, list[str]]:
        candidates = inputs[:_NEIGHBOUR_WORDS]
        ids = np.array(list(self.probes.values()))
        lengths = np.sqrt(np.einsum("ij,ij->i", candidates, candidates))
        similarities = (inputs[ids] @ candidates.T) / np.where(lengths > 0, lengths, 1)
        inside = ids < len(candidates)
        similarities[np.flatnonzero(inside), ids[inside]] = -np.inf
        count = min(self.count, len(candidates) - 1)
        found = np.argpartition(-similarities, count - 1, axis=1)[:, :count] if count else np.zeros((len(ids), 0), int)
        order = np.argsort(-np.take_along_axis(similarities, found, axis=1), axis=1)
        rows = zip(self.probes, np.take_along_axis(found, order, axis=1).tolist(), strict=True)
        return {probe: [self.words[index] for index in row] for probe, row in rows}
