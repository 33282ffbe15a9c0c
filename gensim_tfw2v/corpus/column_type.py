"""Columns of tables: which hold sentences, and which one is meant."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.runtime.extras import MissingPackageError


def load_pyarrow(feature: str) -> Any:
    """Return the module pyarrow with those of its modules that read columns; `feature` begins the error without it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError(feature, "pyarrow", "arrow") from None
    return pyarrow


def is_text(kind: Any) -> bool:
    """Return whether a type of Arrow is text."""
    types = load_pyarrow("a column").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def holds_sentences(kind: Any) -> bool:
    """Return whether values of a type are sentences: text, or lists of text or of whole numbers."""
    types = load_pyarrow("a column").types
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return is_text(kind)
    return is_text(kind.value_type) or bool(types.is_integer(kind.value_type))


def chosen_column(kinds: dict[str, Any], column: str | None, table: str) -> str:
    """Return the name of the column that holds sentences.

    Parameters
    ----------
    kinds : dict
        Types of the columns, by their names.
    column : str, optional
        The name that the user gives. It may be left out if only one column holds sentences.
    table : str
        What errors call the table.

    Raises
    ------
    ValueError
        If there is no such column, if it holds no sentences, or if it must be named.
    """
    listed = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items())
    if column is not None:
        if column not in kinds:
            raise ValueError(f"{table} has no column {column!r}; its columns are {listed}")
        if not holds_sentences(kinds[column]):
            raise ValueError(
                f"column {column!r} of {table} holds {kinds[column]}; a row must be text, or a list of text or of "
                "whole numbers"
            )
        return column
    suitable = [name for name, kind in kinds.items() if holds_sentences(kind)]
    if len(suitable) != 1:
        number = "several columns" if suitable else "no column"
        raise ValueError(f"{table} has {number} of text or lists of words; name one with column= among {listed}")
    return suitable[0]
