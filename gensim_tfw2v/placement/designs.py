"""The designs by which training is distributed over the tasks of a cluster, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gensim_tfw2v.placement.request import ClusterRequest, LocalRequest, PlacementChoice


def _local(request: LocalRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.local.choice import choose_local

    return choose_local(request)


def _downpour(request: ClusterRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.downpour.choice import choose

    return choose(request)


def _synchronous(request: ClusterRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.synchronous.choice import choose

    return choose(request)


def _averaging(request: ClusterRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.averaging.choice import choose

    return choose(request)


def _columns(request: ClusterRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.columns.choice import choose

    return choose(request)


def _partition(request: ClusterRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.partition.choice import choose

    return choose(request)


def _lbfgs(request: ClusterRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.lbfgs.choice import choose

    return choose(request)


def _local_partition(request: LocalRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.partition.choice import choose_local

    return choose_local(request)


def _local_lbfgs(request: LocalRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.lbfgs.choice import choose_local

    return choose_local(request)


def _why_not_partition(arguments: Mapping[str, Any]) -> str | None:
    from gensim_tfw2v.placement.partition.choice import why_not

    return why_not(arguments)


def _why_not_lbfgs(arguments: Mapping[str, Any]) -> str | None:
    from gensim_tfw2v.placement.lbfgs.choice import why_not

    return why_not(arguments)


def _why_not_columns(arguments: Mapping[str, Any]) -> str | None:
    from gensim_tfw2v.placement.columns.choice import why_not

    return why_not(arguments)


@dataclass(frozen=True)
class Design:
    """How a design places a training, and what it takes."""

    choose: Callable[[ClusterRequest], PlacementChoice]
    arguments: frozenset[str]  # of `SOME_TAKE`, those that it takes
    choose_local: Callable[[LocalRequest], PlacementChoice] | None = None  # without a cluster; None: it needs one
    why_not: Callable[[Mapping[str, Any]], str | None] = lambda arguments: None  # train with the model's arguments


# The first is the default.
DESIGNS: Mapping[str, Design] = {
    "downpour": Design(_downpour, frozenset(("cluster_overlap", "vectors_on_servers")), choose_local=_local),
    "synchronous": Design(_synchronous, frozenset(("round_words", "backup_workers", "vectors_on_servers"))),
    "averaging": Design(_averaging, frozenset(("round_words",))),
    "columns": Design(_columns, frozenset(), why_not=_why_not_columns),
    "partition": Design(
        _partition,
        frozenset(("submodels", "sampling", "sampling_rate", "merge")),
        choose_local=_local_partition,
        why_not=_why_not_partition,
    ),
    "lbfgs": Design(_lbfgs, frozenset(("lbfgs_history",)), choose_local=_local_lbfgs, why_not=_why_not_lbfgs),
}
DEFAULT_DESIGN = next(iter(DESIGNS))
SOME_TAKE = (
    *("cluster_overlap", "vectors_on_servers", "round_words", "backup_workers"),
    *("submodels", "sampling", "sampling_rate", "merge"),
    "lbfgs_history",
)
"""The model's arguments that not every design takes; values that are false are their defaults."""


def check_design(arguments: Mapping[str, Any], has_cluster: bool) -> None:
    """Raise ValueError if the design that a model's arguments name cannot train with the others."""
    name = arguments["distribution"]
    given = {argument: arguments[argument] for argument in SOME_TAKE if arguments[argument]}
    for argument in sorted(set(given) - DESIGNS[name].arguments):
        takers = " or ".join(repr(other) for other in DESIGNS if argument in DESIGNS[other].arguments)
        raise ValueError(
            f"{argument}={given[argument]!r} does not go with distribution={name!r}; leave one of them "
            f"out, or take distribution={takers}"
        )
    reason = DESIGNS[name].why_not(arguments)
    if reason:
        raise ValueError(f"distribution={name!r} {reason}")
    if not has_cluster and DESIGNS[name].choose_local is None:
        raise ValueError(
            f"distribution={name!r} needs a cluster, and cluster is None; give cluster=, or leave distribution out"
        )
