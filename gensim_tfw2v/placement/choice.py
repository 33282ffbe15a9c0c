"""The model's arguments and its corpus → the placement and the size of its chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensim_tfw2v.placement.block_size import InFlightLimits
from gensim_tfw2v.placement.designs import DEFAULT_DESIGN, DESIGNS
from gensim_tfw2v.placement.request import ClusterOptions, ClusterRequest, CorpusSize, LocalRequest, PlacementChoice


def choose_placement(
    cluster: Any, workers: int, size: CorpusSize, limits: InFlightLimits, tree: bool, options: ClusterOptions
) -> PlacementChoice:
    """Return this process if `cluster` is None, or else the cluster, to which it connects.

    Parameters
    ----------
    workers : int
        The model's argument: threads of this process. On a cluster, 1 means that blocks are trained one after the
        other, even if `options` ask for overlap.
    limits : InFlightLimits
        Of blocks in flight on a cluster.
    tree : bool
        Whether hierarchical softmax is trained.
    """
    design = DESIGNS[options.distribution or DEFAULT_DESIGN]
    if cluster is None:
        assert design.choose_local is not None  # `check_design` has refused the others
        return design.choose_local(LocalRequest(workers, size, tree, options))
    from gensim_tfw2v.cluster.connection import connect

    connection = connect(cluster, allow_network=options.allow_network)
    request = ClusterRequest(connection, size, workers == 1, limits, options)
    return design.choose(request)


def free_left_tables(cluster: Any, allow_network: bool, state: Mapping[str, Any]) -> None:
    """Free the tables on a cluster that a placement left when its process was killed, given the placement's state."""
    from gensim_tfw2v.cluster.connection import connect
    from gensim_tfw2v.placement.remote import left_tables

    left_tables.free_left_tables(connect(cluster, allow_network=allow_network), state)
