"""Averaging: every worker has all tables; they average frequent words' rows several times in a round, and then all."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Iterable

from gensim_tfw2v.planning.tasks import bytes_of_ids
from simulation.loads import AveragedRound, averaged_rounds
from simulation.machines import Processor, transfer
from simulation.scenario import Scenario
from simulation.training import SimulatedTraining, Steps, Worker

_CALLS_AT_THE_END = 2  # of each worker at the end of a round: to scale its changes, and to keep the averages
_TABLES = 2  # each is averaged in a call of its own


class SimulatedAveraging(SimulatedTraining):
    """Rounds in which workers train steps on tables of their own."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._rounds = averaged_rounds(scenario)

    def processes(self) -> Iterable[Steps]:
        return [self._all_rounds()]

    def _all_rounds(self) -> Steps:
        following = self.read(self._rounds[0].words)
        for each, after in itertools.zip_longest(self._rounds, self._rounds[1:]):
            yield following
            following = self.read(after.words if after else 0)
            yield from self._all_steps(each)
            if len(self.workers) > 1:
                for _ in range(_TABLES):
                    yield from self._average(each.rows_bytes / _TABLES)
                for _ in range(_CALLS_AT_THE_END):
                    yield from self.together(self._called)

    def _all_steps(self, each: AveragedRound) -> Steps:
        most = self.scenario.most_blocks
        simulated = each.steps if most is None else min(each.steps, most)
        began, before, busy = self.env.now, copy.copy(self.tally), [one.busy_seconds for one in self._processors()]
        for _ in range(simulated):
            yield from self.together(functools.partial(self._step, of_round=each))
            if len(self.workers) > 1:
                yield from self._average(each.shared_bytes)
        # All steps are alike: the others take as long, and count as much.
        times = (each.steps - simulated) / simulated
        if times:
            self.tally.repeat_since(before, times)
            for processor, seconds in zip(self._processors(), busy, strict=True):
                processor.busy_seconds += times * (processor.busy_seconds - seconds)
            yield self.env.timeout(times * (self.env.now - began))

    def _processors(self) -> list[Processor]:
        return [*(one for worker in self.workers for one in worker.processors), self.coordinator.processor]

    def _step(self, worker: Worker, of_round: AveragedRound) -> Steps:
        words = of_round.words / of_round.steps / len(self.workers)
        yield from self.call(worker, bytes_of_ids(self.scenario.workload, words))
        yield worker.exchanger.work(self.scenario.costs.worker.block)
        yield from self.train(worker, words)
        # Rare rows are averaged at the end of the round: until then others train without this worker's changes.
        self.tally.stale_words.append(round(of_round.words * (1 - 1 / len(self.workers))))
        self.count(round(words))

    def _called(self, worker: Worker) -> Steps:
        yield from self.call(worker, 0.0)

    def _average(self, size: float) -> Steps:
        """Have all workers send and receive so many bytes each; the coordinator's one call starts all of them."""
        yield self.coordinates()
        yield from self.together(functools.partial(self._exchange, size=size))

    def _exchange(self, worker: Worker, size: float) -> Steps:
        costs, others = self.scenario.costs.worker, len(self.workers) - 1
        # What a worker sends to the others is as much as it receives from them.
        yield worker.exchanger.work(costs.byte * size + 2 * costs.message * others)
        yield transfer(self.env, worker.outward, worker.inward, size, size, self.scenario.latency)
        self.tally.bytes += size
