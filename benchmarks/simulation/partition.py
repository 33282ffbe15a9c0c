"""Partition: a sub-model on each worker, trained apart, which the coordinator merges at the end."""

from __future__ import annotations

from collections.abc import Iterable

import simpy

from simulation.loads import submodel_load
from simulation.machines import transfer
from simulation.scenario import Scenario
from simulation.training import SimulatedTraining, Steps

_AHEAD = 4  # chunks that a worker may be behind the fastest one


class SimulatedPartition(SimulatedTraining):
    """Workers that train their shares of the chunks."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.load = load = submodel_load(scenario)
        self._chunks = load.chunks if scenario.most_blocks is None else min(load.chunks, scenario.most_blocks)
        self._is_whole = self._chunks == load.chunks
        self._waiting = [simpy.Store(self.env) for _ in self.workers]  # shares that have arrived
        self._finished = [0] * self._chunks  # workers that have trained a chunk
        self._is_finished = [self.env.event() for _ in range(self._chunks)]

    def processes(self) -> Iterable[Steps]:
        return [self._dispatch(), *map(self._train_shares, range(len(self.workers)))]

    def _dispatch(self) -> Steps:
        costs, load = self.scenario.costs.coordinator, self.load
        for chunk in range(self._chunks):
            if chunk >= _AHEAD:
                yield self._is_finished[chunk - _AHEAD]
            yield self.coordinator.processor.work(load.words * len(self.workers) * costs.word)
            for worker, waiting in zip(self.workers, self._waiting, strict=True):
                yield from self.call(worker, load.ids)
                yield waiting.put(chunk)

    def _train_shares(self, number: int) -> Steps:
        worker = self.workers[number]
        for chunk in range(self._chunks):
            yield from self.wait_idle(self._waiting[number].get())
            yield worker.exchanger.work(self.scenario.costs.worker.block)
            yield from self.train(worker, self.load.words)
            # No sub-model sees what the others learn.
            self.tally.stale_words.append(round(self.scenario.words * (1 - 1 / len(self.workers))))
            self.count(self.load.words)
            self._finished[chunk] += 1
            if self._finished[chunk] == len(self.workers):
                self._is_finished[chunk].succeed()

    def finish(self) -> Steps:
        """Read and merge the sub-models, unless only the first chunks are simulated."""
        if not self._is_whole:
            return
        scenario, size = self.scenario, self.load.merged_bytes
        numbers = scenario.workload.vocabulary * scenario.workload.vector_size
        for worker in self.workers:
            yield transfer(self.env, worker.outward, self.coordinator.inward, size, size, scenario.latency)
            self.tally.bytes += size
            if len(self.workers) > 1:
                yield self.coordinator.processor.work(scenario.costs.merge * numbers)
