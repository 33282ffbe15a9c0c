"""Rows of cells → lines of aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest


def lines_of_columns(rows: Iterable[Sequence[str]], at_left: int) -> list[str]:
    """Return a line for each row; the first `at_left` columns begin at the left, and the others end at the right.

    A row may have fewer cells than others.
    """
    columns = []
    for number, cells in enumerate(zip_longest(*rows, fillvalue="")):
        width = max(map(len, cells))
        columns.append([cell.ljust(width) if number < at_left else cell.rjust(width) for cell in cells])
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
