"""Trainings that cannot be run here: by number of workers, vocabulary, speeds of workers and rate of failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from gensim_tfw2v.planning.frequencies import WordFrequencies
from gensim_tfw2v.planning.profiles import Profile
from gensim_tfw2v.planning.tasks import averaging_traffic, blocks_of_a_call, memory_here, memory_of_worker
from gensim_tfw2v.planning.workload import Workload
from simulation.costs import TaskCost, costs_of_profile
from simulation.failures import LongTraining, simulate_failures
from simulation.outcome import Outcome
from simulation.scenario import AVERAGING, DESIGNS, DOWNPOUR, PARTITION, SYNCHRONOUS, Scenario
from simulation.scores import staleness_of
from simulation.simulate import simulate

DEFAULT, LONG, FREE = "default", "long", "long, free coordinator"
# Blocks of a worker that each training simulates. Rounds are alike, and cost more events.
_BLOCKS = {DOWNPOUR: 4, SYNCHRONOUS: 4, AVERAGING: 2, PARTITION: 4}
_BLOCKS_OF_UNEQUAL = 16  # with workers of different speeds
_MANY_WORKERS = 2000  # more of them simulate half as many, where they train in rounds or chunks
Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What is simulated, apart from what a sweep varies."""

    words: int
    vocabulary: int
    vector_size: int
    mode: str
    cores: int
    gigabits: float
    price: float  # of a machine for an hour
    memory: float  # bytes of a machine
    workers_a_server: int
    long_words: int  # of a block, where blocks are longer than by default
    checkpoint_every: float  # seconds
    restart_seconds: float
    profile: Profile
    seed: int = 1

    def servers(self, workers: int) -> int:
        """Return how many servers so many workers have."""
        return max(1, workers // self.workers_a_server)

    def workload(self, vocabulary: int) -> Workload:
        """Return the training, of one epoch."""
        frequencies = WordFrequencies.of_law(vocabulary, self.words, 5)
        return Workload(
            words=self.words, frequencies=frequencies, mode=self.mode, vector_size=self.vector_size, epochs=1,
            encoded=True,
        )  # fmt: skip

    def scenario(self, workload: Workload, design: str, workers: int, blocks: str, spread: float = 0.0) -> Scenario:
        """Return the first blocks of a training."""
        costs = costs_of_profile(workload, self.profile)
        if blocks == FREE:
            costs = replace(costs, coordinator=TaskCost())
        return Scenario(
            workload=workload,
            design=design,
            workers=workers,
            servers=self.servers(workers),
            costs=costs,
            worker_cores=self.cores,
            server_cores=self.cores,
            bytes_a_second=self.gigabits * 1e9 / 8,
            batch_words=None if blocks == DEFAULT else self.long_words,
            speed_spread=spread,
            most_blocks=_BLOCKS[design] // (2 if workers > _MANY_WORKERS and design != DOWNPOUR else 1),
            seed=self.seed,
        )

    def figures(self, scenario: Scenario, outcome: Outcome, slope: float) -> Record:
        """Return what is kept of a simulation."""
        machines = scenario.workers + 1 + (scenario.servers if scenario.design in (DOWNPOUR, SYNCHRONOUS) else 0)
        hours = 1e9 / outcome.words_a_second / 3600
        stale_blocks = outcome.staleness_blocks
        block_words = outcome.words / outcome.blocks
        is_downpour = scenario.design == DOWNPOUR
        workers, cores = scenario.workers, scenario.whole_cores
        in_call = blocks_of_a_call(scenario.workload, workers, block_words, cores) if is_downpour else 1
        loss = slope * staleness_of(stale_blocks, outcome.staleness_words, scenario.words)
        return {
            "design": scenario.design,
            "workers": scenario.workers,
            "servers": scenario.servers,
            "block_words": block_words,
            "call_words": block_words * in_call,
            "words_a_second": outcome.words_a_second,
            "bytes_a_word": outcome.bytes_a_word,
            "stale_words": outcome.staleness_words,
            "stale_blocks": stale_blocks,
            "idle_share": outcome.idle_share,
            "busy": outcome.busy,
            "machines": machines,
            "cost_of_a_billion_words": machines * self.price * hours,
            "worker_gigabytes": self._memory(scenario) / 1e9,
            "fits": self._memory(scenario) <= self.memory,
            "predicted_loss": loss if is_downpour and scenario.workload.skip_gram else None,
        }

    def _memory(self, scenario: Scenario) -> float:
        """Return the bytes of a worker with tables of its own; those of a server where rows are there."""
        workload = scenario.workload
        if scenario.design == AVERAGING:
            traffic = averaging_traffic(workload, scenario.workers, scenario.whole_cores, scenario.batch_words)
            return memory_of_worker(workload, traffic, scenario.worker_cores)
        if scenario.design == PARTITION:
            return memory_here(workload, scenario.worker_cores)
        return workload.table_bytes / scenario.servers


def by_workers(cluster: Cluster, workers: Sequence[int], slope: float) -> Iterator[Record]:
    """Yield each design on each number of workers: with default blocks, with longer ones, and with a coordinator that
    computes nothing.
    """
    workload = cluster.workload(cluster.vocabulary)
    for blocks in (DEFAULT, LONG, FREE):
        for design in DESIGNS:
            for count in workers:
                scenario = cluster.scenario(workload, design, count, blocks)
                yield {"blocks": blocks, **cluster.figures(scenario, simulate(scenario), slope)}


def by_vocabulary(cluster: Cluster, vocabularies: Sequence[int], workers: int, slope: float) -> Iterator[Record]:
    """Yield each design with each size of vocabulary."""
    for vocabulary in vocabularies:
        workload = cluster.workload(vocabulary)
        for design in DESIGNS:
            scenario = cluster.scenario(workload, design, workers, LONG)
            yield {"vocabulary": vocabulary, **cluster.figures(scenario, simulate(scenario), slope)}


def by_speeds(cluster: Cluster, spreads: Sequence[float], workers: int, slope: float) -> Iterator[Record]:
    """Yield each design on workers whose speeds differ more and more, with a coordinator that computes nothing."""
    workload = cluster.workload(cluster.vocabulary)
    for spread in spreads:
        for design in DESIGNS:
            scenario = cluster.scenario(workload, design, workers, FREE, spread)
            if design == DOWNPOUR:
                scenario = replace(scenario, most_blocks=_BLOCKS_OF_UNEQUAL)
            yield {"speed_spread": spread, **cluster.figures(scenario, simulate(scenario), slope)}


def by_failures(cluster: Cluster, sizes: Sequence[Record], days: Sequence[float]) -> Iterator[Record]:
    """Yield what failures do to trainings whose speed is known; `days` are the means between a machine's failures."""
    for record in sizes:
        if record["blocks"] != LONG:
            continue
        tables = cluster.workload(cluster.vocabulary).table_bytes
        seconds_of_tables = tables / (cluster.gigabits * 1e9 / 8)  # all pass the coordinator's link
        if record["design"] == PARTITION:
            seconds_of_tables *= record["workers"]  # each sub-model has its own
        unit = record["call_words"] * record["workers"]
        for between in days:
            training = LongTraining(
                design=record["design"],
                words=cluster.words,
                words_a_second=record["words_a_second"],
                workers=record["workers"],
                servers=record["servers"],
                unit_words=unit,
                mean_seconds_between_failures=between * 86400,
                restart_seconds=cluster.restart_seconds,
                recovery_seconds=cluster.restart_seconds + seconds_of_tables,
                checkpoint_every=max(cluster.checkpoint_every, seconds_of_tables),
                checkpoint_seconds=seconds_of_tables,
                seed=cluster.seed,
            )
            found = simulate_failures(training)
            yield {
                "days_between_failures": between,
                "design": record["design"],
                "workers": record["workers"],
                "ideal_hours": training.ideal_seconds / 3600,
                "checkpoint_seconds": seconds_of_tables,
                **asdict(found),
            }
