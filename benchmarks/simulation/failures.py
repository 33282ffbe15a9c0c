"""A long training whose machines fail: how much of its time is useful, and what is trained again.

Its speed is that of the simulation of blocks. Here one event is a failure, a checkpoint or a machine that is back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
import simpy

from simulation.scenario import AVERAGING, PARTITION

_MOST_TIMES = 20.0  # as long as without failures: then the training counts as one that never ends
_FAILURES = 400  # that are simulated, however long the training is: its figures are those of the long run


@dataclass(frozen=True, kw_only=True)
class LongTraining:
    """A training and the machines that may fail."""

    design: str
    words: float
    words_a_second: float
    workers: int
    servers: int
    unit_words: float  # that are trained again when a worker is lost: half of it on average
    mean_seconds_between_failures: float  # of one machine
    restart_seconds: float  # until a lost worker trains again
    recovery_seconds: float  # until all train again from a checkpoint
    checkpoint_every: float  # seconds between the begins of two checkpoints
    checkpoint_seconds: float  # that writing one takes
    seed: int = 1

    @property
    def ideal_seconds(self) -> float:
        """Seconds without failures."""
        return self.words / self.words_a_second

    @property
    def machines_with_tables(self) -> int:
        """Servers and the coordinator; without servers, the coordinator."""
        return 1 if self.design in (AVERAGING, PARTITION) else self.servers + 1

    @property
    def simulated_seconds(self) -> float:
        """Seconds without failures of what is simulated."""
        if self.design == PARTITION:
            return self.ideal_seconds  # each sub-model is lost once at most
        machines = self.workers + self.machines_with_tables
        return _FAILURES * self.mean_seconds_between_failures / machines


@dataclass(frozen=True)
class LongOutcome:
    """What failures did."""

    seconds: float
    useful_share: float  # seconds without failures by those with them
    lost_share: float  # of the corpus: trained again, or with partition not in the model
    worker_failures: float
    recoveries: float
    ends: bool


class _Run:
    """Progress by seconds without failures; it stands still during a recovery."""

    def __init__(self, training: LongTraining) -> None:
        self.training, self.env = training, simpy.Environment()
        self.random = np.random.default_rng(training.seed)
        self.progress = self.saved = self.lost = self.last = 0.0  # seconds of the whole cluster
        self.begun = 0.0, 0.0  # the last checkpoint: when it began, and what was trained
        self.present, self.pauses = training.workers, 0
        self.worker_failures = self.recoveries = 0
        self.changed = self.env.event()

    @property
    def speed(self) -> float:
        """Seconds of progress in a second."""
        if self.pauses:
            return 0.0
        # The other sub-models do not train a lost one's share.
        return 1.0 if self.training.design == PARTITION else self.present / self.training.workers

    def advance(self) -> None:
        """Count what has been trained since the last call."""
        self.progress += (self.env.now - self.last) * self.speed
        self.last = self.env.now

    def tell(self) -> None:
        """Have the end computed again, because the speed or the progress has changed."""
        self.changed.succeed()
        self.changed = self.env.event()

    def until_the_end(self) -> Generator[simpy.Event, Any, None]:
        """Wait until all is trained."""
        length = self.training.simulated_seconds
        while self.progress < length * (1 - 1e-9):
            left = length - self.progress
            waits = [self.changed]
            if self.speed:
                waits.append(self.env.timeout(left / self.speed))
            yield simpy.AnyOf(self.env, waits)
            self.advance()

    def failing(self, machines: int, lose: Callable[[], None]) -> Generator[simpy.Event, Any, None]:
        """Lose one of these machines at random moments."""
        mean = self.training.mean_seconds_between_failures / machines
        while True:
            yield self.env.timeout(float(self.random.exponential(mean)))
            self.advance()
            lose()
            self.tell()

    def lose_worker(self) -> None:
        """Lose a worker and what it was training, or with partition its sub-model."""
        training = self.training
        if self.pauses or not self.present:
            return
        self.worker_failures += 1
        self.present -= 1
        if training.design == PARTITION:
            self.lost += training.ideal_seconds / training.workers
            return
        everyone = training.unit_words / training.words_a_second  # seconds of the cluster in a round of all workers
        lost = float(self.random.random()) * everyone
        if training.design != AVERAGING:
            lost /= training.workers  # others train the block
        self._lose(lost)
        self.env.process(self._return())

    def _return(self) -> Generator[simpy.Event, Any, None]:
        yield self.env.timeout(self.training.restart_seconds)
        self.advance()
        self.present += 1
        self.tell()

    def lose_tables(self) -> None:
        """Lose a server or the coordinator: all resume from the last checkpoint."""
        self.recoveries += 1
        self._end_checkpoint()
        self.begun = self.env.now, self.saved  # one that is not written is lost
        self._lose(self.progress - self.saved)
        self.pauses += 1
        self.env.process(self._recover())

    def _recover(self) -> Generator[simpy.Event, Any, None]:
        yield self.env.timeout(self.training.recovery_seconds)
        self.advance()
        self.pauses -= 1
        self.tell()

    def _lose(self, seconds: float) -> None:
        seconds = min(seconds, self.progress)
        self.progress -= seconds
        self.lost += seconds

    def checkpoints(self) -> Generator[simpy.Event, Any, None]:
        """Begin one checkpoint after another; each holds what was trained when it began."""
        while True:
            yield self.env.timeout(self.training.checkpoint_every)
            self.advance()
            self._end_checkpoint()
            if not self.pauses:
                self.begun = self.env.now, self.progress

    def _end_checkpoint(self) -> None:
        """Use the checkpoint that was begun, if it is written."""
        began, progress = self.begun
        if self.env.now >= began + self.training.checkpoint_seconds:
            self.saved = progress


def simulate_failures(training: LongTraining) -> LongOutcome:
    """Return what failures do to a training."""
    run, length = _Run(training), training.simulated_seconds
    env = run.env
    env.process(run.failing(training.workers, run.lose_worker))
    env.process(run.failing(training.machines_with_tables, run.lose_tables))
    env.process(run.checkpoints())
    end = env.process(run.until_the_end())
    env.run(until=simpy.AnyOf(env, [end, env.timeout(_MOST_TIMES * length)]))
    times = training.ideal_seconds / length
    return LongOutcome(
        seconds=env.now * times,
        useful_share=min(run.progress, length) / env.now,
        lost_share=run.lost / length,
        worker_failures=run.worker_failures * times,
        recoveries=run.recoveries * times,
        ends=end.processed,
    )
