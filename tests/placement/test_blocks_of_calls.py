"""Several blocks in a call of a worker: the vectors, the report, and what chooses how many there are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.contract import SMALL, two_topics
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on
from support.placements import downpour, in_this_process, shared_cluster

from gensim_tfw2v import TFWord2Vec, encode_corpus, tuning
from gensim_tfw2v.blocks.chunk_parts import parts_of, together
from gensim_tfw2v.blocks.chunk_task import ChunkTask, words_of
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.model.training_plan import placement_for
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.row_states import with_states
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.steps.row_sharing import NOT_SHARED
from gensim_tfw2v.steps.settings import ADAGRAD, StepSettings

BLOCK_WORDS = 17  # of the sixty words of a chunk: four blocks, of two sentences at most
CHUNKS = [work_on(0, seed=1, rate=0.05, last_rate=0.04), work_on(3, seed=2, rate=0.04, last_rate=0.02)]


def on_a_worker(settings: StepSettings, overlap: bool = False) -> Placement:
    """Return a placement whose calls train blocks of `BLOCK_WORDS` words."""
    connection = connect(shared_cluster())
    in_flight = connection.workers + 1 if overlap else 1
    return downpour(settings, maker_from(0), connection, in_flight, block_words=BLOCK_WORDS)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(SETTINGS, id="sgd"),
        pytest.param(replace(SETTINGS, optimizer=ADAGRAD), id="adagrad", marks=pytest.mark.slow),
        pytest.param(replace(SETTINGS, freeze="outputs"), id="frozen outputs", marks=pytest.mark.slow),
    ],
)
def test_a_call_trains_its_blocks_as_one_process_trains_them_one_after_the_other(settings: StepSettings) -> None:
    here, there = in_this_process(settings, maker_from(0), 1), on_a_worker(settings)
    if settings.optimizer == ADAGRAD:
        here, there = with_states(here), with_states(there)
    for placement in (here, there):
        placement.load(random_tables())
    for chunk in CHUNKS:
        blocks = parts_of(chunk, 4)
        assert len(blocks) == 4
        expected, found = together([here.train_chunk(block) for block in blocks]), there.train_chunk(chunk)
        assert found.tokens == expected.tokens
        np.testing.assert_array_equal(found.pairs, expected.pairs)
        np.testing.assert_array_equal(found.measured, expected.measured)
        np.testing.assert_allclose(found.batches.losses, expected.batches.losses, rtol=1e-5)
        np.testing.assert_array_equal(found.batches.clipped_rows, expected.batches.clipped_rows)
    tables, own = read(here), read(there)
    np.testing.assert_allclose(own.inputs, tables.inputs, atol=1e-5)
    np.testing.assert_allclose(own.outputs, tables.outputs, atol=1e-5)
    assert np.abs(own.inputs - random_tables().inputs).max() > 0.01
    for placement in (here, there):
        placement.close()


@pytest.mark.parametrize("overlap", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_servers_get_every_block_of_a_call_once(overlap: bool) -> None:
    placement = on_a_worker(SETTINGS, overlap)
    placement.load(random_tables())
    tokens = [placement.train_chunk(chunk).tokens for chunk in CHUNKS]
    report = placement.report(120)
    placement.close()
    assert report is not None
    assert tokens == [60, 60]
    assert report["blocks"] == 8
    assert report["tasks"]["ps 0"]["blocks"] == report["tasks"]["ps 1"]["blocks"] == 8
    # Blocks that are not alone in flight read rows again.
    messages = 3 if overlap else 2
    assert sum(report["tasks"][f"worker {worker}"]["messages"] for worker in range(2)) == 2 + 2 * 8 * messages
    # Every block but a call's first one is pulled before the push of the block before it, if they overlap.
    assert report["staleness"]["mean"] == (0.75 if overlap else 0.0)


def test_a_call_without_a_word_that_is_kept_trains_nothing() -> None:
    placement = on_a_worker(SETTINGS)
    placement.load(random_tables())
    nothing = Sentences(np.zeros(0, np.int32), np.zeros(0, np.int32))
    trained = placement.train_chunk(replace(CHUNKS[0], content=nothing))
    assert (trained.tokens, len(trained.pairs)) == (0, 0)
    np.testing.assert_array_equal(read(placement).inputs, random_tables().inputs)
    placement.close()


def test_a_chunk_is_cut_into_blocks_of_about_equal_sizes() -> None:
    chunk = CHUNKS[0]
    assignment = Assignment(0, 1, 1, NOT_SHARED, chunk, block_words=BLOCK_WORDS)
    blocks = [assignment.block(number, None) for number in range(4)]
    assert [(words_of(block), left) for block, left in blocks] == [(20, 3), (10, 2), (20, 1), (10, 0)]
    assert Assignment(0, 1, 1, NOT_SHARED, chunk).block(0, None) == (chunk, 0)
    short: ChunkTask = parts_of(chunk, 6)[0]
    assert replace(assignment, task=short).block(0, None) == (short, 0)
    with pytest.raises(IndexError, match="a chunk of 4 parts has no part 4"):
        assignment.block(4, None)


def test_a_block_of_no_words_is_refused() -> None:
    with pytest.raises(TaskError, match="a block cannot have 0 words"):
        Assignment(0, 1, 1, NOT_SHARED, CHUNKS[0], block_words=0).block(0, None)


@pytest.mark.parametrize(
    ("arguments", "is_encoded", "chunk_words"),
    [
        ({}, False, 500),
        ({}, True, 1500),  # three blocks, with at least two calls for each worker
        ({"workers": 1}, True, 500),
        ({"blocks_per_call": 1}, True, 500),
        ({"blocks_per_call": 5}, False, 2500),
        ({"blocks_per_call": 5, "workers": 1}, True, 2500),
    ],
)
def test_workers_that_read_a_large_corpus_train_several_blocks_in_a_call(
    arguments: dict[str, Any], is_encoded: bool, chunk_words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "LEAST_CALLS", 2)
    monkeypatch.setattr(tuning, "CALL_WORDS", 1999)
    model = TFWord2Vec(**SMALL | {"batch_words": 500} | arguments)
    model.build_vocab(two_topics())
    assert placement_for(model, shared_cluster(), 10_000, is_encoded=is_encoded).block_words == chunk_words


@pytest.mark.slow
def test_a_model_learns_from_an_encoded_corpus_in_calls_of_several_blocks(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("".join(f"{' '.join(sentence)}\n" for sentence in two_topics(3000)))
    encode_corpus(str(tmp_path / "corpus.txt"), str(tmp_path / "ids"))
    model = TFWord2Vec(
        corpus_file=str(tmp_path / "ids"),
        **SMALL | {"batch_words": 500, "epochs": 2},
        cluster=shared_cluster(),
        blocks_per_call=4,
        cluster_overlap=True,
    )
    report = model.training_report
    assert report is not None
    assert report["raw_words"] == 2 * 36_000
    assert report["blocks"] == pytest.approx(2 * 36_000 / 500, rel=0.05)
    assert sum(report["tasks"][f"worker {worker}"]["received_bytes"] for worker in range(2)) > 0
    assert model.epoch_losses[1] < model.epoch_losses[0]


@pytest.mark.slow
def test_a_call_may_take_longer_than_a_block() -> None:
    model = TFWord2Vec(
        two_topics(1500),
        **SMALL | {"batch_words": 30, "epochs": 1},
        cluster=shared_cluster(),
        blocks_per_call=600,
        cluster_timeout=1,
    )
    report = model.training_report
    assert report is not None
    assert report["raw_words"] == 18_000
