"""Vectors → word2vec text or binary, or gensim's keyed vectors. Few rows are in memory at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.files.formats import COMPRESSED, ModelFileError, format_of, written_whole
from gensim_tfw2v.files.models import save_named

_PIECE_BYTES = 2**22  # bytes of vectors in memory at a time


def write_vectors(keyed_vectors: Any, path: Path, file_format: str | None = None) -> None:
    """Write vectors, in the order of the vocabulary, to a file that appears when it is complete.

    Parameters
    ----------
    keyed_vectors : KeyedVectors
        Their matrix need not be an array, because only slices of its rows are read.
    file_format : str, optional
        "text", "binary" or "keyed-vectors"; by default as the suffix of `path` says.
    """
    chosen = vector_format_of(path, file_format)
    if not path.parent.is_dir():
        raise ModelFileError(f"output folder {str(path.parent)!r} is not there; make it first")
    with written_whole(path) as unfinished:
        if chosen == "keyed-vectors":
            _write_keyed_vectors(keyed_vectors, unfinished, str(path))
        else:
            _write_word2vec(keyed_vectors, unfinished, chosen == "binary")


def vector_format_of(path: Path, file_format: str | None = None) -> str:
    """Return the format of a file of vectors, by default as its suffix says; raise ModelFileError if there is none."""
    chosen = file_format or format_of(path)
    if chosen not in ("text", "binary", "keyed-vectors"):
        raise ModelFileError(
            f"vectors can be written as text (.txt, .vec), binary (.bin) or keyed-vectors (.kv), "
            f"not to {str(path)!r} as {chosen!r}; choose such a suffix, or give the format"
        )
    if chosen == "keyed-vectors" and path.name.endswith(COMPRESSED):
        raise ModelFileError(f"keyed vectors are opened in place and cannot be compressed, as {str(path)!r} asks for")
    return chosen


def pieces(matrix: Any) -> Iterator[tuple[int, Float32Array]]:
    """Yield some consecutive rows at a time, with the number of the first."""
    rows, columns = matrix.shape
    step = max(1, _PIECE_BYTES // (4 * columns))
    for first in range(0, rows, step):
        yield first, np.ascontiguousarray(matrix[first : first + step], "<f4")


def _write_word2vec(keyed_vectors: Any, path: Path, binary: bool) -> None:
    """Write the same file as gensim's `save_word2vec_format`."""
    from smart_open import open as smart_open

    words = keyed_vectors.index_to_key
    with smart_open(str(path), "wb") as file:
        file.write(f"{len(words)} {keyed_vectors.vector_size}\n".encode())
        for first, rows in pieces(keyed_vectors.vectors):
            for word, row in zip(words[first : first + len(rows)], rows, strict=True):
                if binary:
                    file.write(f"{word} ".encode() + row.tobytes())
                else:
                    file.write(f"{word} {' '.join(map(str, row))}\n".encode())


def _write_keyed_vectors(keyed_vectors: Any, path: Path, name: str) -> None:
    """Write the same files as gensim's `save`, with the matrix in a separate file, and with the norms of the vectors.

    Without stored norms, gensim computes all norms at the first search, which takes as much memory as the vectors.
    """
    matrix = keyed_vectors.vectors
    saved = copy.copy(keyed_vectors)
    saved.norms = np.empty(len(matrix), np.float32)
    saved.vectors = np.empty((0, keyed_vectors.vector_size), np.float32)
    unnamed = path.with_name(f"{path.name}.matrix")  # not the final name
    # With a memory map, a full disk would kill the process instead of raising an error.
    with unnamed.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": matrix.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for first, rows in pieces(matrix):
            file.write(rows.data)
            saved.norms[first : first + len(rows)] = np.linalg.norm(rows, axis=1)
    save_named(saved, path, name, separately=["vectors"])
    unnamed.replace(path.with_name(f"{path.name}.vectors.npy"))  # replaces the empty one
