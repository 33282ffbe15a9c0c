"""What `cores.py` trains: each cell in one process, in several at a time, or on a cluster of this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ENCODED, TEXT, GENSIM = "tfw2v", "tfw2v-text", "gensim"  # one process
SPLIT, CLUSTER = "tfw2v-models", "tfw2v-cluster"
SYSTEMS = (ENCODED, TEXT, GENSIM, SPLIT, CLUSTER)
DOWNPOUR = "downpour"


@dataclass(frozen=True)
class Cell:
    """One training, or several at the same time."""

    mode: str
    system: str
    workers: int  # threads of each process, or tasks of the cluster
    processes: int = 1
    worker_cores: int = 1  # of each worker of the cluster, that train a block
    distribution: str = DOWNPOUR  # how the tasks of the cluster train together

    def __str__(self) -> str:
        return f"{self.mode}, {system_of(self.system, self.distribution)}, {self.processes}x{self.workers}"


def system_of(system: str, distribution: str) -> str:
    """Return what tables call a system; a cluster's distribution is named unless it is the default."""
    return system if distribution == DOWNPOUR else f"{system}, {distribution}"


@dataclass(frozen=True)
class Split:
    """Processes that train a model each, with so many threads."""

    processes: int
    workers: int

    def __str__(self) -> str:
        return f"{self.processes}x{self.workers}"


def split_from(text: str) -> Split:
    """Return the split that an argument such as 4x2 names."""
    found = re.fullmatch(r"([1-9][0-9]*)x([1-9][0-9]*)", text)
    if found is None:
        raise ValueError(text)
    return Split(int(found[1]), int(found[2]))


def batches_of(
    modes: Sequence[str],
    systems: Sequence[str],
    workers: Sequence[int],
    splits: Sequence[Split],
    cluster_workers: Sequence[int],
    worker_cores: int = 1,
    distributions: Sequence[str] = (DOWNPOUR,),
) -> Iterator[list[Cell]]:
    """Yield the cells whose processes are prepared side by side, so that preparing takes little time."""
    for mode in modes:
        in_one = [Cell(mode, system, count) for system in (ENCODED, GENSIM) if system in systems for count in workers]
        text = [Cell(mode, TEXT, max(workers))] if TEXT in systems else []
        yield from filter(None, [in_one + text])
        if SPLIT in systems and splits:
            yield [Cell(mode, SPLIT, split.workers, split.processes) for split in splits]
        if CLUSTER in systems and cluster_workers:
            for name in distributions:
                yield [Cell(mode, CLUSTER, count, 1, worker_cores, name) for count in cluster_workers]


def usable_cores_apart() -> list[int]:
    """Return the processors that this process may run on, those of different cores before their second threads."""
    return apart(sorted(os.sched_getaffinity(0)), _siblings)


def apart(processors: Iterable[int], siblings: Callable[[int], frozenset[int]]) -> list[int]:
    """Return processors in their order, but first one of each core, then the second one of each, and so on."""
    seen: dict[frozenset[int], int] = {}
    places = {}
    for processor in processors:
        core = siblings(processor)
        seen[core] = places[processor] = seen.get(core, -1) + 1
    return sorted(places, key=lambda processor: (places[processor], processor))


def _siblings(processor: int) -> frozenset[int]:
    """Return the processors that share a core with this one, as Linux says."""
    path = Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
    try:
        return frozenset(numbers_in(path.read_text()))
    except OSError:
        return frozenset({processor})


def numbers_in(text: str) -> Iterator[int]:
    """Yield the numbers of a list as Linux writes it, such as 0-3,8."""
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def placed(cell: Cell, processors: Sequence[int]) -> list[dict[str, list[int]]]:
    """Return the processors of each process of a cell, by what runs on them.

    The coordinator of a cluster has one, every worker has one for each of its cores, and the parameter server has the
    rest, or shares the coordinator's where none is left.
    """
    if cell.system == CLUSTER:
        coordinator, others, count = processors[:1], processors[1:], cell.workers * cell.worker_cores
        return [{"own": coordinator, "worker": others[:count], "ps": others[count:] or coordinator}]
    size = cell.workers
    return [{"own": processors[first * size : (first + 1) * size]} for first in range(cell.processes)]
