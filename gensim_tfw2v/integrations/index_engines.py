"""The libraries that find nearest vectors quickly: each builds, writes and reads an HNSW graph of directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arrays import Float32Array, Int64Array
from gensim_tfw2v.runtime.extras import MissingPackageError


class _FaissIndex:
    """An index of vectors of length 1, numbered from 0: the engines have the same methods.

    `shape` is the number of vectors, and of numbers in each. `search` returns the numbers of the nearest vectors and
    their cosine similarities, the nearest first.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    @staticmethod
    def library() -> Any:
        try:
            import faiss
        except ImportError:
            raise MissingPackageError("an index of faiss", "faiss-cpu", "faiss") from None
        return faiss

    @classmethod
    def build(cls, unit: Float32Array) -> _FaissIndex:
        library = cls.library()
        index = library.IndexHNSWFlat(unit.shape[1], tuning.INDEX_NEIGHBOURS, library.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = tuning.INDEX_BUILD_CANDIDATES
        index.hnsw.efSearch = tuning.INDEX_SEARCH_CANDIDATES  # is in the file, for those who open it with faiss
        index.add(unit)
        return cls(index)

    @classmethod
    def read(cls, path: Path) -> _FaissIndex:
        return cls(cls.library().read_index(str(path)))

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._index.ntotal), int(self._index.d)

    def write(self, path: Path) -> None:
        self.library().write_index(self._index, str(path))

    def vector(self, number: int) -> Float32Array:
        found: Float32Array = self._index.reconstruct(number)
        return found

    def search(self, query: Float32Array, count: int) -> tuple[Int64Array, Float32Array]:
        self._index.hnsw.efSearch = max(tuning.INDEX_SEARCH_CANDIDATES, count)
        similarities, numbers = self._index.search(query[None, :], count)
        is_found = numbers[0] >= 0  # -1 where there are fewer
        return numbers[0][is_found], similarities[0][is_found]


class _UsearchIndex:
    def __init__(self, index: Any) -> None:
        self._index = index

    @staticmethod
    def library() -> Any:
        try:
            import usearch.index
        except ImportError:
            raise MissingPackageError("an index of usearch", "usearch", "usearch") from None
        return usearch.index

    @classmethod
    def build(cls, unit: Float32Array) -> _UsearchIndex:
        index = cls.library().Index(
            ndim=unit.shape[1],
            metric="cos",
            dtype="f32",
            connectivity=tuning.INDEX_NEIGHBOURS,
            expansion_add=tuning.INDEX_BUILD_CANDIDATES,
        )
        index.add(np.arange(len(unit)), unit)
        return cls(index)

    @classmethod
    def read(cls, path: Path) -> _UsearchIndex:
        index = cls.library().Index.restore(str(path))
        if index is None:
            raise RuntimeError("it is no index")
        return cls(index)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._index), int(self._index.ndim)

    def write(self, path: Path) -> None:
        self._index.save(str(path))

    def vector(self, number: int) -> Float32Array:
        return np.asarray(self._index.get(number), np.float32)

    def search(self, query: Float32Array, count: int) -> tuple[Int64Array, Float32Array]:
        self._index.expansion_search = max(tuning.INDEX_SEARCH_CANDIDATES, count)
        found = self._index.search(query, count)
        return np.asarray(found.keys, np.int64), 1 - np.asarray(found.distances, np.float32)


OpenIndex = _FaissIndex | _UsearchIndex
_ENGINES: dict[str, type[_FaissIndex] | type[_UsearchIndex]] = {"faiss": _FaissIndex, "usearch": _UsearchIndex}


def index_of(engine: str, unit: Float32Array) -> OpenIndex:
    """Return a new index of vectors of length 1."""
    return _ENGINES[engine].build(unit)


def read_index(engine: str, path: Path) -> OpenIndex:
    """Return the index in a file; raise ValueError if there is none."""
    try:
        return _ENGINES[engine].read(path)
    except RuntimeError as error:
        raise ValueError(f"{engine} cannot read it: {error}") from error


def check_engine(engine: str) -> None:
    """Raise MissingPackageError, which names the extra, if an engine's package is not installed."""
    _ENGINES[engine].library()
