"""Validation sentences and tables, wherever these live → the mean loss of a pair, and the ranks of last words."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from gensim_tfw2v.blocks.bags import Bags
from gensim_tfw2v.blocks.next_words import NextWords
from gensim_tfw2v.blocks.validation_pairs import ValidationPairs
from gensim_tfw2v.steps import pair_loss
from gensim_tfw2v.training.early_stopping import HITS, NDCG, RANKS

ReadRows = Callable[[str, int, int], Float32Array]
"""Takes a table's name and the numbers of its first row and of the row after the last; returns these rows."""

NUMBERS_AT_ONCE = 2**20  # numbers of rows that are read, or computed with, at a time: 4 MB


class _NeededRows:
    """The rows of one table that are needed, named by their places among them. Ids may occur any number of times."""

    def __init__(self, table: str, *ids: Int32Array) -> None:
        self._table = table
        self._ids, places = np.unique(np.concatenate([each.reshape(-1) for each in ids]), return_inverse=True)
        ends = np.cumsum([each.size for each in ids])[:-1]
        self.places: list[Int64Array] = [
            part.reshape(each.shape) for part, each in zip(np.split(places.reshape(-1), ends), ids, strict=True)
        ]
        """For each array of ids, the places of its rows."""

    def read(self, read: ReadRows, vector_size: int) -> Float32Array:
        """Return the rows, read a few megabytes of the table at a time."""
        rows = np.empty((len(self._ids), vector_size), np.float32)
        step = max(1, NUMBERS_AT_ONCE // vector_size)
        pieces = self._ids // step
        for piece in np.unique(pieces).tolist():
            chosen = pieces == piece
            ids, first = self._ids[chosen], piece * step
            rows[chosen] = read(self._table, first, int(ids[-1]) + 1)[ids - first]
        return rows


class ValidationLoss:
    """Measures the mean loss of some pairs.

    Parameters
    ----------
    pairs : ValidationPairs
        At least one pair.
    mean_context : bool
        Whether hidden vectors are means of input vectors, and not sums.
    bags : Bags, optional
        The input rows of each word. Default: a word has one.
    """

    def __init__(self, pairs: ValidationPairs, vector_size: int, mean_context: bool, bags: Bags | None = None) -> None:
        self._pairs, self._vector_size, self._mean = pairs, vector_size, mean_context
        rows, self._offsets = _rows_of(pairs.contexts, pairs.offsets, bags)
        self._inputs = _NeededRows("inputs", rows)
        self._outputs = _NeededRows("outputs", pairs.targets, pairs.negatives) if pairs.negatives.size else None
        self._nodes = _NeededRows("nodes", pairs.nodes) if pairs.nodes.size else None
        self._counts = pairs.negatives != pairs.targets[:, None]

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def checksum(self) -> int:
        """A number that differs for other pairs."""
        found = 0
        for array in vars(self._pairs).values():
            found = zlib.crc32(array.tobytes(), found)
        return found

    def mean_loss(self, read: ReadRows) -> float:
        """Return the mean loss of all pairs, with rows that `read` returns."""
        tables = {
            name: rows.read(read, self._vector_size)
            for name, rows in (("inputs", self._inputs), ("outputs", self._outputs), ("nodes", self._nodes))
            if rows is not None
        }
        sums = [float(self._losses(tables, first, end).sum()) for first, end in self._parts()]
        return sum(sums) / len(self)

    def _parts(self) -> Iterator[tuple[int, int]]:
        """Yield the first pair, and the one after the last, of parts that need a few megabytes of rows each."""
        pairs = self._pairs
        rows = self._offsets[1:] + pairs.paths[1:] + (1 + pairs.negatives.shape[1]) * np.arange(1, len(self) + 1)
        most = max(1, NUMBERS_AT_ONCE // self._vector_size)
        first = 0
        while first < len(self):
            before = rows[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(rows, before + most, side="right")))
            yield first, end
            first = end

    def _losses(self, tables: Mapping[str, Float32Array], first: int, end: int) -> Float64Array:
        pairs = self._pairs
        contexts, offsets = _part_of(self._inputs.places[0], self._offsets, first, end)
        hidden = pair_loss.hidden_vectors(tables["inputs"][contexts], offsets, self._mean)
        losses = np.zeros(end - first)
        if self._outputs is not None:
            targets, negatives = (places[first:end] for places in self._outputs.places)
            outputs = tables["outputs"]
            losses += pair_loss.sampled_losses(hidden, outputs[targets], outputs[negatives], self._counts[first:end])
        if self._nodes is not None:
            nodes, paths = _part_of(self._nodes.places[0], pairs.paths, first, end)
            codes, _ = _part_of(pairs.codes, pairs.paths, first, end)
            losses += pair_loss.path_losses(hidden, tables["nodes"][nodes], codes, paths)
        return losses


class NextWordScores:
    """Ranks all words by the product of their output vectors and the mean input vector of the words before.

    Parameters
    ----------
    words : NextWords
        At least one word to predict.
    vocabulary : int
        Number of words.
    bags : Bags, optional
        As for `ValidationLoss`.
    """

    def __init__(self, words: NextWords, vocabulary: int, vector_size: int, bags: Bags | None = None) -> None:
        self._words, self._vocabulary, self._vector_size = words, vocabulary, vector_size
        rows, self._offsets = _rows_of(words.contexts, words.offsets, bags)
        self._inputs, self._targets = _NeededRows("inputs", rows), _NeededRows("outputs", words.targets)

    def __len__(self) -> int:
        return len(self._words)

    def measure(self, read: ReadRows) -> dict[str, float]:
        """Return the share of words among the first ten, and the mean of 1 / log2(1 + rank), 0 beyond the tenth."""
        ranks = self._ranks(read)
        is_hit = ranks <= RANKS
        gains = np.where(is_hit, 1 / np.log2(1.0 + ranks), 0.0)
        return {HITS: float(is_hit.mean()), NDCG: float(gains.mean())}

    def _ranks(self, read: ReadRows) -> Int64Array:
        """Return the rank of each word to predict, from 1; words with an equal score come before it."""
        contexts = self._inputs.read(read, self._vector_size)[self._inputs.places[0]]
        hidden = pair_loss.hidden_vectors(contexts, self._offsets, mean=True)
        targets = self._targets.read(read, self._vector_size)[self._targets.places[0]]
        own = np.einsum("sd,sd->s", hidden, targets)
        ranks = np.ones(len(self), np.int64)
        step = max(1, NUMBERS_AT_ONCE // max(self._vector_size, len(self)))
        for first in range(0, self._vocabulary, step):
            rows = read("outputs", first, min(first + step, self._vocabulary))
            ranks += self._at_least(hidden, rows, own, first)
        return ranks

    def _at_least(self, hidden: Float32Array, rows: Float32Array, own: Float32Array, first: int) -> Int64Array:
        """Return how many of some words, from number `first` on, have a score of at least that of each target."""
        scores = hidden @ rows.T
        places = self._words.targets - first
        inside = np.flatnonzero((places >= 0) & (places < len(rows)))
        scores[inside, places[inside]] = -np.inf  # the target itself
        return np.asarray((scores >= own[:, None]).sum(axis=1, dtype=np.int64))


def _rows_of(words: Int32Array, offsets: Int64Array, bags: Bags | None) -> tuple[Int32Array, Int64Array]:
    """Return the input rows of words, and where those of each hidden vector begin and end among them."""
    if bags is None:
        return words, offsets
    some = bags.some(words)
    return some.members, some.offsets[offsets].astype(np.int64)


def _part_of(items: Any, offsets: Int64Array, first: int, end: int) -> tuple[Any, Int64Array]:
    """Return the items of consecutive pairs, and where those of each pair begin and end among them."""
    return items[offsets[first] : offsets[end]], offsets[first : end + 1] - offsets[first]
