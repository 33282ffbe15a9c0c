"""Numbers ↔ texts with units, for people."""

from __future__ import annotations

import math
import re

_BITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_RATE = re.compile(r"([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)(?:bit)(?:/s|ps)?", re.IGNORECASE)
_SIZE = re.compile(r"([0-9.]+(?:e[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3600.0, 86400.0, 365.25 * 86400


def bits_a_second(text: str) -> float:
    """Return what a text such as 10Gbit or 100Mbit/s stands for; raise ValueError if it is no rate."""
    found = _RATE.fullmatch(text.strip())
    try:
        value = float(found[1]) * _BITS[found[2].lower()] if found else 0.0
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise ValueError(f"{text!r} is not a rate in bits a second, such as 100Mbit or 10Gbit")
    return value


def byte_count(text: str) -> int:
    """Return the bytes that a text such as 64GB or 64GiB stands for; raise ValueError if it is no size."""
    found = _SIZE.fullmatch(text.strip())
    try:
        power = " kmgt".index(found[2].lower() or " ") if found else 0
        value = float(found[1]) * (1024 if found[3] else 1000) ** power if found else 0.0
    except ValueError:
        value = 0.0
    if not 1 <= value < math.inf:
        raise ValueError(f"{text!r} is not a size in bytes, such as 64GB (64 billion) or 64GiB (64 · 2^30)")
    return int(value)


def whole_count(text: str) -> int:
    """Return the number that a text such as 17000000 or 1e11 stands for; raise ValueError if it is no count."""
    try:
        value = float(text)
        is_whole = value == math.floor(value)
    except (ValueError, OverflowError):
        is_whole, value = False, 0.0
    if not is_whole or value < 1:
        raise ValueError(f"{text!r} is not a whole number of 1 or more, such as 17000000 or 1e11")
    return int(value)


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
