"""Threads of this process → calls of the graph side by side, and how many cores train the block of each call."""

from __future__ import annotations

from dataclasses import dataclass

from gensim_tfw2v import tuning
from gensim_tfw2v.runtime.tensorflow import usable_cores


@dataclass(frozen=True)
class Calls:
    """Calls of the graph that run side by side, and the cores that train the block of each."""

    at_once: int
    cores: int
    makers: int = 0  # further threads, which make blocks while the calls run

    @property
    def all_cores(self) -> int:
        """The cores of all calls together."""
        return self.at_once * self.cores

    @property
    def threads(self) -> int:
        """The threads that make blocks for the calls."""
        return self.at_once + self.makers


ONE_CORE = Calls(at_once=1, cores=1)


def calls_of_one_core(workers: int) -> Calls:
    """Return a call for each worker, or for each core if there are fewer."""
    return Calls(max(1, min(workers, usable_cores())), cores=1)


def calls_for(workers: int) -> Calls:
    """Return the calls that keep as many cores busy as there are workers, or all cores if there are fewer.

    With many cores, several of them train a block. A call needs Python's lock for the same time whatever the size of
    its block, and threads with small blocks would wait for each other.
    """
    apart = calls_of_one_core(workers)
    cores = apart.all_cores
    if cores < tuning.LEAST_CORES_FOR_SHARED_BLOCKS:
        return apart
    at_once = cores // tuning.CORES_OF_SHARED_BLOCK
    return Calls(at_once, -(-cores // at_once))


def calls_on_gpu(workers: int) -> Calls:
    """Return a single call: a GPU runs one batch after the other, and further threads make blocks meanwhile."""
    return Calls(at_once=1, cores=1, makers=calls_of_one_core(workers).at_once - 1)


def calls_that_draw(workers: int) -> Calls:
    """Return a single call, for a device that draws for itself: with several workers, a second thread sends chunks.

    With one worker, chunks are trained in their order, so one seed gives the same vectors again.
    """
    return Calls(at_once=1, cores=1, makers=max(0, min(workers - 1, 1)))
