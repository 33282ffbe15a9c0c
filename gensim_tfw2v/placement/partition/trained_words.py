"""A block → the words whose input vectors it trains."""

from __future__ import annotations

import numpy as np

from gensim_tfw2v.arrays import Int32Array
from gensim_tfw2v.blocks.batches import Block


def trained_words(block: Block) -> Int32Array:
    """Return the ids, in ascending order, of all words of a block that have a context."""
    has_context = block.left + block.right > 0
    tokens = has_context.shape[-1]
    margin = (block.input_ids.shape[-1] - tokens) // 2  # CBOW's inputs are the widened runs
    ids = block.input_ids[..., margin : margin + tokens][has_context]
    is_trained = np.zeros(int(ids.max(initial=-1)) + 1, bool)
    is_trained[ids] = True
    return np.flatnonzero(is_trained).astype(np.int32)
