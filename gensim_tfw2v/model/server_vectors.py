"""A model whose matrices stay on the parameter servers: what gensim makes of them in this process, it does not."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors, Word2Vec

from gensim_tfw2v.files.vectors import write_vectors
from gensim_tfw2v.model.fast_vecattr import set_quickly
from gensim_tfw2v.model.gensim_files import GensimFiles
from gensim_tfw2v.placement.parameter_servers.server_matrix import ServerMatrix, ServerStore, check_is_here


class ServerKeyedVectors(KeyedVectors):
    """Keyed vectors with their matrix on the servers; what they hold otherwise is copied as gensim's own class."""

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save as gensim does; raise RuntimeError if the vectors are on the servers, with the file left as it is."""
        check_is_here(self.vectors)
        super().save(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (KeyedVectors,), self.__dict__


class ServerVectors(GensimFiles):
    """Has ``wv.vectors``, ``syn1neg`` and ``syn1`` on the servers if ``vectors_on_servers`` is set."""

    vectors_on_servers: bool

    def prepare_vocab(
        self,
        update: bool = False,
        keep_raw_vocab: bool = False,
        trim_rule: Any = None,
        min_count: int | None = None,
        sample: float | None = None,
        dry_run: bool = False,
    ) -> Any:
        """Choose the words to train, as gensim does; raise RuntimeError if others have matrices already."""
        if isinstance(self.wv.vectors, ServerMatrix):
            raise RuntimeError(
                "the vocabulary of a model with vectors_on_servers=True is built once: its vectors cannot be moved to "
                "other rows; make a new model"
            )
        with set_quickly(self.wv):
            return super().prepare_vocab(update, keep_raw_vocab, trim_rule, min_count, sample, dry_run)

    def init_weights(self) -> None:
        """Make the matrices, or note down how the servers are to make them when training begins."""
        if not self.vectors_on_servers:
            super().init_weights()
            return
        (seed,) = np.random.SeedSequence(self.seed).generate_state(1, np.uint64).tolist()
        seeds: dict[str, int | None] = {"inputs": seed}
        if self.negative:
            seeds["outputs"] = None
        if self.hs:
            seeds["nodes"] = None
        store = ServerStore(len(self.wv), self.vector_size, seeds)
        self.wv.__class__ = ServerKeyedVectors  # the object stays the one that others may have
        self.wv.vectors = ServerMatrix(store, "inputs")
        if self.negative:
            self.syn1neg = ServerMatrix(store, "outputs")
        if self.hs:
            self.syn1 = ServerMatrix(store, "nodes")

    def to_gensim(self) -> Word2Vec:
        """Return a plain gensim model, as saving has it too; raise RuntimeError if the vectors are on the servers."""
        self._check_matrices_are_here()  # gensim opens a file before it pickles the first matrix
        return super().to_gensim()

    def score(
        self,
        sentences: Iterable[list[str]],
        total_sentences: int = 10**6,
        chunksize: int = 100,
        queue_factor: int = 2,
        report_delay: float = 1,
    ) -> Any:
        """Score sentences as gensim does; raise RuntimeError if the vectors are on the servers."""
        self._check_matrices_are_here()  # an error in gensim's threads would leave it waiting for ever
        return super().score(sentences, total_sentences, chunksize, queue_factor, report_delay)

    def _check_matrices_are_here(self) -> None:
        for matrix in (self.wv.vectors, getattr(self, "syn1neg", None), getattr(self, "syn1", None)):
            check_is_here(matrix)

    def export_vectors(self, path: str | os.PathLike[str], file_format: str | None = None) -> None:
        """Write the vectors to a file a few rows at a time, in the order of the vocabulary.

        The file, and for keyed vectors the matrix beside it, appears when it is complete. Vectors that do not fit the
        memory are opened from keyed vectors: ``KeyedVectors.load(path, mmap="r")``.

        Parameters
        ----------
        path : str or os.PathLike
            The file; its suffix tells the format: .txt or .vec, .bin, .kv.
        file_format : {"text", "binary", "keyed-vectors"}, optional
            The format, whatever the suffix.
        """
        write_vectors(self.wv, Path(path), file_format)

    def free_server_vectors(self) -> None:
        """Give the servers their memory back; the vectors are then lost, and the next training begins anew."""
        if isinstance(self.wv.vectors, ServerMatrix):
            self.wv.vectors.store.free()


def check_server_vectors(vectors_on_servers: bool, cluster: Any, logdir: Any) -> None:
    """Raise ValueError if the vectors are to be on servers, and that does not go with the other arguments."""
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
    """Return a matrix as a writable float32 array, the same one if it is; one on the servers stays what it is."""
    return matrix if isinstance(matrix, ServerMatrix) else np.require(matrix, np.float32, ["C", "W"])
