"""Sentences whose words come as numbers, many sentences at a time, such as columns: no word is an object of its own."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from typing import Any

from gensim_tfw2v import tuning
from gensim_tfw2v.corpus.columns import ColumnNumbers, chosen_column, holds_sentences, load_pyarrow, slices_of
from gensim_tfw2v.corpus.file_parts import NumberedParts, of_one_reader
from gensim_tfw2v.corpus.file_scan import sentences_of_parts
from gensim_tfw2v.corpus.table_file import table_parts
from gensim_tfw2v.corpus.tokenizer import Part
from gensim_tfw2v.runtime.extras import MissingPackageError


class SentenceParts(ABC):
    """Sentences that can be read several times, and are as those of a file: empty ones do not count.

    As an iterable it yields each sentence as a list of words, for programs that do not know parts.
    """

    repeats: bool = True
    """Whether all passes yield the same sentences. If not, each epoch reads a pass of its own."""
    passes: int = 0
    """If passes differ: the number of the next one. The first has the number 0."""

    def of_pass(self, number: int) -> SentenceParts:
        """Return what yields the sentences of a pass again and again; the next pass then has a greater number."""
        return self

    @abstractmethod
    def parts(self) -> Generator[Part, None, None]:
        """Yield all sentences from the first one on, as parts of a text whose every line is a sentence."""

    def numbered_parts(self) -> NumberedParts:
        """Yield each part with 0, the number of its only reader."""
        return of_one_reader(self.parts())

    def __iter__(self) -> Iterator[list[Any]]:
        words: list[Any] = []
        known: dict[Any, int] = {}

        def number(word: Any) -> int:
            found = known.setdefault(word, len(words))
            if found == len(words):
                words.append(word)
            return found

        for sentences in sentences_of_parts(self.numbered_parts(), number):
            yield from sentences.as_lists(words)


def is_column(sentences: object) -> bool:
    """Return whether an object gives its content by Arrow's interface (the "PyCapsule" interface)."""
    return hasattr(sentences, "__arrow_c_stream__") or hasattr(sentences, "__arrow_c_array__")


def column_of(sentences: Any, name: str | None = None) -> ColumnSentences | None:
    """Return a column's rows, or None for another iterable.

    Without pyarrow, a column of lists is an iterable as any other.
    """
    if not is_column(sentences):
        return None
    try:
        return ColumnSentences(sentences, name)
    except MissingPackageError:
        if isinstance(next(iter(sentences), ""), str):  # text that is to be divided, or the names of a table's columns
            raise
        return None


class ColumnSentences(SentenceParts):
    """The rows of a column of pyarrow, Polars, pandas or another library. Their text stays where it is.

    Parameters
    ----------
    column : object
        A column with Arrow's interface, or a table of which one is chosen.
    name : str, optional
        Which column of a table; it may be left out if only one holds sentences.
    """

    def __init__(self, column: Any, name: str | None = None) -> None:
        kind = type(column).__name__
        pyarrow = load_pyarrow(f"sentences in a {kind}")
        if isinstance(column, Iterator):
            raise TypeError(f"sentences in a {kind} can be read only once; give a table, or a column of it")
        is_stream = hasattr(column, "__arrow_c_stream__")
        try:
            rows = pyarrow.chunked_array(column if is_stream else [pyarrow.array(column)])
        except pyarrow.lib.ArrowException as error:
            raise TypeError(f"the {kind} has rows that Arrow cannot hold ({error}); give them as a list") from error
        if pyarrow.types.is_struct(rows.type):
            kinds = {field.name: field.type for field in rows.type}
            rows = pyarrow.compute.struct_field(rows, [chosen_column(kinds, name, f"the {kind}")])
        elif not holds_sentences(rows.type):
            raise ValueError(
                f"a {kind} of {rows.type} holds no sentences; a row must be text, or a list of text or of whole numbers"
            )
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def parts(self) -> Generator[Part, None, None]:
        numbers = ColumnNumbers()
        for chunk in self._rows.chunks:
            for rows in slices_of(chunk, tuning.FILE_PART_BYTES):
                yield numbers.part(rows)


class TableSentences(SentenceParts):
    """The rows of a column of a file of Parquet or Arrow, read in this process.

    Parameters
    ----------
    path : str or path-like
        The file.
    column : str, optional
        The column's name; it may be left out if only one holds sentences.
    """

    def __init__(self, path: str | os.PathLike[str], column: str | None = None) -> None:
        self._path, self._column = os.fspath(path), column

    def parts(self) -> Generator[Part, None, None]:
        return table_parts(self._path, tuning.FILE_PART_BYTES, 0, 1, self._column)
