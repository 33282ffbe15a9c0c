"""Cuts and makes corpora for measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def cut_corpus(corpus: Path, words: int, path: Path) -> None:
    """Write the first lines of a corpus, until they have so many words, to `path`."""
    with corpus.open("rb") as lines, path.open("wb") as cut:
        for line in lines:
            cut.write(line)
            words -= len(line.split())
            if words <= 0:
                return


def write_zipf_corpus(vocabulary: int, words: int, seed: int, path: Path, line_words: int = 20) -> None:
    """Write about so many words, or a few more: each of a vocabulary at least once, and as often as Zipf's law says."""
    shares = 1 / np.arange(1, vocabulary + 1)
    counts = np.maximum(np.rint(words * shares / shares.sum()), 1).astype(np.int64)
    ranks = np.repeat(np.arange(vocabulary), counts)
    np.random.default_rng(seed).shuffle(ranks)
    with path.open("w", encoding="ascii") as lines:
        for first in range(0, len(ranks), line_words):
            lines.write(" ".join(f"w{rank}" for rank in ranks[first : first + line_words]) + "\n")


def articles(name: str, encoding: str) -> list[list[str]]:
    """Return the words of the articles in a file of gensim's wheel."""
    from gensim.test.utils import datapath
    from gensim.utils import simple_preprocess

    with open(datapath(name), encoding=encoding) as lines:
        return [simple_preprocess(line) for line in lines]
