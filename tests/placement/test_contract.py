"""What every placement promises, and what a placement leaves for one in another process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gensim_tfw2v.placement.averaging.placement import AveragingPlacement
from gensim_tfw2v.placement.columns.placement import ColumnPlacement
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.downpour.placement import DownpourPlacement
from gensim_tfw2v.placement.lbfgs.local_descent import LocalDescent
from gensim_tfw2v.placement.lbfgs.placement import ClusterDescent
from gensim_tfw2v.placement.local.placement import LocalPlacement
from gensim_tfw2v.placement.partition.local_partition import LocalPartitionPlacement
from gensim_tfw2v.placement.partition.placement import PartitionPlacement
from gensim_tfw2v.placement.remote.server_matrix import server_matrices
from gensim_tfw2v.placement.state import PlacementState
from gensim_tfw2v.placement.synchronous.local_rounds import LocalRounds
from gensim_tfw2v.placement.synchronous.placement import RoundPlacement

PLACEMENTS: list[type[Placement]] = [
    *(LocalPlacement, LocalRounds, LocalPartitionPlacement, LocalDescent),
    *(DownpourPlacement, RoundPlacement, AveragingPlacement, ColumnPlacement, PartitionPlacement, ClusterDescent),
]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_placement_has_all_that_training_relies_on(placement: type[Placement]) -> None:
    assert not placement.__abstractmethods__


def test_a_placement_that_lacks_a_method_cannot_be_made() -> None:
    class WithoutRows(LocalPlacement):
        rows = Placement.rows

    with pytest.raises(TypeError, match=r"abstract method '?rows"):
        WithoutRows(*[None] * 3)  # type: ignore[abstract, arg-type]


@pytest.mark.parametrize(
    ("content", "leases"),
    [
        ({"blocks": 3, "lease": "host/a/1/2/0"}, ("host/a/1/2/0",)),
        ({"blocks": 0, "lease": "host/a/1/2/0", "portions": 2}, ("host/a/1/2/0",)),
        ({"leases": ["host/a/1/2/0", "host/a/1/2/1"], "words": 5}, ("host/a/1/2/0", "host/a/1/2/1")),
        ({"leases": [], "rate": 0.5, "counts": [{"words": 2}], "left": [0]}, ()),
        ({"portions": 0}, ()),
        ({}, ()),
    ],
    ids=["servers", "L-BFGS", "averaging", "partition", "L-BFGS here", "none"],
)
def test_the_states_in_checkpoints_of_every_design_are_read_and_written_as_they_are(
    content: dict[str, Any], leases: tuple[str, ...]
) -> None:
    state = PlacementState.from_json(content)
    assert state.to_json() == content
    assert state.all_leases() == leases


def test_matrices_on_servers_are_told_from_those_of_this_process() -> None:
    here, factors = np.zeros((3, 2), np.float32), np.ones(1, np.float32)
    on_servers: dict[str, Any] = {**server_matrices(3, 2, {"inputs": 1, "outputs": None})}
    remote = ModelTables(on_servers["inputs"], on_servers["outputs"], None, factors)
    assert remote.store is on_servers["outputs"].store
    assert not remote.in_process()
    local = ModelTables(here, None, here, factors)
    assert local.store is None
    assert list(local.in_process()) == ["inputs", "nodes"]
