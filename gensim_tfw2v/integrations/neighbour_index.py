"""Vectors of words ↔ an index that finds neighbours without comparing all words.

An index is two files: FILE in the format of its engine, which that library opens, and FILE.words.json with the words.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v.arguments.rules import check_keyed_vectors
from gensim_tfw2v.evaluation.unit_vectors import of_length_1
from gensim_tfw2v.files.formats import INDEX_ENGINES, ModelFileError
from gensim_tfw2v.files.whole_files import written_files
from gensim_tfw2v.integrations.index_engines import OpenIndex, check_engine, index_of, read_index

Word = str | int

_FORMAT = "gensim-tfw2v index 1"
_WORDS = ".words.json"


class NeighbourIndex:
    """Finds the words nearest to others, as gensim's `KeyedVectors` do, but not always all of them.

    Parameters
    ----------
    engine : {"faiss", "usearch"}
        The library that finds them.
    index : OpenIndex
        Vectors of length 1, a row for each word.
    words : list
        The words.
    """

    def __init__(self, engine: str, index: OpenIndex, words: list[Any]) -> None:
        self.engine, self.index_to_key = engine, words
        self.key_to_index = {word: number for number, word in enumerate(words)}
        self._index = index

    @classmethod
    def of(cls, keyed_vectors: Any, engine: str) -> NeighbourIndex:
        """Return a new index of `gensim.models.KeyedVectors`."""
        unit = np.ascontiguousarray(keyed_vectors.get_normed_vectors(), np.float32)
        return cls(engine, index_of(engine, unit), list(keyed_vectors.index_to_key))

    def most_similar(
        self, positive: Word | Sequence[Word], negative: Word | Sequence[Word] = (), topn: int = 10
    ) -> list[tuple[Word, float]]:
        """Return the words nearest to a sum of words minus others, with cosine similarities, as gensim does."""
        added, taken = (self._numbers_of(words) for words in (positive, negative))
        query = np.zeros(self._index.shape[1], np.float32)
        for number in added:
            query += self._index.vector(number)
        for number in taken:
            query -= self._index.vector(number)
        asked = {*added, *taken}
        count = min(topn + len(asked), len(self.index_to_key))
        numbers, similarities = self._index.search(of_length_1(query), count)
        found = zip(numbers.tolist(), similarities.tolist(), strict=True)
        return [(self.index_to_key[number], value) for number, value in found if number not in asked][:topn]

    def _numbers_of(self, words: Word | Sequence[Word]) -> list[int]:
        found = [words] if isinstance(words, str | int | np.integer) else words
        if unknown := [word for word in found if word not in self.key_to_index]:
            raise KeyError(f"Key '{unknown[0]}' not present in vocabulary")  # gensim's message
        return [self.key_to_index[word] for word in found]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write both files; a failed write changes nothing."""
        path = Path(path)
        content = {"format": _FORMAT, "engine": self.engine, "shape": self._index.shape, "words": self.index_to_key}
        with written_files(path, lambda main: [words_of(main)] if words_of(main).is_file() else []) as unfinished:
            self._index.write(unfinished)
            words_of(unfinished).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NeighbourIndex:
        """Return the index in the files at `path`; raise ModelFileError if there is none."""
        path = Path(path)
        for file in (path, words_of(path)):
            if not file.is_file():
                raise ModelFileError(f"index {str(path)!r}: {str(file)!r} is not there; an index is these two files")
        try:
            content = json.loads(words_of(path).read_text(encoding="utf-8"))
            if content["format"] != _FORMAT or content["engine"] not in INDEX_ENGINES:
                raise ValueError(f"its format is {content['format']!r}, its engine {content['engine']!r}")
            index, words = read_index(content["engine"], path), list(content["words"])
        except (ValueError, KeyError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise ModelFileError(f"cannot read index {str(path)!r}: {reason}") from error
        if list(index.shape) != content["shape"] or len(words) != index.shape[0]:
            raise ModelFileError(
                f"cannot read index {str(path)!r}: it has {index.shape[0]} vectors, and {str(words_of(path))!r} "
                f"{len(words)} words of another index"
            )
        return cls(content["engine"], index, words)


def build_index(keyed_vectors: Any, engine: str = INDEX_ENGINES[0]) -> NeighbourIndex:
    """Return an index that finds the neighbours of words without comparing all words, as `tfw2v index` does.

    Parameters
    ----------
    keyed_vectors : gensim.models.KeyedVectors
        The vectors, for instance ``model.wv``.
    engine : {"faiss", "usearch"}
        The library that finds them, an extra of this package.

    Returns
    -------
    NeighbourIndex
        It has `most_similar`, `save` and `load`.

    Raises
    ------
    ValueError
        If there is no such engine, or if there are no vectors.
    MissingPackageError
        If the engine is not installed.

    Examples
    --------
    >>> from gensim_tfw2v import Word2Vec, build_index
    >>> model = Word2Vec([["cat", "dog", "cow"]] * 10, min_count=1)
    >>> index = build_index(model.wv, "faiss")  # doctest: +SKIP
    >>> index.most_similar("cat", topn=2)  # doctest: +SKIP
    """
    check_keyed_vectors("build_index", keyed_vectors)
    if engine not in INDEX_ENGINES:
        raise ValueError(f"engine must be {' or '.join(map(repr, INDEX_ENGINES))}, got {engine!r}")
    check_engine(engine)
    if not len(keyed_vectors):
        raise ValueError("keyed_vectors has no words, so that there is nothing to index; train or load vectors first")
    return NeighbourIndex.of(keyed_vectors, engine)


def words_of(path: Path) -> Path:
    """Return the file that has the words of an index."""
    return path.with_name(path.name + _WORDS)


def recall(index: NeighbourIndex, keyed_vectors: Any, words: Sequence[Any], topn: int = 10) -> float:
    """Return which share of the nearest words of some words, found by comparing all, the index finds."""
    found = 0
    for word in words:
        exact = {neighbour for neighbour, _ in keyed_vectors.most_similar(word, topn=topn)}
        found += len(exact & {neighbour for neighbour, _ in index.most_similar([word], topn=topn)})
    return found / max(1, len(words) * min(topn, len(keyed_vectors) - 1))
