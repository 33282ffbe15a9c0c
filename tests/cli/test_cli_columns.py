"""Rows of cells become lines of aligned columns."""

from __future__ import annotations

from gensim_tfw2v.cli.columns import lines_of_columns


def test_columns_are_aligned_at_the_left_or_at_the_right_and_end_without_blanks() -> None:
    rows = [["name", "n", "x"], ["a", "10"], ["bc", "", "7.5"]]
    assert lines_of_columns(rows, at_left=1) == ["name   n    x", "a     10", "bc        7.5"]
    assert lines_of_columns(rows, at_left=3) == ["name  n   x", "a     10", "bc        7.5"]
