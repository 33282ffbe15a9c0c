"""Checks a corpus that is named on the command line, and opens it."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.errors import CommandError


def check_corpus(corpus: Path, column: str | None = None) -> None:
    """Raise an error unless `corpus` is a readable, non-empty file, a folder of such files, or an encoded corpus.

    Parameters
    ----------
    column : str, optional
        The column of tables that has the sentences, by default their only suitable one.
    """
    from gensim_tfw2v.corpus.shards import is_encoded

    if is_encoded(corpus):
        if column is not None:
            raise CommandError(f"--column {column!r} names a column of a table, and corpus {str(corpus)!r} is encoded")
        return
    if corpus.is_dir():
        files = sorted(corpus.iterdir())
        folder = next((file for file in files if file.is_dir()), None)
        if folder is not None:
            raise CommandError(f"corpus {str(corpus)!r} holds a folder, {folder.name!r}; only files are read")
        if not files:
            raise CommandError(f"corpus {str(corpus)!r} is an empty folder")
    else:
        files = [corpus]
    for file in files:
        if not file.exists():
            raise CommandError(f"corpus {str(file)!r} is not there")
        if not file.is_file():
            raise CommandError(f"corpus {str(file)!r} is not a file: it is read several times, so it cannot be a pipe")
        try:
            file.open("rb").close()
        except OSError as error:
            raise CommandError(f"corpus {str(file)!r} cannot be read: {error.strerror}") from error
    if not any(file.stat().st_size for file in files):
        raise CommandError(f"corpus {str(corpus)!r} is empty")
    _check_column(corpus, files, column)


def _check_column(corpus: Path, files: list[Path], column: str | None) -> None:
    """Raise an error if the column of a table is not clear, or if one is named and there is no table."""
    from gensim_tfw2v.corpus.table_file import check_table, is_table
    from gensim_tfw2v.runtime.extras import MissingPackageError

    tables = [file for file in files if is_table(file)]
    if column is not None and not tables:
        raise CommandError(f"--column {column!r} names a column of a table, and corpus {str(corpus)!r} has none")
    for table in tables:
        try:
            check_table(table, column)
        except (ValueError, MissingPackageError) as error:
            raise CommandError(f"corpus {str(error).replace('column=', '--column ')}") from error


def check_apart(corpus: Path, output: Path) -> None:
    """Raise an error if the model would overwrite the corpus or become part of it."""
    if output.resolve() == corpus.resolve():
        raise CommandError(f"output {str(output)!r} is the corpus itself")
    if corpus.is_dir() and output.parent.resolve() == corpus.resolve():
        raise CommandError(f"output {str(output)!r} lies in the corpus folder, and would be read as text next time")


def open_corpus(corpus: Path, column: str | None = None) -> dict[str, Any]:
    """Return the corpus as an argument of build_vocab and train.

    That is a path for a file or an encoded corpus, and an iterable of sentences for a folder of files.
    """
    from gensim_tfw2v.corpus.shards import is_encoded

    if corpus.is_dir() and not is_encoded(corpus):
        return {"corpus_iterable": _SentencesOfFiles(sorted(corpus.iterdir()), column)}
    return {"corpus_file": str(corpus)}


@contextlib.contextmanager
def text_errors_named(corpus: Path) -> Iterator[None]:
    """Raise errors in decoding or decompressing text as errors that name `corpus`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise CommandError(f"corpus {str(corpus)!r} is not UTF-8 text: {error}", exit_code=1) from error
    except (EOFError, zlib.error) as error:
        raise CommandError(f"corpus {str(corpus)!r} is damaged: {error}", exit_code=1) from error


@dataclass(frozen=True)
class _SentencesOfFiles:
    """Iterates over the sentences of several files in order, as gensim's `PathLineSentences` does."""

    files: list[Path]
    column: str | None

    def __iter__(self) -> Iterator[list[Any]]:
        from gensim_tfw2v.model.corpus_reading import sentences_in

        for file in self.files:
            with text_errors_named(file):
                yield from sentences_in(str(file), self.column)
