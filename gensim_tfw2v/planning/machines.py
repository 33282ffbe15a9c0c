"""The machines that a training may use, and how many of them have which tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace

HERE, DOWNPOUR, AVERAGING = "one machine", "downpour", "averaging"
DESIGNS = (DOWNPOUR, AVERAGING)
CORE_CONTENTION = 0.07  # of Amdahl's law, for cores that train one model: docs/how-it-works/planning.md


@dataclass(frozen=True)
class Machine:
    """One machine; all are alike."""

    cores: float = 1.0
    memory: float | None = None  # bytes, None: enough
    bits_a_second: float | None = None  # of its link, each way; None: no limit
    price_an_hour: float | None = None
    serving_cores: float | None = None  # of those with a server or the coordinator; None: as many

    @property
    def training_cores(self) -> float:
        """How many cores, each with a model of its own, are as fast as all cores of this machine with one model."""
        return self.cores if self.cores <= 1 else self.cores / (1 + CORE_CONTENTION * (self.cores - 1))

    @property
    def whole_cores(self) -> int:
        """Cores of a worker."""
        return max(1, int(self.cores))


@dataclass(frozen=True)
class Layout:
    """The tasks of a training, each on a machine of its own unless all share one."""

    design: str  # HERE or one of DESIGNS
    workers: int = 0
    servers: int = 0
    batch_words: int | None = None
    host_cores: float | None = None  # of the one machine that has all tasks, None: each has its own

    def machine_of_task(self, machine: Machine) -> Machine:
        """Return what a task has of its machine: a share of the cores if all tasks are on one."""
        if self.host_cores is None:
            return machine
        of_worker = min(machine.cores, max(1.0, self.host_cores // self.workers))
        return replace(machine, cores=of_worker, serving_cores=machine.serving_cores or self.host_cores)

    @property
    def machines(self) -> int:
        """How many machines there are, the coordinator's included."""
        return 1 if self.design == HERE or self.host_cores is not None else self.workers + self.servers + 1
