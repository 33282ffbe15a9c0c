"""The results of an evaluation: scores of word pairs, scores of analogies, and their mean."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class PairScore:
    """The correlation of similarities with human judgements in one file of word pairs.

    The correlations are None if fewer than two pairs are known, or if all values of one side are equal.
    """

    name: str
    path: str
    spearman: float | None
    pearson: float | None
    known: int
    total: int

    @property
    def unknown_share(self) -> float:
        """The share of pairs (0 to 1) with a word that has no vector."""
        return 1 - self.known / self.total


@dataclass(frozen=True)
class SectionScore:
    """Answered and correctly answered questions of one section of an analogy file."""

    name: str
    correct: int
    known: int
    total: int

    @property
    def accuracy(self) -> float | None:
        """The share of answered questions that were answered correctly, None if none could be answered."""
        return self.correct / self.known if self.known else None


@dataclass(frozen=True)
class AnalogyScore:
    """Accuracy on one file of analogies (a is to b as c is to d), over all of its sections."""

    name: str
    path: str
    sections: tuple[SectionScore, ...]

    @property
    def correct(self) -> int:
        """The number of questions answered correctly."""
        return sum(section.correct for section in self.sections)

    @property
    def known(self) -> int:
        """The number of questions whose four words all have vectors."""
        return sum(section.known for section in self.sections)

    @property
    def total(self) -> int:
        """The number of questions in the file."""
        return sum(section.total for section in self.sections)

    @property
    def accuracy(self) -> float | None:
        """The share of answered questions that were answered correctly, None if none could be answered."""
        return self.correct / self.known if self.known else None

    @property
    def unknown_share(self) -> float:
        """The share of questions (0 to 1) with a word that has no vector."""
        return 1 - self.known / self.total


@dataclass(frozen=True)
class Scores:
    """Scores on every requested file, and their mean."""

    pairs: tuple[PairScore, ...] = ()
    analogies: tuple[AnalogyScore, ...] = ()

    @property
    def mean(self) -> float | None:
        """The mean of all Spearman correlations and accuracies, times 100; None if any of them is missing."""
        values = [score.spearman for score in self.pairs] + [score.accuracy for score in self.analogies]
        known = [value for value in values if value is not None]
        return 100 * sum(known) / len(known) if known and len(known) == len(values) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the scores as plain dictionaries and lists, ready for JSON."""
        pairs = [{**asdict(score), "unknown_share": score.unknown_share} for score in self.pairs]
        keys = ("name", "path", "accuracy", "correct", "known", "total", "unknown_share")
        analogies = [
            {
                **{key: getattr(score, key) for key in keys},
                "sections": [{**asdict(section), "accuracy": section.accuracy} for section in score.sections],
            }
            for score in self.analogies
        ]
        return {"mean": self.mean, "pairs": pairs, "analogies": analogies}
