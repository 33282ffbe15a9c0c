"""Models whose matrices are only on the parameter servers: makes the matrices, and refuses uses that need them here."""

from __future__ import annotations

from typing import Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v.placement.contract import RemoteMatrix, check_is_here
from gensim_tfw2v.placement.remote.server_matrix import server_matrices
from gensim_tfw2v.steps.settings import ADAGRAD


class ServerKeyedVectors(KeyedVectors):
    """Keyed vectors with their matrix on the servers; copies and pickles have gensim's own class."""

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim does; if the vectors are on the servers, raise RuntimeError and leave the file as it is."""
        check_is_here(self.vectors)
        super().save(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (KeyedVectors,), self.__dict__


def make_server_matrices(model: Word2Vec) -> None:
    """Give a model matrices that the servers make when training begins."""
    (seed,) = np.random.SeedSequence(model.seed).generate_state(1, np.uint64).tolist()
    seeds: dict[str, int | None] = {"inputs": seed}
    if model.negative:
        seeds["outputs"] = None
    if model.hs:
        seeds["nodes"] = None
    matrices = server_matrices(len(model.wv), model.vector_size, seeds)
    model.wv.__class__ = ServerKeyedVectors  # callers may hold this object, so it is not replaced
    model.wv.vectors = matrices["inputs"]
    if model.negative:
        model.syn1neg = matrices["outputs"]
    if model.hs:
        model.syn1 = matrices["nodes"]


def free_server_matrices(model: Word2Vec) -> None:
    """Free the servers' memory of a model's matrices."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        model.wv.vectors.store.free()


def check_vocabulary_can_change(model: Word2Vec) -> None:
    """Raise RuntimeError if rows on the servers belong to the words of the present vocabulary."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        raise RuntimeError(
            "the vocabulary of a model with vectors_on_servers=True is built once: its vectors cannot be moved to "
            "other rows; make a new model"
        )


def check_matrices_are_here(model: Word2Vec) -> None:
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
            "vectors_on_servers=True does not go with logdir, whose histograms and scores need a copy of the vectors; "
            f"leave one of them out (logdir is {logdir!r})"
        )


def check_server_states(model: Word2Vec) -> None:
    """Raise ValueError if another optimizer than the model's has trained its vectors on the servers."""
    if isinstance(model.wv.vectors, RemoteMatrix):
        model.wv.vectors.store.check_states(model.optimizer == ADAGRAD)


def writable_floats(matrix: Any) -> Any:
    """Return a matrix as a writable float32 array, the same one if it is; one on the servers is returned as it is."""
    return matrix if isinstance(matrix, RemoteMatrix) else np.require(matrix, np.float32, ["C", "W"])
