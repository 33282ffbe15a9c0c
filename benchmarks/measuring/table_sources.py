"""One text in a file, in tables, and in columns of several libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TEXT = "text file"
PARQUET, ARROW = "Parquet file", "Arrow file"
TEXT_ROWS, LISTS = "text", "lists"  # what a row is: a line of text, or a list of its words
_COLUMN = "sentences"
_PACKAGES = {
    TEXT: "",
    PARQUET: "pyarrow",
    ARROW: "pyarrow",
    "pyarrow": "pyarrow",
    "datasets": "datasets",
    "Polars": "polars",
    "pandas": "pandas",
}


def missing_packages(sources: Sequence[str] = tuple(_PACKAGES)) -> dict[str, str]:
    """Return the package that each source needs, an empty text where nothing is missing."""
    return {source: "" if _is_there(_PACKAGES[source]) else _PACKAGES[source] for source in sources}


def _is_there(package: str) -> bool:
    return not package or find_spec(package) is not None


def sources_in(corpus: Path, sources: Sequence[str], rows: str = TEXT_ROWS) -> dict[str, dict[str, Any]]:
    """Return the arguments of the class that name the corpus in each source, the text file first.

    Files are written beside the corpus, and columns are made in memory.

    Parameters
    ----------
    corpus : Path
        Text of one sentence a line.
    sources : sequence of str
        The sources beside the text file.
    rows : {"text", "lists"}, optional
        What a row of a table is.
    """
    found: dict[str, dict[str, Any]] = {TEXT: {"corpus_file": str(corpus)}}
    if sources:
        table = _table(corpus, rows)
        found |= {source: _MAKERS[source](table, corpus) for source in sources}
    for source, arguments in found.items():
        # Without this interface, rows would be read one by one, and those of text would be sentences of letters.
        if "sentences" in arguments and not hasattr(arguments["sentences"], "__arrow_c_stream__"):
            raise RuntimeError(f"columns of {source} have no Arrow interface; install a newer version of the library")
    return found


def _table(corpus: Path, rows: str) -> Any:
    import pyarrow

    lines = corpus.read_text(encoding="utf-8").split("\n")
    sentences = lines if rows == TEXT_ROWS else [line.split() for line in lines]
    return pyarrow.table({_COLUMN: sentences})


def _parquet(table: Any, corpus: Path) -> dict[str, Any]:
    import pyarrow.parquet

    path = corpus.with_suffix(".parquet")
    pyarrow.parquet.write_table(table, path)
    return {"corpus_file": str(path)}


def _arrow(table: Any, corpus: Path) -> dict[str, Any]:
    import pyarrow

    path = corpus.with_suffix(".arrow")
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return {"corpus_file": str(path)}


def _datasets(table: Any, corpus: Path) -> dict[str, Any]:
    import datasets

    return {"sentences": datasets.Dataset(table).with_format("arrow")[_COLUMN]}


def _polars(table: Any, corpus: Path) -> dict[str, Any]:
    import polars

    return {"sentences": polars.from_arrow(table)[_COLUMN]}


def _pandas(table: Any, corpus: Path) -> dict[str, Any]:
    import pandas

    return {"sentences": table[_COLUMN].to_pandas(types_mapper=pandas.ArrowDtype)}


_MAKERS: dict[str, Callable[[Any, Path], dict[str, Any]]] = {
    PARQUET: _parquet,
    ARROW: _arrow,
    "pyarrow": lambda table, corpus: {"sentences": table[_COLUMN]},
    "datasets": _datasets,
    "Polars": _polars,
    "pandas": _pandas,
}
