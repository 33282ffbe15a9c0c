"""Downpour: each worker pulls a block's rows, trains, and pushes their changes, and waits for no other worker."""

from __future__ import annotations

from collections.abc import Iterable

import simpy

from gensim_tfw2v import tuning
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from simulation.loads import BlockLoad, downpour_load
from simulation.scenario import Scenario
from simulation.training import SimulatedTraining, Steps, Worker

_STEADY_BLOCKS = 2  # of a lane, from whose ends its rate is known


class SimulatedDownpour(SimulatedTraining):
    """Workers that take one block after another from the coordinator."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.load = load = downpour_load(scenario)
        self.lanes = 2 if load.overlaps else 1
        self._left = load.blocks
        if scenario.most_blocks is not None:
            self._left = min(load.blocks, scenario.most_blocks * scenario.workers)
        self.expected_blocks = self._left
        self._ramp_up = _ramp_up(scenario, load)
        if scenario.most_blocks is not None:
            self._ramp_up.count(load.blocks)  # what follows is simulated, and not the beginning
        self._in_flight = 0
        self._ends: list[list[float]] = []  # of each lane's blocks
        self._changed = self.env.event()

    def processes(self) -> Iterable[Steps]:
        return [self._lane(worker) for worker in self.workers for _ in range(self.lanes)]

    def steady_rate(self) -> float | None:
        """Return the sum of the rates of all lanes, each from its first block to its last, if these are enough."""
        if self.scenario.most_blocks is None or self.scenario.most_blocks < _STEADY_BLOCKS * self.lanes:
            return None
        rates = [(len(ends) - 1) / (ends[-1] - ends[0]) for ends in self._ends if len(ends) > 1]
        return self.load.words * sum(rates)

    def _lane(self, worker: Worker) -> Steps:
        ends: list[float] = []
        self._ends.append(ends)
        dispatched = self._next(worker)
        while dispatched is not None:
            yield from self.wait_idle(dispatched)
            while self._in_flight >= self._ramp_up.limit():
                yield from self.wait_idle(self._changed)
            self._in_flight += 1
            following = self._next(worker)  # it is sent while this one is trained
            yield from self._block(worker)
            ends.append(self.env.now)
            self._in_flight -= 1
            self._ramp_up.count(1)
            self._changed.succeed()
            self._changed = self.env.event()
            dispatched = following

    def _next(self, worker: Worker) -> simpy.Event | None:
        """Return the event that the worker's next block has arrived, None if no block is left."""
        if not self._left:
            return None
        self._left -= 1
        return self.env.process(self._send(worker))

    def _send(self, worker: Worker) -> Steps:
        yield self.coordinator.processor.work(self.load.words * self.scenario.costs.coordinator.word)
        yield from self.call(worker, self.load.ids, self.load.call_blocks)

    def _block(self, worker: Worker) -> Steps:
        load, costs, tally = self.load, self.scenario.costs, self.tally
        yield from self.begin_block()
        yield from self.read_rows(load.rows_bytes)
        words, blocks = tally.words, tally.blocks
        yield from self.send_rows(worker, load.rows_bytes)
        yield worker.exchanger.work(costs.worker.block)
        parts = 1 + (self.scenario.exchanges or 0)
        for part in range(parts):
            yield from self.train(worker, load.words / parts)
            if part < parts - 1:
                yield from self.exchange(worker, load.shared_bytes)
        if load.bytes_again:
            yield from self.read_rows(load.bytes_again)
            yield from self.send_rows(worker, load.bytes_again)
        yield from self.push(worker, load.rows_bytes)
        tally.stale_words.append(tally.words - words)
        tally.stale_blocks.append(tally.blocks - blocks)
        self.count(load.words)


def _ramp_up(scenario: Scenario, load: BlockLoad) -> RampUp:
    """Return how many blocks may be in flight; blocks that exchanged shared rows began together."""
    if scenario.exchanges is None:
        return RampUp(load.in_flight, blocks_for_one_more=tuning.BLOCKS_FOR_ONE_MORE)
    return RampUp(load.in_flight, load.blocks, load.words, blocks_for_one_more=0 if scenario.exchanges else None)
