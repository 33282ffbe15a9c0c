"""The graph that draws a chunk's block trains it as any other block, in one call and with one trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.drawn_blocks import WORDS, drawn, model_of, normal_tables, random_sentences

from gensim_tfw2v.blocks.batches import Windows
from gensim_tfw2v.blocks.chunk_task import ChunkTask, PreparedBlock, TrainedChunk, learning_rates
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local.drawing_placement import DrawingPlacement
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.steps.kernel import plain_kernel
from gensim_tfw2v.steps.settings import ADAGRAD, StepSettings

MODES: dict[str, dict[str, Any]] = {
    "skip-gram": {"skip_gram": True, "negative": 5, "tree": False},
    "CBOW": {"skip_gram": False, "negative": 5, "tree": False, "windows": Windows.MEAN},
    "skip-gram, tree": {"skip_gram": True, "negative": 0, "tree": True},
    "CBOW, tree": {"skip_gram": False, "negative": 0, "tree": True},
    "skip-gram, both": {"skip_gram": True, "negative": 5, "tree": True},
    "CBOW with wide windows": {
        **{"skip_gram": False, "negative": 5, "tree": False},
        **{"windows": Windows.FIXED, "window": 15, "even_contexts": True},
    },
    "weighted skip-gram": {"skip_gram": True, "negative": 5, "tree": False, "weighted": True},
    "skip-gram with bfloat16": {"skip_gram": True, "negative": 5, "tree": False, "compute_dtype": "bfloat16"},
}
RATES = (0.05, 0.02)


def task_of(seed: int, settings: StepSettings, every_loss: bool = True, **lengths: Any) -> ChunkTask:
    """Return a chunk of a few batches."""
    sentences = random_sentences(seed, weighted=settings.weighted, **lengths)
    return ChunkTask(sentences, (3, seed), *RATES, exact_loss=every_loss)


def read(placement: LocalPlacement, tables: ModelTables) -> dict[str, np.ndarray]:
    """Return a copy of the tables that a placement has."""
    copies = {name: np.zeros_like(values) for name, values in tables.present().items()}
    placement.read_into(replace(tables, **copies))
    return copies


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == "skip-gram" else pytest.mark.slow) for name in MODES]
)
def test_a_drawn_block_is_trained_as_one_that_is_made_without_a_graph(name: str) -> None:
    maker, settings = model_of(**MODES[name])
    maker = replace(maker, keep=np.linspace(0.5, 1, WORDS).astype(np.float32))
    tables = normal_tables(maker)
    task = task_of(1, settings)
    drawing = DrawingPlacement(settings, maker, steps=plain_kernel())
    drawing.load(tables)
    trained = drawing.train_chunk(task)
    here = LocalPlacement(settings, maker, steps=plain_kernel())
    here.load(tables)
    block = drawn(maker, settings, task.content, task.entropy)  # type: ignore[arg-type]
    batches = len(block.pairs)
    assert batches > 1
    metrics = here.train_prepared(PreparedBlock(block, learning_rates(task, batches), np.ones(batches, bool)))
    assert trained.tokens == block.tokens
    np.testing.assert_array_equal(trained.pairs, block.pairs)
    for found, expected in zip(trained.batches, metrics, strict=True):
        np.testing.assert_array_equal(found, expected)
    after = read(here, tables)
    for table, values in read(drawing, tables).items():
        np.testing.assert_array_equal(values, after[table], err_msg=table)
        assert not np.array_equal(values, tables.present()[table])


def test_chunks_of_any_size_share_one_trace_over_several_epochs() -> None:
    traced: list[Any] = []

    def train(*arguments: Any) -> Any:
        traced.append(arguments)
        return plain_kernel().train(*arguments)

    maker, settings = model_of(**MODES["skip-gram"])
    placement = DrawingPlacement(settings, maker, steps=plain_kernel()._replace(train=train))
    assert len(traced) == 1
    placement.load(normal_tables(maker))
    found: list[TrainedChunk] = []
    for epoch in range(3):
        for words in (60, 400, 7):
            found.append(placement.train_chunk(task_of(10 * epoch, settings, lengths=[words, 3])))
    assert len(traced) == 1
    assert {len(chunk.pairs) for chunk in found} == {1, 2, 13}


def test_batches_have_the_rates_and_the_measured_losses_of_a_block_that_is_made_here() -> None:
    maker, settings = model_of(**MODES["skip-gram"])
    maker = replace(maker, shape=replace(maker.shape, batch_tokens=8))
    task = task_of(2, settings, every_loss=False, lengths=[200, 200])
    tables = normal_tables(maker)
    placement = DrawingPlacement(settings, maker, steps=plain_kernel())
    placement.load(tables)
    found = placement.train_chunk(task)
    assert np.flatnonzero(found.measured).tolist() == [0, 16, 32, 48]
    assert (found.batches.losses[found.measured] > 0).all()
    assert not found.batches.losses[~found.measured].any()
    unmeasured = placement.train_chunk(replace(task, measures=False))
    assert not unmeasured.measured.any() and not unmeasured.batches.losses.any()


def test_a_chunk_without_kept_words_trains_nothing() -> None:
    maker, settings = model_of(**MODES["skip-gram"])
    placement = DrawingPlacement(settings, replace(maker, keep=np.zeros(WORDS, np.float32)), steps=plain_kernel())
    tables = normal_tables(maker)
    placement.load(tables)
    for lengths in ([5, 20], [], [0]):
        found = placement.train_chunk(task_of(1, settings, lengths=lengths))
        assert (found.tokens, len(found.pairs), len(found.batches.losses)) == (0, 0, 0)
    for table, values in read(placement, tables).items():
        np.testing.assert_array_equal(values, tables.present()[table])


@pytest.mark.slow
def test_adagrads_states_grow_where_the_graph_draws() -> None:
    maker, settings = model_of(**MODES["skip-gram"], optimizer=ADAGRAD)
    placement = DrawingPlacement(settings, maker, steps=plain_kernel())
    tables = normal_tables(maker)
    before = {name: np.abs(values) for name, values in tables.present().items()}
    placement.load(replace(tables, **before))
    placement.train_chunk(task_of(1, settings))
    for name, values in read(placement, tables).items():
        assert (values[:, -1] >= before[name][:, -1]).all()
        assert (values[:, -1] > before[name][:, -1]).any()
