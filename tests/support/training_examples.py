"""Blocks that the training operations are called with, and what the reference makes of the same blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gensim_tfw2v.blocks.bags import Bags
from gensim_tfw2v.blocks.batches import BatchShape, Block, BlockMaker, Windows
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler, cumulative_table
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.native.random_numbers import RandomNumbers
from support.example_trees import model_of
from support.operation_calls import Arguments, Outcome, run_operation
from support.reference import ReferenceBatch, ReferenceModel
from support.reference_blocks import as_reference_batches, gensim_paths

TOLERANCE = 2e-5
LEARNING_RATE, ADAGRAD_RATE = 0.05, 0.005  # Adagrad's first steps are 20 times as long as these say
OTHER_ROWS = 6  # of n-grams and documents
NULL_WORD = 4
SENTENCE_LENGTHS = (5, 1, 9, 2, 30, 3, 1, 1, 8)
FREQUENCIES = (1, 2, 3, 5, 9, 4, 4, 4, 20, 33, 1, 1, 2)


class Case(NamedTuple):
    """What is trained."""

    skip_gram: bool = True
    negative: int = 5  # 0: no negative sampling
    tree: bool = False
    windows: Windows = Windows.DRAWN
    mean: bool = True  # contexts are averaged
    even: bool = False  # running sums add contexts
    adagrad: bool = False
    size: int = 17
    window: int = 3
    run_tokens: int = 7
    tokens: int = 60
    batch_tokens: int = 28
    shared_negatives: int = 6
    mask_hits: bool = True
    weighted: bool = False
    freeze: str | None = None
    locks: tuple[float, ...] = ()
    bags: bool = False  # an input is a bag of rows, and some words share rows
    further_rows: int = 4  # a bag has fewer rows besides the word's own
    documents: bool = False  # sentences have documents of up to three rows, or none
    concatenated: bool = False  # all these rows are concatenated; each sentence has a document of two rows
    max_step: float = 1e9
    frequencies: tuple[int, ...] = FREQUENCIES
    lengths: tuple[int, ...] = SENTENCE_LENGTHS  # of sentences, again and again
    seed: int = 0


BAG_CASES = {
    "skip-gram": Case(bags=True),
    "skip-gram tree": Case(negative=0, tree=True, bags=True),
    "CBOW": Case(skip_gram=False, even=True, bags=True),
    "CBOW tree": Case(skip_gram=False, even=True, negative=0, tree=True, bags=True),
    "CBOW sums": Case(skip_gram=False, even=True, mean=False, bags=True),
}
WITH_BAGS = BAG_CASES | {
    "documents": Case(skip_gram=False, even=True, documents=True),
    "documents tree": Case(skip_gram=False, even=True, negative=3, tree=True, documents=True),
    "documents sums": Case(skip_gram=False, even=True, mean=False, documents=True),
    "documents and bags": Case(skip_gram=False, even=True, bags=True, documents=True),
    # Sentences of a word have no contexts.
    "documents alone": Case(skip_gram=False, even=True, documents=True, lengths=(1,)),
    "documents alone tree": Case(skip_gram=False, even=True, negative=3, tree=True, documents=True, lengths=(1,)),
    "documents alone sums": Case(skip_gram=False, even=True, mean=False, documents=True, lengths=(1,)),
}


class Expected(NamedTuple):
    """A trained reference, and the metrics of its batches."""

    model: ReferenceModel
    metrics: np.ndarray  # [3, batches]: losses, touched rows and clipped rows


@dataclass(frozen=True)
class Example:
    """A call of a training operation, and the same in the terms of the reference."""

    case: Case
    arguments: Arguments
    attributes: dict[str, bool]
    batches: list[ReferenceBatch]
    words: list[int]
    paths: list[list[tuple[int, int]]] | None

    def run(self, **changed: Any) -> Outcome:
        """Train with the operation; some of the arguments may be others."""
        operation = "train_skip_gram" if self.case.skip_gram else "train_cbow"
        return run_operation(operation, self.arguments | changed, self.attributes)

    def untrained(self) -> ReferenceModel:
        """Return the reference before its first batch."""
        case = self.case
        tables = [
            self.arguments[name][:, : _size_of(name, case)].astype(np.float64) if name in self.arguments else None
            for name in ("inputs", "outputs", "nodes")
        ]
        return ReferenceModel(
            *tables,
            skip_gram=case.skip_gram,
            negative=case.negative,
            paths=self.paths,
            cbow_mean=case.mean,
            max_step=case.max_step,
            mask_hits=case.mask_hits,
            locks=np.array(case.locks or (1.0,)),
            bags=[_list(bag) for bag in _bags(case)[: len(case.frequencies)]] if case.bags else None,
            null_word=NULL_WORD if case.concatenated else None,
            adagrad=case.adagrad,
            in_runs=True,
            freeze=case.freeze,
        )

    def expected(self) -> Expected:
        """Train the batches of the span with the reference."""
        model, metrics = self.untrained(), []
        for batch in range(*self.arguments["span"].tolist()):
            loss = model.train(self.batches[batch], float(self.arguments["learning_rates"][batch]), self.words)
            metrics.append((loss, model.touched_rows, model.clipped_rows))
        return Expected(model, np.array(metrics).T)


def make_example(case: Case) -> Example:
    """Return a block of sentences whose words come many times, on tables of random numbers.

    Vectors are so long that scores are about 1 with any number of numbers. Those of nodes are farther from 0, so that
    some of them are too far.
    """
    rng = np.random.default_rng((case.seed, case.size, case.window))
    model = model_of(list(case.frequencies))
    words, lengths = len(case.frequencies), _lengths(case)
    maker = BlockMaker(
        skip_gram=case.skip_gram,
        window=case.window,
        windows=case.windows,
        shape=BatchShape(case.batch_tokens, case.run_tokens, case.shared_negatives),
        keep=None,
        negatives=_sampler(case.frequencies) if case.negative else None,
        tree=HuffmanTree.of(model.wv) if case.tree else None,
        least_widening=case.window if case.concatenated else 1,
    )
    ids = rng.integers(0, words, case.tokens).astype(np.int32)
    block = maker.make(Sentences(ids, np.array(lengths, np.int32)), RandomNumbers.seeded((case.seed,)))
    assert block is not None
    sentences = [part.tolist() for part in np.split(ids, np.cumsum(lengths)[:-1])]
    batches = as_reference_batches(block, sentences, maker, case.negative)
    arguments = _of_block(case, block) | _tables(case, rng)
    if case.weighted:
        arguments["weights"] = _weigh(block, batches, rng)
    if case.documents:
        arguments["token_documents"] = _document(case, block, batches, lengths)
    if case.concatenated:
        _add_places(case, batches, lengths)
    paths = gensim_paths(model) if case.tree else None
    return Example(case, arguments, _attributes(case), batches, ids.tolist(), paths)


def _sampler(frequencies: tuple[int, ...]) -> NegativeSampler:
    return NegativeSampler(cumulative_table(np.sort(frequencies)[::-1].astype(np.int64), 0.75, 2**31 - 1))


def _lengths(case: Case) -> list[int]:
    """Return the lengths of sentences that have all tokens."""
    lengths: list[int] = []
    while sum(lengths) < case.tokens:
        lengths.append(min(case.lengths[len(lengths) % len(case.lengths)], case.tokens - sum(lengths)))
    return lengths


def _tables(case: Case, rng: np.random.Generator) -> Arguments:
    used = {"inputs": 1.0} | ({"outputs": 1.0} if case.negative else {}) | ({"nodes": 3.0} if case.tree else {})
    words, found = len(case.frequencies), {}
    for name, length in used.items():
        # The tree has a node less than there are words. Bags and documents have rows of their own.
        more = OTHER_ROWS if name == "inputs" and (case.bags or case.documents) else -1 if name == "nodes" else 0
        size = _size_of(name, case)
        rows = rng.normal(0, length / size**0.25, (words + more, size))
        found[name] = np.concatenate([rows, np.zeros((len(rows), int(case.adagrad)))], 1).astype(np.float32)
    return found


def _of_block(case: Case, block: Block) -> Arguments:
    batches = len(block.pairs)
    rate = ADAGRAD_RATE if case.adagrad else LEARNING_RATE
    found: Arguments = {
        "left": block.left,
        "right": block.right,
        "input_ids": block.input_ids,
        "window": np.int32(block.window),
        "learning_rates": np.linspace(rate, rate / 2, batches, dtype=np.float32),
        "max_step": np.float32(case.max_step),
        "lock_factors": np.array(case.locks, np.float32),
        "negative": np.float32(case.negative),
        "shared_negatives": np.int32(case.shared_negatives),
        "measured": np.ones(batches, bool),
        "radius_chance": np.float32(1 / case.window if case.windows is Windows.MEAN else 0),
        "span": np.array([0, batches], np.int32),
    }
    if case.bags or case.documents:
        bags = Bags.of([*_bags(case), *([np.array([NULL_WORD])] if case.concatenated else [])])
        found |= {"bag_members": bags.members, "bag_offsets": bags.offsets}
    if block.candidate_ids is not None:
        found["candidates"] = block.candidate_ids
    if block.target_ids is not None:
        found["targets"] = block.target_ids
    if block.tree is not None:
        tree = block.tree
        found |= {"words": tree.words, "path_nodes": tree.nodes, "codes": tree.codes, "offsets": tree.offsets}
    return found


def _weigh(block: Block, batches: list[ReferenceBatch], rng: np.random.Generator) -> np.ndarray:
    """Give the words of batches weights, one of which is 0; return those of the block."""
    weights = rng.uniform(0, 2, block.left.shape).astype(np.float32)
    weights[0, 0, -1] = 0
    for batch, of_batch in zip(batches, weights, strict=True):
        batch.weights = of_batch.reshape(-1)[: len(batch.words)].tolist()
    return weights


def _bags(case: Case) -> list[np.ndarray]:
    """Return the rows of each word, one of them its own, and those of three documents."""
    words = len(case.frequencies)
    rng = np.random.default_rng(case.seed)
    of_words = [
        np.r_[word, rng.integers(words, words + OTHER_ROWS, rng.integers(0, case.further_rows))]
        for word in range(words)
    ]
    counts = (2, 2, 2) if case.concatenated else (1, 3, 0)
    return of_words + [words + rng.permutation(OTHER_ROWS)[:count] for count in counts]


def _add_places(case: Case, batches: list[ReferenceBatch], lengths: list[int]) -> None:
    """Give the words of batches the positions of their whole windows."""
    ends = np.cumsum(lengths)
    reach = [distance for distance in range(-case.window, case.window + 1) if distance]
    token = 0
    for batch in batches:
        batch.places = []
        for _ in batch.words:
            end = ends[np.searchsorted(ends, token, side="right")]
            within = range(end - lengths[int(np.searchsorted(ends, end))], end)
            batch.places.append([token + each if token + each in within else None for each in reach])
            token += 1


def _size_of(table: str, case: Case) -> int:
    """Return how many numbers a vector of a table has."""
    is_long = case.concatenated and table != "inputs"
    return case.size * (2 + 2 * case.window) if is_long else case.size


def _document(case: Case, block: Block, batches: list[ReferenceBatch], lengths: list[int]) -> np.ndarray:
    """Give the words of each sentence a document, or none; return the numbers of the block's bags."""
    bags = [_list(bag) for bag in _bags(case)]
    first = len(case.frequencies)
    some = [first, first + 1, first + 2] if case.concatenated else [first, first + 1, -1, first, first + 2]
    sentences_of_each = 5 if case.lengths == (1,) else 1
    numbers = np.repeat(np.resize(np.repeat(some, sentences_of_each), len(lengths)), lengths)
    padded = np.full(block.left.shape, -1, np.int32)
    place, none = 0, list[int]()
    for batch, of_batch in zip(batches, padded, strict=True):
        count = len(batch.words)
        of_batch.reshape(-1)[:count] = numbers[place : place + count]
        batch.documents = [bags[number] if number >= 0 else none for number in numbers[place : place + count]]
        place += count
    return padded


def _list(bag: np.ndarray) -> list[int]:
    return [int(row) for row in bag]


def _attributes(case: Case) -> dict[str, bool]:
    return {
        "adagrad": case.adagrad,
        "negative_sampling": case.negative > 0,
        "hierarchical_softmax": case.tree,
        "mean_context": case.mean,
        "even_contexts": case.even,
        "mask_hits": case.mask_hits,
        "weighted": case.weighted,
        "freezes_inputs": case.freeze == "inputs",
        "freezes_outputs": case.freeze == "outputs",
        "bags": case.bags,
        "documents": case.documents,
        "concatenated": case.concatenated,
    }


def check_training(case: Case) -> Expected:
    """Check the tables and the metrics that a training operation comes to; return what they should be."""
    example = make_example(case)
    expected = example.expected()
    if expected.model.closest_call < 10 * TOLERANCE:  # by rounding, the node might move or not
        return check_training(case._replace(seed=case.seed + 1))
    found = example.run()
    assert found.error is None
    check_tables(found.tables, expected.model)
    assert found.output is not None
    np.testing.assert_allclose(found.output[0], expected.metrics[0], rtol=1e-4)
    np.testing.assert_array_equal(found.output[2], expected.metrics[2])
    # Where no gradient is left, running sums may leave a rounding error, by which a row moves.
    np.testing.assert_allclose(found.output[1], expected.metrics[1], atol=2 * (case.even and case.tree))
    return expected


def check_tables(tables: dict[str, np.ndarray], expected: ReferenceModel) -> None:
    """Check the vectors of tables, and the states behind them if there are some."""
    for name, table in tables.items():
        vectors = getattr(expected, name)
        size = vectors.shape[1]
        np.testing.assert_allclose(table[:, :size], vectors, rtol=TOLERANCE / 2, atol=TOLERANCE, err_msg=name)
        if expected.adagrad:
            states = [expected.states.get((name, row), 0.0) for row in range(len(table))]
            np.testing.assert_allclose(table[:, size], states, rtol=1e-4, atol=1e-6, err_msg=f"states of {name}")
