"""What may stand behind a command-line flag: numbers within bounds, and sizes in bytes."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def whole_number(minimum: int) -> Callable[[str], int]:
    """A reader of whole numbers not below `minimum`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {minimum} or more")
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


def byte_size(text: str) -> int:
    """The number of bytes that a text such as 1073741824, 512M or 1.5G stands for."""
    number, unit = text.strip().upper().removesuffix("B"), ""
    if number[-1:] in UNITS:
        number, unit = number[:-1], number[-1:]
    try:
        value = float(number) * UNITS[unit]
    except ValueError:
        value = -1
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size in bytes, such as 500000, 512M or 2G")
    return int(value)
