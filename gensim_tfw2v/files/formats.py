"""A model file's name → its format and its side files, which are written together or not at all."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gensim_tfw2v.files.whole_files import written_files

FORMATS = ("gensim", "keyed-vectors", "text", "binary")
SUFFIX_FORMATS = {".txt": "text", ".vec": "text", ".bin": "binary", ".kv": "keyed-vectors"}
INDEX_ENGINES = ("faiss", "usearch")  # libraries whose indexes of vectors are written and read
# Suffixes of formats that no model is written in, and which command writes vectors in one.
_OF_OTHERS: dict[str, str | None] = {
    **dict.fromkeys((".safetensors", ".sql"), "tfw2v export"),
    **{f".{engine}": "tfw2v index" for engine in INDEX_ENGINES},
    **dict.fromkeys((".npz", ".npy", ".parquet", ".arrow", ".feather", ".csv", ".tsv", ".json", ".jsonl")),
    **dict.fromkeys((".onnx", ".h5", ".hdf5", ".keras", ".tflite", ".pb", ".pt", ".pth", ".gguf")),
    **dict.fromkeys((".xz", ".zst", ".zip", ".tar", ".tgz", ".7z")),
}
COMPRESSED = (".gz", ".bz2")
# gensim writes large arrays to files beside MODEL: MODEL.ARRAY.npy, MODEL.wv.ARRAY.npy (npz if compressed).
# Only its own array names match, because MODEL.labels.npy may belong to something else.
_SIDE_FILE = re.compile(r"\.((wv\.)?(vectors|norms|vectors_lockf)|syn1|syn1neg|cum_table)\.np[yz]")

_SAVING_LOGGERS = "gensim.utils", "gensim.models.keyedvectors"  # loggers that name the files that gensim writes


class ModelFileError(ValueError):
    """A model file cannot be read or written. The message gives the reason in one line."""


def reason_in(error: Exception) -> str:
    """Return an error's message in one line, or its type if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def format_of(path: Path) -> str:
    """Return the format that a model file's suffix means; an unknown suffix means a whole gensim model.

    Raise ModelFileError if it means a format that is not written.
    """
    suffix = _suffix_of(path)
    if suffix in _OF_OTHERS:
        writer = _OF_OTHERS[suffix]
        others = "" if writer is None else f"; `{writer}` writes it from one of these"
        raise ModelFileError(
            f"output {str(path)!r}: models are not written as {suffix}; choose .kv, .txt, .vec, .bin or, for a model "
            f"that can be trained further, .model{others}"
        )
    return SUFFIX_FORMATS.get(suffix, "gensim")


def is_misleading(path: Path, file_format: str) -> bool:
    """Return whether a file's suffix means another format than the one that the file has."""
    suffix = _suffix_of(path)
    return suffix in _OF_OTHERS or SUFFIX_FORMATS.get(suffix, file_format) != file_format


def _suffix_of(path: Path) -> str:
    """Return the suffix of a name in small letters, before that of a compressed file."""
    name = path.name.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return Path(name).suffix


def side_files(path: Path) -> list[Path]:
    """Return the files beside `path` that hold large arrays of the gensim model of that name."""
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    length = len(path.name)
    return sorted(
        file for file in beside if file.name.startswith(path.name) and _SIDE_FILE.fullmatch(file.name[length:])
    )


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a path for writing a model, and move the model to `path` at the end; a failed write changes nothing.

    The last part of the yielded path is the model's own name, because gensim finds a model's separate arrays by it.
    """
    with written_files(path, side_files) as unfinished, _final_name_in_log(unfinished, path):
        yield unfinished


@contextlib.contextmanager
def _final_name_in_log(unfinished: Path, path: Path) -> Iterator[None]:
    """Give gensim's log lines the name that a file will have."""

    def named(part: Any) -> Any:
        return part.replace(str(unfinished), str(path)) if isinstance(part, str) else part

    def rename(record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):  # lines of other threads keep their arguments
            record.args = tuple(map(named, record.args))
        return True

    loggers = [logging.getLogger(name) for name in _SAVING_LOGGERS]
    for logger in loggers:
        logger.addFilter(rename)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(rename)
