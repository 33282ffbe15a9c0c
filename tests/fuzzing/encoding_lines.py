"""Requests to encoding processes and their answers, damaged anywhere."""

from __future__ import annotations

from hypothesis import strategies as st

from fuzzing.target import Edit, Target, damaged, edits
from gensim_tfw2v.corpus.sections.requests import (
    Counted,
    CountRequest,
    Merged,
    MergeRequest,
    PartSize,
    Run,
    Section,
    WriteRequest,
    answer_line,
    answer_of,
    error_line,
    request_line,
    request_of,
)

_SECTION = Section("/corpus.txt", 5000, 100, 3, 7, False)
_RUNS = [Run(0, 400, 3, 97), Run(1, 800, 0, 4)]
REQUESTS = [
    CountRequest("/folder", 2, _SECTION),
    MergeRequest("/folder", 1, 4, [True, False]),
    WriteRequest("/folder", 2, _SECTION, "/target", 9, 4, _RUNS, _RUNS[:1], [[0, 5], [5, 4]]),
]
ANSWERS = [Counted([PartSize(9, 4, 5, 0)], 7, False), Merged([0, 4, 9], [0, 4, 12]), None]
_REQUEST_LINES = list(map(request_line, REQUESTS))
_ANSWER_LINES = [*map(answer_line, ANSWERS), error_line(FileNotFoundError(2, "none", "/corpus.txt"))]


def check_line(example: tuple[int, list[Edit]]) -> None:
    """A damaged line is refused in one line, or is a request or an answer."""
    number, changes = example
    lines = [*_REQUEST_LINES, *_ANSWER_LINES]
    line = damaged(lines[number % len(lines)], changes)
    read = request_of if number % len(lines) < len(_REQUEST_LINES) else answer_of
    try:
        found = read(line)
    except (ValueError, ImportError, OSError):
        return
    assert found is None or type(found) in {type(value) for value in [*REQUESTS, *ANSWERS]}


LINES = Target(st.tuples(st.integers(0, 100), edits), check_line)
