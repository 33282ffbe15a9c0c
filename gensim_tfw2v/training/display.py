"""Progress as the user sees it: bars on a terminal and in a notebook, log lines otherwise."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, TypeVar

from gensim_tfw2v.training.progress import EpochPosition, EpochProgress

logger = logging.getLogger(__name__)

_Item = TypeVar("_Item")
_LOG_EVERY_SECONDS = 1.0
_DRAW_EVERY_SECONDS, _WRITE_EVERY_SECONDS = 0.1, 1.0  # where a drawing replaces the last one, and where all stay


def wants_bar(progress: bool | None) -> bool:
    """Return whether to draw bars: `progress` if it is set, else whether a terminal or a notebook shows them."""
    if progress is None:
        return is_terminal(sys.stderr) or is_notebook()
    return progress and sys.stderr is not None


def is_terminal(stream: Any) -> bool:
    """Return whether a stream is a terminal: False for None, a closed file and an object without `isatty`."""
    isatty = getattr(stream, "isatty", None)
    try:
        return isatty is not None and bool(isatty())
    except ValueError:  # the file is closed
        return False


def is_notebook() -> bool:
    """Return whether this is the process of a Jupyter notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config


class _DrawnBar:
    def __init__(self, label: str, total: float | None, layout: str) -> None:
        self._bar = _bar(label, total, layout)

    def _set(self, number: float, note: str) -> None:
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(number - self._bar.n)

    def close(self) -> None:
        """Draw the bar's state, and end its line."""
        self._bar.close()


class FractionBar(_DrawnBar):
    """Draws how much of a task is done."""

    def __init__(self, label: str) -> None:
        super().__init__(label, 1.0, "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}")

    def __call__(self, fraction: float, note: str = "") -> None:
        self._set(min(fraction, 1.0), note)


class ScanBar(_DrawnBar):
    """Draws how many words the vocabulary scan has read. The size of the corpus is not known yet."""

    def __init__(self) -> None:
        super().__init__("vocabulary", None, "{desc} {n:,.0f} words [{elapsed}{postfix}]")

    def __call__(self, words: int, distinct: int, sentences: int) -> None:
        self._set(words, f"{distinct:,} distinct, {sentences:,} sentences")


class TrainingBar:
    """Draws a bar for each epoch, with words per second, loss, learning rate and the time left."""

    def __init__(self) -> None:
        self._bar: FractionBar | None = None
        self._measured: Mapping[str, float] = {}  # what validation measured last within the epoch

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        self.close()  # it may be another epoch's bar

    def advance(self, progress: EpochProgress) -> None:
        self._set(progress, progress.fraction)

    def end_epoch(self, progress: EpochProgress) -> None:
        self._set(progress, 1.0)
        self.close()

    def _set(self, progress: EpochProgress, fraction: float) -> None:
        if self._bar is None:
            self._bar, self._measured = FractionBar(f"epoch {progress.epoch + 1}/{progress.epochs}"), {}
        if progress.points:
            self._measured = progress.points[-1].values
        self._bar(fraction, _numbers_of(progress, progress.validation or self._measured))

    def close(self) -> None:
        """Draw the state of the current bar, and end its line."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class TrainingLog:
    """Writes log lines as gensim does, at most one every `report_delay` seconds."""

    def __init__(self, report_delay: float = _LOG_EVERY_SECONDS) -> None:
        self._delay = report_delay
        self._next_report = self._delay

    def continue_from(self, positions: Sequence[EpochPosition]) -> None:
        running = next((position.counts.seconds for position in positions if not position.is_finished), 0.0)
        self._next_report = running + self._delay

    def advance(self, progress: EpochProgress) -> None:
        for point in progress.points:
            values = _named(point.values)
            logger.info("EPOCH %i: validation %s after %i words", point.epoch, values, point.raw_words)
        if progress.counts.seconds >= self._next_report:
            self._next_report = progress.counts.seconds + self._delay
            percent = 100.0 * progress.fraction
            logger.info("EPOCH %i - PROGRESS: at %.2f%%, %s", progress.epoch, percent, _numbers_of(progress, {}))

    def end_epoch(self, progress: EpochProgress) -> None:
        self._next_report = self._delay
        if progress.counts.measured_pairs:
            logger.info("EPOCH %i: mean loss %.4f", progress.epoch, progress.counts.mean_loss)
        if progress.validation:
            logger.info("EPOCH %i: validation %s", progress.epoch, _named(progress.validation))

    def close(self) -> None:
        """Do nothing: there is no unfinished line."""


def _named(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in values.items())


def _numbers_of(progress: EpochProgress, validation: Mapping[str, float]) -> str:
    counts = progress.counts
    if not counts.raw_words:
        return "no block trained yet"
    loss = f"loss {counts.mean_loss:.4f}, " if counts.measured_pairs else ""
    loss += "".join(f"validation {name} {value:.4f}, " for name, value in validation.items())
    return f"{counts.words_per_second:,.0f} words/s, {loss}alpha {progress.learning_rate:.5f}"


class ScanLog:
    """Logs how many words the vocabulary scan has read, once a second."""

    def __init__(self) -> None:
        self._next_report = time.monotonic() + _LOG_EVERY_SECONDS

    def __call__(self, words: int, distinct: int, sentences: int) -> None:
        if time.monotonic() >= self._next_report:
            self._next_report = time.monotonic() + _LOG_EVERY_SECONDS
            _log_scan(words, distinct, sentences)

    def close(self) -> None:
        """Do nothing: there is no unfinished line."""


class SentenceScanLog:
    """Logs how many words the vocabulary scan has read, once in `progress_per` sentences, as gensim does."""

    def __init__(self, progress_per: int) -> None:
        self._progress_per = progress_per
        self._next_report = 0

    def __call__(self, words: int, distinct: int, sentences: int) -> None:
        if sentences > self._next_report:
            self._next_report = sentences - sentences % self._progress_per + self._progress_per
            _log_scan(words, distinct, sentences)


def _log_scan(words: int, distinct: int, sentences: int) -> None:
    logger.info("PROGRESS: at sentence #%i, processed %i words, keeping %i word types", sentences, words, distinct)


def counted_sentences(sentences: Iterable[_Item]) -> Iterator[_Item]:
    """Yield `sentences`, and draw how many have been read."""
    layout = "{desc} {n_fmt}/{total_fmt} sentences [{elapsed}<{remaining}]"
    length = len(sentences) if isinstance(sentences, Sized) else None
    with contextlib.closing(_bar("vocabulary", length, layout)) as bar:
        for number, sentence in enumerate(sentences, start=1):
            if number % 1000 == 0:
                bar.update(number - bar.n)
            yield sentence
            bar.n = number  # drawn when the bar is closed


@contextlib.contextmanager
def shown_while(text: str, is_wanted: bool) -> Iterator[None]:
    """Show a text, if wanted, for as long as the body of the ``with`` statement runs."""
    if not is_wanted:
        yield
        return
    line = _bar(text, None, "{desc}", stays=False)
    try:
        yield
    finally:
        line.close()


def _bar(label: str, total: float | None, layout: str, stays: bool = True) -> Any:
    """Return a bar of tqdm's, a widget in notebooks. It is drawn at once, at intervals, and when it is closed."""
    from tqdm.auto import tqdm  # takes some time to import

    is_replaced = is_terminal(sys.stderr) or is_notebook()
    return tqdm(
        desc=label,
        total=total,
        bar_format=layout,
        leave=stays,
        dynamic_ncols=True,
        file=sys.stderr,
        mininterval=_DRAW_EVERY_SECONDS if is_replaced else _WRITE_EVERY_SECONDS,
        miniters=0,
        smoothing=0,  # the time left follows from the speed of the whole epoch
    )
