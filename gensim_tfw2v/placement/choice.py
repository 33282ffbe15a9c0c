"""The model's arguments and its corpus → the placement and the size of its chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gensim_tfw2v.placement.block_size import InFlightLimits
from gensim_tfw2v.placement.designs import DESIGNS
from gensim_tfw2v.placement.device import choose_device, choose_worker_device
from gensim_tfw2v.placement.request import ClusterRequest, CorpusSize, LocalRequest, PlacementChoice, TrainingOptions
from gensim_tfw2v.runtime.devices import THE_CPU


def choose_placement(
    cluster: Any, size: CorpusSize, limits: InFlightLimits, options: TrainingOptions
) -> PlacementChoice:
    """Return the placement in this process if `cluster` is None, otherwise on the cluster, after connecting to it.

    Parameters
    ----------
    limits : InFlightLimits
        Limits of blocks in flight on a cluster.
    """
    design = DESIGNS[options.distribution]
    if cluster is None:
        assert design.choose_local is not None  # `check_design` has refused the others
        device = choose_device(size, options)
        return replace(design.choose_local(LocalRequest(size, options, device)), device=device)
    from gensim_tfw2v.cluster.connection import connect
    from gensim_tfw2v.placement.calls.worker_return import check_steps

    most = options.of_design.get("max_workers")
    connection = connect(cluster, allow_network=options.allow_network, with_joined=most is not None)
    check_steps(connection)
    connection.reserve(most)
    device = choose_worker_device(connection, options)
    choice = design.choose(ClusterRequest(connection, size, limits, options, device))
    return choice if device == THE_CPU else replace(choice, device=device)


def free_left_tables(cluster: Any, allow_network: bool, state: Mapping[str, Any]) -> None:
    """Free the tables on a cluster that a placement left when its process was killed, given the placement's state."""
    from gensim_tfw2v.cluster.connection import connect
    from gensim_tfw2v.placement.remote import left_tables

    left_tables.free_left_tables(connect(cluster, allow_network=allow_network), state)
