"""Numbers ↔ texts with units, for people."""

from __future__ import annotations

import math
import re

_RATE = re.compile(r"(.+?)\s*([kmgt]?)bit(?:/s|ps)?", re.IGNORECASE)
_SIZE = re.compile(r"(.+?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3600.0, 86400.0, 365.25 * 86400


def bits_a_second(text: str) -> float:
    """Return what a text such as 10Gbit or 100Mbit/s stands for; raise ValueError if it is no rate."""
    found = _RATE.fullmatch(text.strip())
    value = _scaled(found[1], found[2], 1000) if found else 0.0
    if not 0 < value < math.inf:
        raise ValueError(f"{text!r} is not a rate in bits a second, such as 100Mbit or 10Gbit")
    return value


def byte_count(text: str) -> int:
    """Return the bytes that a text such as 64GB or 64GiB stands for; raise ValueError if it is no size."""
    value = _bytes(text, 1000)
    if not 1 <= value < math.inf:
        raise ValueError(f"{text!r} is not a size in bytes, such as 64GB (64 billion) or 64GiB (64 · 2^30)")
    return int(value)


def binary_byte_count(text: str) -> int:
    """Return the bytes that a text such as 512M (512 · 2^20) stands for; raise ValueError if it is no size."""
    value = _bytes(text, 1024)
    if not 0 <= value < math.inf:
        raise ValueError(f"{text!r} is not a size in bytes, such as 500000, 512M or 2G")
    return int(value)


def whole_count(text: str) -> int:
    """Return the number that a text such as 17000000 or 1e11 stands for; raise ValueError if it is no count."""
    value = _scaled(text, "", 1)
    if not (1 <= value < math.inf and value == math.floor(value)):
        raise ValueError(f"{text!r} is not a whole number of 1 or more, such as 17000000 or 1e11")
    return int(value)


def _bytes(text: str, base: int) -> float:
    """Return the bytes that a text stands for, whose units are powers of `base` where they do not say; NaN if none."""
    found = _SIZE.fullmatch(text.strip())
    return _scaled(found[1], found[2], 1024 if found[3] else base) if found else math.nan


def _scaled(number: str, prefix: str, base: int) -> float:
    """Return a number times the power of `base` that a prefix such as k or M stands for; NaN if it is no number."""
    try:
        return float(number) * float(base) ** " kmgt".index(prefix.lower() or " ")
    except ValueError:
        return math.nan


def duration(seconds: float) -> str:
    """Return seconds as a text: 8.5 s, 12 min, 3.4 hours, 12 days."""
    for most, unit, name in (
        (2 * _MINUTE, 1.0, "s"),
        (2 * _HOUR, _MINUTE, "min"),
        (2 * _DAY, _HOUR, "hours"),
        (2 * _YEAR, _DAY, "days"),
    ):
        if seconds < most:
            return f"{_short(seconds / unit)} {name}"
    return f"{_short(seconds / _YEAR)} years"


def size(count: float) -> str:
    """Return a number of bytes as a text: 840 MB, 1.3 GB, 2.4 TB."""
    for power, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= power:
            return f"{_short(count / power)} {name}"
    return f"{count:.0f} bytes"


def large(count: float) -> str:
    """Return a large number as a text: 840,000, 1.3 million, 2.4 billion."""
    for power, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if count >= power:
            return f"{_short(count / power)} {name}"
    return f"{count:,.0f}"


def _short(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0") if value < 100 else f"{value:,.0f}"
