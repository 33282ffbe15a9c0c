"""Keeps a model's matrices and a placement's tables in step while the model is trained."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gensim_tfw2v.model.server_vectors import writable_floats
from gensim_tfw2v.placement.interface import ModelTables, Placement

_BUILD_FIRST = "build the vocabulary with these settings first (build_vocab)"


def tables_of(model: Any) -> ModelTables:
    """Return a Word2Vec model's matrices, made writable float32 in place if they are not."""
    if getattr(model.wv, "vectors_lockf", None) is None:  # as after reset_from()
        model.wv.vectors_lockf = np.ones(1, np.float32)
    model.wv.vectors = writable_floats(model.wv.vectors)
    if model.negative:
        model.syn1neg = writable_floats(model.syn1neg)
    if model.hs:
        model.syn1 = writable_floats(model.syn1)
    return ModelTables(
        inputs=model.wv.vectors,
        outputs=model.syn1neg if model.negative else None,
        nodes=model.syn1 if model.hs else None,
        lock_factors=model.wv.vectors_lockf,
    )


def check_tables(model: Any) -> None:
    """Raise RuntimeError if a table that training needs is missing or does not fit the vocabulary."""
    words, size = len(model.wv), model.vector_size
    needed: list[tuple[str, Any, tuple[int, ...]]] = [("wv.vectors", model.wv.vectors, (words, size))]
    if model.negative:
        needed.append(("syn1neg", getattr(model, "syn1neg", None), (words, size)))
        needed.append(("cum_table", getattr(model, "cum_table", None), (words,)))
    if model.hs:
        needed.append(("syn1", getattr(model, "syn1", None), (words, size)))
    for name, array, shape in needed:
        found = None if array is None else array.shape
        if found != shape:
            raise RuntimeError(f"{name} must have shape {shape} to train, got {found}; {_BUILD_FIRST}")
    locks = getattr(model.wv, "vectors_lockf", None)
    if locks is not None and (np.ndim(locks) != 1 or not np.size(locks)):
        raise RuntimeError(
            f"wv.vectors_lockf must have one dimension and at least one number to train, got shape {np.shape(locks)}; "
            "set it to np.ones(1, np.float32), or to as many factors as there are words"
        )
    if model.hs and words > 1 and "point" not in model.wv.expandos:
        raise RuntimeError(f"the vocabulary has no Huffman tree to train with hs={model.hs}; {_BUILD_FIRST}")


class TableSync:
    """Copies vectors between a model and a placement; one of the two has the current ones."""

    def __init__(self, model: Any, placement: Placement) -> None:
        self._model = model
        self._placement = placement
        self._words = len(model.wv)
        self._is_pushed = False

    def push(self) -> Placement:
        """Return the placement, which has the current vectors from then on."""
        if not self._is_pushed:
            if len(self._model.wv) != self._words:
                raise RuntimeError(
                    f"the vocabulary had {self._words} words when train() began and has {len(self._model.wv)} now; "
                    "call build_vocab() before train(), not in a callback"
                )
            self._placement.load(tables_of(self._model))
            self._is_pushed = True
        return self._placement

    def look(self) -> ModelTables:
        """Return the current vectors, to be read only. In the midst of training their rows are of different moments."""
        tables = tables_of(self._model)
        if self._is_pushed:
            tables = replace(
                tables,
                inputs=np.empty_like(tables.inputs),
                outputs=None if tables.outputs is None else np.empty_like(tables.outputs),
                nodes=None if tables.nodes is None else np.empty_like(tables.nodes),
            )
            self._placement.read_into(tables)
        return tables

    def pull(self) -> None:
        """Copy the current vectors into the model, which has them from then on."""
        if self._is_pushed:
            self._placement.read_into(tables_of(self._model))
            self._model._clear_post_train()
            self._is_pushed = False

    def back_up(self) -> None:
        """Copy the vectors into the model if the placement could lose them; the placement keeps the current ones."""
        if self._placement.can_fail:
            self._placement.read_into(tables_of(self._model))

    def report(self, raw_words: int) -> dict[str, Any] | None:
        """Return what training has used so far, if the placement measures that."""
        return self._placement.report(raw_words)

    def close(self) -> None:
        """Pull, unless the placement has lost the vectors, and free the placement."""
        try:
            if not self._placement.has_failed:
                self.pull()
        finally:
            self._placement.close()
