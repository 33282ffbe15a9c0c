"""The arguments a user may give, checked before anything is built from them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Rule:
    """What an argument has to be."""

    wanted: str  # as the error says it
    is_right: Callable[[Any], bool]
    kind: Callable[[Any], Any] = float  # or int
    converts: bool = False  # what gensim makes a number of this kind of, such as a text, will do
    or_none: bool = False

    def plain(self, name: str, value: Any) -> Any:
        """Return `value` as Python's own int or float; raise ValueError, or TypeError for what is not even a number."""
        if value is None and self.or_none:
            return None
        message = f"{name} must be {self.wanted}, got {value!r}"
        try:
            number = self.kind(value) if self.converts else value
        except (TypeError, ValueError) as error:
            raise type(error)(message) from None
        if not isinstance(number, numbers.Real):
            raise TypeError(message)
        if not self.is_right(number) or (isinstance(value, numbers.Real) and number != value):
            raise ValueError(message)
        return self.kind(number)


@dataclass(frozen=True)
class _Choice:
    """Which words an optional argument may be."""

    words: tuple[str, ...]

    def plain(self, name: str, value: Any) -> Any:
        """Return `value`; raise ValueError if it is none of them, nor None."""
        if not (value is None or (isinstance(value, str) and value in self.words)):
            raise ValueError(f"{name} must be {' or '.join(map(repr, self.words))}, got {value!r}")
        return value


def _whole(least: int, most: int | None = None, converts: bool = False, or_none: bool = False) -> _Rule:
    wanted = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def is_right(value: Any) -> bool:
        return math.isfinite(value) and value % 1 == 0 and least <= value and (most is None or value <= most)

    return _Rule(wanted, is_right, int, converts, or_none)


def _int_at_least(least: int, or_none: bool = False) -> _Rule:
    """Return the rule of an argument that is to be an int, and not a whole number of another type."""
    wanted = f"an int of at least {least}"
    return _Rule(
        wanted, lambda value: isinstance(value, numbers.Integral) and int(value) >= least, int, or_none=or_none
    )


def _not_negative(wanted: str, converts: bool = False, or_none: bool = False) -> _Rule:
    return _Rule(wanted, lambda value: math.isfinite(value) and value >= 0, float, converts, or_none)


DTYPES = ("bfloat16", "float32")  # TensorFlow's names
MOST_WINDOW = 2**31 - 1  # an int32
MOST_SEED = 2**32 - 1  # that NumPy takes
_FINITE = "a finite number"
_RATE = "a finite number of at least 0"

# Arguments that gensim itself checks are not repeated here.
_RULES: dict[str, _Rule | _Choice] = {
    "vector_size": _whole(1, converts=True),
    "window": _whole(1, MOST_WINDOW, converts=True),
    "workers": _whole(1, converts=True),
    "negative": _whole(0, converts=True),
    "alpha": _not_negative(_RATE, converts=True),
    "min_alpha": _not_negative(_RATE, converts=True),
    "start_alpha": _not_negative(_RATE, or_none=True),
    "end_alpha": _not_negative(_RATE, or_none=True),
    "sample": _not_negative(f"{_RATE} (0 keeps every word)", or_none=True),
    "ns_exponent": _Rule(_FINITE, math.isfinite, converts=True),
    "min_count": _Rule(_FINITE, math.isfinite, or_none=True),
    "batch_words": _whole(1),
    "max_vocab_size": _whole(0, or_none=True),  # 0 sets no limit either, as in gensim
    "max_final_vocab": _whole(1, or_none=True),
    "epochs": _whole(1, or_none=True),
    "seed": _whole(0, MOST_SEED, or_none=True),
    "batch_tokens": _int_at_least(1, or_none=True),
    "run_tokens": _int_at_least(1, or_none=True),
    "shared_negatives": _int_at_least(1, or_none=True),
    "update_bound": _Rule("a finite number above 0", lambda value: math.isfinite(value) and value > 0, or_none=True),
    "cache_memory": _whole(0),
    "cache_disk": _whole(0),
    "cluster_timeout": _Rule("a finite number of seconds above 0", lambda value: math.isfinite(value) and value > 0),
    "cluster_dtype": _Choice(DTYPES),
    "compute_dtype": _Choice(DTYPES),
}

# What of a model training reads, and a user may have changed since it was made.
TRAINING_ARGUMENTS = (
    "vector_size", "window", "workers", "negative", "alpha", "min_alpha", "batch_words", "seed", "batch_tokens",
    "run_tokens", "shared_negatives", "update_bound", "compute_dtype", "cache_memory", "cache_disk", "cluster_timeout",
    "cluster_dtype",
)  # fmt: skip


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise ValueError or TypeError naming the first argument that cannot be used, and what it was."""
    plain_arguments(arguments)


def plain_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked ones of some arguments with Python's own numbers, which any file and array can take."""
    return {name: _RULES[name].plain(name, value) for name, value in arguments.items() if name in _RULES}
