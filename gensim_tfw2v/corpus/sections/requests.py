"""What an encoding process is asked to do, and its answers: JSON in one line each.

The data lie in files of one folder (`section_files`), which all processes see.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Section:
    """Consecutive parts of a file, which one process encodes."""

    path: str
    size: int  # bytes of the file
    part_bytes: int
    first: int  # its first part
    end: int  # the part after its last one
    ends_file: bool
    column: str | None = None  # of a table


NO_LINE_END = -1


class PartSize(NamedTuple):
    """The words of a part of a text, divided by its first and its last line end."""

    words: int
    first: int  # words before the first line end
    last: int  # words after the last line end, or NO_LINE_END
    sentences: int  # between both


class Run(NamedTuple):
    """Consecutive numbers of a shard."""

    shard: int
    shard_bytes: int  # of all ids and lengths of the shard
    first: int  # place among the shard's numbers
    size: int  # how many they are


@dataclass(frozen=True)
class CountRequest:
    """Write a section's words as numbers of its own vocabulary, and this vocabulary. The answer is a `Counted`."""

    folder: str
    number: int  # of the section
    section: Section


@dataclass(frozen=True)
class MergeRequest:
    """Merge the words of all sections that lie in one of several equal ranges of hashes. The answer is a `Merged`."""

    folder: str
    bucket: int
    buckets: int
    have_numbers: list[bool]  # of each section: whether its words are whole numbers


@dataclass(frozen=True)
class WriteRequest:
    """Write a section's ids and sentence lengths into the shards. The answer is None."""

    folder: str
    number: int  # of the section
    section: Section
    target: str  # the folder with the shards
    distinct: int  # words of the section's vocabulary
    open_words: int  # of the line that the sections before it leave open
    words: list[Run]
    lengths: list[Run]
    places: list[list[int]]  # where each bucket has the section's words: the first, and how many


@dataclass(frozen=True)
class Counted:
    """What is known of a section once its words are counted."""

    parts: list[PartSize]
    distinct: int  # words of its vocabulary
    has_numbers: bool  # whether its words are whole numbers


@dataclass(frozen=True)
class Merged:
    """What is known of a bucket once its words are merged."""

    starts: list[int]  # the first of its words that appear first in each section, and their number
    places: list[int]  # the first of each section's words, and their number


Request = CountRequest | MergeRequest | WriteRequest
Answer = Counted | Merged | None
_REQUESTS = {kind.__name__: kind for kind in (CountRequest, MergeRequest, WriteRequest)}
_ANSWERS: dict[str, type[Counted] | type[Merged]] = {kind.__name__: kind for kind in (Counted, Merged)}
_ROWS: dict[str, type[Run] | type[PartSize]] = {"words": Run, "lengths": Run, "parts": PartSize}  # of lists in a line
_ERRORS = {kind.__name__: kind for kind in (ValueError, ImportError, OSError)}


class DamagedMessageError(ValueError):
    """A line that is no request, or no answer."""


def request_line(request: Request) -> bytes:
    """Return the line of a request."""
    return _line({"request": type(request).__name__, **asdict(request)})


def request_of(line: bytes) -> Request:
    """Return the request of a line."""
    try:
        fields = _fields(line, "request")
        kind = _REQUESTS[fields.pop("request")]
        if "section" in fields:
            fields["section"] = Section(**fields["section"])
        return kind(**fields)
    except (TypeError, KeyError) as error:
        raise DamagedMessageError(f"no request for encoding: {error}") from None


def answer_line(answer: Answer) -> bytes:
    """Return the line of an answer."""
    if answer is None:
        return _line({"answer": None})
    return _line({"answer": type(answer).__name__, **asdict(answer)})


def error_line(error: Exception) -> bytes:
    """Return the line that stands for a ValueError, ImportError or OSError."""
    if isinstance(error, OSError):
        return _line({"error": OSError.__name__, "arguments": [error.errno, error.strerror, error.filename]})
    name = ImportError.__name__ if isinstance(error, ImportError) else ValueError.__name__
    return _line({"error": name, "arguments": [str(error)]})


def answer_of(line: bytes) -> Answer:
    """Return the answer of a line, or raise the error that it stands for."""
    try:
        fields = _fields(line, "answer")
        if "error" not in fields:
            name = fields.pop("answer")
            return None if name is None else _ANSWERS[name](**fields)
        error = _ERRORS[fields["error"]](*fields["arguments"])
    except (TypeError, KeyError) as damage:
        raise DamagedMessageError(f"no answer of an encoding process: {damage}") from None
    raise error


def _line(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields).encode("ascii") + b"\n"


def _fields(line: bytes, what: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise DamagedMessageError(f"no {what} of encoding: {line[:80]!r}")
    return {name: [_ROWS[name](*row) for row in value] if name in _ROWS else value for name, value in fields.items()}
