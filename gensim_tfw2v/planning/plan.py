"""A training on some machines → its memory, traffic, speed, time and cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gensim_tfw2v.planning.machines import AVERAGING, HERE, Layout, Machine
from gensim_tfw2v.planning.profiles import Profile
from gensim_tfw2v.planning.speed import Speed, speed_here, speed_of_cluster
from gensim_tfw2v.planning.tasks import (
    Traffic,
    averaging_traffic,
    downpour_traffic,
    memory_here,
    memory_of_coordinator,
    memory_of_server,
    memory_of_worker,
)
from gensim_tfw2v.planning.workload import Workload

_NOTABLE_EXCHANGE = 0.5  # of what workers compute
_NOTABLE_SHARE = 0.12  # of a corpus in flight: docs/evidence/nodes.md has the scores of larger shares


@dataclass(frozen=True)
class Plan:
    """What a training is expected to take."""

    workload: Workload
    machine: Machine
    layout: Layout
    profile: Profile
    traffic: Traffic | None  # None: one process
    speed: Speed
    memory: Mapping[str, int]  # bytes of each kind of task
    vectors_on_servers: bool = False

    @property
    def counting_seconds(self) -> float:
        """Seconds in which the coordinator's cores build the vocabulary."""
        cores = self.layout.host_cores or max(self.machine.cores, 1.0)
        return self.workload.words * self.profile.counting_nanoseconds_a_word / 1e9 / cores

    @property
    def training_seconds(self) -> float:
        """Seconds of `train()`, with the import of TensorFlow."""
        words = self.workload.words * self.workload.epochs
        return self.profile.start_seconds + words / self.speed.words_a_second

    @property
    def seconds(self) -> float:
        """Seconds in all."""
        return self.counting_seconds + self.training_seconds

    @property
    def cost(self) -> float | None:
        """What all machines cost for that time."""
        price = self.machine.price_an_hour
        return None if price is None else self.layout.machines * price * self.seconds / 3600

    @property
    def memory_of_machines(self) -> Mapping[str, int]:
        """Bytes of each kind of machine: of one for each task, or of the one that has all of them."""
        if self.layout.host_cores is None:
            return self.memory
        tasks = {"worker": self.layout.workers, "server": self.layout.servers, "coordinator": 1}
        return {"machine": sum(count * self.memory[task] for task, count in tasks.items())}

    @property
    def tasks_over_memory(self) -> list[str]:
        """The kinds of tasks that need more memory than a machine has."""
        most = self.machine.memory
        return [] if most is None else [task for task, size in self.memory_of_machines.items() if size > most]

    @property
    def fits(self) -> bool:
        """Whether every machine has the memory."""
        return not self.tasks_over_memory

    @property
    def warnings(self) -> list[str]:
        """What may go wrong."""
        found = [
            f"the {task} needs {self.memory_of_machines[task] / 1e9:,.1f} GB, and a machine has "
            f"{self.machine.memory / 1e9:,.1f}"
            for task in self.tasks_over_memory
            if self.machine.memory is not None
        ]
        if self.traffic is None:
            return found
        share = min(self.traffic.in_flight * self.traffic.block_words / self.workload.words, 1.0)
        if self.traffic.rows_on_servers and share > _NOTABLE_SHARE:
            found.append(
                f"blocks in flight have {share:.0%} of the corpus together, so scores may be lower than with fewer "
                "workers; fewer workers with more cores each see more of each other's changes"
            )
        if self.speed.exchange_share > _NOTABLE_EXCHANGE and self.machine.cores > 1:
            found.append(
                f"one of a worker's {self.machine.cores:g} cores exchanges rows for as long as "
                f"{self.speed.exchange_share:.0%} of the worker's computing, because blocks have "
                f"{self.traffic.block_words:,.0f} words; machines with fewer cores are nearly as fast, and so may be "
                "longer blocks (--batch-words), whose scores are not measured"
            )
        return found


def plan_of(workload: Workload, machine: Machine, layout: Layout, profile: Profile) -> Plan:
    """Return the plan of a training on these tasks."""
    if layout.design == HERE:
        memory = {"process": memory_here(workload, machine.cores)}
        return Plan(workload, machine, layout, profile, None, speed_here(workload, machine, profile), memory)
    machine = layout.machine_of_task(machine)
    traffic_of = averaging_traffic if layout.design == AVERAGING else downpour_traffic
    traffic = traffic_of(workload, layout.workers, machine.whole_cores, layout.batch_words)
    coordinator = memory_of_coordinator(workload, has_vectors=True)
    vectors_on_servers = traffic.rows_on_servers and machine.memory is not None and coordinator > machine.memory
    memory = {
        "worker": memory_of_worker(workload, traffic, machine.cores),
        "server": memory_of_server(workload, traffic, layout.workers, layout.servers),
        "coordinator": memory_of_coordinator(workload, has_vectors=not vectors_on_servers),
    }
    speed = speed_of_cluster(workload, layout, traffic, machine, profile)
    return Plan(workload, machine, layout, profile, traffic, speed, memory, vectors_on_servers)
