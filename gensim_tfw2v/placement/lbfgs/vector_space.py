"""What L-BFGS does with vectors: each is a model's tables as one long vector, wherever it is kept, or arrays here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np

from gensim_tfw2v.arrays import Float32Array

POINT, GRADIENT, DIRECTION = "point", "gradient", "direction"
_SCALES = "scales"
_NUMBERS_AT_ONCE = 2**22  # of a table, so that sums need little memory besides it


def step_name(pair: int) -> str:
    """Return the name of the step of a pair in the history; while a step is tried, this vector has the trial point."""
    return f"step {pair}"


def change_name(pair: int) -> str:
    """Return the name of the gradient's change of a pair; while a step is tried, this vector has the gradient there."""
    return f"change {pair}"


def vector_names(history: int) -> list[str]:
    """Return the names of all 2 * history + 3 vectors."""
    pairs = [name(pair) for pair in range(history) for name in (step_name, change_name)]
    return [POINT, GRADIENT, DIRECTION, *pairs]


class VectorSpace(ABC):
    """Vectors by name. Only numbers and names come in, and only sums go out."""

    @abstractmethod
    def clear(self, target: str) -> None:
        """Set a vector to zeros."""

    @abstractmethod
    def set_sum(self, target: str, first: str, factor: float, second: str) -> None:
        """Set target = first + factor * second."""

    @abstractmethod
    def scale_add(self, target: str, keep: float, factor: float, other: str, partner: str) -> float:
        """Set target = keep * target + factor * other, and return its product with `partner`, a third vector."""

    @abstractmethod
    def replace(self, old: str, new: str) -> None:
        """Set old = new, and new = new - old, both from the values before."""

    @abstractmethod
    def dot(self, first: str, second: str) -> float:
        """Return the product of two vectors."""

    @abstractmethod
    def set_scales(self, source: str, least: float) -> None:
        """Give every row the scale 1 / (length of the row in `source`, or `least` if that is more)."""

    @abstractmethod
    def scale_rows(self, target: str, factor: float, partner: str) -> float:
        """Multiply a vector's rows by `factor` and their scales, and return its product with `partner`."""

    @abstractmethod
    def scaled_square(self, vector: str) -> float:
        """Return the product of a vector with itself, with each row's part multiplied by the row's scale."""


class LocalVectors(VectorSpace):
    """Vectors in this process, arrays of the same shapes.

    Parameters
    ----------
    names : iterable of str
        Names of all vectors, which begin as zeros.
    shapes : mapping of str to shape
        The tables that make up a vector.
    """

    def __init__(self, names: Iterable[str], shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.tables: dict[str, dict[str, Float32Array]] = {
            name: {table: np.zeros(shape, np.float32) for table, shape in shapes.items()} for name in names
        }
        self.tables[_SCALES] = {table: np.ones((shape[0], 1), np.float32) for table, shape in shapes.items()}

    def clear(self, target: str) -> None:
        for table in self.tables[target].values():
            table[:] = 0

    def set_sum(self, target: str, first: str, factor: float, second: str) -> None:
        for rows in self._pieces(target, first, second):
            rows[0][:] = rows[1] + np.float32(factor) * rows[2]

    def scale_add(self, target: str, keep: float, factor: float, other: str, partner: str) -> float:
        for rows in self._pieces(target, other):
            kept = np.float32(keep) * rows[0] if keep else np.float32(0)
            rows[0][:] = kept + np.float32(factor) * rows[1]
        return self.dot(target, partner)

    def replace(self, old: str, new: str) -> None:
        for rows in self._pieces(old, new):
            change = rows[1] - rows[0]
            rows[0][:] = rows[1]
            rows[1][:] = change

    def dot(self, first: str, second: str) -> float:
        # Rows in float32, and the sum of rows in float64.
        products = (np.einsum("rd,rd->r", *rows).sum(dtype=np.float64) for rows in self._pieces(first, second))
        return float(sum(products))

    def set_scales(self, source: str, least: float) -> None:
        for values, scales in self._pieces(source, _SCALES):
            lengths = np.sqrt(np.einsum("rd,rd->r", values, values))[:, None]
            scales[:] = 1 / np.maximum(lengths, np.float32(least))

    def scale_rows(self, target: str, factor: float, partner: str) -> float:
        for values, scales in self._pieces(target, _SCALES):
            values *= np.float32(factor) * scales
        return self.dot(target, partner)

    def scaled_square(self, vector: str) -> float:
        pieces = self._pieces(vector, _SCALES)
        products = (np.einsum("rd,rd,rz->r", values, values, scales) for values, scales in pieces)
        return float(sum(product.sum(dtype=np.float64) for product in products))

    def _pieces(self, *names: str) -> Iterable[tuple[Float32Array, ...]]:
        """Yield the same rows of all these vectors, a few at a time."""
        for table, values in self.tables[names[0]].items():
            step = max(1, _NUMBERS_AT_ONCE // values.shape[1])
            for first in range(0, len(values), step):
                yield tuple(self.tables[name][table][first : first + step] for name in names)
