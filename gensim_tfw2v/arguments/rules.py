"""Rules for the values of arguments, and the errors that state the rules."""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol

from gensim_tfw2v.arguments.units import binary_byte_count


def check_keyed_vectors(function: str, given: Any) -> None:
    """Raise TypeError if a function that takes gensim's KeyedVectors gets something without words, such as a model."""
    if not hasattr(given, "index_to_key"):
        raise TypeError(f"{function} takes KeyedVectors, such as model.wv, not {type(given).__name__}")


class Rule(Protocol):
    """Checks one argument."""

    def plain(self, name: str, value: Any) -> Any:
        """Return the value as a plain Python object; raise ValueError or TypeError that names it if it is wrong."""
        ...


@dataclass(frozen=True)
class Number:
    """A finite number, by default of at least `least`; subclasses narrow it down."""

    least: float = -math.inf
    note: str = ""  # what the error adds to the description of valid values
    converts: bool = False  # accept what gensim converts, such as a text
    or_none: bool = False

    def wanted(self) -> str:
        """Return the description of valid values for the error."""
        bound = "" if self.least == -math.inf else f" of at least {self.least:g}"
        return f"a finite number{bound}{self.note}"

    def fits(self, number: Any) -> bool:
        """Return whether a number is right."""
        return math.isfinite(number) and number >= self.least

    @property
    def kind(self) -> Callable[[Any], Any]:
        """The function that converts a value to a plain number."""
        return float

    def plain(self, name: str, value: Any) -> Any:
        """Return `value` as Python's own int or float; raise ValueError, or TypeError if it is no number."""
        if value is None and self.or_none:
            return None
        message = f"{name} must be {self.wanted()}, got {value!r}"
        try:
            number = self.kind(value) if self.converts else value
        except (TypeError, ValueError) as error:
            raise type(error)(message) from None
        if not isinstance(number, numbers.Real):
            raise TypeError(message)
        if not self.fits(number) or (isinstance(value, numbers.Real) and number != value):
            raise ValueError(message)
        return self.kind(number)


@dataclass(frozen=True)
class PositiveNumber(Number):
    """A finite number above 0."""

    unit: str = ""

    def wanted(self) -> str:
        """Return the description of valid values for the error."""
        return f"a finite number{self.unit and f' of {self.unit}'} above 0"

    def fits(self, number: Any) -> bool:
        """Return whether a number is right."""
        return math.isfinite(number) and number > 0


@dataclass(frozen=True)
class Share(PositiveNumber):
    """A part of a whole: above 0, and at most 1."""

    def wanted(self) -> str:
        """Return the description of valid values for the error."""
        return "a number above 0 and at most 1"

    def fits(self, number: Any) -> bool:
        """Return whether a number is right."""
        return bool(0 < number <= 1)


@dataclass(frozen=True)
class WholeNumber(Number):
    """A whole number from `least` to `most`, of any type unless `is_int`."""

    most: int | None = None
    is_int: bool = False  # not of another type, such as a float that is whole, or a bool

    def wanted(self) -> str:
        """Return the description of valid values for the error."""
        noun = "an int" if self.is_int else "a whole number"
        bounds = f"of at least {self.least}" if self.most is None else f"from {self.least} to {self.most}"
        return f"{noun} {bounds}{self.note}"

    def fits(self, number: Any) -> bool:
        """Return whether a number is right."""
        if self.is_int:
            is_whole = isinstance(number, numbers.Integral) and not isinstance(number, bool)
        else:
            is_whole = math.isfinite(number) and number % 1 == 0
        return is_whole and self.least <= number and (self.most is None or number <= self.most)

    @property
    def kind(self) -> Callable[[Any], Any]:
        """The function that converts a value to a plain number."""
        return int


@dataclass(frozen=True)
class Bytes(WholeNumber):
    """A number of bytes, which may be a text such as "512M"."""

    least: float = 0
    note: str = ' of bytes, or a text such as "512M"'

    def plain(self, name: str, value: Any) -> Any:
        """Return the number as an int; raise ValueError for others, or TypeError if it is neither number nor text."""
        try:
            return super().plain(name, binary_byte_count(value) if isinstance(value, str) else value)
        except ValueError:
            raise ValueError(f"{name} must be {self.wanted()}, got {value!r}") from None


_SECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
}


@dataclass(frozen=True)
class Interval:
    """Seconds as a number, a time as a text such as "10min", or words as a text such as "5e6 words"."""

    def plain(self, name: str, value: Any) -> Any:
        """Return a time in seconds as a float, and a text of words as it is; raise ValueError for others."""
        is_words = isinstance(value, str) and value.rstrip().endswith("words")
        try:
            amount = words_in(value) if is_words else seconds_in(value) if isinstance(value, str) else float(value)
        except (TypeError, ValueError):
            amount = math.nan
        if not (math.isfinite(amount) and amount > 0):
            raise ValueError(
                f'{name} must be a number of seconds above 0, a time such as "10min", "30s" or "2h", or words such as '
                f'"5e6 words", got {value!r}'
            )
        return value if is_words else amount


@dataclass(frozen=True)
class Words:
    """A number of words, which may be a text such as "5e6" or "5e6 words", or None."""

    def plain(self, name: str, value: Any) -> Any:
        """Return the number as an int, and None as it is; raise ValueError for others."""
        if value is None:
            return None
        try:
            amount = words_in(value if "words" in value else f"{value} words") if isinstance(value, str) else value
            count = int(amount)
        except (TypeError, ValueError, OverflowError):
            count = amount = 0
        if count < 1 or count != amount:
            wanted = 'a whole number of words above 0, such as 5e6 or "5e6 words"'
            raise ValueError(f"{name} must be {wanted}, got {value!r}")
        return count


def seconds_in(text: str) -> float:
    """Return the seconds that a text such as "10min" or "1.5 hours" names; raise ValueError for others."""
    found = re.fullmatch(r"([\d.]+)\s*([a-z]+)", text.strip(), re.ASCII)
    if found is None or found[2] not in _SECONDS:
        raise ValueError(text)
    return float(found[1]) * _SECONDS[found[2]]


def words_in(text: str) -> float:
    """Return the number of words that a text such as "5e6 words" names; raise ValueError for others."""
    number, _, unit = text.strip().partition(" ")
    if unit.strip() != "words":
        raise ValueError(text)
    return float(number.replace(",", "_"))


@dataclass(frozen=True)
class Choice:
    """One of some words, or None unless that is excluded."""

    words: Collection[str]  # the words at the time when the argument is checked
    or_none: bool = True

    def plain(self, name: str, value: Any) -> Any:
        """Return `value`; raise ValueError if it is none of the words, nor None where None is allowed."""
        if not ((value is None and self.or_none) or (isinstance(value, str) and value in self.words)):
            raise ValueError(f"{name} must be {' or '.join(map(repr, self.words))}, got {value!r}")
        return value


@dataclass(frozen=True)
class Text:
    """A text, such as a name, or None."""

    def plain(self, name: str, value: Any) -> Any:
        """Return `value`; raise TypeError if it is neither a text nor None."""
        if not (value is None or isinstance(value, str)):
            raise TypeError(f"{name} must be a text, got {value!r}")
        return value


class Group:
    """None: the constructor replaces a group by its fields before it checks them."""

    def plain(self, name: str, value: Any) -> None:
        """Raise TypeError if there is a value."""
        if value is not None:
            raise TypeError(f"{name} must be a {name.capitalize()}, which only the constructor takes, got {value!r}")


@dataclass(frozen=True)
class DeviceName:
    """A device such as "cpu", "gpu" or "gpu:1", or None. Whether it is there is known once TensorFlow is loaded."""

    def plain(self, name: str, value: Any) -> Any:
        """Return `value`; raise ValueError if it is no such name."""
        if not (value is None or (isinstance(value, str) and re.fullmatch(r"(cpu|gpu)(:\d+)?", value, re.ASCII))):
            raise ValueError(f"{name} must be 'cpu', 'gpu', or one of several such as 'gpu:1', got {value!r}")
        return value


@dataclass(frozen=True)
class SentencesOrShare:
    """Sentences: a path, an iterable, or the share of a corpus that they are."""

    def plain(self, name: str, value: Any) -> Any:
        """Return a share as a float, a path as a text, and an iterable or None as it is; raise an error for others."""
        wanted = f"{name} must be a share of the sentences above 0 and below 1, a path, or an iterable of sentences"
        if isinstance(value, numbers.Real) and not isinstance(value, bool):
            share = float(value)
            if not 0 < share < 1:
                raise ValueError(f"{wanted}, got {value!r}")
            return share
        if isinstance(value, str | os.PathLike):
            return os.fspath(value)
        if not (value is None or hasattr(value, "__iter__")):
            raise TypeError(f"{wanted}, got {value!r}")
        return value
