"""What a user sees while it works: a bar on a terminal, log lines otherwise."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from tqdm import tqdm

logger = logging.getLogger(__name__)

_Item = TypeVar("_Item")
_LOG_EVERY_SECONDS = 1.0


@dataclass
class EpochCounts:
    """What an epoch, or a part of one, has done."""

    examples: int = 0  # sentences
    raw_words: int = 0
    trained_words: int = 0  # known words that subsampling kept
    blocks: int = 0
    pairs: float = 0.0
    loss: float = 0.0  # sum over the measured pairs
    measured_pairs: float = 0.0
    touched_rows: int = 0  # rows that took a step of limited length
    clipped_rows: int = 0  # those whose step was clipped
    seconds_waiting: float = 0.0  # for the corpus; this and the next two are sums over workers
    seconds_preparing: float = 0.0
    seconds_stepping: float = 0.0
    seconds: float = 0.0  # since the epoch began

    @property
    def mean_loss(self) -> float:
        """Return the mean loss of a measured pair, nan before the first."""
        return self.loss / self.measured_pairs if self.measured_pairs else float("nan")

    @property
    def words_per_second(self) -> float:
        """Return the raw words trained each second."""
        return self.raw_words / max(self.seconds, 1e-9)

    def __iadd__(self, other: EpochCounts) -> EpochCounts:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    def since(self, before: EpochCounts) -> EpochCounts:
        """Return what has been counted after `before`."""
        return EpochCounts(**{name: value - getattr(before, name) for name, value in vars(self).items()})


@dataclass(frozen=True)
class EpochProgress:
    """How far an epoch has come."""

    epoch: int  # from 0
    epochs: int
    fraction: float  # of the epoch, 0 to 1
    learning_rate: float
    counts: EpochCounts
    workers: int = 1
    tasks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # metrics of a cluster: task → name → value


class ProgressObserver(Protocol):
    """Sees training as it goes."""

    def advance(self, progress: EpochProgress) -> None:
        """Take note of how far the epoch has come; called a few times a second."""

    def end_epoch(self, progress: EpochProgress) -> None:
        """Take note of a finished epoch."""


def wants_bar(progress: bool | None) -> bool:
    """Return whether to draw bars: as told, or if someone sits before a terminal."""
    return is_terminal(sys.stderr) if progress is None else progress and sys.stderr is not None


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal; None, a closed file and an object that cannot tell are none."""
    ask = getattr(stream, "isatty", None)
    try:
        return ask is not None and bool(ask())
    except ValueError:  # it is closed
        return False


class TrainingBar:
    """Draws one bar an epoch with words per second, loss, learning rate and the time left."""

    def __init__(self) -> None:
        self._bar: Any = None

    def advance(self, progress: EpochProgress) -> None:
        if self._bar is None:
            self._bar = _bar(f"epoch {progress.epoch + 1}/{progress.epochs}", total=1.0, unit="epoch")
        self._bar.n = min(progress.fraction, 1.0)
        self._bar.set_postfix_str(
            f"{progress.counts.words_per_second:,.0f} words/s, loss {progress.counts.mean_loss:.4f}, "
            f"alpha {progress.learning_rate:.5f}"
        )

    def end_epoch(self, progress: EpochProgress) -> None:
        self.advance(progress)
        self._bar.n = 1.0
        self._bar.refresh()
        self.close()

    def close(self) -> None:
        """End the line of the current bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class TrainingLog:
    """Writes gensim-style log lines, no more than one every `report_delay` seconds."""

    def __init__(self, report_delay: float = _LOG_EVERY_SECONDS) -> None:
        self._delay = report_delay
        self._next_report = self._delay

    def advance(self, progress: EpochProgress) -> None:
        if progress.counts.seconds >= self._next_report:
            self._next_report = progress.counts.seconds + self._delay
            logger.info(
                "EPOCH %i - PROGRESS: at %.2f%%, %.0f words/s, loss %.4f, alpha %.5f",
                progress.epoch,
                100.0 * progress.fraction,
                progress.counts.words_per_second,
                progress.counts.mean_loss,
                progress.learning_rate,
            )

    def end_epoch(self, progress: EpochProgress) -> None:
        self._next_report = self._delay
        logger.info("EPOCH %i: mean loss %.4f", progress.epoch, progress.counts.mean_loss)

    def close(self) -> None:
        """Do nothing: every line is whole."""


class ScanBar:
    """Draws how many words the vocabulary scan has seen; the corpus' size is not known yet."""

    def __init__(self) -> None:
        self._bar = _bar("vocabulary", total=None, unit="words")

    def __call__(self, words: int, distinct: int, sentences: int) -> None:
        self._bar.n = words
        self._bar.set_postfix_str(f"{distinct:,} distinct, {sentences:,} sentences")

    def close(self) -> None:
        """End the bar's line."""
        self._bar.close()


class ScanLog:
    """Logs how many words the vocabulary scan has seen, once a second."""

    def __init__(self) -> None:
        self._next_report = time.monotonic() + _LOG_EVERY_SECONDS

    def __call__(self, words: int, distinct: int, sentences: int) -> None:
        if time.monotonic() >= self._next_report:
            self._next_report = time.monotonic() + _LOG_EVERY_SECONDS
            logger.info(
                "PROGRESS: at sentence #%i, processed %i words, keeping %i word types", sentences, words, distinct
            )

    def close(self) -> None:
        """Do nothing: every line is whole."""


def counted_sentences(sentences: Iterable[_Item]) -> Iterator[_Item]:
    """Yield `sentences`, drawing how many have been read."""
    with _bar("vocabulary", total=_length(sentences), unit="sentences") as bar:
        for number, sentence in enumerate(sentences, start=1):
            if number % 1000 == 0:
                bar.update(1000)
            yield sentence


def _length(sentences: Any) -> int | None:
    return len(sentences) if hasattr(sentences, "__len__") else None


def _bar(label: str, total: float | None, unit: str) -> Any:
    known = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}, {postfix}"
    unknown = "{desc} {n:,.0f} {unit} [{elapsed}, {postfix}]"
    counted = "{desc} {n_fmt}/{total_fmt} {unit} [{elapsed}<{remaining}]"
    shape = unknown if total is None else known if unit == "epoch" else counted
    return tqdm(desc=label, total=total, unit=unit, bar_format=shape, leave=True, dynamic_ncols=True, file=sys.stderr)
