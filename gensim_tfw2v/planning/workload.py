"""What is to be trained: the corpus and the model's settings."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.batch_shape import choose_batch_shape
from gensim_tfw2v.blocks.batches import BatchShape
from gensim_tfw2v.placement.block_size import InFlightLimits, in_flight_limits
from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.modes import MODES
from gensim_tfw2v.planning.tree_nodes import tree_nodes

_ROW_BYTES = {"bfloat16": 2, "float32": 4}
_NUMBER_BYTES = 4  # of float32, in a table
_WORD_BYTES, _TREE_WORD_BYTES = 500, 700  # of a word and its counts while a vocabulary is built; gensim's figures
_SHAPING_WORDS = 200_000  # batches of larger vocabularies have the same shape
ID_BYTES = 4  # of a word, and of a row's number
TABLES = 2  # of each mode: inputs, and outputs or nodes


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
    row_type: str = "bfloat16"  # number format in which a cluster sends rows
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
        return self.vector_size * _ROW_BYTES[self.row_type]

    @property
    def model_bytes(self) -> dict[str, int]:
        """Bytes of the parts of the model, with the names and values of gensim's `estimate_memory`."""
        # Computed here because the planner runs without gensim, whose import takes seconds.
        table = self.vocabulary * self.vector_bytes
        word_bytes = _TREE_WORD_BYTES if self.tree else _WORD_BYTES
        return {"vocab": self.vocabulary * word_bytes, "vectors": table, "syn1" if self.tree else "syn1neg": table}

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables."""
        return TABLES * self.vocabulary * self.vector_bytes

    @property
    def vector_bytes(self) -> int:
        """Bytes of one vector in a table."""
        return self.vector_size * _NUMBER_BYTES

    @property
    def kept_share(self) -> float:
        """Share of raw words that are known and that subsampling keeps."""
        return float(self.frequencies.words @ self.frequencies.kept_shares(self.sample))

    @property
    def limits(self) -> InFlightLimits:
        """Limits of blocks in flight."""
        return in_flight_limits(self.vocabulary, self.skip_gram, self.tree, self.epochs)

    @functools.cached_property
    def trained_nodes(self) -> tuple[Float64Array, Float64Array]:
        """How many nodes of the Huffman tree each group has, and how often a raw word trains each of them."""
        return tree_nodes(self.frequencies.words, self.frequencies.shares, self.frequencies.kept_shares(self.sample))

    @functools.cached_property
    def shape(self) -> BatchShape:
        """How tokens are cut into batches and runs."""
        negative = 0 if self.tree else self.negative
        kept = self._kept_counts()
        return choose_batch_shape(kept, self.vector_size, self.window, negative, self.skip_gram, self.tree)

    def _kept_counts(self) -> Float64Array:
        """Return how often each of the most frequent words is trained in an epoch."""
        groups = self.frequencies.words.astype(np.int64)
        groups = np.diff(np.minimum(np.cumsum(groups), _SHAPING_WORDS), prepend=0)
        return np.repeat(self.frequencies.kept_shares(self.sample) * self.words, groups)
