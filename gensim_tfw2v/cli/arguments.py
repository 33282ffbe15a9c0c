"""Texts on a command line → numbers within bounds, and sizes in bytes."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gensim_tfw2v.arguments.rules import (
    Bytes,
    DeviceName,
    Interval,
    Number,
    PositiveNumber,
    SentencesOrShare,
    Share,
    WholeNumber,
    Words,
)
from gensim_tfw2v.planning.units import binary_byte_count
from gensim_tfw2v.training.early_stopping import EarlyStopping, EarlyStoppingRule

_Value = TypeVar("_Value")


def read_by(convert: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """A reader of an argument whose errors are those of `convert`."""

    def read(text: str) -> _Value:
        try:
            return convert(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return read


def whole_number(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers not below `minimum`, nor above `maximum` if there is one."""
    bounds = f"of {minimum} or more" if maximum is None else f"from {minimum} to {maximum}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum or (maximum is not None and value > maximum):
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {bounds}")
        return value

    return read


def real_number(minimum: float = -math.inf) -> Callable[[str], float]:
    """A reader of finite numbers not below `minimum`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < minimum:
            bound = "" if minimum == -math.inf else f" of {minimum:g} or more"
            raise argparse.ArgumentTypeError(f"{text!r} is not a number{bound}")
        return value

    return read


def positive_number(text: str) -> float:
    """The finite number above 0 that a text stands for."""
    value = real_number(0)(text)
    if value == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def add_allow_network(parser: argparse.ArgumentParser) -> None:
    """Declare --allow-network."""
    parser.add_argument(
        "--allow-network",
        action="store_true",
        help="allow tasks on a network, where nothing is encrypted and whoever reaches a port can run code "
        "(default: only this machine)",
    )


def add_column(parser: argparse.ArgumentParser) -> None:
    """Declare --column."""
    parser.add_argument(
        "--column",
        metavar="NAME",
        help="column of a .parquet, .arrow or .feather CORPUS that has the sentences (default: the only suitable one)",
    )


def add_progress(parser: argparse.ArgumentParser | argparse._ArgumentGroup, elsewhere: str, quiet: str) -> None:
    """Declare --progress and --quiet.

    Parameters
    ----------
    elsewhere : str
        What shows progress where there is no terminal.
    quiet : str
        What --quiet means.
    """
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--progress",
        action="store_true",
        default=None,
        help=f"show a progress bar (default: on a terminal; {elsewhere} elsewhere)",
    )
    shown.add_argument("--quiet", "-q", action="store_true", help=f"{quiet} (default: no)")


def interval(text: str) -> float | str:
    """The seconds that a text stands for, or a text of words such as "5e6 words"."""
    try:
        value: float | str = Interval().plain("the interval", float(text) if _is_number(text) else text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a number of seconds, nor words such as "5e6 words"'
        ) from None
    return value


def words(text: str) -> int:
    """The number of words that a text such as "5e6" or "5e6 words" stands for."""
    try:
        count: int = Words().plain("", text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number of words above 0, such as "5e6"') from None
    return count


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def share(text: str) -> float:
    """The part of a whole that a text stands for."""
    value = positive_number(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most 1")
    return value


def share_or_corpus(text: str) -> float | Path:
    """The share of a corpus above 0 and below 1 that a text stands for, or the path of a corpus."""
    if not _is_number(text):
        return Path(text)
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share above 0 and below 1, nor the name of a corpus")
    return value


def early_stopping(text: str) -> EarlyStopping:
    """The patience and the smallest improvement that a text such as "3" or "3,0.01" stands for."""
    patience, _, min_delta = text.partition(",")
    return EarlyStopping(whole_number(1)(patience), real_number(0)(min_delta) if min_delta else 0.0)


ReadRule = Number | Interval | Words | SentencesOrShare | EarlyStoppingRule | DeviceName


def reader_of(rule: ReadRule) -> Callable[[str], Any]:
    """Return the function that reads the text of an argument with this rule."""
    if isinstance(rule, SentencesOrShare):
        return share_or_corpus
    if isinstance(rule, EarlyStoppingRule):
        return early_stopping
    if isinstance(rule, Words):
        return words
    if isinstance(rule, Interval):
        return interval
    if isinstance(rule, DeviceName):
        return read_by(partial(rule.plain, "the device"))
    if isinstance(rule, Bytes):
        return read_by(binary_byte_count)
    if isinstance(rule, WholeNumber):
        return whole_number(int(rule.least), rule.most)
    if isinstance(rule, Share):
        return share
    return positive_number if isinstance(rule, PositiveNumber) else real_number(rule.least)
