"""What a fuzz target is, and ways to damage bytes."""

from __future__ import annotations

import contextlib
import signal
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

EXAMPLE_SECONDS = 20

Edit = tuple[str, int, Any]


@dataclass(frozen=True)
class Target:
    """One thing to fuzz."""

    examples: st.SearchStrategy[Any]
    check: Callable[[Any], None]
    """Raises an error if what is fuzzed treats an example wrongly. Its docstring says what is right."""


# What parsers and operations stumble over: ends of ranges, numbers in text, separators, and what begins a format.
_AWKWARD = [
    b"",
    b"\0",
    b"\0" * 8,
    b"\xff" * 4,
    b"\xff" * 8,
    b"\n",
    b" ",
    b"0",
    b"-1",
    b"9" * 20,
    b"1e999",
    b"NaN",
    b"null",
    b"{}",
    b"[" * 2000,
    b"\x80\x05",
    b"\xef\xbb\xbf",
    *(struct.pack("<i", number) for number in (1, -1, 2**31 - 1, -(2**31))),
    *(struct.pack("<q", number) for number in (1, -1, 2**63 - 1, 2**40)),
]
_pieces = st.one_of(st.sampled_from(_AWKWARD), st.binary(max_size=12))
_places = st.integers(0, 2**20)  # taken modulo the size
edits = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), _places, st.integers(0, 7)),
        st.tuples(st.just("overwrite"), _places, _pieces),
        st.tuples(st.just("insert"), _places, _pieces),
        st.tuples(st.just("delete"), _places, st.integers(1, 64)),
        st.tuples(st.just("cut"), _places, st.none()),
        st.tuples(st.just("copy"), _places, st.tuples(_places, st.integers(1, 64))),
    ),
    min_size=1,
    max_size=4,
)


def damaged(data: bytes, changes: list[Edit]) -> bytes:
    """Return the data with all changes made, one after the other; they may leave it as it is."""
    for kind, place, how in changes:
        at = place % (len(data) + 1)
        if kind == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << how]) + data[at + 1 :]
        elif kind == "overwrite":
            data = data[:at] + how + data[at + len(how) :]
        elif kind == "insert":
            data = data[:at] + how + data[at:]
        elif kind == "delete":
            data = data[:at] + data[at + how :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "copy":
            source, size = how[0] % (len(data) + 1), how[1]
            data = data[:at] + data[source : source + size] + data[at + size :]
    return data


def assert_one_line(message: str, name: object) -> None:
    """Fail unless an error's message is one line that holds a file's name."""
    assert str(name) in message, message
    assert "\n" not in message, message


class TooSlowError(AssertionError):
    """An example took too long."""


@contextlib.contextmanager
def time_limit(seconds: int = EXAMPLE_SECONDS) -> Iterator[None]:
    """Raise TooSlowError in the main thread after some seconds."""

    def stop(*_: Any) -> None:
        raise TooSlowError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
