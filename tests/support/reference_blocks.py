"""Blocks in the terms of the reference, and small vocabularies whose Huffman trees gensim has made."""

from __future__ import annotations

import numpy as np
from gensim.models.word2vec import Word2Vec

from gensim_tfw2v.blocks.batches import Block, BlockMaker, Windows
from support.reference import ReferenceBatch, context_positions, contexts_within


def small_vocabulary(size: int, rng: np.random.Generator) -> Word2Vec:
    """Return an untrained gensim model with counts, a Huffman tree and a table to draw negatives from."""
    model = Word2Vec(vector_size=4, hs=1, negative=5, min_count=1)
    model.build_vocab_from_freq({f"w{i}": int(rng.integers(1, 30)) for i in range(size)})
    return model


def as_reference_batches(
    block: Block,
    sentences: list[list[int]],
    maker: BlockMaker,
    negative: int,
    weights: list[float] | None = None,
) -> list[ReferenceBatch]:
    """Return what the block says each batch is to train, in the reference's terms."""
    words = [word for sentence in sentences for word in sentence]
    count = len(words)
    of_sentences = zip(sentences, weights or [1.0] * len(sentences), strict=True)
    counts = [weight for sentence, weight in of_sentences for _ in sentence]
    if maker.windows is Windows.MEAN:
        lengths = [len(sentence) for sentence in sentences]
        every = [contexts_within(lengths, radius) for radius in range(1, maker.window + 1)]
    else:
        left, right = block.left.reshape(-1)[:count].tolist(), block.right.reshape(-1)[:count].tolist()
        every = [context_positions(left, right)]
    batches, runs, run_tokens = block.left.shape
    targets = run_tokens + 2 * block.window if maker.skip_gram else 0  # before the negatives
    found = []
    for batch in range(batches):
        first = batch * runs * run_tokens
        places = range(first, min(first + runs * run_tokens, count))
        drawn = [
            block.candidate_ids[batch, (place - first) // run_tokens, targets:].tolist() if negative else []
            for place in places
        ]
        windows = [[contexts[place] for contexts in every] for place in places]
        in_batch, times = [words[place] for place in places], [counts[place] for place in places]
        found.append(ReferenceBatch(in_batch, windows, drawn, run_tokens, times))
    return found


def gensim_paths(model: Word2Vec) -> list[list[tuple[int, int]]]:
    """Return each word's (node, code) pairs as gensim stores them."""
    return [
        list(zip(np.atleast_1d(point).tolist(), np.atleast_1d(code).tolist(), strict=True))
        for point, code in zip(model.wv.expandos["point"], model.wv.expandos["code"], strict=True)
    ]
