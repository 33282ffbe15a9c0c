"""The arguments a user may give, checked before anything is built from them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any


def _is_int(value: Any) -> bool:
    return isinstance(value, numbers.Integral)


def _is_finite(value: Any) -> bool:
    return isinstance(value, numbers.Real) and math.isfinite(value)


def _at_least(least: int) -> Callable[[Any], bool]:
    return lambda value: _is_int(value) and value >= least


def _not_negative(value: Any) -> bool:
    return _is_finite(value) and value >= 0


def _or_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


# What each argument has to be, as the error says it. Arguments that gensim itself checks are not repeated here.
_RULES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "vector_size": ("a whole number of at least 1", _at_least(1)),
    "window": ("a whole number of at least 1", _at_least(1)),
    "workers": ("a whole number of at least 1", _at_least(1)),
    "batch_words": ("a whole number of at least 1", _at_least(1)),
    "negative": ("a whole number of at least 0 (0 turns negative sampling off)", _at_least(0)),
    "alpha": ("a finite number of at least 0", _not_negative),
    "min_alpha": ("a finite number of at least 0", _not_negative),
    "start_alpha": ("a finite number of at least 0", _or_none(_not_negative)),
    "end_alpha": ("a finite number of at least 0", _or_none(_not_negative)),
    "sample": ("a finite number of at least 0 (0 keeps every word)", _or_none(_not_negative)),
    "ns_exponent": ("a finite number", _is_finite),
    "min_count": ("a number", _or_none(_is_finite)),
    "max_vocab_size": ("None or a whole number of at least 1", _or_none(_at_least(1))),
    "max_final_vocab": ("None or a whole number of at least 1", _or_none(_at_least(1))),
    "epochs": ("a whole number of at least 1", _or_none(_at_least(1))),
    "seed": ("None or a whole number of at least 0", _or_none(_at_least(0))),
    "batch_tokens": ("None or a whole number of at least 1", _or_none(_at_least(1))),
    "shared_negatives": ("None or a whole number of at least 1", _or_none(_at_least(1))),
    "update_bound": ("None or a finite number above 0", _or_none(lambda value: _is_finite(value) and value > 0)),
    "cache_memory": ("a number of bytes, at least 0", _at_least(0)),
    "cache_disk": ("a number of bytes, at least 0", _at_least(0)),
}


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise ValueError (TypeError for what is not even a number) naming the first argument that cannot be used."""
    for name, value in arguments.items():
        if name not in _RULES:
            continue
        wanted, is_right = _RULES[name]
        if not is_right(value):
            error = ValueError if isinstance(value, numbers.Real) else TypeError
            raise error(f"{name} must be {wanted}, got {value!r}")
