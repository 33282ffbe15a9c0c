"""The threads that wait for workers' reports."""

from __future__ import annotations

import time
from concurrent.futures import Future
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from support.placements import shared_cluster

from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.placement.calls import dispatch
from gensim_tfw2v.placement.calls.dispatch import Dispatcher


@pytest.mark.parametrize(("threads", "seconds"), [(0, 0.2), (1, 0.2), (16, 0.2), (32, 0.4), (128, 1.6)])
def test_the_more_threads_wait_the_less_often_each_of_them_looks_around(threads: int, seconds: float) -> None:
    dispatcher = Dispatcher(connect(shared_cluster()), overlap=False, timeout=60.0)
    with ExitStack() as waiting:
        for _ in range(threads):
            waiting.enter_context(dispatcher._counted_as_waiting())
        assert dispatcher._seconds_to_wait() == pytest.approx(seconds)
    assert dispatcher._seconds_to_wait() == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("call_blocks", "is_training", "silent_seconds", "is_stuck_for"),
    [
        (1, True, 100, None),
        (1, True, 130, "120 s"),
        (1, False, 130, "120 s"),
        (5, True, 130, None),  # a call may take five times as long
        (5, True, 590, None),
        (5, True, 610, "600 s"),
        (5, False, 130, "120 s"),
    ],
)
def test_a_call_that_runs_has_the_time_of_all_of_its_blocks(
    call_blocks: int,
    is_training: bool,
    silent_seconds: float,
    is_stuck_for: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dispatcher = Dispatcher(connect(shared_cluster()), overlap=False, timeout=60.0, call_blocks=call_blocks)
    monkeypatch.setattr(dispatcher, "_threads", [SimpleNamespace(is_training=is_training)])
    dispatcher._work.last_report = dispatcher._last_check = time.monotonic() - silent_seconds
    if is_stuck_for is None:
        dispatcher._raise_if_stuck()
    else:
        with pytest.raises(ClusterError, match=rf"for {is_stuck_for} \(cluster_timeout is 60\); all tasks answer"):
            dispatcher._raise_if_stuck()


def test_a_server_that_does_not_answer_is_lost_while_a_call_of_many_blocks_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dispatcher = Dispatcher(connect(shared_cluster()), overlap=False, timeout=60.0, call_blocks=5)
    monkeypatch.setattr(dispatcher, "_threads", [SimpleNamespace(is_training=True)])
    monkeypatch.setattr(dispatcher.servers, "silent", lambda: ["ps 0"])
    dispatcher._work.last_report = dispatcher._last_check = time.monotonic() - 130
    with pytest.raises(ClusterError, match=r"server was lost.*for 120 s .*no answer comes from ps 0"):
        dispatcher._raise_if_stuck()


@pytest.mark.parametrize(("waits", "is_stuck"), [([130.0, 0.2], False), ([0.4] * 400, True)], ids=["stopped", "runs"])
def test_time_in_which_this_process_was_stopped_does_not_count_against_workers(
    waits: list[float], is_stuck: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatcher = Dispatcher(connect(shared_cluster()), overlap=False, timeout=60.0)
    now, job = [time.monotonic()], SimpleNamespace(result=Future[None]())
    dispatcher._work.last_report = dispatcher._last_check = dispatcher._last_look = now[0]

    def wait(*_: object, **__: object) -> SimpleNamespace:
        now[0] += waits.pop()
        if not waits:
            job.result.set_result(None)
        return SimpleNamespace(done=set())

    waits.reverse()
    monkeypatch.setattr(dispatch, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(dispatch, "wait", wait)
    if is_stuck:
        with pytest.raises(ClusterError, match=r"for 120 s \(cluster_timeout is 60\); all tasks answer"):
            dispatcher.wait([job])
    else:
        dispatcher.wait([job])


class Overdue:
    """Stands for the thread of a worker whose call takes long, and that answers."""

    address, is_training = "127.0.0.1:1", True

    def __init__(self) -> None:
        self.looks = self.beginnings = 0

    def is_overdue(self, _: float) -> bool:
        return True

    def begin_time_anew(self) -> None:
        self.beginnings += 1

    def look(self, _: bool) -> None:
        self.looks += 1


def test_calls_that_wait_for_a_stopped_server_keep_their_blocks_and_have_time_once_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dispatcher = Dispatcher(connect(shared_cluster()), overlap=False, timeout=60.0)
    thread, silent = Overdue(), ["ps 0"]
    monkeypatch.setattr(dispatcher, "_threads", [thread])
    monkeypatch.setattr(dispatcher.servers, "silent", lambda: silent)
    for _ in range(3):
        dispatcher._last_look -= 1
        dispatcher._look_after_workers()
    assert (thread.looks, thread.beginnings) == (0, 3)
    silent.clear()
    dispatcher._work.last_report = dispatcher._last_check = time.monotonic() - 130
    dispatcher._raise_if_stuck()
    dispatcher._last_look -= 1
    dispatcher._look_after_workers()
    assert thread.looks == 1
