"""Synchronous rounds: all parts start from the same rows, and the next round begins when all have arrived."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable

from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.planning.tasks import bytes_of_ids
from simulation.loads import round_load
from simulation.scenario import Scenario
from simulation.training import SimulatedTraining, Steps, Worker


class SimulatedRounds(SimulatedTraining):
    """Rounds with a part for each worker."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.load = load = round_load(scenario)
        self._bytes_of = functools.lru_cache(maxsize=None)(lambda words: load.rows_bytes(scenario, words))
        blocks = load.parts * load.in_training
        self._ramp_up, self._parts_now = RampUp(load.parts, blocks), 1
        if scenario.most_blocks is not None:
            self._ramp_up.count(round(blocks))  # what follows is simulated, and not the beginning
        self.expected_blocks = load.parts * len(load.rounds)

    def processes(self) -> Iterable[Steps]:
        return [self._all_rounds()]

    def _all_rounds(self) -> Steps:
        costs = self.scenario.costs
        following = self.read(self.load.rounds[0])
        for words, after in itertools.zip_longest(self.load.rounds, self.load.rounds[1:], fillvalue=0):
            yield following
            following = self.read(after)
            self._parts_now = parts = min(self._ramp_up.limit(), self.load.parts)
            size = self._bytes_of(words / parts)
            yield from self.together(
                functools.partial(self._part, words=words / parts, size=size), self.workers[:parts]
            )
            # Servers add the changes of all parts.
            yield self.server.processor.work(costs.server.byte * parts * size / self.scenario.servers)
            self._ramp_up.count(self.load.parts)

    def _part(self, worker: Worker, words: float, size: float) -> Steps:
        yield from self.call(worker, bytes_of_ids(self.scenario.workload, words))
        yield from self.begin_block()
        yield from self.read_rows(size)
        yield from self.send_rows(worker, size)
        yield worker.exchanger.work(self.scenario.costs.worker.block)
        yield from self.train(worker, words)
        yield from self.push(worker, size)
        self.tally.stale_words.append(round(words * (self._parts_now - 1)))
        self.count(round(words))
