"""A file of Parquet or Arrow → parts of the words of one of its columns."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator
from typing import Any

from gensim_tfw2v.corpus.columns import ColumnNumbers, chosen_column, load_pyarrow, rows_per_slice, slices_of
from gensim_tfw2v.corpus.tokenizer import Part

_PARQUET_SUFFIX = ".parquet"
TABLE_SUFFIXES = (_PARQUET_SUFFIX, ".arrow", ".feather", ".ipc")
_MARK_OF_ARROW_FILE = b"ARROW1"  # a stream of Arrow, which may have the same suffix, does not begin with it
_BYTES_PER_ID = 4


def is_table(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name says that it is one of Parquet or Arrow."""
    return os.fspath(path).lower().endswith(TABLE_SUFFIXES)


def check_table(path: str | os.PathLike[str], column: str | None) -> None:
    """Raise an error if a file cannot be read, or if it is not clear which of its columns has the sentences."""
    with _errors_named(os.fspath(path)):
        _column_of(os.fspath(path), column)


def table_parts(
    path: str, part_bytes: int, first: int, step: int, column: str | None = None
) -> Generator[Part, None, None]:
    """Yield parts ``first``, ``first + step``, ... of a column, each about ``part_bytes`` of it.

    Parameters
    ----------
    column : str, optional
        The column's name, which may be left out if only one column holds sentences.
    """
    with _errors_named(path):
        name = _column_of(path, column)
        numbers = ColumnNumbers()
        slices = _slices_of_parquet if _is_parquet(path) else _slices_of_arrow
        for rows in slices(path, name, part_bytes, first, step):
            yield numbers.part(rows)


def _column_of(path: str, column: str | None) -> str:
    pyarrow = _pyarrow_for(path)
    if _is_parquet(path):
        schema = pyarrow.parquet.read_schema(path)
    else:
        with pyarrow.memory_map(path) as source:
            schema = _arrow_reader(pyarrow, source).schema
    return chosen_column(dict(zip(schema.names, schema.types, strict=True)), column, path)


def _slices_of_parquet(path: str, name: str, part_bytes: int, first: int, step: int) -> Iterator[Any]:
    """Yield arrays of rows. Groups of rows in which nothing is to be yielded are not read."""
    with _pyarrow_for(path).parquet.ParquetFile(path) as file:
        rows_at_once = _rows_at_once(file.metadata, name, part_bytes)
        number = 0
        for group in range(file.num_row_groups):
            slices = -(-file.metadata.row_group(group).num_rows // rows_at_once)
            if (first - number) % step < slices:
                batches = file.iter_batches(rows_at_once, row_groups=[group], columns=[name], use_threads=False)
                for place, batch in enumerate(batches, number):
                    if place % step == first:
                        yield batch.column(batch.schema.get_field_index(name))
            number += slices


def _rows_at_once(metadata: Any, name: str, part_bytes: int) -> int:
    """Return how many rows of a column of Parquet take about so many bytes."""
    nbytes = 0
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            column = metadata.row_group(group).column(place)
            if column.path_in_schema == name or column.path_in_schema.startswith(f"{name}."):
                nbytes += max(column.total_uncompressed_size, column.num_values * _BYTES_PER_ID)
    return rows_per_slice(metadata.num_rows, nbytes, part_bytes)


def _slices_of_arrow(path: str, name: str, part_bytes: int, first: int, step: int) -> Iterator[Any]:
    """Yield arrays of rows. Of each batch only the column is read."""
    pyarrow = _pyarrow_for(path)
    with pyarrow.memory_map(path) as source:
        place = _arrow_reader(pyarrow, source).schema.get_field_index(name)
        options = pyarrow.ipc.IpcReadOptions(included_fields=[place], use_threads=False)
        number = 0
        for batch in _batches(_arrow_reader(pyarrow, source, options)):
            for rows in slices_of(batch.column(0), part_bytes):
                if number % step == first:
                    yield rows
                number += 1


def _arrow_reader(pyarrow: Any, source: Any, options: Any = None) -> Any:
    """Return what reads an open file of Arrow, which has a directory of batches or is a stream of them."""
    source.seek(0)
    is_file = source.read(len(_MARK_OF_ARROW_FILE)) == _MARK_OF_ARROW_FILE
    source.seek(0)
    return (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(source, options=options)


def _batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(number) for number in range(reader.num_record_batches))
    return iter(reader)


def _is_parquet(path: str) -> bool:
    return path.lower().endswith(_PARQUET_SUFFIX)


def _pyarrow_for(path: str) -> Any:
    return load_pyarrow(f"reading {path!r}")


@contextlib.contextmanager
def _errors_named(path: str) -> Iterator[None]:
    """Raise errors about the content of a file as errors that name it."""
    exceptions = _pyarrow_for(path).lib
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text ({error.reason}); write the column as UTF-8") from None
    except (exceptions.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's error, not that of Arrow
            raise
        raise ValueError(f"{path}: the file is damaged: {error}") from None
