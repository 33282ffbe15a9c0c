"""Bags: rows of input vectors that belong together, as those of a word and its n-grams, or of a document's tags."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float32Array, Int32Array, Int64Array, aligned_empty, consecutive
from gensim_tfw2v.native.functions import call


@dataclass(frozen=True)
class Bags:
    """Bag ``n`` has the rows ``members[offsets[n]:offsets[n + 1]]``."""

    members: Int32Array
    offsets: Int32Array  # [bags + 1]

    @classmethod
    def of(cls, bags: Iterable[Int32Array]) -> Bags:
        """Return bags of these rows."""
        rows = [np.asarray(each, np.int64) for each in bags]
        offsets = np.cumsum([0, *map(len, rows)])
        return cls.joined(np.concatenate(rows) if rows else offsets[:0], offsets)

    @classmethod
    def joined(cls, members: Int64Array, offsets: Int64Array) -> Bags:
        """Return bags, given their rows one after the other, and where each begins and the last one ends."""
        if offsets[-1] > np.iinfo(np.int32).max:
            raise ValueError(f"all bags together have {offsets[-1]:,} rows; at most {np.iinfo(np.int32).max:,} fit")
        return cls(_aligned(members), _aligned(offsets))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Int32Array:
        """How many rows each bag has."""
        return np.diff(self.offsets)

    def some(self, numbers: Int32Array) -> Bags:
        """Return the bags of these numbers, in this order."""
        sizes = self.offsets[numbers + 1] - self.offsets[numbers]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        places = consecutive(self.offsets[numbers], sizes)
        return Bags(_aligned(self.members[places]), _aligned(offsets))

    def means(self, rows: Float32Array) -> Float32Array:
        """Return the mean of the rows of each bag, zeros for a bag of none."""
        from scipy.sparse import csr_matrix  # which takes long to import

        ones = np.ones(len(self.members), np.float32)
        sums = csr_matrix((ones, self.members, self.offsets), (len(self), len(rows))) @ rows
        found: Float32Array = sums / np.maximum(self.sizes, 1, dtype=np.float32)[:, np.newaxis]
        return found


def distinct_ids(ids: Int32Array, end: int) -> tuple[Int32Array, Int32Array]:
    """Return the number of each id among the distinct ones, in the shape of the ids, and these in ascending order.

    Raise IndexError if an id is not from 0 to below `end`.
    """
    numbers, distinct = aligned_empty(ids.shape, np.int32), np.empty(min(ids.size, end), np.int32)
    return numbers, distinct[: call("number_words", ids, end, numbers, distinct)]


def _aligned(values: np.ndarray) -> Int32Array:
    array = aligned_empty(values.shape, np.int32)
    array[...] = values
    return array
