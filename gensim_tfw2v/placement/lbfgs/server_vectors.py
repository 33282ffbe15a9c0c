"""Vectors of L-BFGS on parameter servers: slices that never leave their servers. Each call returns one number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.placement.lbfgs.vector_space import POINT, VectorSpace
from gensim_tfw2v.placement.remote.tables import RemoteTables

if TYPE_CHECKING:
    from gensim_tfw2v.placement.lbfgs.vector_graphs import VectorGraphs

_SCALES = "scales"

Slices = tuple[tuple[Any, ...], ...]
"""Handles of each table's shards."""


class ServerVectors(VectorSpace):
    """Vectors beside a model's tables; the tables are the accepted point.

    Parameters
    ----------
    names : sequence of str
        Names of all vectors.
    of_model : sequence of str
        The names of the tables that make up a vector.
    graphs : VectorGraphs
        Graphs for vectors with the shards of these tables.
    call : callable
        Calls a function that calls servers, and raises an error if one is lost.
    """

    def __init__(
        self,
        tables: RemoteTables,
        names: Sequence[str],
        of_model: Sequence[str],
        graphs: VectorGraphs,
        call: Callable[[Callable[[], Any]], Any],
    ) -> None:
        self._call, self._graphs, self.devices = call, graphs, graphs.devices
        self.slices: dict[str, Slices] = {}
        for name in names:
            of_vector = [table if name == POINT else f"{name}/{table}" for table in of_model]
            for own, table in zip(of_vector, of_model, strict=True):
                if not tables.handles(own):
                    tables.make(own, tables.shape(table).rows, tables.shape(table).columns)
            self.slices[name] = tuple(tuple(tables.handles(own)) for own in of_vector)
        of_scales = [f"{_SCALES}/{table}" for table in of_model]
        for own, table in zip(of_scales, of_model, strict=True):
            tables.make(own, tables.shape(table).rows, 1)
        self.slices[_SCALES] = tuple(tuple(tables.handles(own)) for own in of_scales)

    def clear(self, target: str) -> None:
        self._run(self._graphs.clear, [target])

    def set_sum(self, target: str, first: str, factor: float, second: str) -> None:
        self._run(self._graphs.set_sum, [target, first, second], factor)

    def scale_add(self, target: str, keep: float, factor: float, other: str, partner: str) -> float:
        return self._run(self._graphs.scale_add, [target, other, partner], keep, factor)

    def replace(self, old: str, new: str) -> None:
        self._run(self._graphs.replace, [old, new])

    def dot(self, first: str, second: str) -> float:
        return self._run(self._graphs.dot, [first, second])

    def set_scales(self, source: str, least: float) -> None:
        self._run(self._graphs.set_scales, [_SCALES, source], least)

    def scale_rows(self, target: str, factor: float, partner: str) -> float:
        return self._run(self._graphs.scale_rows, [target, _SCALES, partner], factor)

    def scaled_square(self, vector: str) -> float:
        return self._run(self._graphs.scaled_square, [vector, _SCALES])

    def _run(self, graph: Any, vectors: Sequence[str], *numbers: float) -> float:
        slices = [self.slices[name] for name in vectors]

        def run() -> float:
            sent = [
                tuple(remote_functions.sent_to(device, np.float64(number)) for device in self._graphs.devices)
                for number in numbers
            ]
            return float(graph(*slices, *sent).numpy())

        return float(self._call(run))
