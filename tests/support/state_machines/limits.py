"""Limits of calls and of blocks in flight, for workers of any speed."""

from __future__ import annotations

import statistics
from contextlib import AbstractContextManager

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gensim_tfw2v.placement.calls.patience import Patience
from gensim_tfw2v.placement.calls.ramp_up import RampUp

WORKERS = 3
KEPT = 16  # calls of a worker that count


class Limits(RuleBasedStateMachine):
    """Compares the limits of calls with the seconds that each worker has needed."""

    @initialize(longest=st.sampled_from([1.0, 60.0, 600.0]))
    def begin(self, longest: float) -> None:
        """Begin with no calls."""
        self.longest = longest
        self.patience = Patience(WORKERS, longest)
        self.calls: list[list[float]] = [[] for _ in range(WORKERS)]

    @rule(worker=st.integers(0, WORKERS - 1), seconds=st.floats(1e-3, 1e4), times=st.sampled_from([1, 1, 20]))
    def record(self, worker: int, seconds: float, times: int) -> None:
        """Have a worker finish calls."""
        for _ in range(times):
            self.patience.record(worker, seconds)
            self.calls[worker].append(seconds)

    @invariant()
    def every_wait_ends_within_its_bound(self) -> None:
        """No limit is longer than promised, and none too short for a worker that keeps its speed."""
        for worker, calls in enumerate(self.calls):
            silent, answering = (self.patience.limit(worker, is_answering) for is_answering in (False, True))
            assert 0 < silent <= self.longest
            assert silent <= answering
            usual = max(statistics.median(calls[-KEPT:]), calls[-1]) if calls else 0.0
            assert abs(self.patience.usual(worker) - usual) <= 1e-9 * usual
            assert answering <= max(2 * self.longest, 2 * usual)
            if calls:
                assert answering >= min(2 * usual, max(self.longest, 2 * usual))
                assert silent >= min(self.longest, 4 * usual, 5.0)


class BlocksInFlight(RuleBasedStateMachine):
    """Compares how many blocks may be in flight with how many have been trained, and how many workers are there."""

    @initialize(most=st.integers(1, 6), for_one_more=st.sampled_from([None, 0.0, 0.5, 2.0]))
    def begin(self, most: int, for_one_more: float | None) -> None:
        """Begin a training."""
        self.share = 1.0
        self.most, self.for_one_more = most, 8.0 if for_one_more is None else for_one_more
        self.ramp_up = RampUp(most, blocks_for_one_more=for_one_more, share_present=lambda: self.share)
        self.in_flight: list[AbstractContextManager[int]] = []
        self.done = 0

    @rule()
    def start(self) -> None:
        """Start a block, if it need not wait."""
        if len(self.in_flight) < self.limit():
            block = self.ramp_up.block()
            assert block.__enter__() == self.limit()
            self.in_flight.append(block)

    @rule(place=st.integers(0, 9), fails=st.booleans())
    def end(self, place: int, fails: bool) -> None:
        """End a block, which may fail."""
        if self.in_flight:
            block = self.in_flight.pop(place % len(self.in_flight))
            error = OSError("failed")
            block.__exit__(*((OSError, error, None) if fails else (None, None, None)))
            self.done += 1

    @rule(blocks=st.integers(1, 20))
    def count(self, blocks: int) -> None:
        """Count blocks that were trained elsewhere."""
        self.ramp_up.count(blocks)
        self.done += blocks

    @rule(share=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    def leave(self, share: float) -> None:
        """Have workers leave or join."""
        self.share = share

    def limit(self) -> int:
        """Return how many blocks may be in flight by the model."""
        most = max(1, round(self.most * self.share))
        return min(most, 1 + int(self.done / self.for_one_more)) if self.for_one_more else most

    @invariant()
    def the_limit_is_that_of_the_model(self) -> None:
        """The limit follows the blocks that are done; one block at least may always be in flight."""
        assert self.ramp_up.limit() == self.limit() >= 1
        assert self.ramp_up.done == self.done

    def teardown(self) -> None:
        """End all blocks."""
        for block in getattr(self, "in_flight", []):
            block.__exit__(None, None, None)
