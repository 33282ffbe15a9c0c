"""Every placement there is, for the suites that all of them have to pass."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Callable
from contextlib import ExitStack

from gensim_tfw2v.batches import BlockMaker
from gensim_tfw2v.cluster.connection import connect
from gensim_tfw2v.cluster.local import LocalCluster, local_cluster
from gensim_tfw2v.placement import Placement, StepSettings
from gensim_tfw2v.placement.local import LocalPlacement
from gensim_tfw2v.placement.parameter_servers import ClusterPlacement

_running = ExitStack()


@functools.cache
def shared_cluster() -> LocalCluster:
    """Return a cluster of two parameter servers and two workers that runs as long as the tests do."""
    atexit.register(_running.close)
    return _running.enter_context(local_cluster(ps=2, workers=2))


def _on_cluster(settings: StepSettings, maker: BlockMaker, workers: int) -> Placement:
    return ClusterPlacement(settings, maker, connect(shared_cluster()), workers, timeout=60.0)


PLACEMENTS: dict[str, Callable[[StepSettings, BlockMaker, int], Placement]] = {
    "local": LocalPlacement,
    "cluster": _on_cluster,
}
