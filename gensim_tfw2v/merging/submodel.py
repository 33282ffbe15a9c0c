"""One sub-model: its vectors, and which word each row belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v.arrays import Float32Array, Int64Array


@dataclass(frozen=True)
class SubModel:
    """Vectors of some words of a joint vocabulary.

    Attributes
    ----------
    vectors : Float32Array
        [rows, size]; may be a memory map.
    rows : Int64Array
        [words]: for each word of the joint vocabulary its row in `vectors`, or -1 if the sub-model lacks the word or
        never trained it.
    """

    vectors: Float32Array
    rows: Int64Array
