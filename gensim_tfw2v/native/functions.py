"""Calls of C functions. They check what they get, because arrays may come from another machine.

Where they are not compiled, NumPy does the same (`in_numpy`).
"""

from __future__ import annotations

import ctypes
import functools
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import address_of
from gensim_tfw2v.native import in_numpy
from gensim_tfw2v.native.array_checks import NO_MEMORY, NO_PATH, NO_WORD, NOT_UTF8, WRONG_LENGTHS, WRONG_SIZES
from gensim_tfw2v.native.random_numbers import RandomNumbers
from gensim_tfw2v.native.word_table import WordTable
from gensim_tfw2v.runtime.compiled import HOW_TO_COMPILE, library_in

logger = logging.getLogger(__name__)

_UINT8, _INT32, _UINT32, _INT64, _UINT64 = map(np.dtype, (np.uint8, np.int32, np.uint32, np.int64, np.uint64))
_FLOAT32, _FLOAT64 = map(np.dtype, (np.float32, np.float64))

# The arguments of each function: arrays of these types, numbers, random numbers, or words with their numbers.
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "page_checksums": (_UINT8, int, _UINT64),
    "extremes": (_INT32, _INT64),
    "count_words": (_INT32, _INT64),
    "renumber": (_INT32, _INT32, _INT32),
    "known_words": (_INT32, _INT32, _INT32, _INT32, _INT32, _INT64, _INT32),
    "subsample": (_INT32, _INT32, _FLOAT32, RandomNumbers, _INT32, _INT32, _INT64, _INT32),
    "draw_windows": (_INT32, int, int, int, RandomNumbers, _INT32, _INT32),
    "count_pairs": (_INT32, _INT32, _FLOAT32, _FLOAT64),
    "draw_negatives": (_UINT32, int, RandomNumbers, _INT32),
    "pad": (_INT32, _INT32),
    "widen": (_INT32, int, int, int, _INT32, _INT32),
    "number_words": (_INT32, int, _INT32, _INT32),
    "path_offsets": (_INT32, _INT32, int, _INT32),
    "copy_paths": (_INT32, _INT32, _INT32, _UINT8, _INT32, _INT32),
    "hash_ngrams": (_UINT8, _INT64, int, int, int, _INT64, _INT32),
    "join_rarest": (_FLOAT64, _INT32, _INT32, _UINT8),
    "group_edges": (_INT32, _INT32, _FLOAT32, int, _INT64, _INT32, _FLOAT32),
    "turn_edges": (_INT64, _INT32, _FLOAT32, _INT64, _INT32, _FLOAT32),
    "add_weights": (_INT64, _FLOAT32, _FLOAT64),
    "draw_walks": (_INT64, _INT32, _FLOAT64, _FLOAT64, _INT32, int, RandomNumbers, _INT32, _INT32),
    "tokenize": (_UINT8, WordTable, _INT32, _INT32, _INT64),
}
# By the number that a function returns.
_ERRORS: dict[int, tuple[type[Exception], str]] = {
    NO_MEMORY: (MemoryError, "no memory for the words of a block"),
    WRONG_SIZES: (ValueError, "the sizes of arrays do not fit each other"),
    WRONG_LENGTHS: (ValueError, "the sentences do not end where their words do"),
    NO_WORD: (IndexError, "there are ids of no word"),
    NO_PATH: (IndexError, "there are Huffman paths outside of the tree"),
    NOT_UTF8: (UnicodeError, "the text is not UTF-8"),
}


def call(name: str, *arguments: Any) -> int:
    """Return what a C function returns for these arguments: arrays, whole numbers, random numbers, words, or None.

    Python's lock is free meanwhile. Raise an error if the function refuses the arguments.
    """
    library = _library_if_compiled()
    found = _call_numpy(name, arguments) if library is None else _call_library(library, name, arguments)
    if found < 0:
        error, message = _ERRORS[found]
        raise error(message)
    return found


def _call_numpy(name: str, arguments: Sequence[Any]) -> int:
    """Return what a function in NumPy returns for these arguments; arrays are flat there, as in C."""
    given: list[Any] = []
    for argument, kind in zip(arguments, _ARGUMENTS[name], strict=True):
        if isinstance(kind, np.dtype) and argument is not None:
            if argument.dtype != kind:
                raise _wrong_type(name, argument, kind)
            argument = argument.reshape(-1)
        given.append(argument)
    return in_numpy.FUNCTIONS[name](*given)


def _call_library(library: Mapping[str, Any], name: str, arguments: Sequence[Any]) -> int:
    given: list[Any] = []
    copies = []
    for argument, kind in zip(arguments, _ARGUMENTS[name], strict=True):
        if kind is int:
            given.append(argument)
        elif kind is RandomNumbers:
            given.append(ctypes.byref(argument))
        elif kind is WordTable:
            for array in argument.arrays:
                given += (address_of(array), array.size)
        elif argument is None:
            given += (None, 0)
        else:
            if argument.dtype != kind:
                raise _wrong_type(name, argument, kind)
            if not (argument.flags.c_contiguous and argument.flags.aligned):
                argument = argument.copy()
                copies.append(argument)  # which live until the function returns
            given += (address_of(argument), argument.size)
    found: int = library[name](*given)
    return found


def _wrong_type(name: str, argument: Any, kind: Any) -> TypeError:
    return TypeError(f"{name} takes an array of {kind} instead of {argument.dtype}")


@functools.cache
def _library_if_compiled() -> dict[str, Any] | None:
    """Return the functions by name, or None where they cannot be loaded; a warning says so once."""
    try:
        return _library()
    except ImportError as error:
        logger.warning("%s. Until then NumPy makes blocks and reads text, which takes several times as long", error)
        return None


def library_path() -> Path:
    """Return the path of the library, whether or not it has been compiled."""
    return library_in(Path(__file__).parent, "compiled")


@functools.cache
def _library() -> dict[str, Any]:
    """Return the functions by name."""
    path = library_path()
    try:
        library = ctypes.CDLL(str(path))  # unlike PyDLL, it gives up Python's lock while a function runs
        found = {name: getattr(library, f"tfw2v_{name}") for name in _ARGUMENTS}
    except OSError as error:
        raise ImportError(f"the package's C functions are not compiled: {error}. {HOW_TO_COMPILE}") from None
    except AttributeError:
        raise ImportError(f"{path} was compiled from another version of the package. {HOW_TO_COMPILE}") from None
    for name, function in found.items():
        function.argtypes = [kind for argument in _ARGUMENTS[name] for kind in _types_in_c(argument)]
        function.restype = ctypes.c_int64
    return found


def _types_in_c(argument: Any) -> tuple[Any, ...]:
    """Return the types of the C arguments that an argument becomes: an array comes with its number of entries."""
    if argument is int:
        return (ctypes.c_int64,)
    if argument is WordTable:
        return (ctypes.c_void_p, ctypes.c_int64) * 4
    return (ctypes.c_void_p,) if argument is RandomNumbers else (ctypes.c_void_p, ctypes.c_int64)
