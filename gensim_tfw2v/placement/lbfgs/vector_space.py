"""What L-BFGS does with vectors: each is a model's tables as one long vector, wherever it is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod

POINT, GRADIENT, DIRECTION = "point", "gradient", "direction"


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
