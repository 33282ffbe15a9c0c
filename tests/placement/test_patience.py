"""How long a call on a worker may take before its block goes to another worker."""

from __future__ import annotations

from gensim_tfw2v.placement.calls.patience import Patience


def patience_after(*calls: list[float], longest: float = 120.0) -> Patience:
    """Return the patience with workers whose calls have taken these seconds."""
    patience = Patience(len(calls), longest)
    for worker, seconds in enumerate(calls):
        for call in seconds:
            patience.record(worker, call)
    return patience


def test_a_first_call_has_time_for_a_cold_start_and_the_longest_time_if_the_worker_answers() -> None:
    patience = patience_after([], [])
    assert patience.limit(0, is_answering=False) == 20.0
    assert patience.limit(0, is_answering=True) == 240.0


def test_a_first_call_has_no_less_time_than_the_blocks_of_others_need() -> None:
    assert patience_after([], [10.0] * 5).limit(0, is_answering=False) == 40.0


def test_a_few_times_the_usual_duration_is_enough() -> None:
    patience = patience_after([3.0] * 9)
    assert patience.limit(0, is_answering=False) == 12.0
    assert patience.limit(0, is_answering=True) == 24.0


def test_short_blocks_have_some_seconds() -> None:
    patience = patience_after([0.01] * 9)
    assert patience.limit(0, is_answering=False) == 5.0
    assert patience.limit(0, is_answering=True) == 10.0


def test_a_worker_at_a_quarter_of_the_speed_keeps_its_blocks() -> None:
    patience = patience_after([5.0] * 9, [20.0] * 9)
    assert patience.limit(1, is_answering=False) == 80.0


def test_a_worker_that_has_become_slow_loses_one_block_and_keeps_the_next() -> None:
    patience = patience_after([1.0] * 16)
    assert patience.limit(0, is_answering=True) < 15.0
    patience.record(0, 15.0)  # of the late call
    assert patience.limit(0, is_answering=True) == 120.0
    assert patience.limit(0, is_answering=False) == 60.0


def test_no_limit_of_a_silent_worker_is_longer_than_the_cluster_timeout() -> None:
    assert patience_after([], [100.0], longest=3.0).limit(0, is_answering=False) == 3.0


def test_blocks_that_usually_take_longer_than_the_cluster_timeout_can_be_finished() -> None:
    patience = patience_after([100.0], longest=3.0)
    assert patience.limit(0, is_answering=True) == 200.0
    assert patience.limit(0, is_answering=False) == 3.0
