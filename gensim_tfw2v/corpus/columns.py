"""Columns of tables: which hold sentences, and their rows, as arrays of Arrow → numbers of their words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Int64Array
from gensim_tfw2v.corpus.tokenizer import Part, Tokenizer
from gensim_tfw2v.runtime.extras import MissingPackageError

_MOST_ROWS = 1 << 16  # of a slice, for columns that are stored in far fewer bytes than their words take


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


def _is_text(kind: Any) -> bool:
    types = load_pyarrow("a column").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def holds_sentences(kind: Any) -> bool:
    """Return whether values of a type are sentences: text, or lists of text or of whole numbers."""
    types = load_pyarrow("a column").types
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return _is_text(kind)
    return _is_text(kind.value_type) or bool(types.is_integer(kind.value_type))


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


class ColumnNumbers:
    """Numbers the words of a column in the order of their first appearance, each row a line.

    Text is split at white space as in a file. Lists hold words already. A row without a value has no words, and a word
    without a value is left out.
    """

    def __init__(self) -> None:
        self._text = Tokenizer()
        self._numbers: defaultdict[Any, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def part(self, rows: Any) -> Part:
        """Return the words of an array of rows."""
        return self._text.part(_lines(rows)) if _is_text(rows.type) else self._part_of_lists(rows)

    def _part_of_lists(self, rows: Any) -> Part:
        new_numbering = not self._numbers or len(self._numbers) > tuning.TOKENIZER_WORDS
        if new_numbering:
            self._numbers.clear()
        known = len(self._numbers)
        words, lengths = _words_of_lists(rows)
        # Only distinct words become objects of Python. They are in the order of their first appearance.
        coded = words.dictionary_encode()
        distinct = coded.dictionary.to_pylist()
        numbers = np.fromiter(map(self._numbers.__getitem__, distinct), np.int32, len(distinct))
        new_words = list(islice(reversed(self._numbers), len(self._numbers) - known))[::-1]
        ids = numbers[coded.indices.to_numpy(zero_copy_only=False)]
        return Part(new_numbering, new_words, ids, np.append(lengths, 0).astype(np.int32))


def slices_of(rows: Any, part_bytes: int) -> Iterator[Any]:
    """Yield an array of rows in slices of about so many bytes."""
    size = rows_per_slice(len(rows), rows.nbytes, part_bytes)
    for start in range(0, len(rows), size):
        yield rows.slice(start, size)


def rows_per_slice(rows: int, nbytes: int, part_bytes: int) -> int:
    """Return how many rows take about so many bytes, given what some rows take."""
    return min(max(1, part_bytes * rows // max(1, nbytes)), _MOST_ROWS)


def _lines(rows: Any) -> bytes:
    """Return a column of text as lines, one for each row."""
    rows = _plain_text(rows)
    if rows.null_count:
        rows = rows.fill_null("")
    _, offsets_buffer, data = rows.buffers()
    if not len(rows) or data is None:
        return b"\n" * len(rows)
    offsets: Int64Array = np.frombuffer(offsets_buffer, np.int64)[rows.offset : rows.offset + len(rows) + 1]
    text = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    lines = np.empty(text.size + len(rows), np.uint8)
    is_end = np.zeros(lines.size, bool)
    is_end[offsets[1:] - offsets[0] + np.arange(len(rows))] = True
    lines[is_end] = ord("\n")
    lines[~is_end] = np.where(text == ord("\n"), ord(" "), text)  # a row is one sentence, whatever is in it
    return lines.tobytes()


def _words_of_lists(rows: Any) -> tuple[Any, Int64Array]:
    """Return the words of all rows as an array of Arrow without empty values, and how many each row has."""
    pyarrow = load_pyarrow("a column of lists")
    lengths = pyarrow.compute.list_value_length(rows).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    words = pyarrow.compute.list_flatten(rows)
    if _is_text(words.type):
        words = _plain_text(words)
    if words.null_count:
        kept = words.is_valid().to_numpy(zero_copy_only=False)
        lengths = np.bincount(np.repeat(np.arange(len(rows)), lengths)[kept], minlength=len(rows))
        words = words.drop_null()
    return words, lengths


def _plain_text(texts: Any) -> Any:
    """Return an array of text of any of Arrow's types as one of `large_string`."""
    pyarrow = load_pyarrow("a column of text")
    if not pyarrow.types.is_dictionary(texts.type):
        return texts.cast(pyarrow.large_string())
    distinct = texts.dictionary.cast(pyarrow.large_string())  # not all types of text can be decoded
    return pyarrow.DictionaryArray.from_arrays(texts.indices, distinct).dictionary_decode()
