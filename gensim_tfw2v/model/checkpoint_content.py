"""A model ↔ the content and the arrays of a checkpoint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Container, Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from gensim.models import Doc2Vec, Word2Vec

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.checkpoints.folder import Checkpoint
from gensim_tfw2v.model.documents import has_documents
from gensim_tfw2v.model.gensim_files import as_class, gensims_class, restored_state, saved_state
from gensim_tfw2v.model.input_parts import set_lock_factors
from gensim_tfw2v.model.own_arguments import OWN_ARGUMENTS
from gensim_tfw2v.model.subwords import restore_subwords, subword_settings
from gensim_tfw2v.model.tables import make_server_matrices, matrix_of, set_matrix, set_states
from gensim_tfw2v.model.tables_on_disk import put_on_disk
from gensim_tfw2v.placement.contract import TABLES, Contents, RemoteMatrix
from gensim_tfw2v.placement.row_states import STATE_SUFFIX, widened_pieces

_PLAIN = (str, int, float, bool, type(None))
_OF_WORDS = "word."  # prefix of the names of arrays with one value a word, such as counts
_OF_TAGS = "tag."  # likewise of documents' tags
_PATHS: dict[str, Any] = {"point": np.uint32, "code": np.uint8}  # types of the Huffman tree, one array a word
_ENDS = ".ends"
# Settings that decide what is trained. A training is resumed with the same ones.
_FIXED_OF_GENSIM = (
    *("vector_size", "sg", "hs", "negative", "window", "shrink_windows", "cbow_mean", "sample", "ns_exponent"),
    *("seed", "batch_words", "dbow_words", "dm_concat", "dm_tag_count"),
)
_FIXED = (*_FIXED_OF_GENSIM, *(argument.name for argument in OWN_ARGUMENTS if argument.is_fixed_in_training))


def check_words(model: Word2Vec) -> None:
    """Raise TypeError if a word or a tag is neither a str nor an int, which a checkpoint could not restore."""
    kinds = {"words": model.wv.index_to_key, "tags": model.dv.index_to_key if has_documents(model) else []}
    for kind, keys in kinds.items():
        for key in keys:
            if type(key) not in (str, int):
                raise TypeError(
                    f"checkpoints can hold {kind} that are str or int, and the vocabulary has {key!r} of type "
                    f"{type(key).__name__}; use such {kind}, or leave out checkpoint_dir"
                )


def attributes_of(model: Word2Vec) -> dict[str, Any]:
    """Return the content of a checkpoint's manifest about a model."""
    saved = saved_state(model)
    state = {name: value.item() if isinstance(value, np.generic) else value for name, value in saved.items()}
    return {
        "model": {name: value for name, value in state.items() if type(value) in _PLAIN},
        **({"subwords": subwords} if (subwords := subword_settings(model)) else {}),
        "lifecycle_events": json.loads(json.dumps(getattr(model, "lifecycle_events", None) or [], default=str)),
    }


def vocabulary_arrays(model: Word2Vec) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a model's vocabulary, which training leaves as they are."""
    arrays: dict[str, np.ndarray[Any, Any]] = {"words": _as_json(model.wv.index_to_key)}
    for name, values in model.wv.expandos.items():
        if name in _PATHS:
            ends = np.cumsum([0, *map(len, values)], dtype=np.int64)
            arrays[_OF_WORDS + name] = np.concatenate([np.zeros(0, _PATHS[name]), *values]).astype(_PATHS[name])
            arrays[_OF_WORDS + name + _ENDS] = ends
        elif np.asarray(values).dtype.kind in "fiu":
            arrays[_OF_WORDS + name] = np.asarray(values)
    if model.cum_table is not None:
        arrays["cum_table"] = np.asarray(model.cum_table)
    if has_documents(model):
        arrays["tags"] = _as_json(model.dv.index_to_key)
        arrays |= {_OF_TAGS + name: np.asarray(values) for name, values in model.dv.expandos.items()}
    return arrays


def _as_json(keys: list[Any]) -> np.ndarray[Any, Any]:
    return np.frombuffer(json.dumps(keys, separators=(",", ":")).encode(), np.uint8)


def fingerprint_of(arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """Return the SHA-256 of a vocabulary's arrays."""
    found = hashlib.sha256()
    for name, values in sorted(arrays.items()):
        found.update(f"{name} {values.dtype.str} {values.shape}".encode())
        found.update(np.ascontiguousarray(values).view(np.uint8).data)
    return found.hexdigest()


def model_in(cls: Any, checkpoint: Checkpoint, changes: Mapping[str, Any]) -> Any:
    """Return a model of class `cls` with the vocabulary of a checkpoint and with some attributes changed.

    Its tables are not read yet.
    """
    _check_class(cls, checkpoint)
    attributes = checkpoint.content["model"] | dict(changes)
    model = as_class(cls, gensims_class(cls)(vector_size=attributes["vector_size"], seed=attributes["seed"]))
    vars(model).update(attributes)
    model.lifecycle_events = list(checkpoint.content["lifecycle_events"])
    _set_vocabulary(model, checkpoint)
    restore_subwords(model, checkpoint.content.get("subwords", {}))
    set_lock_factors(model, checkpoint.array("lock_factors"))
    if model.vectors_on_servers:
        make_server_matrices(model)
    elif model.tables_dir is not None:
        put_on_disk(model, draws=False)
    else:
        for name, shape in _tables_in(checkpoint).items():
            set_matrix(model, name, np.zeros(shape, np.float32))
    return model


def read_tables(model: Word2Vec, checkpoint: Checkpoint) -> None:
    """Copy a checkpoint's tables into a model's matrices, and the optimizer's states of their rows."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        model.wv.vectors.store.begin_with(contents_of(checkpoint))
    else:
        for name in _tables_in(checkpoint):
            matrix = matrix_of(model, name)
            checkpoint.read_into(name, matrix)
        set_states(model, states_in(checkpoint.arrays, checkpoint.array))
    set_lock_factors(model, checkpoint.array("lock_factors"))


def contents_of(checkpoint: Checkpoint) -> Contents:
    """Return the function that returns the pieces of a checkpoint's tables, with states of 0 where it has none."""

    def pieces(name: str, have_states: bool) -> Iterable[tuple[int, Float32Array]]:
        if not have_states:
            return checkpoint.pieces(name)
        rows, *_ = checkpoint.arrays[name][0]
        state = name + STATE_SUFFIX
        states = checkpoint.array(state)[:, 0] if state in checkpoint.arrays else np.zeros(rows, np.float32)
        return widened_pieces(checkpoint.pieces(name), states)

    return pieces


def states_in(names: Container[str], array: Callable[[str], Float32Array]) -> dict[str, Float32Array]:
    """Return the optimizer's states by table, given the names of a checkpoint's arrays and how one is read."""
    stored = {name: name + STATE_SUFFIX for name in TABLES if name + STATE_SUFFIX in names}
    return {name: array(of_table)[:, 0].copy() for name, of_table in stored.items()}


def other_setting(
    name: str, given: Any, began_with: Any, checkpoint: Checkpoint, same: str = "the same settings"
) -> ValueError:
    """Return the error for a setting in which a training differs from that of a checkpoint."""
    return ValueError(
        f"{name} is {given!r}, and the training in {checkpoint.path} began with {began_with!r}; it can be resumed only "
        f"with {same}"
    )


def check_same(model: Word2Vec, checkpoint: Checkpoint) -> None:
    """Raise ValueError that names the first setting in which a model differs from that of a checkpoint.

    A model whose optimizer was to be chosen gets the checkpoint's.
    """
    _check_class(type(model), checkpoint)
    before = restored_state(checkpoint.content["model"])
    if model.optimizer is None:
        model.optimizer = before["optimizer"]
    for name in _FIXED:
        if getattr(model, name, None) != before.get(name):
            raise other_setting(name, getattr(model, name), before.get(name), checkpoint)
    for name, value in subword_settings(model).items():
        if value != checkpoint.content["subwords"][name]:
            raise other_setting(name, value, checkpoint.content["subwords"][name], checkpoint)
    vocabulary = {name: checkpoint.array(name) for name in checkpoint.arrays if _is_of_vocabulary(name)}
    if fingerprint_of(vocabulary_arrays(model)) != fingerprint_of(vocabulary):
        words = len(json.loads(checkpoint.array("words").tobytes()))
        raise ValueError(
            f"the model's vocabulary of {len(model.wv)} words differs from the one of {words} words with which the "
            f"training in {checkpoint.path} began, in its words, their order, their counts or the tags of documents; "
            f"build it from the same corpus with the same settings, or call {type(model).__name__}.resume(), which "
            "needs none"
        )


def _check_class(cls: type[Any], checkpoint: Checkpoint) -> None:
    """Raise ValueError if a checkpoint is of a model of another class: of words, of n-grams too, or of documents."""
    has_subwords, has_tags = "subwords" in checkpoint.content, "tags" in checkpoint.arrays
    right = "TFFastText" if has_subwords else "TFDoc2Vec" if has_tags else "TFWord2Vec"
    if right != f"TF{gensims_class(cls).__name__}":
        raise ValueError(
            f"the training in {checkpoint.path} is of a {right}, and cannot be resumed by a {cls.__name__}; use {right}"
        )


def _is_of_vocabulary(name: str) -> bool:
    return name in ("words", "cum_table", "tags") or name.startswith((_OF_WORDS, _OF_TAGS))


def _tables_in(checkpoint: Checkpoint) -> dict[str, tuple[int, ...]]:
    return {name: checkpoint.arrays[name][0] for name in TABLES if name in checkpoint.arrays}


def _set_vocabulary(model: Word2Vec, checkpoint: Checkpoint) -> None:
    vectors = model.wv
    vectors.index_to_key = json.loads(checkpoint.array("words").tobytes())
    vectors.key_to_index = {word: number for number, word in enumerate(vectors.index_to_key)}
    vectors.next_index = len(vectors.index_to_key)
    for name in checkpoint.arrays:
        if name.startswith(_OF_WORDS) and not name.endswith(_ENDS):
            values = checkpoint.array(name)
            attribute = name.removeprefix(_OF_WORDS)
            vectors.expandos[attribute] = _paths(values, checkpoint, name) if attribute in _PATHS else values
    if "cum_table" in checkpoint.arrays:
        model.cum_table = checkpoint.array("cum_table")
    if "tags" in checkpoint.arrays:
        _set_tags(model, checkpoint)


def _set_tags(model: Doc2Vec, checkpoint: Checkpoint) -> None:
    """Set the tags of documents, with the rows that a new model of the same seed has."""
    vectors = model.dv
    vectors.index_to_key = json.loads(checkpoint.array("tags").tobytes())
    # As in gensim, a tag that is an int is its own index.
    vectors.key_to_index = {tag: number for number, tag in enumerate(vectors.index_to_key) if isinstance(tag, str)}
    names = (name for name in checkpoint.arrays if name.startswith(_OF_TAGS))
    vectors.expandos = {name.removeprefix(_OF_TAGS): checkpoint.array(name) for name in names}
    model.wv.resize_vectors(seed=model.seed)  # not all of which need be in the tables
    vectors.resize_vectors(seed=model.seed + 7919)


def _paths(values: np.ndarray[Any, Any], checkpoint: Checkpoint, name: str) -> np.ndarray[Any, Any]:
    """Return one array a word."""
    ends = checkpoint.array(name + _ENDS)
    paths = np.empty(len(ends) - 1, object)
    for word, (first, end) in enumerate(pairwise(ends.tolist())):
        paths[word] = values[first:end]
    return paths
