"""One process with many cores: several of them train a block, in fewer calls of the graph."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.example_blocks import SETTINGS, maker_from, random_tables, read, work_on

from gensim_tfw2v import TFWord2Vec
from gensim_tfw2v.blocks.batches import BatchShape
from gensim_tfw2v.blocks.chunk_task import TrainedChunk
from gensim_tfw2v.corpus.sentences import Sentences
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.local import calls as local_calls
from gensim_tfw2v.placement.local import placement as local_placement
from gensim_tfw2v.placement.local.calls import Calls, calls_for
from gensim_tfw2v.placement.local.placement import LocalPlacement


@pytest.mark.parametrize(
    ("workers", "cores", "calls"),
    [
        (1, 16, Calls(1, 1)),
        (15, 16, Calls(15, 1)),
        (3, 2, Calls(2, 1)),
        (19, 64, Calls(4, 5)),
        (64, 17, Calls(4, 5)),
        (16, 16, Calls(4, 4)),
        (100, 31, Calls(7, 5)),
        (128, 128, Calls(32, 4)),
    ],
)
def test_calls_keep_as_many_cores_busy_as_there_are_workers_and_cores(
    workers: int, cores: int, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_calls, "usable_cores", lambda: cores)
    assert calls_for(workers) == calls
    assert min(workers, cores) <= calls.at_once * calls.cores < min(workers, cores) + calls.at_once


def test_cores_that_share_a_block_train_what_one_core_trains() -> None:
    # All steps are small, so that it hardly matters which of two runs comes first. Threads that write one row at once
    # may lose each other's changes, mostly where the system interrupts one of them. That is rare, so of some trainings
    # one has lost nothing.
    one, one_tables = _trained_by(Calls(1, 1))
    start = random_tables()
    for table, of_start in ((one_tables.inputs, start.inputs), (one_tables.outputs, start.outputs)):
        assert np.abs(table - of_start).max() > 1e-3
    differences = []
    for _ in range(10):
        four, four_tables = _trained_by(Calls(1, 4))
        np.testing.assert_array_equal(one.pairs, four.pairs)
        np.testing.assert_allclose(one.batches.losses, four.batches.losses, rtol=3e-2)
        tables = (four_tables.inputs, one_tables.inputs), (four_tables.outputs, one_tables.outputs)
        differences.append(max(float(np.abs(got - expected).max()) for got, expected in tables))
        if differences[-1] <= 2e-4:
            break
    assert min(differences) <= 2e-4


def _trained_by(calls: Calls) -> tuple[TrainedChunk, ModelTables]:
    """Return what was trained of a block of ten words, and the tables afterwards."""
    ids = np.random.default_rng(3).integers(0, 10, 400).astype(np.int32)
    task = replace(work_on(0, rate=1e-4), content=Sentences(ids, np.full(40, 10, np.int32)))
    with closing(LocalPlacement(SETTINGS, maker_from(0), calls)) as placement:
        placement.load(random_tables())
        trained = placement.train_chunk(task)
        assert len(trained.batches.losses) > 20
        return trained, read(placement)


def test_a_spare_thread_prepares_its_block_and_waits_until_cores_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, lock = 0, 0, threading.Lock()
    call = local_placement.call_with_tensors

    def counted(*arguments: Any) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            return call(*arguments)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(local_placement, "call_with_tensors", counted)
    maker = replace(maker_from(0), shape=BatchShape(256, 4, 4))  # large enough for a spare thread
    with closing(LocalPlacement(SETTINGS, maker, Calls(2, 4))) as placement:
        placement.load(random_tables())
        assert placement.concurrency == 3
        with ThreadPoolExecutor(6) as threads:
            list(threads.map(lambda seed: placement.train_chunk(work_on(0, seed)), range(60)))
    assert most <= 2


@pytest.mark.parametrize("mode", [{"sg": 1}, {"sg": 0}, {"sg": 1, "hs": 1, "negative": 0}, {"hs": 1, "negative": 0}])
def test_a_model_trains_with_cores_that_share_blocks(mode: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_calls, "usable_cores", lambda: 16)
    topics = [[f"{topic}{word}" for word in range(6)] for topic in "ab"]
    random = np.random.default_rng(5)
    sentences = [list(random.permutation(topics[number % 2])) for number in range(4000)]
    model = TFWord2Vec(sentences, vector_size=16, min_count=1, epochs=5, workers=16, seed=1, **mode)
    assert model.epochs == 5 and np.isfinite(model.wv.vectors).all()
    assert {word[0] for word, _ in model.wv.most_similar("a0", topn=5)} == {"a"}
