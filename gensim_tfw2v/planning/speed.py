"""A training, its machines and what steps cost → words a second, and what limits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gensim_tfw2v.planning.machines import Layout, Machine
from gensim_tfw2v.planning.profiles import Profile, RowCost
from gensim_tfw2v.planning.tasks import Traffic
from gensim_tfw2v.planning.workload import Workload

WORKERS, LINKS = "the workers' cores", "the workers' links"
SERVERS, SERVER_MEMORY, SERVER_LINKS = "the servers' cores", "the servers' memory", "the servers' links"
LIMITS_OF_SERVERS = (SERVERS, SERVER_MEMORY, SERVER_LINKS)
COORDINATOR, COORDINATOR_LINK, HOST = "the coordinator", "the coordinator's link", "the machine's cores"
_READ_AND_CHANGED = 3  # a server reads a row to send it, and reads and writes it to change it
_LEAST = 1e-9  # of what divides: a part that costs nothing sets no limit
_COMPARED = {"sg-neg": 64, "cbow-neg": 26}  # words that a token was compared with where costs were measured


@dataclass(frozen=True)
class Speed:
    """Words a second."""

    of_worker: float  # alone, waiting for its own link only
    workers: int
    exchange_share: float  # of a worker's time: one core exchanges rows, and in the rest all cores train
    limits: Mapping[str, float]  # all workers' words a second, if only this part were busy
    processor_nanoseconds: Mapping[str, float]  # of each kind of task, for each raw word

    @property
    def words_a_second(self) -> float:
        """Raw words of all workers."""
        return min(self.workers * self.of_worker, *self.limits.values())

    @property
    def bottleneck(self) -> str:
        """The part that limits them."""
        return min(self.limits, key=lambda name: self.limits[name])


def step_nanoseconds(workload: Workload, profile: Profile) -> float:
    """Return what a core takes to make and train a raw word."""
    cost = profile.steps[workload.mode]
    compared = 1  # words that a token is compared with: contexts and negatives of its run
    if not workload.tree:
        in_run = workload.shape.run_tokens if workload.skip_gram else 0
        compared = in_run + 2 * workload.window + workload.shape.shared_negatives
    of_numbers = cost.of_a_number * workload.vector_size * compared / _COMPARED.get(workload.mode, 1)
    return workload.kept_share * (cost.fixed + of_numbers)


def speed_here(workload: Workload, machine: Machine, profile: Profile) -> Speed:
    """Return the speed of one process."""
    nanoseconds = step_nanoseconds(workload, profile)
    words_a_second = machine.training_cores * 1e9 / nanoseconds
    return Speed(words_a_second, 1, 0.0, {WORKERS: words_a_second}, {"process": nanoseconds})


def speed_of_cluster(workload: Workload, layout: Layout, traffic: Traffic, machine: Machine, profile: Profile) -> Speed:
    """Return the speed of a cluster whose workers exchange this traffic."""
    words = traffic.block_words

    def nanoseconds_of_rows(cost: RowCost, messages: int) -> float:
        return (cost.nanoseconds_a_byte * 2 * traffic.one_way + cost.milliseconds_a_block * 1e6 * messages) / words

    step = step_nanoseconds(workload, profile)
    rows = nanoseconds_of_rows(profile.worker, 1)
    coordinator = profile.coordinator_milliseconds_a_block * 1e6 / (traffic.call_blocks * words)
    coordinator += 0.0 if workload.encoded else profile.coordinator_nanoseconds_a_word
    processor = {"workers": step + rows, "coordinator": coordinator}
    # One core of a worker exchanges rows. The others wait, unless they train the block before.
    training, exchanging = step / machine.training_cores, rows / min(machine.cores, 1.0)
    link = None if machine.bits_a_second is None else machine.bits_a_second / 8  # bytes a second, each way
    waiting = 0.0 if link is None else traffic.on_link / words / link * 1e9
    overlaps = traffic.in_flight > layout.workers
    least = (step + rows) / machine.cores  # no core can do both at a time

    def nanoseconds_with(exchanging: float) -> float:
        return max(max(training, exchanging) if overlaps else training + exchanging, least)

    serving_cores = machine.cores if machine.serving_cores is None else machine.serving_cores
    limits = {
        WORKERS: layout.workers * 1e9 / nanoseconds_with(exchanging),
        COORDINATOR: min(serving_cores, 1.0) * 1e9 / max(coordinator, _LEAST),
    }
    if link is not None:
        limits[LINKS] = layout.workers * 1e9 / max(waiting, _LEAST)
        limits[COORDINATOR_LINK] = link / max(traffic.ids / words, _LEAST)
    if traffic.rows_on_servers:
        processor["servers"] = nanoseconds_of_rows(profile.server, layout.servers)
        touched = _READ_AND_CHANGED * traffic.rows * workload.vector_bytes / words
        limits[SERVERS] = layout.servers * serving_cores * 1e9 / max(processor["servers"], _LEAST)
        limits[SERVER_MEMORY] = layout.servers * profile.memory_bytes_a_second / touched
        if link is not None:
            limits[SERVER_LINKS] = layout.servers * link / (traffic.one_way / words)
    if layout.host_cores is not None:
        limits[HOST] = layout.host_cores * 1e9 / sum(processor.values())
    share = exchanging / (training + exchanging)
    of_worker = 1e9 / nanoseconds_with(exchanging + waiting)
    return Speed(of_worker, layout.workers, share, limits, processor)
