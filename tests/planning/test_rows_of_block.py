"""How many rows a block trains, beside blocks that are drawn word by word."""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np
import pytest

from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.workload import Workload

WORDS, VOCABULARY, SAMPLE, BLOCK, POOL = 5_000_000, 20_000, 1e-3, 50_000, 10_000


def counts() -> np.ndarray:
    return np.maximum(WORDS / np.arange(3, VOCABULARY + 3) / 9, 5).astype(np.int64)


def drawn_tokens() -> np.ndarray:
    """Return the words of a block that subsampling keeps, drawn one by one."""
    random = np.random.default_rng(1)
    shares = counts() / counts().sum()
    ratios = shares / SAMPLE
    keep = np.minimum((np.sqrt(ratios) + 1) / ratios, 1)
    block = random.choice(VOCABULARY, BLOCK, p=shares)
    tokens: np.ndarray = block[random.random(BLOCK) < keep[block]]
    return tokens


def workload(mode: str) -> Workload:
    frequencies = WordFrequencies.of_counts(counts(), int(counts().sum()), repetition=1.0)
    return Workload(words=WORDS, frequencies=frequencies, mode=mode, sample=SAMPLE)


@pytest.mark.parametrize("pool", [POOL, 30_000])  # less than the block's negatives, and more
@pytest.mark.parametrize("mode", ["sg-neg", "cbow-neg"])
def test_rows_of_negative_sampling_are_those_of_drawn_words_and_negatives(mode: str, pool: int) -> None:
    tokens, random = drawn_tokens(), np.random.default_rng(2)
    weights = counts() ** 0.75
    shape = workload(mode).shape
    negatives = len(tokens) // shape.run_tokens * shape.shared_negatives
    draws = min(pool, negatives)
    slices = (np.arange(draws) + random.random(draws)) / draws  # a draw from each equal slice
    drawn = np.searchsorted(np.cumsum(weights) / weights.sum(), slices)
    if pool < negatives:
        drawn = random.choice(drawn, negatives)
    found = workload(mode).rows_of_block(BLOCK, pool)
    assert found.inputs == pytest.approx(len(np.unique(tokens)), rel=0.02)
    assert found.outputs == pytest.approx(len(np.union1d(tokens, drawn)), rel=0.03)
    assert found.nodes == 0


@pytest.mark.parametrize("mode", ["sg-hs", "cbow-hs"])
def test_nodes_are_those_on_the_paths_of_drawn_words(mode: str) -> None:
    tokens = np.unique(drawn_tokens())
    numbers = count(VOCABULARY)
    parents: dict[int, int] = {}
    heap = [(int(occurrences), word) for word, occurrences in enumerate(counts())]
    heapq.heapify(heap)
    while len(heap) > 1:
        (first, one), (second, other) = heapq.heappop(heap), heapq.heappop(heap)
        parent = next(numbers)
        parents[one] = parents[other] = parent
        heapq.heappush(heap, (first + second, parent))
    on_paths = set()
    for token in tokens.tolist():
        while token in parents:
            token = parents[token]
            on_paths.add(token)
    found = workload(mode).rows_of_block(BLOCK)
    assert found.nodes == pytest.approx(len(on_paths), rel=0.02)
    assert found.outputs == 0


def test_a_tree_has_a_node_less_than_words_and_all_words_pass_its_root() -> None:
    words, shares = np.array([1.0, 5.0, 1000.0]), np.array([0.4, 0.06, 0.0003])
    nodes, trained = WordFrequencies(words, shares).tree_nodes(shares)
    assert nodes.sum() == 1005
    assert trained.max() == pytest.approx(float(words @ shares))


def test_text_that_repeats_words_has_fewer_rows() -> None:
    law = WordFrequencies.of_law(VOCABULARY, WORDS, 5)
    independent = WordFrequencies(law.words, law.shares, repetition=1.0)
    rows = [
        Workload(words=WORDS, frequencies=each, mode="sg-hs").rows_of_block(BLOCK).inputs for each in (law, independent)
    ]
    assert rows[0] < 0.8 * rows[1]
