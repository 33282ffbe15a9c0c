"""The files that a command reads: a corpus, weights of its sentences, files to score on, or a model."""

from __future__ import annotations

import argparse
import contextlib
import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gensim_tfw2v.cli.arguments import add_switch
from gensim_tfw2v.cli.errors import CommandError, refusing
from gensim_tfw2v.files.formats import FORMATS, ModelFileError
from gensim_tfw2v.files.models import read_vectors


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
        with _unreadable(f"corpus {str(file)!r}"):
            file.open("rb").close()
    if not any(file.stat().st_size for file in files):
        raise CommandError(f"corpus {str(corpus)!r} is empty")
    _check_column(corpus, files, column)


def _check_column(corpus: Path, files: list[Path], column: str | None) -> None:
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


def check_documents_file(corpus: Path) -> None:
    """Raise an error unless a corpus can be a text with a document a line."""
    from gensim_tfw2v.corpus.shards import is_encoded
    from gensim_tfw2v.corpus.table_file import is_table

    if corpus.is_dir() or is_encoded(corpus) or is_table(corpus):
        what = "a folder" if corpus.is_dir() else "a table"
        raise CommandError(f"corpus {str(corpus)!r} is {what}; documents come from one text with a document a line")


def open_documents(corpus: Path, has_tags: bool) -> dict[str, Any]:
    """Return a text with a document a line as an argument of build_vocab and train; lines may begin with tags."""
    from gensim_tfw2v.corpus.tagged_lines import TaggedLines

    return {"corpus_iterable": TaggedLines(corpus)} if has_tags else {"corpus_file": str(corpus)}


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


def check_is_folder(flag: str, folder: str | None) -> None:
    """Raise an error if the folder of a flag is not there."""
    if folder is not None and not Path(folder).is_dir():
        raise CommandError(f"{flag} {folder!r} is not a folder")


def check_score_files(prefix: str, pairs: Iterable[str] | None, analogies: Iterable[str] | None) -> None:
    """Raise an error that names a flag and its file, if vectors cannot be scored on one of these files.

    Parameters
    ----------
    prefix : str
        What the two flags begin with: ``--`` or ``--log-``.
    """
    from gensim_tfw2v.evaluation.scoring import check_analogies, check_pairs

    for name, paths, check in (("pairs", pairs, check_pairs), ("analogies", analogies, check_analogies)):
        for path in paths or ():
            with _unreadable(f"{prefix}{name} {path!r}"), refusing(ValueError, prefix=f"{prefix}{name}: "):
                check(path)


def read_weights(path: str | None) -> Any:
    """Return the numbers in a file, one a line, as an array that `train()` takes; None if there is no file.

    Raise CommandError that names the file, and the line that is no number.
    """
    if path is None:
        return None
    from gensim_tfw2v.corpus.sentence_weights import sentence_weights

    found, named = array("d"), f"--weights {path!r}"
    # A ValueError is of text that is no UTF-8, or of a weight that is negative or not finite.
    with _unreadable(named), refusing(ValueError, prefix=f"{named}: "):
        with Path(path).open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    found.append(float(line))
                except ValueError:
                    raise CommandError(f"{named}: line {number} is {line.strip()[:40]!r}, and not a number") from None
        return sentence_weights(found)


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags that say how MODEL is read."""
    parser.add_argument("--format", choices=FORMATS, help="format of MODEL (default: what its content shows)")
    meaning = "refuse a MODEL that can run code, as gensim's own formats can; open .npz files as well"
    add_switch(parser, "--safe", meaning)


def add_documents(parser: argparse.ArgumentParser) -> None:
    """Declare --documents of a command that reads vectors."""
    add_switch(parser, "--documents", "take the vectors of documents' tags in MODEL, a Doc2Vec model", "those of words")


def vectors_at(path: Path, arguments: argparse.Namespace, documents: bool = False) -> Any:
    """Return the vectors in a file, read as the arguments of the format say: those of words, or of documents."""
    if not arguments.safe:
        return read_vectors(path, arguments.format, documents)
    if documents:
        raise CommandError("--documents needs a whole gensim model, which --safe refuses; leave one of them out")
    if arguments.format:
        raise CommandError("--safe finds the format itself; leave out --format")
    if not path.exists():
        raise ModelFileError(f"model {str(path)!r} is not there")
    from gensim_tfw2v.files.safe_vectors import load_vectors_safely

    return load_vectors_safely(path)


@contextlib.contextmanager
def _unreadable(named: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CommandError(f"{named} cannot be read: {error.strerror}") from error
