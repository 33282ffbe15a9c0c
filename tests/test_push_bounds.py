"""By how much a worker's block may move the rows that others move at the same time."""

from __future__ import annotations

import numpy as np
import pytest
from test_placement import SETTINGS, WORDS, maker_from, work_on

from gensim_tfw2v.cluster.wire import WorkerModel, stage
from gensim_tfw2v.work import prepare


def bounds(rivals: int) -> list[float]:
    """Return the bounds of a block of `rivals` for rows of inputs, outputs and nodes."""
    maker = maker_from(0)
    model = WorkerModel(SETTINGS, maker, WORDS, 0, np.ones(1, np.float32))
    staged = stage(model, prepare(maker, work_on(0)), 2, rivals, np.zeros(0))
    return [float(bound) for bound in staged.push_bounds]


def test_a_block_alone_moves_rows_as_far_as_it_likes() -> None:
    assert bounds(1) == [np.inf] * 3


def test_blocks_side_by_side_share_what_rows_may_be_moved_by() -> None:
    assert bounds(16) == pytest.approx([bound / 8 for bound in bounds(2)])


def test_rows_of_outputs_may_be_moved_farther() -> None:
    inputs, outputs, _ = bounds(2)
    assert 0 < inputs < outputs
