"""Every placement there is, for the suites that all of them have to pass."""

from __future__ import annotations

import atexit
import functools
import signal
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from gensim_tfw2v.blocks.batches import BlockMaker
from gensim_tfw2v.cluster.connection import Connection, connect
from gensim_tfw2v.cluster.local import LocalCluster, local_cluster
from gensim_tfw2v.placement.block_size import InFlightLimits
from gensim_tfw2v.placement.contract import Placement
from gensim_tfw2v.placement.downpour.placement import DownpourPlacement
from gensim_tfw2v.placement.local.calls import Calls
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.request import ClusterRequest, CorpusSize, TrainingOptions
from gensim_tfw2v.steps.kernel import plain_kernel
from gensim_tfw2v.steps.settings import StepSettings
from support.solo import Solo

_COMMON = (2, 2, 1)  # servers, workers and cores of the cluster that most files use
_common, _others = ExitStack(), ExitStack()
atexit.register(_common.close)
atexit.register(_others.close)


def shared_cluster(ps: int = 2, workers: int = 2, cores: int = 1) -> LocalCluster:
    """Return a cluster of real processes that runs until `end_clusters`."""
    return _common_cluster() if (ps, workers, cores) == _COMMON else _other_cluster(ps, workers, cores)


@functools.cache
def _common_cluster() -> LocalCluster:
    return _common.enter_context(local_cluster(*_COMMON))


@functools.cache
def _other_cluster(ps: int, workers: int, cores: int, is_mortal: bool = False) -> LocalCluster:
    """Return a cluster of these sizes; the one whose tasks are killed is no other test's."""
    return _others.enter_context(local_cluster(ps, workers, cores))


def end_clusters(and_common: bool) -> None:
    """End all clusters but the one that most files use, or with it; each task has half a gigabyte of memory or more."""
    _other_cluster.cache_clear()
    _others.close()
    if and_common:
        _common_cluster.cache_clear()
        _common.close()


def mortal_cluster() -> LocalCluster:
    """Return a cluster of two servers and two workers that tests stop and kill; all of its tasks run."""
    cluster = _other_cluster(*_COMMON, is_mortal=True)
    ended = [task for task, process in cluster.processes.items() if process.poll() is not None]
    for process in cluster.processes.values():
        process.send_signal(signal.SIGCONT)
    for job, task in ended:
        cluster.start(job, task)
    if ended:
        cluster.wait()
    return cluster


def leases_on(cluster: LocalCluster, *jobs: str) -> set[str]:
    """Return the names of the leases on the tasks of some jobs, by default on the servers."""
    return {lease for task in connect(cluster).describe_all(*jobs or ("ps",)).values() for lease in task["runs"]}


def on_cluster(
    settings: StepSettings,
    maker: BlockMaker,
    workers: int,
    row_type: str = "float32",
) -> DownpourPlacement:
    """Return a placement on two servers and two workers."""
    return downpour(settings, maker, connect(shared_cluster()), workers, row_type=row_type)


def downpour(
    settings: StepSettings, maker: BlockMaker, connection: Connection, in_flight: int = 1, **own: Any
) -> DownpourPlacement:
    """Return a placement with so many blocks in flight, each of which one core of a worker trains."""
    options = TrainingOptions(distribution="downpour", workers=1, skip_gram=True, tree=False, timeout=60.0)
    request = ClusterRequest(connection, CorpusSize(0, 1), InFlightLimits(), options)
    return DownpourPlacement(settings, maker, request, in_flight, **own)


def in_this_process(settings: StepSettings, maker: BlockMaker, workers: int) -> Placement:
    """Return a placement in this process."""
    return LocalPlacement(settings, maker, Calls(workers, cores=1))


def in_this_process_without_c(settings: StepSettings, maker: BlockMaker, workers: int) -> Placement:
    """Return a placement in this process that steps with TensorFlow's own operations."""
    return LocalPlacement(settings, maker, Calls(workers, cores=1), plain_kernel())


def on_one_worker(settings: StepSettings, maker: BlockMaker, workers: int) -> Placement:
    """Return a placement on one worker, whose design the package does not know."""
    return Solo(settings, maker, connect(shared_cluster()), timeout=60.0)


MakePlacement = Callable[[StepSettings, BlockMaker, int], Placement]
PLACEMENTS: dict[str, MakePlacement] = {
    "local": in_this_process,
    "cluster": on_cluster,
    "one worker": on_one_worker,
}
# Those whose rows are rounded on their way, and so differ from a reference by more than float32 does.
ROUNDING_PLACEMENTS: dict[str, MakePlacement] = {
    "cluster with bfloat16": functools.partial(on_cluster, row_type="bfloat16"),
}
