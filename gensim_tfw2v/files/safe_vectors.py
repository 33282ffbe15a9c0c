"""Vectors from files that you do not trust: no code runs, and memory is limited by what the file holds."""

from __future__ import annotations

import errno
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gensim_tfw2v.files.formats import ModelFileError, reason_in
from gensim_tfw2v.files.models import recognise_format

_MOST_EXPANSION = 100  # a compressed file may expand to this many times its size: vectors shrink to a half or a quarter
_PIECE_BYTES = 2**20
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def load_vectors_safely(path: str | os.PathLike[str]) -> Any:
    """Return the vectors in a file that you do not trust. Nothing in the file is run.

    The memory taken is proportional to what the file holds, whatever its header says. A compressed file may hold at
    most 100 times its size.

    Parameters
    ----------
    path : str or os.PathLike
        A file in word2vec's text format, with or without header, or in its binary format, plain or compressed
        (``.gz``, ``.bz2``); or a NumPy ``.npz`` file of two arrays: ``words`` of text, and ``vectors``, one row for
        each word.

    Returns
    -------
    gensim.models.KeyedVectors
        The words and their vectors. None of these formats has counts of words.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is a pickle, as gensim's models and keyed vectors are; if it is none of these formats; or if it is
        damaged.

    Examples
    --------
    >>> from gensim_tfw2v import Word2Vec, load_vectors_safely
    >>> model = Word2Vec([["cat", "dog", "cow"]] * 10, min_count=1)
    >>> model.export_vectors("animals.txt")
    >>> load_vectors_safely("animals.txt")["cat"].shape
    (100,)
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if not path.is_file():
        raise ModelFileError(f"vectors {str(path)!r} are not in a file")
    try:
        with path.open("rb") as file:
            is_archive = file.read(4) == b"PK\x03\x04"
        vectors = _read_npz(path) if is_archive else _read_word2vec(path)
    except ModelFileError:
        raise
    except Exception as error:  # a damaged archive can raise anything
        raise ModelFileError(f"cannot read vectors {str(path)!r}: {reason_in(error)}") from error
    if not len(vectors):
        raise ModelFileError(f"vectors {str(path)!r} hold no words")
    return vectors


def _read_word2vec(path: Path) -> Any:
    from gensim.models import KeyedVectors

    found = recognise_format(path)
    if found == "gensim":
        raise ModelFileError(
            f"vectors {str(path)!r} are a pickle, which can run any code when it is opened; ask for word2vec text or "
            "binary, or for .npz. If you trust whoever made the file, open it with TFWord2Vec.load or KeyedVectors.load"
        )
    no_header, binary = found == "text without header", found == "binary"
    _check_size(path, no_header, binary)
    return KeyedVectors.load_word2vec_format(str(path), binary=binary, no_header=no_header)


def _check_size(path: Path, no_header: bool, binary: bool) -> None:
    """Raise ModelFileError if a file is too short for its number of words and numbers, before an array is made."""
    from gensim import utils

    most = _MOST_EXPANSION * path.stat().st_size + _PIECE_BYTES
    size, lines = 0, 1  # the end of the last line may be missing
    with utils.open(str(path), "rb") as file:
        piece = first = file.readline(most + 1)
        while piece:
            size += len(piece)
            if size > most:
                raise ModelFileError(f"vectors {str(path)!r} expand to more than {_MOST_EXPANSION} times their size")
            lines += piece.count(b"\n")
            end, piece = piece[-1:], file.read(_PIECE_BYTES)
    fields = first.split()
    if no_header:
        words, numbers = lines - (end == b"\n"), len(fields) - 1
    else:
        words, numbers, size = int(fields[0]), int(fields[1]), size - len(first)
    least = words * (4 * numbers + 1 if binary else 2 * numbers)  # a space and four bytes a number, or one digit
    if not words or not numbers or least > size:
        raise ModelFileError(
            f"vectors {str(path)!r} are damaged: {words:,} words of {numbers:,} numbers need {least:,} bytes or more, "
            f"and there are {size:,}"
        )


def _read_npz(path: Path) -> Any:
    from gensim.models import KeyedVectors

    most = _MOST_EXPANSION * path.stat().st_size + _PIECE_BYTES
    with zipfile.ZipFile(path) as archive:
        missing = {"words.npy", "vectors.npy"} - set(archive.namelist())
        if missing:
            names = " and ".join(sorted(repr(name.removesuffix(".npy")) for name in missing))
            raise ModelFileError(f"vectors {str(path)!r} need arrays named 'words' and 'vectors'; {names} missing")
        words = _read_array(archive, "words.npy", path, "U", most)
        matrix = _read_array(archive, "vectors.npy", path, "f", most)
    if words.ndim != 1 or matrix.ndim != 2 or len(words) != len(matrix) or not matrix.shape[1]:
        raise ModelFileError(
            f"vectors {str(path)!r} need one row for each word; words have the shape {words.shape}, "
            f"vectors {matrix.shape}"
        )
    vectors = KeyedVectors(matrix.shape[1])
    vectors.add_vectors(words.tolist(), matrix.astype(np.float32, copy=False))
    return vectors


def _read_array(archive: zipfile.ZipFile, name: str, path: Path, kind: str, most: int) -> npt.NDArray[Any]:
    """Return an array of an archive. Raise ModelFileError before memory is allocated for data that is missing."""
    size = archive.getinfo(name).file_size
    if size > most:
        raise ModelFileError(f"vectors {str(path)!r} expand to more than {_MOST_EXPANSION} times their size")
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of NumPy's format is unknown")
        shape, by_columns, dtype = _HEADERS[version](file)
        if dtype.kind != kind or dtype.hasobject:
            raise ModelFileError(f"vectors {str(path)!r} have {name.removesuffix('.npy')} of type {dtype}")
        data = file.read()  # at most as many bytes as the archive says; zipfile compares the checksum at the end
    expected = dtype.itemsize * np.prod(shape, dtype=object)
    if expected != len(data):
        raise ModelFileError(f"vectors {str(path)!r} are damaged: {name} needs {expected:,} bytes, not {len(data):,}")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C")
