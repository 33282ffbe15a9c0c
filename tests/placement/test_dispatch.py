"""The threads that wait for workers' reports."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from support.placements import shared_cluster

from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.placement.calls.dispatch import Dispatcher


@pytest.mark.parametrize(("threads", "seconds"), [(0, 0.2), (1, 0.2), (16, 0.2), (32, 0.4), (128, 1.6)])
def test_the_more_threads_wait_the_less_often_each_of_them_looks_around(threads: int, seconds: float) -> None:
    dispatcher = Dispatcher(connect(shared_cluster()), overlap=False, timeout=60.0)
    with ExitStack() as waiting:
        for _ in range(threads):
            waiting.enter_context(dispatcher._counted_as_waiting())
        assert dispatcher._seconds_to_wait() == pytest.approx(seconds)
    assert dispatcher._seconds_to_wait() == pytest.approx(0.2)
