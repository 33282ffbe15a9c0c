"""Blocks that several threads make: they train what their parts would train one after the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from support.example_blocks import SETTINGS, SIZE, WORDS, maker_from
from support.example_trees import model_of

from gensim_tfw2v import tuning
from gensim_tfw2v.blocks.batches import BlockMaker, Windows
from gensim_tfw2v.blocks.chunk_parts import parts_of
from gensim_tfw2v.blocks.chunk_task import ChunkTask, PreparedBlock, prepare
from gensim_tfw2v.blocks.document_blocks import BagOfWordsBlockMaker, DocumentBlockMaker
from gensim_tfw2v.blocks.huffman import HuffmanTree
from gensim_tfw2v.blocks.making_side_by_side import joined, prepare_side_by_side
from gensim_tfw2v.corpus.sentences import DocumentTags, Sentences
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.arguments import block_tensors, objective_of, rates
from gensim_tfw2v.steps.graph import block_function
from gensim_tfw2v.steps.kernel import kernel
from gensim_tfw2v.steps.settings import StepSettings
from gensim_tfw2v.steps.signature import Tables

tf = load_tensorflow()

MODES = [mode for mode in product([True, False], repeat=3) if mode[1] or mode[2]]
IDS = ["+".join(name for name, used in zip(("sg", "neg", "hs"), mode, strict=True) if used) for mode in MODES]
TAGS = 5
LENGTHS = (3, 3, 30, 1, 17, 4, 25, 2, 9, 11)  # of sentences: contexts of parts are differently far away


def chunk(sentences: int = 10) -> ChunkTask:
    """Return sentences of very different lengths."""
    lengths = np.resize(np.array(LENGTHS, np.int32), sentences)
    ids = np.random.default_rng(3).integers(0, 10, lengths.sum()).astype(np.int32)
    return ChunkTask(Sentences(ids, lengths), (7, 1), 0.05, 0.01, exact_loss=True)


def maker_of(skip_gram: bool, sampling: bool, tree: bool, window: int) -> BlockMaker:
    """Return a maker for these objectives."""
    maker = replace(maker_from(0), skip_gram=skip_gram, window=window, windows=Windows.DRAWN)
    if not sampling:
        maker = replace(maker, negatives=None)
    return replace(maker, tree=HuffmanTree.of(model_of(list(range(WORDS, 0, -1))).wv)) if tree else maker


def trained(settings: StepSettings, *blocks: PreparedBlock) -> tuple[list[Any], list[float]]:
    """Return rows and losses after training blocks one after the other."""
    random = np.random.default_rng(1)
    tables = [tf.Variable(random.normal(size=(WORDS + TAGS, SIZE)).astype(np.float32)) for _ in range(3)]
    losses: list[float] = []
    for prepared in blocks:
        of_block = block_tensors(prepared.block), rates(settings, prepared, np.ones(1, np.float32))
        others = tf.nest.map_structure(tf.convert_to_tensor, of_block)
        span = tf.constant([0, len(prepared.block.pairs)])
        handles = Tables(*(table.handle for table in tables))
        losses += block_function(objective_of(settings), kernel())(handles, *others, span).losses.numpy().tolist()
    return [table.numpy() for table in tables], losses


@pytest.mark.parametrize("window", [2, 12, 40])
@pytest.mark.parametrize(("skip_gram", "sampling", "tree"), MODES, ids=IDS)
def test_a_joined_block_trains_what_its_parts_train_one_after_the_other(
    skip_gram: bool, sampling: bool, tree: bool, window: int
) -> None:
    maker = maker_of(skip_gram, sampling, tree, window)
    settings = replace(
        SETTINGS,
        skip_gram=skip_gram,
        negative=SETTINGS.negative if sampling else 0,
        hierarchical_softmax=tree,
        window=window,
    )
    parts = [part for part in (prepare(maker, task) for task in parts_of(chunk(), 4)) if part is not None]
    assert len(parts) > 2
    if window > 2:
        assert len({part.block.window for part in parts}) > 1
    whole = joined(maker, parts)
    assert whole.block.tokens == sum(part.block.tokens for part in parts) == sum(LENGTHS)
    assert len(whole.learning_rates) == len(whole.measured) == len(whole.block.pairs)
    expected, expected_losses = trained(settings, *parts)
    found, losses = trained(settings, whole)
    for rows, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(rows, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dm", "dbow", "dbow with words"])
def test_a_joined_block_of_documents_trains_what_its_parts_train(kind: str, weighted: bool) -> None:
    fields = vars(maker_of(False, True, True, 2)) | {"tag_count": TAGS, "first_row": WORDS}
    maker: BlockMaker = DocumentBlockMaker(**fields)
    if kind != "dm":
        maker = BagOfWordsBlockMaker(**fields, pairs_words=kind != "dbow")
    tags = DocumentTags(np.array([0, 1, 3, 4], np.int32), np.array([0, 1, 3, 3, 4], np.int32), np.array([True] * 4))
    content = replace(chunk().content, documents=np.array([0, 0, 1, 2, 3, 1, 0, 2, 2, 3], np.int32), tags=tags)
    if weighted:
        content = replace(content, weights=np.linspace(0.5, 2, 10, dtype=np.float32))
    settings = replace(
        SETTINGS, skip_gram=False, hierarchical_softmax=True, even_contexts=True, documents=True, weighted=weighted
    )
    tasks = parts_of(replace(chunk(), content=content), 4)
    parts = [part for part in (prepare(maker, task) for task in tasks) if part is not None]
    assert len(parts) > 2
    whole = joined(maker, parts)
    (found, losses), (expected, expected_losses) = trained(settings, whole), trained(settings, *parts)
    for rows, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(rows, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)
    assert whole.block.unique_rows is not None
    assert set(whole.block.unique_rows.tolist()) == {WORDS, WORDS + 1, WORDS + 3, WORDS + 4}


def test_batches_of_a_joined_block_have_as_many_runs_as_the_largest() -> None:
    maker = maker_of(True, True, False, 2)
    parts = [prepare(maker, replace(chunk(), content=words_of_lengths(*lengths))) for lengths in ((5,), (40,))]
    made = [part for part in parts if part is not None]
    assert len({part.block.left.shape[1] for part in made}) == 2
    whole = joined(maker, made).block
    assert whole.left.shape[:2] == (sum(len(part.block.pairs) for part in made), made[1].block.left.shape[1])
    assert not whole.left[0, made[0].block.left.shape[1] :].any()


def words_of_lengths(*lengths: int) -> Sentences:
    """Return sentences of these lengths."""
    return Sentences(np.arange(sum(lengths), dtype=np.int32) % WORDS, np.array(lengths, np.int32))


def test_one_core_makes_what_prepare_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "LEAST_BLOCK_WORDS", 1)
    maker = maker_of(True, True, False, 2)
    found, expected = prepare_side_by_side(maker, chunk(), 1), prepare(maker, chunk())
    assert found is not None and expected is not None
    np.testing.assert_array_equal(found.block.candidate_ids, expected.block.candidate_ids)


def test_several_threads_make_all_words_with_their_share_of_the_negatives_rates_and_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuning, "LEAST_BLOCK_WORDS", 20)
    maker = replace(maker_of(True, True, False, 2), negative_pool=8)
    task = chunk(sentences=100)
    found = prepare_side_by_side(maker, task, 4)
    assert found is not None
    assert found.block.tokens == len(task.content.ids)
    assert found.learning_rates[0] == pytest.approx(0.05)
    assert (np.diff(found.learning_rates) < 0).all()
    drawn = found.block.candidate_ids[:, :, -maker.shape.shared_negatives :].reshape(4, -1)
    assert all(len(np.unique(of_part)) <= 2 for of_part in drawn)
    again = prepare_side_by_side(maker, task, 4)
    assert again is not None
    np.testing.assert_array_equal(again.block.candidate_ids, found.block.candidate_ids)


def test_a_chunk_without_words_gives_no_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "LEAST_BLOCK_WORDS", 1)
    keep = np.zeros(WORDS, np.float32)
    assert prepare_side_by_side(replace(maker_of(True, True, False, 2), keep=keep), chunk(), 3) is None
    assert prepare_side_by_side(maker_of(True, True, False, 2), replace(chunk(), content=words_of_lengths()), 3) is None
