"""Validation pairs and tables, wherever these live → the mean loss of a pair."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Float64Array, Int64Array
from gensim_tfw2v.blocks.validation_pairs import ValidationPairs
from gensim_tfw2v.steps import pair_loss
from gensim_tfw2v.training import needed_rows
from gensim_tfw2v.training.needed_rows import NeededRows, ReadRows


class ValidationLoss:
    """Measures the mean loss of some pairs.

    Parameters
    ----------
    pairs : ValidationPairs
        At least one pair.
    vector_size : int
        Numbers of a vector.
    mean_context : bool
        Whether CBOW's hidden vectors are means of input vectors, and not sums.
    """

    def __init__(self, pairs: ValidationPairs, vector_size: int, mean_context: bool) -> None:
        self._pairs, self._vector_size, self._mean = pairs, vector_size, mean_context
        self._inputs = NeededRows("inputs", pairs.contexts)
        self._outputs = NeededRows("outputs", pairs.targets, pairs.negatives) if pairs.negatives.size else None
        self._nodes = NeededRows("nodes", pairs.nodes) if pairs.nodes.size else None
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
        rows = pairs.offsets[1:] + pairs.paths[1:] + (1 + pairs.negatives.shape[1]) * np.arange(1, len(self) + 1)
        most = max(1, needed_rows.NUMBERS_AT_ONCE // self._vector_size)
        first = 0
        while first < len(self):
            before = rows[first - 1] if first else 0
            end = max(first + 1, int(np.searchsorted(rows, before + most, side="right")))
            yield first, end
            first = end

    def _losses(self, tables: Mapping[str, Float32Array], first: int, end: int) -> Float64Array:
        """Return the losses of consecutive pairs."""
        pairs = self._pairs
        contexts, offsets = _part_of(self._inputs.places[0], pairs.offsets, first, end)
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


def _part_of(items: Any, offsets: Int64Array, first: int, end: int) -> tuple[Any, Int64Array]:
    """Return the items of consecutive pairs, and where those of each pair begin and end among them."""
    return items[offsets[first] : offsets[end]], offsets[first : end + 1] - offsets[first]
