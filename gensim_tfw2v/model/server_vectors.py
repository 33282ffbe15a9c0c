"""A model whose matrices are on the parameter servers alone: how they are made, and what is refused of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from gensim_tfw2v.placement.remote.server_matrix import ServerMatrix, ServerStore, check_is_here


class ServerKeyedVectors(KeyedVectors):
    """Keyed vectors with their matrix on the servers; copies and pickles of other attributes are gensim's own class."""

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim does; raise RuntimeError if the vectors are on the servers, and leave the file as it is."""
        check_is_here(self.vectors)
        super().save(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (KeyedVectors,), self.__dict__


def make_server_matrices(model: Any) -> None:
    """Give a model matrices that the servers make when training begins."""
    (seed,) = np.random.SeedSequence(model.seed).generate_state(1, np.uint64).tolist()
    seeds: dict[str, int | None] = {"inputs": seed}
    if model.negative:
        seeds["outputs"] = None
    if model.hs:
        seeds["nodes"] = None
    store = ServerStore(len(model.wv), model.vector_size, seeds)
    model.wv.__class__ = ServerKeyedVectors  # the object stays the one that callers may hold
    model.wv.vectors = ServerMatrix(store, "inputs")
    if model.negative:
        model.syn1neg = ServerMatrix(store, "outputs")
    if model.hs:
        model.syn1 = ServerMatrix(store, "nodes")


def free_server_matrices(model: Any) -> None:
    """Give the servers the memory of a model's matrices back."""
    if isinstance(model.wv.vectors, ServerMatrix):
        model.wv.vectors.store.free()


def check_vocabulary_can_change(model: Any) -> None:
    """Raise RuntimeError if rows on the servers belong to the words of the present vocabulary."""
    if isinstance(model.wv.vectors, ServerMatrix):
        raise RuntimeError(
            "the vocabulary of a model with vectors_on_servers=True is built once: its vectors cannot be moved to "
            "other rows; make a new model"
        )


def check_matrices_are_here(model: Any) -> None:
    """Raise RuntimeError if a matrix of the model is on the servers."""
    for matrix in (model.wv.vectors, getattr(model, "syn1neg", None), getattr(model, "syn1", None)):
        check_is_here(matrix)


def check_server_vectors(vectors_on_servers: bool, cluster: Any, logdir: Any) -> None:
    """Raise ValueError if the vectors are to be on servers, and other arguments do not allow that."""
    if not vectors_on_servers:
        return
    if cluster is None:
        raise ValueError("vectors_on_servers=True needs a cluster, and cluster is None; give cluster=, or leave it out")
    if logdir is not None:
        raise ValueError(
            "vectors_on_servers=True does not go with logdir, whose histograms and scores take a copy of the vectors; "
            f"leave one of them out (logdir is {logdir!r})"
        )


def writable_floats(matrix: Any) -> Any:
    """Return a matrix as a writable float32 array, the same one if it is; one on the servers is returned as it is."""
    return matrix if isinstance(matrix, ServerMatrix) else np.require(matrix, np.float32, ["C", "W"])
