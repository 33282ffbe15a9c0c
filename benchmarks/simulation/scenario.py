"""A training that is to be simulated, and the machines that it has."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v.planning.workload import Workload
from simulation.costs import Costs

DOWNPOUR, SYNCHRONOUS, AVERAGING, PARTITION = "downpour", "synchronous", "averaging", "partition"
DESIGNS = (DOWNPOUR, SYNCHRONOUS, AVERAGING, PARTITION)


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What is trained, by which tasks."""

    workload: Workload
    design: str
    workers: int
    servers: int
    costs: Costs
    worker_cores: float = 1.0
    server_cores: float = 1.0
    coordinator_cores: float = 1.0
    host_cores: float | None = None  # of the one machine on which all tasks are emulated
    bytes_a_second: float | None = None  # of each machine's link, each way
    latency: float = 1e-4  # seconds that a message takes in addition
    batch_words: int | None = None  # the model's argument
    # How often a block exchanged shared rows, in versions of Downpour that did so and read no rows again.
    exchanges: int | None = None
    speed_spread: float = 0.0  # standard deviation of the logarithms of the workers' speeds, whose median is 1
    block_failures: float = 0.0  # probability that a worker is lost while it trains a block
    restart_seconds: float = 30.0  # until a lost worker trains again
    most_blocks: int | None = None  # that each worker trains; None: the whole training
    seed: int = 1

    @property
    def whole_cores(self) -> int:
        """Cores of a worker that train a block side by side."""
        return max(1, int(self.worker_cores))

    @property
    def words(self) -> int:
        """Raw words of the whole training."""
        return self.workload.words * self.workload.epochs
