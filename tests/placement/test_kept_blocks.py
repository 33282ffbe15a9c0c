"""Blocks that servers keep while columns are trained on them."""

from __future__ import annotations

import time

import numpy as np
import pytest
from support.example_blocks import SETTINGS, maker_from, random_tables, work_on

from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.placement.columns import column_blocks
from gensim_tfw2v.placement.columns.column_blocks import KeptBlocks
from gensim_tfw2v.placement.tasks.assignment import Assignment
from gensim_tfw2v.placement.tasks.block_factory import BlockFactory
from gensim_tfw2v.placement.tasks.codec import encode
from gensim_tfw2v.placement.tasks.model import EncodedModel, WorkerModel
from gensim_tfw2v.steps.row_sharing import NOT_SHARED

LEASE = 7


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> KeptBlocks:
    """Return the blocks of a server on which three jobs are trained, more than it keeps unused ones."""
    monkeypatch.setattr(column_blocks, "_BLOCKS_KEPT", 2)
    model, factory = EncodedModel.of(WorkerModel.of(SETTINGS, maker_from(0), random_tables())), BlockFactory()
    factory.register_model(model.name.encode(), model.data)
    blocks = KeptBlocks(factory)
    assignment = encode(Assignment(LEASE, 1, 1, NOT_SHARED, work_on(0)))
    for job in range(3):
        blocks.keep(model.name.encode(), assignment, np.int64(job))
    return blocks


def has(kept: KeptBlocks, job: int) -> bool:
    """Return whether a job's block is there."""
    try:
        return bool(kept.batch(np.int64(LEASE), np.int64(job), np.int64(0)))
    except TaskError:
        return False


def test_blocks_in_training_are_kept_however_many_workers_train(kept: KeptBlocks) -> None:
    assert all(has(kept, job) for job in range(3))


def test_of_many_blocks_those_are_dropped_that_nobody_has_used_for_long(
    kept: KeptBlocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = time.monotonic() + 1000
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert has(kept, 0)
    (name,) = kept._factory._models
    kept.keep(name.encode(), encode(Assignment(LEASE, 1, 1, NOT_SHARED, work_on(0))), np.int64(3))
    assert [has(kept, job) for job in range(4)] == [True, False, False, True]
