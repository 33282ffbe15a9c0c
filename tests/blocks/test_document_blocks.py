"""Blocks of documents train what plain loops over documents, their tags and their words train."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from gensim.models.word2vec import Word2Vec
from support.chosen_step import training_with
from support.reference import ReferenceBatch, ReferenceModel
from support.reference_blocks import as_reference_batches, gensim_paths, small_vocabulary

from gensim_tfw2v.blocks.batches import BatchShape, Block, Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, prepare
from gensim_tfw2v.blocks.document_blocks import BagOfWordsBlockMaker, ConcatenationBlockMaker, DocumentBlockMaker
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.sampling import NegativeSampler
from gensim_tfw2v.corpus.documents import TagLists
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.calls import Calls
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.synchronous.local_rounds import LocalRounds
from gensim_tfw2v.steps.kernel import COMPILED, PLAIN
from gensim_tfw2v.steps.settings import ALL_WORDS, StepSettings

WORDS, TAGS, SIZE, WINDOW, NEGATIVES = 12, 5, 8, 2, 6
NULL_WORD = 3
TAG_LISTS: list[list[int]] = [[0], [1, 3], [], [2], [4, 0, 1], [0], [3, 3]]
LENGTHS = [5, 1, 4, 7, 3, 1, 20]
RATE = 0.05


class Case(NamedTuple):
    """What is trained."""

    dm: bool = True
    words: bool = False
    negative: int = 5
    tree: bool = False
    mean: bool = True
    weighted: bool = False
    freeze: str | None = None
    concatenated: bool = False

    @property
    def output_size(self) -> int:
        return SIZE * (1 + 2 * WINDOW) if self.concatenated else SIZE


CASES = {
    "dm": Case(),
    "dm tree": Case(negative=0, tree=True),
    "dm sums": Case(mean=False),
    "dm, weighted": Case(weighted=True),
    "dm, words' inputs frozen": Case(freeze="inputs"),
    "dm, words frozen": Case(freeze=ALL_WORDS),
    "dm tree, words frozen": Case(negative=0, tree=True, freeze=ALL_WORDS),
    "concatenated": Case(concatenated=True),
    "concatenated tree": Case(concatenated=True, negative=0, tree=True),
    "concatenated, weighted": Case(concatenated=True, weighted=True),
    "concatenated, words frozen": Case(concatenated=True, freeze=ALL_WORDS),
    "dbow": Case(dm=False),
    "dbow tree": Case(dm=False, negative=0, tree=True),
    "dbow, weighted": Case(dm=False, weighted=True),
    "dbow, words frozen": Case(dm=False, freeze=ALL_WORDS),
    "dbow with words": Case(dm=False, words=True),
    "dbow with words, tree": Case(dm=False, words=True, negative=0, tree=True),
    "dbow with words, weighted": Case(dm=False, words=True, weighted=True),
}
USUAL = ("dm", "dm tree", "dm, words frozen", "concatenated, weighted", "dbow", "dbow with words, tree")


class Example(NamedTuple):
    """A task, what trains it, and the same in plain terms."""

    vocabulary: Word2Vec
    maker: DocumentBlockMaker
    sentences: list[list[int]]
    task: ChunkTask


def example_of(case: Case, runs_apart: bool = False) -> Example:
    rng = np.random.default_rng(4)
    vocabulary = small_vocabulary(WORDS, rng)
    tags = TagLists(int, TAGS)
    fields: dict[str, Any] = {
        "skip_gram": False,
        "window": WINDOW,
        "windows": Windows.FIXED,
        "shape": BatchShape(14, 7, NEGATIVES),
        "keep": None,
        "negatives": NegativeSampler(vocabulary.cum_table) if case.negative else None,
        "tree": HuffmanTree.of(vocabulary.wv) if case.tree else None,
        "tag_count": TAGS,
        "first_row": WORDS,
        "runs_apart": runs_apart,
    }
    maker = DocumentBlockMaker(**fields) if case.dm else BagOfWordsBlockMaker(**fields, pairs_words=case.words)
    if case.concatenated:
        maker = ConcatenationBlockMaker(**fields, tags_of_each=1, null_word=NULL_WORD, least_widening=WINDOW)
    ids = rng.integers(0, WORDS, sum(LENGTHS)).astype(np.int32)
    ends = np.cumsum([0, *LENGTHS])
    numbers = np.array([tags.number(each) for each in TAG_LISTS], np.int32)
    weights = rng.uniform(0.5, 2, len(LENGTHS)).astype(np.float32) if case.weighted else None
    content = tags.with_tags(Sentences(ids, np.array(LENGTHS, np.int32), weights, numbers))
    task = ChunkTask(content, entropy=(7,), first_rate=RATE, last_rate=RATE / 2, exact_loss=True)
    return Example(vocabulary, maker, [ids[first:end].tolist() for first, end in pairwise(ends)], task)


def pairs_of(case: Case, sentences: list[list[int]], weights: list[float]) -> list[tuple[int, list[int], float]]:
    """Return a word to predict, the rows that predict it, and its weight, for each token of a distributed bag."""
    found = []
    for ids, tags, weight in zip(sentences, TAG_LISTS, weights, strict=True):
        found += [(word, [WORDS + tag], weight) for tag in tags for word in ids]
        if case.words:
            for place, word in enumerate(ids):
                near = range(max(0, place - WINDOW), min(len(ids), place + WINDOW + 1))
                found += [(ids[other], [word], weight) for other in near if other != place]
    return found


def reference_batches(case: Case, example: Example) -> tuple[list[ReferenceBatch], list[int]]:
    """Return what each batch is to train, and the words that windows point into."""
    prepared = prepare(example.maker, example.task)
    assert prepared is not None and isinstance(example.task.content, Sentences)
    given = example.task.content.weights
    weights = [1.0] * len(LENGTHS) if given is None else given.tolist()
    if case.dm:
        chosen = [number for number, tags in enumerate(TAG_LISTS) if len(tags) == 1 or not case.concatenated]
        sentences = [example.sentences[number] for number in chosen]
        rows = [[WORDS + tag for tag in TAG_LISTS[number]] for number in chosen for _ in example.sentences[number]]
        counts = [weights[number] for number in chosen for _ in example.sentences[number]]
    else:
        pairs = pairs_of(case, example.sentences, weights)
        sentences, rows, counts = [[pair[0] for pair in pairs]], [pair[1] for pair in pairs], [p[2] for p in pairs]
    in_order = prepared.block
    if example.maker.runs_apart:
        made = prepare(replace(example.maker, runs_apart=False), example.task)
        assert made is not None
        in_order = made.block
    batches = as_reference_batches(in_order, sentences, example.maker, case.negative)
    place = 0
    for batch in batches:
        end = place + len(batch.words)
        batch.documents, batch.weights = rows[place:end], counts[place:end]
        if case.concatenated:
            batch.places = [_whole_window(place + number, each) for number, (each,) in enumerate(batch.windows)]
        place = end
    assert place == len(rows)
    if example.maker.runs_apart:
        batches = dealt_out(batches, prepared.block)
    return batches, [word for sentence in sentences for word in sentence]


def _whole_window(place: int, contexts: list[int]) -> list[int | None]:
    reach = [distance for distance in range(-WINDOW, WINDOW + 1) if distance]
    return [place + distance if place + distance in contexts else None for distance in reach]


def dealt_out(batches: list[ReferenceBatch], block: Block) -> list[ReferenceBatch]:
    """Return batches of which each has a run of every so many, and the negatives that the block has for it."""
    tokens = [
        (word, windows, document, weight)
        for batch in batches
        for word, windows, document, weight in zip(
            batch.words, batch.windows, batch.documents or [], batch.weights or [], strict=True
        )
    ]
    count, runs, of_run = block.left.shape
    found = []
    for batch in range(count):
        chosen = [(run, each) for run in range(runs) for each in tokens[(run * count + batch) * of_run :][:of_run]]
        drawn = block.candidate_ids
        negatives = [[] if drawn is None else drawn[batch, run].tolist() for run, _ in chosen]
        words, windows, documents, weights = map(list, zip(*(each for _, each in chosen), strict=True))
        found.append(ReferenceBatch(words, windows, negatives, of_run, weights, documents))
    return found


@pytest.fixture
def with_the_step(step: str) -> Iterator[None]:
    """Have this process train with the step that a test is given."""
    with training_with(step):
        yield


def on_copies_of_rows(settings: StepSettings, maker: DocumentBlockMaker) -> LocalPlacement:
    """Return a placement that trains a block on copies of its rows, as workers of a cluster do."""
    return LocalRounds(settings, maker, Calls(1, cores=1), parts=1)


PLACES = {
    "compiled": (LocalPlacement, COMPILED),
    "copies of rows": (on_copies_of_rows, COMPILED),
    "plain": (LocalPlacement, PLAIN),
}
TRAINED = [
    pytest.param(*of_place, case, id=f"{name} {place}", marks=[] if name in USUAL else pytest.mark.slow)
    for place, of_place in PLACES.items()
    for name, case in CASES.items()
    if place == "compiled" or not case.concatenated
]


@pytest.mark.parametrize(("place", "step", "case"), TRAINED)
def test_a_block_of_documents_trains_as_plain_loops_do(
    place: Callable[..., LocalPlacement], step: str, case: Case, with_the_step: None
) -> None:
    example = example_of(case, runs_apart=step == PLAIN)
    rng = np.random.default_rng(1)
    tables = ModelTables(
        inputs=rng.normal(0, 0.5, (WORDS + TAGS, SIZE)).astype(np.float32),
        outputs=rng.normal(0, 0.5, (WORDS, case.output_size)).astype(np.float32) if case.negative else None,
        nodes=rng.normal(0, 1, (WORDS, case.output_size)).astype(np.float32) if case.tree else None,
        lock_factors=np.ones(1, np.float32),
    )
    settings = StepSettings(
        skip_gram=False,
        mean_context=case.mean,
        window=WINDOW,
        run_tokens=7,
        negative=case.negative,
        shared_negatives=NEGATIVES,
        hierarchical_softmax=case.tree,
        mask_accidental_hits=True,
        max_step=1e9,
        even_contexts=True,
        weighted=case.weighted,
        freeze=case.freeze,
        documents=True,
        concatenated=case.concatenated,
    )
    expected = ReferenceModel(
        *(None if each is None else each.astype(np.float64) for each in (tables.inputs, tables.outputs, tables.nodes)),
        skip_gram=False,
        negative=case.negative,
        paths=gensim_paths(example.vocabulary) if case.tree else None,
        cbow_mean=case.mean,
        max_step=1e9,
        in_runs=step == COMPILED,
        freeze=case.freeze,
        null_word=NULL_WORD if case.concatenated else None,
    )
    batches, words = reference_batches(case, example)
    placement = place(settings, example.maker)
    placement.load(tables)
    found = placement.train_chunk(example.task)
    rates = np.linspace(RATE, RATE / 2, len(batches), endpoint=False).astype(np.float32)
    losses = [expected.train(batch, float(rate), words) for batch, rate in zip(batches, rates, strict=True)]
    placement.read_into(tables)
    for name, table in tables.present().items():
        np.testing.assert_allclose(table, getattr(expected, name), rtol=1e-4, atol=2e-5, err_msg=name)
    np.testing.assert_allclose(found.batches.losses, losses, rtol=1e-4)
    trained = [
        sum(
            weight
            for rows, windows, weight in zip(batch.documents or [], batch.windows, batch.weights or [], strict=True)
            if rows or windows[0]
        )
        for batch in batches
    ]
    np.testing.assert_allclose(found.pairs, trained, rtol=1e-5)
    assert found.tokens == (len(words) if case.dm else sum(LENGTHS))


def test_a_chunk_without_tags_trains_no_distributed_bag() -> None:
    example = example_of(Case(dm=False))
    assert isinstance(example.task.content, Sentences)
    content = TagLists(int, TAGS).with_tags(
        replace(example.task.content, documents=np.full(len(LENGTHS), -1, np.int32))
    )
    assert prepare(example.maker, ChunkTask(content, (7,), RATE, RATE, exact_loss=True)) is None
