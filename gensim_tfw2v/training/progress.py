"""Progress as the user sees it: a bar on a terminal, log lines otherwise."""

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
    """Counts of what an epoch, or a part of one, has trained."""

    examples: int = 0  # sentences
    raw_words: int = 0
    trained_words: int = 0  # tokens
    blocks: int = 0
    pairs: float = 0.0
    loss: float = 0.0  # sum over the measured pairs
    measured_pairs: float = 0.0
    touched_rows: int = 0  # rows that took a step of limited length
    clipped_rows: int = 0  # of these, the rows whose step was clipped
    seconds_waiting: float = 0.0  # for the corpus; this and the next two are sums over workers
    seconds_preparing: float = 0.0
    seconds_stepping: float = 0.0
    seconds: float = 0.0  # since the epoch began

    @property
    def mean_loss(self) -> float:
        """Return the mean loss of the measured pairs; nan if there are none."""
        return self.loss / self.measured_pairs if self.measured_pairs else float("nan")

    @property
    def words_per_second(self) -> float:
        """Return the raw words trained per second."""
        return self.raw_words / max(self.seconds, 1e-9)

    def __iadd__(self, other: EpochCounts) -> EpochCounts:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    def since(self, before: EpochCounts) -> EpochCounts:
        """Return what was counted after `before`, an earlier state of these counts."""
        return EpochCounts(**{name: value - getattr(before, name) for name, value in vars(self).items()})


@dataclass(frozen=True)
class EpochProgress:
    """Progress of an epoch."""

    epoch: int  # from 0
    epochs: int
    fraction: float  # of the epoch, 0 to 1
    learning_rate: float
    counts: EpochCounts
    workers: int = 1
    tasks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # of a cluster: task → metric → value


class ProgressObserver(Protocol):
    """Receives the progress of training."""

    def advance(self, progress: EpochProgress) -> None:
        """Receive the progress of a running epoch, a few times a second."""

    def end_epoch(self, progress: EpochProgress) -> None:
        """Receive the progress of a finished epoch."""


def wants_bar(progress: bool | None) -> bool:
    """Return whether to draw bars: `progress` if it is set, else whether standard error is a terminal."""
    return is_terminal(sys.stderr) if progress is None else progress and sys.stderr is not None


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal: False for None, a closed file and an object without `isatty`."""
    isatty = getattr(stream, "isatty", None)
    try:
        return isatty is not None and bool(isatty())
    except ValueError:  # the file is closed
        return False


class TrainingBar:
    """Draws a bar for each epoch, with words per second, loss, learning rate and the time left."""

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
    """Writes log lines as gensim does, at most one every `report_delay` seconds."""

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
        """Do nothing: there is no unfinished line."""


class ScanBar:
    """Draws how many words the vocabulary scan has read. The size of the corpus is not known yet."""

    def __init__(self) -> None:
        self._bar = _bar("vocabulary", total=None, unit="words")

    def __call__(self, words: int, distinct: int, sentences: int) -> None:
        self._bar.n = words
        self._bar.set_postfix_str(f"{distinct:,} distinct, {sentences:,} sentences")

    def close(self) -> None:
        """End the bar's line."""
        self._bar.close()


class ScanLog:
    """Logs how many words the vocabulary scan has read, once a second."""

    def __init__(self) -> None:
        self._next_report = time.monotonic() + _LOG_EVERY_SECONDS

    def __call__(self, words: int, distinct: int, sentences: int) -> None:
        if time.monotonic() >= self._next_report:
            self._next_report = time.monotonic() + _LOG_EVERY_SECONDS
            logger.info(
                "PROGRESS: at sentence #%i, processed %i words, keeping %i word types", sentences, words, distinct
            )

    def close(self) -> None:
        """Do nothing: there is no unfinished line."""


def counted_sentences(sentences: Iterable[_Item]) -> Iterator[_Item]:
    """Yield `sentences`, and draw how many have been read."""
    with _bar("vocabulary", total=_length(sentences), unit="sentences") as bar:
        for number, sentence in enumerate(sentences, start=1):
            if number % 1000 == 0:
                bar.update(1000)
            yield sentence


def _length(sentences: Any) -> int | None:
    return len(sentences) if hasattr(sentences, "__len__") else None


def _bar(label: str, total: float | None, unit: str) -> Any:
    percentage = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}, {postfix}"
    count = "{desc} {n:,.0f} {unit} [{elapsed}, {postfix}]"
    count_of_total = "{desc} {n_fmt}/{total_fmt} {unit} [{elapsed}<{remaining}]"
    layout = count if total is None else percentage if unit == "epoch" else count_of_total
    return tqdm(desc=label, total=total, unit=unit, bar_format=layout, leave=True, dynamic_ncols=True, file=sys.stderr)
