"""Models and vectors → files, and back: in any format, which is recognised when a file is read."""

from __future__ import annotations

import contextlib
import errno
import inspect
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gensim_tfw2v.files.formats import COMPRESSED, ModelFileError, is_misleading, reason_in, side_files, written_whole
from gensim_tfw2v.files.whole_files import explain_missing
from gensim_tfw2v.files.word_texts import as_texts

logger = logging.getLogger(__name__)

# Bytes that hold the first line of any text format with vectors of some thousand numbers.
FIRST_LINES = 2**20


def check_writable(path: Path, force: bool) -> None:
    """Raise ModelFileError if a model cannot be written to `path`, or only by overwriting, and `force` is false."""
    if path.is_dir():
        raise ModelFileError(f"output {str(path)!r} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise ModelFileError(f"output folder {str(path.parent)!r} is not there; make it first")
    taken = [file for file in (path, *side_files(path)) if os.path.lexists(file)]
    if taken and not force:
        raise ModelFileError(f"output {str(taken[0])!r} is there already; --force overwrites it")
    try:
        # Permission bits are not enough: the user may be root, or the file system read-only or full.
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ModelFileError(f"cannot write in output folder {str(path.parent)!r}: {error.strerror}") from error


def write_model(model: Any, path: Path, file_format: str) -> None:
    """Write a Word2Vec model to `path` in a format; a failed write changes nothing."""
    if model.vectors_on_servers or (model.tables_dir is not None and file_format != "gensim"):
        model.export_vectors(path, file_format)
        return
    if file_format == "gensim":
        model.save(str(path))
    elif file_format == "keyed-vectors":
        save_whole(model.wv, path)
    else:
        with written_whole(path) as unfinished:
            model.wv.save_word2vec_format(str(unfinished), binary=file_format == "binary")


def save_whole(saveable: Any, fname_or_handle: Any, *args: Any, **kwargs: Any) -> None:
    """Save an object of gensim's as its ``save()`` does; a failed write to a file of this machine changes nothing.

    Parameters
    ----------
    saveable : gensim.utils.SaveLoad
        A model or keyed vectors.
    fname_or_handle : str or os.PathLike or file
        A name of a local file, or anything else that gensim takes: an open file, or an address such as ``s3://...``.
    *args, **kwargs
        gensim's further arguments of ``save()``.
    """
    if not isinstance(fname_or_handle, str | os.PathLike) or "://" in str(fname_or_handle):
        saveable.save(fname_or_handle, *args, **kwargs)
        return
    path = Path(fname_or_handle).expanduser()  # as gensim does
    if is_misleading(path, "gensim" if hasattr(saveable, "wv") else "keyed-vectors"):
        logger.warning(
            "save() writes %s in gensim's own format, a pickle, whatever its suffix; export_vectors() writes .txt, "
            ".vec, .bin and .kv files",
            path,
        )
    with written_whole(path) as unfinished:
        save_named(saveable, unfinished, os.fspath(fname_or_handle), *args, **kwargs)


def save_named(saveable: Any, unfinished: Path, name: str, *args: Any, **kwargs: Any) -> None:
    """Save an object of gensim's to `unfinished` as its ``save()`` does, but record `name` in the saved events."""
    from gensim.utils import SaveLoad

    bound = inspect.signature(SaveLoad.save).bind(saveable, name, *args, **kwargs)
    bound.apply_defaults()
    _, _, separately, sep_limit, ignore, protocol = bound.args
    saveable.add_lifecycle_event(
        "saving", fname_or_handle=name, separately=str(separately), sep_limit=sep_limit, ignore=ignore
    )
    saveable._smart_save(str(unfinished), separately, sep_limit, ignore, pickle_protocol=protocol)


def document_vectors(model: Any) -> Any:
    """Return the vectors of a Doc2Vec model's documents, as KeyedVectors whose keys are the tags as texts."""
    return keyed_documents(model.dv.index_to_key, model.dv.vectors)


def keyed_documents(tags: Iterable[Any], vectors: Any) -> Any:
    """Return vectors as KeyedVectors whose keys are these tags as texts.

    A tag that is a number is the number of a row, so it finds its vector as an int, too.
    """
    from gensim.models import KeyedVectors

    found = KeyedVectors(vectors.shape[1])
    found.index_to_key, found.vectors = as_texts(tags), vectors
    found.key_to_index = {tag: row for row, tag in enumerate(found.index_to_key)}
    return found


def read_vectors(path: Path, file_format: str | None = None, documents: bool = False) -> Any:
    """Return the KeyedVectors of words, or of documents' tags, in a model file.

    If no format is given, the file's first bytes show it.
    """
    if path.is_dir():
        raise ModelFileError(f"model {str(path)!r} is a folder, not a file")
    if not path.exists():
        raise ModelFileError(explain_missing(path) or f"model {str(path)!r} is not there")
    try:
        found = file_format or recognise_format(path)
        vectors = _read(path, found, documents)
        words = len(vectors)
    except ModelFileError:
        raise
    except Exception as error:  # unpickling a damaged file can raise anything, and so can the result
        as_what = f" as {file_format}" if file_format else ""
        raise ModelFileError(f"cannot read model {str(path)!r}{as_what}: {reason_in(error)}") from error
    if not words:
        raise ModelFileError(f"model {str(path)!r} holds no {'documents' if documents else 'words'}")
    return vectors


def read_model(path: Path) -> Any:
    """Return the object in a file that gensim saved: a model with all of its matrices, or keyed vectors."""
    from gensim.utils import SaveLoad

    return SaveLoad.load(str(path), mmap=None if path.name.endswith(COMPRESSED) else "r")


@contextlib.contextmanager
def missing_explained(fname: Any) -> Iterator[None]:
    """If a killed save left files that do not belong together, say so in the error of a missing file."""
    try:
        yield
    except FileNotFoundError as error:
        explanation = explain_missing(Path(fname).expanduser())
        if explanation is None:
            raise
        raise FileNotFoundError(errno.ENOENT, explanation, fname) from error


def _read(path: Path, file_format: str, documents: bool) -> Any:
    from gensim.models import KeyedVectors

    if documents:
        model = read_model(path) if file_format == "gensim" else None
        if not hasattr(model, "dv"):
            what = f"a file of vectors ({file_format})" if model is None else f"a {type(model).__name__}"
            raise ModelFileError(f"model {str(path)!r} is {what}, without vectors of documents; leave out --documents")
        return document_vectors(model)
    if file_format not in ("gensim", "keyed-vectors"):
        binary, no_header = file_format == "binary", file_format == "text without header"
        return KeyedVectors.load_word2vec_format(str(path), binary=binary, no_header=no_header)
    model = read_model(path)
    vectors = getattr(model, "wv", model)
    if not isinstance(vectors, KeyedVectors):
        raise ModelFileError(f"model {str(path)!r} holds a {type(model).__name__}, not word vectors")
    return vectors


def recognise_format(path: Path) -> str:
    """Return the format that the first bytes of a file show."""
    from gensim import utils

    with utils.open(str(path), "rb") as file:
        first = file.readline(FIRST_LINES)
        second = file.readline(FIRST_LINES)
    if first[:1] == b"\x80" and first[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "gensim"  # a pickle of a whole model or of keyed vectors
    header = first.split()
    if len(header) == 2 and all(number.isdigit() for number in header):
        size = int(header[1])
        return "text" if not second or _is_text_vector(second, size) else "binary"
    if len(header) > 2 and _is_text_vector(first, len(header) - 1):
        return "text without header"
    raise ModelFileError(
        f"model {str(path)!r} is neither a gensim model, nor keyed vectors, nor word2vec text or binary"
    )


def _is_text_vector(line: bytes, size: int) -> bool:
    fields = line.split()
    try:
        return len([float(field) for field in fields[1:]]) == size
    except ValueError:
        return False
