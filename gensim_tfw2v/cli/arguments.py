"""Texts on a command line → values within bounds; and the flags that several commands have."""

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
    Rule,
    SentencesOrShare,
    Share,
    WholeNumber,
    Words,
)
from gensim_tfw2v.arguments.units import binary_byte_count
from gensim_tfw2v.runtime.cores import CoreCount
from gensim_tfw2v.training.early_stopping import EarlyStopping, EarlyStoppingRule

_Value = TypeVar("_Value")


def read_by(
    convert: Callable[[str], _Value], wrong: str = "", fits: Callable[[_Value], bool] = lambda _: True
) -> Callable[[str], _Value]:
    """A reader of an argument, whose errors say that a text is `wrong`, or by default what `convert` says.

    Parameters
    ----------
    fits : callable
        Whether a converted value is right.
    """

    def read(text: str) -> _Value:
        reason = f"{text!r} {wrong}"
        try:
            value = convert(text)
            if fits(value):
                return value
        except ValueError as error:
            reason = reason if wrong else str(error)
        raise argparse.ArgumentTypeError(reason)

    return read


def whole_number(minimum: int, maximum: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers not below `minimum`, nor above `maximum` if there is one."""
    bounds = f"of {minimum} or more" if maximum is None else f"from {minimum} to {maximum}"
    rule = WholeNumber(minimum, most=maximum, is_int=True)
    return read_by(int, f"is not a whole number {bounds}", rule.fits)


def real_number(minimum: float = -math.inf) -> Callable[[str], float]:
    """A reader of finite numbers not below `minimum`."""
    bound = "" if minimum == -math.inf else f" of {minimum:g} or more"
    return read_by(float, f"is not a number{bound}", Number(minimum).fits)


def _number_or(of_text: Callable[[str], _Value], text: str) -> float | _Value:
    try:
        return float(text)
    except ValueError:
        return of_text(text)


cores = read_by(int, "is not a whole number of 1 or more, nor -1 for all usable cores", CoreCount().fits)
positive_number = read_by(real_number(0), "is not a number above 0", bool)
share = read_by(positive_number, "is not a number above 0 and at most 1", Share().fits)
share_or_corpus: Callable[[str], float | Path] = read_by(
    partial(_number_or, Path),
    "is no share above 0 and below 1, nor the name of a corpus",
    lambda value: isinstance(value, Path) or 0 < value < 1,
)
_interval = read_by(
    lambda text: Interval().plain("", _number_or(str, text)),
    'is not a number of seconds, nor a time such as 10min, 30s or 2h, nor words such as "5e6 words"',
)
_words = read_by(partial(Words().plain, ""), 'is not a whole number of words above 0, such as "5e6"')


def _early_stopping(text: str) -> EarlyStopping:
    """The patience and the smallest improvement that a text such as "3" or "3,0.01" stands for."""
    patience, _, min_delta = text.partition(",")
    return EarlyStopping(whole_number(1)(patience), real_number(0)(min_delta) if min_delta else 0.0)


_READERS: dict[type, Callable[[str], Any]] = {
    Bytes: read_by(binary_byte_count),
    CoreCount: cores,
    DeviceName: read_by(partial(DeviceName().plain, "the device")),
    EarlyStoppingRule: _early_stopping,
    Interval: _interval,
    PositiveNumber: positive_number,
    SentencesOrShare: share_or_corpus,
    Share: share,
    Words: _words,
}


def reader_of(rule: Rule | None) -> Callable[[str], Any]:
    """Return the function that reads the text of an argument with this rule."""
    if type(rule) is WholeNumber:
        return whole_number(int(rule.least), rule.most)
    if type(rule) is Number:
        return real_number(rule.least)
    return _READERS.get(type(rule), str)


def add_value(
    parser: argparse._ActionsContainer,
    flag: str,
    metavar: str,
    read: Callable[[str], Any],
    default: Any,
    meaning: str,
    shown: str = "%(default)s",
) -> None:
    """Declare a flag with a value. Its help ends with the default, as it is or as it is to be shown."""
    parser.add_argument(flag, metavar=metavar, type=read, default=default, help=f"{meaning} (default: {shown})")


def add_switch(parser: argparse._ActionsContainer, flag: str, meaning: str, default: str = "no") -> None:
    """Declare a flag without a value."""
    parser.add_argument(flag, action="store_true", help=f"{meaning} (default: {default})")


def add_allow_network(parser: argparse.ArgumentParser) -> None:
    """Declare --allow-network."""
    meaning = "allow tasks on a network, where nothing is encrypted and whoever reaches a port can run code"
    add_switch(parser, "--allow-network", meaning, "only this machine")


def add_column(parser: argparse.ArgumentParser) -> None:
    """Declare --column."""
    meaning = "column of a .parquet, .arrow or .feather CORPUS that has the sentences"
    add_value(parser, "--column", "NAME", str, None, meaning, "the only suitable one")


def add_tags(parser: argparse._ActionsContainer) -> None:
    """Declare --tags."""
    meaning = "each line begins with the tags of its document, spaces between them, and a tab"
    add_switch(parser, "--tags", meaning, "a tag is the number of a line, from 0")


def add_progress(parser: argparse._ActionsContainer, elsewhere: str, quiet: str) -> None:
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
