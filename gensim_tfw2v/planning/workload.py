"""What is to be trained: the corpus and the model's settings, and the rows that a part of the corpus trains."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.batch_shape import Stepping, Trained, choose_batch_shape
from gensim_tfw2v.blocks.batches import BatchShape
from gensim_tfw2v.placement.block_size import InFlightLimits, in_flight_limits
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.profiles import MODES

_SENT_BYTES, _NUMBER_BYTES = 2, 4  # of a number: bfloat16 in a message, float32 in a table
_WORD_BYTES, _TREE_WORD_BYTES = 500, 700  # of a word and its counts while a vocabulary is built; gensim's figures
_SHAPING_WORDS = 200_000  # batches of larger vocabularies have the same shape
ID_BYTES = 4  # of a word, and of a row's number
TABLES = 2  # of each mode: inputs, and outputs or nodes


class RowCounts(NamedTuple):
    """Distinct rows of each table that a block is expected to train."""

    inputs: float
    outputs: float
    nodes: float


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A training, apart from where it runs. The defaults are those of the class."""

    words: int  # raw words of an epoch
    frequencies: WordFrequencies
    mode: str = "cbow-neg"
    vector_size: int = 100
    window: int = 5
    negative: int = 5
    sample: float = 1e-3
    ns_exponent: float = 0.75
    epochs: int = 5
    min_count: int = 5
    adagrad: bool = False  # instead of SGD: runs have more negatives
    encoded: bool = False  # workers read the corpus themselves
    vocabulary_range: tuple[int, int] | None = None  # of an estimate

    @property
    def skip_gram(self) -> bool:
        """Whether skip-gram is trained, and not CBOW."""
        return MODES[self.mode][0]

    @property
    def tree(self) -> bool:
        """Whether hierarchical softmax is trained, and not negative sampling."""
        return MODES[self.mode][1]

    @property
    def vocabulary(self) -> int:
        """Words with a vector."""
        return self.frequencies.vocabulary

    @property
    def row_bytes(self) -> int:
        """Bytes of a vector that is sent."""
        return self.vector_size * _SENT_BYTES

    @property
    def vector_bytes(self) -> int:
        """Bytes of one vector in a table."""
        return self.vector_size * _NUMBER_BYTES

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables."""
        return TABLES * self.vocabulary * self.vector_bytes

    @property
    def model_bytes(self) -> dict[str, int]:
        """Bytes of the parts of the model, with the names and values of gensim's `estimate_memory`."""
        # Computed here because the planner runs without gensim, whose import takes seconds.
        table = self.vocabulary * self.vector_bytes
        word_bytes = _TREE_WORD_BYTES if self.tree else _WORD_BYTES
        return {"vocab": self.vocabulary * word_bytes, "vectors": table, "syn1" if self.tree else "syn1neg": table}

    @property
    def kept_share(self) -> float:
        """Share of raw words that are known and that subsampling keeps."""
        return float(self.frequencies.words @ self._kept)

    @property
    def limits(self) -> InFlightLimits:
        """Limits of blocks in flight."""
        return in_flight_limits(self.vocabulary, self.skip_gram, self.tree)

    @functools.cached_property
    def shape(self) -> BatchShape:
        """How tokens are cut into batches and runs."""
        groups = self.frequencies.words.astype(np.int64)
        groups = np.diff(np.minimum(np.cumsum(groups), _SHAPING_WORDS), prepend=0)
        counts = np.repeat(self._kept * self.words, groups)  # of the most frequent words in an epoch
        negative = 0 if self.tree else self.negative
        trained = Trained(counts, self.vector_size, self.window, negative, self.skip_gram, self.tree)
        return choose_batch_shape(trained, Stepping(adagrad=self.adagrad))

    def rows_of_block(self, block_words: float, pool: int | None = None) -> RowCounts:
        """Return the distinct rows of a block of so many raw words.

        If `pool` is given, the negatives come from so many draws, where they are more and the vocabulary is larger.
        Otherwise each of them is a draw of its own.
        """
        frequencies = self.frequencies
        independent = frequencies.repetition * block_words
        absent = _chance_of_absence(self._kept, independent)
        inputs = float(frequencies.words @ (1 - absent))
        if self.tree:
            nodes, trained = self._trained_nodes
            return RowCounts(inputs, 0.0, float(nodes @ (1 - _chance_of_absence(trained, independent))))
        draws = self.kept_share * block_words / self.shape.run_tokens * self.shape.shared_negatives
        if pool is not None and self.vocabulary > pool and draws > pool:
            draws = pool * (1 - math.exp(-draws / pool))  # each is one of the pool's draws, at random
        not_drawn = np.maximum(1 - frequencies.drawn_shares(self.ns_exponent) * draws, 0)  # draws are stratified
        return RowCounts(inputs, float(frequencies.words @ (1 - absent * not_drawn)), 0.0)

    @functools.cached_property
    def _kept(self) -> Float64Array:
        return self.frequencies.kept_shares(self.sample)

    @functools.cached_property
    def _trained_nodes(self) -> tuple[Float64Array, Float64Array]:
        return self.frequencies.tree_nodes(self._kept)


def _chance_of_absence(shares: Float64Array, words: float) -> Float64Array:
    """Return how likely something that is drawn by its share is not among so many words."""
    with np.errstate(divide="ignore"):  # something that is always drawn
        absent: Float64Array = np.exp(words * np.log1p(-np.minimum(shares, 1.0)))
    return absent
