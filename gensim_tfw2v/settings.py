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
    read: Callable[[Any], Any] | None = None  # how gensim converts it: int, float, or not at all
    or_none: bool = False

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError, or TypeError for what is not even a number, if `value` cannot be used."""
        if value is None and self.or_none:
            return
        message = f"{name} must be {self.wanted}, got {value!r}"
        try:
            number = self.read(value) if self.read else value
        except (TypeError, ValueError) as error:
            raise type(error)(message) from None
        if not isinstance(number, numbers.Real):
            raise TypeError(message)
        if not self.is_right(number) or (isinstance(value, numbers.Real) and number != value):
            raise ValueError(message)


@dataclass(frozen=True)
class _Choice:
    """Which words an optional argument may be."""

    words: tuple[str, ...]

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError if `value` is none of them, nor None."""
        if not (value is None or (isinstance(value, str) and value in self.words)):
            raise ValueError(f"{name} must be {' or '.join(map(repr, self.words))}, got {value!r}")


def _whole(
    least: int, most: int | None = None, read: Callable[[Any], Any] | None = None, or_none: bool = False
) -> _Rule:
    wanted = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def is_right(value: Any) -> bool:
        return math.isfinite(value) and value % 1 == 0 and least <= value and (most is None or value <= most)

    return _Rule(wanted, is_right, read, or_none)


def _int_at_least(least: int, or_none: bool = False) -> _Rule:
    """Return the rule of an argument that TensorFlow gets as it is, and of which it takes no float."""
    wanted = f"an int of at least {least}"
    return _Rule(wanted, lambda value: isinstance(value, numbers.Integral) and int(value) >= least, or_none=or_none)


def _not_negative(wanted: str, read: Callable[[Any], Any] | None = None, or_none: bool = False) -> _Rule:
    return _Rule(wanted, lambda value: math.isfinite(value) and value >= 0, read, or_none)


DTYPES = ("bfloat16", "float32")  # TensorFlow's names
MOST_WINDOW = 2**31 - 1  # an int32
MOST_SEED = 2**32 - 1  # that NumPy takes
_FINITE = "a finite number"
_RATE = "a finite number of at least 0"

# Arguments that gensim itself checks are not repeated here.
_RULES: dict[str, _Rule | _Choice] = {
    "vector_size": _whole(1, read=int),
    "window": _whole(1, MOST_WINDOW, int),
    "workers": _whole(1, read=int),
    "negative": _whole(0, read=int),
    "alpha": _not_negative(_RATE, float),
    "min_alpha": _not_negative(_RATE, float),
    "start_alpha": _not_negative(_RATE, or_none=True),
    "end_alpha": _not_negative(_RATE, or_none=True),
    "sample": _not_negative(f"{_RATE} (0 keeps every word)", or_none=True),
    "ns_exponent": _Rule(_FINITE, math.isfinite),
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
    for name, value in arguments.items():
        if name in _RULES:
            _RULES[name].check(name, value)
