"""What the simulated trainings of all designs have: tasks on machines, the coordinator's calls, lost workers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from typing import Any

import numpy as np
import simpy

from gensim_tfw2v.planning.machines import Machine as PlannedMachine
from simulation.machines import Link, Machine, Processor, transfer
from simulation.outcome import Outcome, Tally, mean
from simulation.scenario import Scenario

Steps = Generator[simpy.Event, Any, None]
_REQUEST_BYTES = 64  # of a call without rows or ids


class Worker:
    """A worker's machine. One of its cores exchanges rows; all of them train."""

    def __init__(self, training: SimulatedTraining, speed: float) -> None:
        env, scenario = training.env, training.scenario
        cores, phase = scenario.worker_cores, float(training.random.uniform(0.0, 0.1))
        if cores < 1:
            self.trainer = self.exchanger = Processor(env, cores, speed, phase)
        else:
            # Cores that train one model are as fast as a single core that is so many times as fast.
            self.trainer = Processor(env, 1, speed * PlannedMachine(cores).training_cores)
            self.exchanger = Processor(env, 1, speed) if cores > 1 else self.trainer
        self.outward, self.inward = (Link(env, scenario.bytes_a_second) for _ in range(2))

    @property
    def processors(self) -> list[Processor]:
        """What trains and what exchanges rows, which may be the same."""
        return list(dict.fromkeys((self.trainer, self.exchanger)))


class SimulatedTraining(ABC):
    """A training whose tasks are simulated. The servers are alike, and one stands for all of them."""

    expected_blocks = 1  # that the servers see
    lanes = 1  # blocks that a worker has in flight

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.env = simpy.Environment()
        self.tally = Tally()
        self.random = np.random.default_rng(scenario.seed)
        speeds = np.exp(scenario.speed_spread * self.random.standard_normal(scenario.workers))
        self.workers = [Worker(self, float(speed)) for speed in speeds]
        self.server = self._machine(scenario.server_cores)
        self.coordinator = self._machine(scenario.coordinator_cores)

    def _machine(self, cores: float) -> Machine:
        rate = self.scenario.bytes_a_second
        phase = float(self.random.uniform(0.0, 0.1))
        return Machine(Processor(self.env, cores, phase=phase), Link(self.env, rate), Link(self.env, rate))

    @abstractmethod
    def processes(self) -> Iterable[Steps]:
        """Return what runs side by side until the training ends."""

    def run(self) -> Outcome:
        """Return what the training came to."""
        running = [self.env.process(steps) for steps in self.processes()]
        self.env.run(until=simpy.AllOf(self.env, running))
        self.env.run(until=self.env.process(self.finish()))
        return self._outcome()

    def steady_rate(self) -> float | None:
        """Return the words a second while no worker has ended, None if that is not known."""
        return None

    # -- what designs do ----------------------------------------------------------------------------------------------

    def call(self, worker: Worker, sent: float, shared_by: int = 1) -> Steps:
        """Have the coordinator call a worker, and send it so many bytes; `shared_by` blocks share one call."""
        yield self.coordinates(shared_by)
        sent /= shared_by
        self.tally.bytes += sent
        size = sent + _REQUEST_BYTES / shared_by
        yield transfer(self.env, self.coordinator.outward, worker.inward, size, size, self.scenario.latency)

    def coordinates(self, shared_by: int = 1) -> simpy.Event:
        """Return the event that the coordinator has made a call, or its share of one that several blocks share."""
        self.tally.calls += 1 / shared_by
        return self.coordinator.processor.work(self.scenario.costs.coordinator.block / shared_by)

    def read(self, words: int) -> simpy.Event:
        """Return the event that the coordinator has read so many words, after the calls that it makes now."""

        def steps() -> Steps:
            yield self.env.timeout(0.0)
            yield self.coordinator.processor.work(words * self.scenario.costs.coordinator.word)

        return self.env.process(steps())

    def train(self, worker: Worker, words: float) -> Steps:
        """Train words on a worker. If the worker is lost meanwhile, they are trained again."""
        scenario = self.scenario
        while scenario.block_failures and self.random.random() < scenario.block_failures:
            done = float(self.random.random())  # how much is trained when the worker is lost
            yield worker.trainer.work(done * words * scenario.costs.worker.word)
            self.tally.lost_words += done * words
            yield self.env.timeout(scenario.restart_seconds)
        yield worker.trainer.work(words * scenario.costs.worker.word)

    def begin_block(self) -> Steps:
        """Have the servers do what they do for each block, and its share of what they do for the whole training."""
        cost = self.scenario.costs.server
        yield self.server.processor.work(cost.block + cost.training / self.expected_blocks)

    def read_rows(self, size: float) -> Steps:
        """Have the servers read rows for which a worker has asked."""
        yield self.server.processor.work(self._work_of_server(size))

    def send_rows(self, worker: Worker, size: float) -> Steps:
        """Send rows that the servers have read to the worker that has asked for them."""
        yield self._from_servers(worker, size, 2 * self.scenario.latency)
        yield worker.exchanger.work(self._work_of_worker(size))

    def push(self, worker: Worker, size: float) -> Steps:
        """Send changes from a worker to the servers."""
        yield worker.exchanger.work(self._work_of_worker(size))
        yield self._to_servers(worker, size)
        yield self.server.processor.work(self._work_of_server(size))

    def exchange(self, worker: Worker, size: float) -> Steps:
        """Send changes of a worker's rows to the servers, and their current values back."""
        yield worker.exchanger.work(self._work_of_worker(size))
        yield self._to_servers(worker, size)
        yield self.server.processor.work(2 * self._work_of_server(size))
        yield self._from_servers(worker, size, self.scenario.latency)
        yield worker.exchanger.work(self._work_of_worker(size))

    def _from_servers(self, worker: Worker, size: float, latency: float) -> simpy.Event:
        self.tally.bytes += size
        return transfer(self.env, self.server.outward, worker.inward, size / self.scenario.servers, size, latency)

    def _to_servers(self, worker: Worker, size: float) -> simpy.Event:
        self.tally.bytes += size
        each, latency = size / self.scenario.servers, self.scenario.latency
        return transfer(self.env, worker.outward, self.server.inward, size, each, latency)

    def _work_of_server(self, size: float) -> float:
        return self.scenario.costs.server.byte * size / self.scenario.servers

    def _work_of_worker(self, size: float) -> float:
        """Return the work for bytes and for a message of each server."""
        cost = self.scenario.costs.worker
        return cost.byte * size + cost.message * self.scenario.servers

    def count(self, words: int) -> None:
        """Count a block, or a part of a round, that is in the tables."""
        self.tally.words += words
        self.tally.blocks += 1

    def wait_idle(self, event: simpy.Event) -> Steps:
        """Wait for an event, as a worker that has nothing else to do."""
        began = self.env.now
        yield event
        self.tally.idle_seconds += self.env.now - began

    def together(self, of_worker: Callable[[Worker], Steps], workers: list[Worker] | None = None) -> Steps:
        """Have workers do something side by side, and wait for the last one."""
        workers = self.workers if workers is None else workers
        left, all_done = len(workers), self.env.event()

        def one(worker: Worker) -> Steps:
            nonlocal left
            yield from of_worker(worker)
            ended.append(self.env.now)
            left -= 1
            if not left:
                all_done.succeed()

        ended: list[float] = []
        for worker in workers:
            self.env.process(one(worker))
        yield all_done
        idle = len(self.workers) - len(workers)
        self.tally.idle_seconds += sum(self.env.now - end for end in ended) + idle * (self.env.now - min(ended))

    def finish(self) -> Steps:
        """Do what follows when all is trained."""
        yield self.env.timeout(0.0)

    def _outcome(self) -> Outcome:
        scenario, tally, seconds = self.scenario, self.tally, self.env.now
        at_work = sum(worker.trainer.busy_seconds for worker in self.workers)
        busy = {
            "workers": at_work / (scenario.workers * min(scenario.worker_cores, 1.0) * seconds),
            "servers": self.server.processor.busy_seconds / (_lanes(scenario.server_cores) * seconds),
            "coordinator": self.coordinator.processor.busy_seconds / (_lanes(scenario.coordinator_cores) * seconds),
        }
        if scenario.host_cores is not None:
            # One machine computes for all tasks, and cannot be faster than its cores.
            computed = sum(each.busy_seconds for worker in self.workers for each in worker.processors)
            computed += scenario.servers * self.server.processor.busy_seconds + self.coordinator.processor.busy_seconds
            seconds = max(seconds, computed / scenario.host_cores)
        return Outcome(
            seconds=seconds,
            words=tally.words,
            blocks=tally.blocks,
            calls=tally.calls,
            bytes_a_word=tally.bytes / tally.words,
            words_a_second=self.steady_rate() or tally.words / seconds,
            idle_share=tally.idle_seconds / (self.lanes * scenario.workers * self.env.now),
            staleness_words=mean(tally.stale_words),
            staleness_blocks=mean(tally.stale_blocks),
            lost_share=tally.lost_words / (tally.words + tally.lost_words),
            busy=busy,
        )


def _lanes(cores: float) -> float:
    return cores if cores < 1 else math.floor(cores)
