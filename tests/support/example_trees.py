"""gensim's models with Huffman trees of different shapes, and the paths that it stored."""

from __future__ import annotations

from gensim.models.word2vec import Word2Vec

Path = list[tuple[int, int]]  # of (node, code), the root first

EVEN, STEEP, MIXED = [5] * 9, [2**i for i in range(60)], [1, 1, 2, 40, 40, 7, 3, 3, 3, 900, 1, 12]


def model_of(frequencies: list[int]) -> Word2Vec:
    """Return an untrained gensim model with a word for each frequency and a tree over them."""
    model = Word2Vec(hs=1, negative=0, min_count=1)
    model.build_vocab_from_freq({f"w{i}": frequency for i, frequency in enumerate(frequencies)})
    return model


def gensim_path(model: Word2Vec, word: int) -> Path:
    """Return the nodes and codes that gensim stored for a word."""
    points, codes = model.wv.expandos["point"][word], model.wv.expandos["code"][word]
    return list(zip(points.tolist(), codes.tolist(), strict=True))
