"""The validation loss of tables: that of a slow reference, however few rows are read at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.reference_validation import every_pair, loss_of

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.blocks.huffman import build_huffman_tree
from gensim_tfw2v.blocks.sampling import NegativeSampler, cumulative_table
from gensim_tfw2v.blocks.validation_pairs import PairSettings, ValidationPairs, validation_pairs
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.training import measures
from gensim_tfw2v.training.measures import ValidationLoss

WORDS, SIZE, WINDOW, NEGATIVE = 40, 6, 3, 4
RANDOM = np.random.default_rng(4)
SENTENCES = [RANDOM.integers(0, WORDS, length).tolist() for length in RANDOM.integers(1, 12, 50)]
IDS = Sentences(np.concatenate(SENTENCES).astype(np.int32), np.array(list(map(len, SENTENCES)), np.int32))
COUNTS = RANDOM.integers(1, 90, WORDS)
SAMPLER = NegativeSampler(cumulative_table(COUNTS, 0.75, 2**31 - 1))
TREE = build_huffman_tree(COUNTS, np.arange(WORDS))
PATHS = [
    list(zip(TREE.nodes[first:end].tolist(), TREE.codes[first:end].tolist(), strict=True))
    for first, end in zip(TREE.offsets[:-1], TREE.offsets[1:], strict=True)
]
TABLES: dict[str, Float32Array] = {
    name: RANDOM.normal(0, 1, (rows, SIZE)).astype(np.float32)
    for name, rows in (("inputs", WORDS), ("outputs", WORDS), ("nodes", WORDS - 1))
}
OBJECTIVES = {"negative": (NEGATIVE, False), "tree": (0, True), "both": (NEGATIVE, True)}


def pairs_for(skip_gram: bool, objective: str) -> ValidationPairs:
    negative, has_tree = OBJECTIVES[objective]
    sampler, tree = SAMPLER if negative else None, TREE if has_tree else None
    return validation_pairs(IDS, PairSettings(skip_gram, WINDOW, negative, sampler, tree), (1, 2))


def read(table: str, first: int, end: int) -> Float32Array:
    return TABLES[table][first:end]


def expected(pairs: ValidationPairs, skip_gram: bool, objective: str, mean: bool) -> float:
    """Return the mean loss of all pairs of the sentences, with the negatives that were drawn."""
    negative, has_tree = OBJECTIVES[objective]
    outputs, nodes = TABLES["outputs"] if negative else None, TABLES["nodes"] if has_tree else None
    every = every_pair(SENTENCES, WINDOW, skip_gram)
    losses = [
        loss_of(pair, drawn, PATHS, TABLES["inputs"], outputs, nodes, mean)
        for pair, drawn in zip(every, pairs.negatives.tolist(), strict=True)
    ]
    return float(np.mean(losses))


@pytest.mark.parametrize("mean", [True, False], ids=["mean", "sum"])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("skip_gram", [True, False], ids=["skip-gram", "cbow"])
def test_the_loss_is_that_of_the_reference(skip_gram: bool, objective: str, mean: bool) -> None:
    pairs = pairs_for(skip_gram, objective)
    found = ValidationLoss(pairs, SIZE, mean).mean_loss(read)
    assert found == pytest.approx(expected(pairs, skip_gram, objective, mean), rel=1e-5)


@pytest.mark.parametrize("numbers", [1, 50, 10_000])
@pytest.mark.parametrize("skip_gram", [True, False], ids=["skip-gram", "cbow"])
def test_the_loss_does_not_depend_on_the_parts_in_which_it_is_computed(
    skip_gram: bool, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loss = ValidationLoss(pairs_for(skip_gram, "both"), SIZE, mean_context=True)
    whole = loss.mean_loss(read)
    monkeypatch.setattr(measures, "NUMBERS_AT_ONCE", numbers)
    most_rows = 0

    def read_few(table: str, first: int, end: int) -> Any:
        nonlocal most_rows
        most_rows = max(most_rows, end - first)
        return read(table, first, end)

    assert loss.mean_loss(read_few) == pytest.approx(whole, rel=1e-6)
    assert most_rows <= max(1, numbers // SIZE)


def test_a_negative_that_is_the_target_does_not_count() -> None:
    none, one = np.zeros(0, np.int32), np.array([1], np.int32)
    offsets, no_paths = np.array([0, 1]), np.zeros(2, np.int64)
    negatives = [np.array([[1, 2]], np.int32), np.array([[2]], np.int32)]
    losses = [
        ValidationLoss(ValidationPairs(one, offsets, one, drawn, none, none, no_paths), SIZE, True).mean_loss(read)
        for drawn in negatives
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_checksums_tell_pairs_apart() -> None:
    losses = [ValidationLoss(pairs_for(skip_gram, "negative"), SIZE, True) for skip_gram in (True, True, False)]
    assert losses[0].checksum == losses[1].checksum != losses[2].checksum
