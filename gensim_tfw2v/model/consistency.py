"""Checks that a model's vocabulary, matrices and tables fit each other, and errors that name what does not fit.

Callers may change all of them by hand, and a damaged file may hold anything. Training relies on their sizes.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from gensim.models import Word2Vec

from gensim_tfw2v.model.documents import NULL_WORD, concatenates, has_documents
from gensim_tfw2v.model.input_parts import input_parts
from gensim_tfw2v.model.tables import matrices_of
from gensim_tfw2v.placement.contract import RemoteMatrix

_BUILD_FIRST = "build the vocabulary with these settings first (build_vocab)"
_RESTORE = "load the model again from a whole file, or build the vocabulary again (build_vocab)"
_ROWS_AT_ONCE = 4096  # so that a check needs no second copy of a matrix
_LARGEST_PLACE = 2**32 - 1  # in a cum_table


def check_fits(model: Word2Vec) -> None:
    """Raise RuntimeError if what training needs is missing, or does not fit the vocabulary."""
    _check_ids("wv", "word", model.wv)
    if has_documents(model):
        _check_ids("dv", "tag", model.dv)
    if concatenates(model) and NULL_WORD not in model.wv.key_to_index:
        raise RuntimeError(f"the vocabulary has no null word {NULL_WORD!r} to train with dm_concat=1; {_BUILD_FIRST}")
    _check_arrays(model)
    if model.negative:
        _check_cumulative_table(model.cum_table)
    _check_word_attributes(model.wv, needs_counts=bool(model.negative))
    for part in input_parts(model):
        _check_lock_factors(f"{part.owner}.{part.locks}", getattr(getattr(model, part.owner), part.locks, None))
    if model.hs and len(model.wv) > 1 and "point" not in model.wv.expandos:
        raise RuntimeError(f"the vocabulary has no Huffman tree to train with hs={model.hs}; {_BUILD_FIRST}")
    for name, matrix, _ in matrices_of(model):
        _check_numbers(name, matrix, model)
    _check_states(model.optimizer_states)


def check_rows(model: Word2Vec, words: int) -> None:
    """Raise RuntimeError if a matrix that training needs is missing, or has too few rows for `words` words."""
    for name, matrix, (rows, size) in matrices_of(model):
        found = getattr(matrix, "shape", None)
        needed = words if rows == len(model.wv) else rows
        if found is None or len(found) != 2 or found[0] < needed or found[1] != size:
            raise RuntimeError(
                f"{name} must have shape {(needed, size)}, as when train() began, got {found}; what was "
                "trained cannot be copied there"
            )


def _check_arrays(model: Word2Vec) -> None:
    needed: list[tuple[str, Any, tuple[int, ...]]] = [*matrices_of(model)]
    if model.negative:
        needed.append(("cum_table", getattr(model, "cum_table", None), (len(model.wv),)))
    for name, array, shape in needed:
        found = getattr(array, "shape", None)
        if found != shape:
            raise RuntimeError(f"{name} must have shape {shape} to train, got {found}; {_BUILD_FIRST}")
        if array.dtype.kind not in "fiu":
            raise RuntimeError(f"{name} must hold numbers to train, got the type {array.dtype}; {_RESTORE}")


def _check_ids(owner: str, key: str, vectors: Any) -> None:
    key_to_index, words = vectors.key_to_index, len(vectors)
    try:
        ids = np.fromiter(key_to_index.values(), np.int64, len(key_to_index))
        is_wrong = (ids < 0) | (ids >= words)
    except (TypeError, ValueError, OverflowError):
        is_id = (isinstance(id_, numbers.Integral) and 0 <= int(id_) < words for id_ in key_to_index.values())
        is_wrong = ~np.fromiter(is_id, bool, len(key_to_index))
    if is_wrong.any():
        word = list(key_to_index)[int(np.argmax(is_wrong))]
        raise RuntimeError(
            f"{owner}.key_to_index has the id {key_to_index[word]!r} for the {key} {word!r}, and {owner}.index_to_key "
            f"has {words} {key}s, with ids from 0 to {words - 1}; change both alike, or build the vocabulary again "
            "(build_vocab)"
        )


def _check_cumulative_table(table: Any) -> None:
    if not np.isfinite(table).all() or table[0] < 0 or np.any(table[1:] < table[:-1]):
        raise RuntimeError(
            "cum_table must hold numbers that ascend from 0 or more to train; make it again with make_cum_table()"
        )
    if not 0 < table[-1] <= _LARGEST_PLACE:
        raise RuntimeError(
            f"cum_table must end with a number from 1 to {_LARGEST_PLACE} to train, got {table[-1]}; make it again "
            "with make_cum_table()"
        )


def _check_word_attributes(vectors: Any, needs_counts: bool) -> None:
    words = len(vectors)
    for name in ("count", "sample_int"):
        values = vectors.expandos.get(name)
        if values is None and not (name == "count" and needs_counts):
            continue
        found = np.asarray([] if values is None else values)
        if found.ndim != 1 or len(found) < words or found.dtype.kind not in "fiu":
            raise RuntimeError(
                f"wv.expandos[{name!r}] must have a number for each of {words} words to train, got shape "
                f"{found.shape} and type {found.dtype}; {_BUILD_FIRST}"
            )
        is_wrong = ~(np.isfinite(found[:words]) & (found[:words] >= 0))
        if is_wrong.any():
            word = int(np.argmax(is_wrong))
            raise RuntimeError(
                f"wv.expandos[{name!r}] is {found[word]} for the word {vectors.index_to_key[word]!r}, and must be "
                f"finite and not negative to train; {_RESTORE}"
            )


def _check_lock_factors(name: str, factors: Any) -> None:
    if factors is None:  # factors of 1
        return
    how = "set it to np.ones(1, np.float32), or to as many factors as there are rows"
    if np.ndim(factors) != 1 or not np.size(factors):
        raise RuntimeError(
            f"{name} must have one dimension and at least one number to train, got shape {np.shape(factors)}; {how}"
        )
    found = np.asarray(factors)
    if found.dtype.kind not in "fiub" or not _are_finite(found):
        raise RuntimeError(f"{name} must hold finite numbers to train; {how}")


def _check_states(states: Any) -> None:
    how = "set model.optimizer_states to {}, so that it begins anew"
    if not isinstance(states, dict):
        raise RuntimeError(f"optimizer_states must be a dictionary to train, got {type(states).__name__}; {how}")
    for name, values in states.items():
        if not isinstance(values, np.ndarray) or values.dtype != np.float32 or values.ndim != 1:
            raise RuntimeError(f"optimizer_states[{name!r}] must be an array of float32 numbers to train; {how}")
        if not (np.isfinite(values) & (values >= 0)).all():
            raise RuntimeError(f"optimizer_states[{name!r}] must hold finite numbers of 0 or more to train; {how}")


def _check_numbers(name: str, matrix: Any, model: Word2Vec) -> None:
    if isinstance(matrix, RemoteMatrix):
        return
    for first in range(0, len(matrix), _ROWS_AT_ONCE):
        rows = matrix[first : first + _ROWS_AT_ONCE]
        if _are_finite(rows):
            continue
        row = first + next(number for number, values in enumerate(rows) if not _are_finite(values))
        raise RuntimeError(f"{name} holds NaN or infinity in row {row}{_of_key(model, name, row)}; {_RESTORE}")


def _of_key(model: Word2Vec, name: str, row: int) -> str:
    """Return which word or tag a row of a matrix belongs to, as the end of a sentence."""
    if name in ("syn1", "wv.vectors_ngrams"):
        return ""
    if name == "dv.vectors":
        return f", of the tag {model.dv.index_to_key[row]!r}"
    return f", of the word {model.wv.index_to_key[row]!r}"


def _are_finite(values: Any) -> bool:
    """Return whether all values are finite as float32."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.asarray(values).astype(np.float32, copy=False)).all())
