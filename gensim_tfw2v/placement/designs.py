"""The designs by which training is distributed over the tasks of a cluster, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gensim_tfw2v.placement.design_arguments import DESIGN_ARGUMENTS

if TYPE_CHECKING:
    from gensim_tfw2v.placement.request import ClusterRequest, LocalRequest, PlacementChoice


def _local(request: LocalRequest) -> PlacementChoice:
    if request.options.reproducible:
        return _local_rounds(request)
    from gensim_tfw2v.placement.local.choice import choose_local

    return choose_local(request)


def _local_rounds(request: LocalRequest) -> PlacementChoice:
    from gensim_tfw2v.placement.synchronous.choice import choose_local

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


class Place(Enum):
    """Where a training runs."""

    HERE = "without a cluster"
    CLUSTER = "on a cluster"


@dataclass(frozen=True)
class Design:
    """How a design places a training, and what it has of its own."""

    choose: Callable[[ClusterRequest], PlacementChoice]
    choose_local: Callable[[LocalRequest], PlacementChoice] | None
    arguments: frozenset[str]
    why_not: Callable[[Mapping[str, Any]], str | None]
    help: str
    reproducible: Place | None = None
    gpus: frozenset[Place] = frozenset()
    bags: bool = False


_designs: dict[str, Design] = {}
DESIGNS: Mapping[str, Design] = MappingProxyType(_designs)
"""All registered designs; the first is the default."""


def register_design(
    name: str,
    *,
    choose: Callable[[ClusterRequest], PlacementChoice],
    choose_local: Callable[[LocalRequest], PlacementChoice] | None = None,
    arguments: Iterable[str] = (),
    why_not: Callable[[Mapping[str, Any]], str | None] = lambda arguments: None,
    help: str = "",
    reproducible: Place | None = None,
    gpus: Iterable[Place] = (),
    bags: bool = False,
) -> Callable[[], None]:
    """Add a design, which `distribution` then names, and return a function that removes it again.

    The class, its checks and the command line read the registered designs whenever they need them. The graphs of a
    design may call functions on tasks, which `register_task_functions` registers there. What `choose` gets and returns
    (`gensim_tfw2v.placement`) may change in any version.

    Parameters
    ----------
    name : str
        The value of `distribution`.
    choose : callable
        Places a training on a cluster.
    choose_local : callable, optional
        Places a training in this process. Default: the design needs a cluster.
    arguments : iterable of str
        Arguments in `DESIGN_ARGUMENTS` that the design has, besides those whose entries name it. `choose` and
        `choose_local` find them in ``request.options.of_design``.
    why_not : callable
        Takes the model's arguments by name, and returns why the design cannot train with them; None if it can.
        It begins with a verb.
    help : str
        What the design does. It begins with a small letter and ends without a full stop.
    reproducible : Place, optional
        Where it can train with `reproducible`: with the same vectors for any number of threads or workers. Default:
        nowhere.
    gpus : iterable of Place, optional
        Where it can train on GPUs. Default: nowhere.
    bags : bool
        Whether it can train bags of rows, as `TFFastText` has them for words and `TFDoc2Vec` for documents.

    Raises
    ------
    ValueError
        If there is a design of this name, or no such argument.

    Examples
    --------
    A design that trains as the default one does, in blocks of 20,000 words:

    >>> from dataclasses import replace
    >>> from gensim_tfw2v import TFWord2Vec, register_design
    >>> from gensim_tfw2v.placement.designs import DESIGNS
    >>> default = DESIGNS["downpour"]
    >>> def in_small_blocks(request):
    ...     return replace(request, size=replace(request.size, batch_words=20_000))
    >>> remove = register_design(
    ...     "small blocks",
    ...     choose=lambda request: default.choose(in_small_blocks(request)),
    ...     choose_local=lambda request: default.choose_local(in_small_blocks(request)),
    ...     help="every worker trains blocks of 20,000 words",
    ... )
    >>> model = TFWord2Vec([["cat", "dog", "cow"]] * 10, min_count=1, distribution="small blocks")
    >>> remove()
    """
    if name in _designs:
        raise ValueError(f"there is a design {name!r} already; choose another name")
    own = {argument.name for argument in DESIGN_ARGUMENTS if name in argument.designs} | set(arguments)
    if unknown := own - {argument.name for argument in DESIGN_ARGUMENTS}:
        raise ValueError(f"design {name!r} cannot have the argument {min(unknown)!r}, which DESIGN_ARGUMENTS lacks")
    _designs[name] = Design(choose, choose_local, frozenset(own), why_not, help, reproducible, frozenset(gpus), bags)

    def remove() -> None:
        _designs.pop(name, None)

    return remove


register_design(
    "downpour",
    choose=_downpour,
    choose_local=_local,
    help="every worker trains blocks as fast as it can, on vectors that the servers have",
    reproducible=Place.HERE,
    gpus=Place,
    bags=True,
)
register_design(
    "synchronous",
    choose=_synchronous,
    help="all workers train the same vectors in rounds, and runs with one seed are equal",
    reproducible=Place.CLUSTER,
    gpus=[Place.CLUSTER],
    bags=True,
)
register_design(
    "averaging",
    choose=_averaging,
    help="every worker has all vectors, and workers average theirs after every round",
    bags=True,
)
register_design(
    "columns",
    choose=_columns,
    why_not=_why_not_columns,
    help="every server has some numbers of each vector, for skip-gram with negative sampling",
)
register_design(
    "partition",
    choose=_partition,
    choose_local=_local_partition,
    why_not=_why_not_partition,
    help="sub-models train apart, and their vectors are merged",
)
register_design(
    "lbfgs",
    choose=_lbfgs,
    choose_local=_local_lbfgs,
    why_not=_why_not_lbfgs,
    help="experimental; every epoch evaluates loss and gradient of the whole corpus, and L-BFGS steps to the next "
    "point; learning rates have no effect",
)
DEFAULT_DESIGN = next(iter(DESIGNS))


def designs_described() -> str:
    """Return what each design does, as a part of the help of `distribution`."""
    return ". ".join(f'`"{name}"`: {design.help}' for name, design in DESIGNS.items() if design.help)


def check_design(arguments: Mapping[str, Any], has_cluster: bool) -> None:
    """Raise ValueError if the design that a model's arguments name cannot train with the others."""
    name = arguments["distribution"]
    design = DESIGNS[name]
    given = {argument.name for argument in DESIGN_ARGUMENTS if arguments[argument.name]}
    for argument in sorted(given - design.arguments):
        takers = " or ".join(repr(other) for other in DESIGNS if argument in DESIGNS[other].arguments)
        raise ValueError(
            f"{argument}={arguments[argument]!r} does not go with distribution={name!r}; leave one of them "
            f"out, or choose distribution={takers}"
        )
    if arguments["bags"] and not design.bags:
        able = " or ".join(repr(other) for other, one in DESIGNS.items() if one.bags)
        raise ValueError(f"distribution={name!r} cannot train words with n-grams; choose {able}")
    reason = design.why_not(arguments)
    if reason:
        raise ValueError(f"distribution={name!r} {reason}")
    if not has_cluster and design.choose_local is None:
        raise ValueError(
            f"distribution={name!r} needs a cluster, and cluster is None; give cluster=, or leave distribution out"
        )


def check_reproducible(arguments: Mapping[str, Any], place: Place | None) -> None:
    """Raise ValueError if a model's arguments ask for a reproducible training and cannot have it.

    Parameters
    ----------
    place : Place or None
        Where the model trains; None if that is not known yet.
    """
    if not arguments["reproducible"]:
        return
    if arguments["seed"] is None:
        raise ValueError("reproducible=True needs a seed, and seed is None; give a seed, or leave reproducible out")
    if late := arguments["backup_workers"]:
        raise ValueError(
            f"reproducible=True does not go with backup_workers={late}: rounds would leave behind whichever workers "
            "are slow; leave one of them out"
        )
    name, places = arguments["distribution"], list(Place) if place is None else [place]
    if DESIGNS[name].reproducible not in places:
        found = "" if place is None else f" {place.value}"
        wanted = [
            f"distribution={other!r} {one.value}"
            for one in places
            for other, design in DESIGNS.items()
            if design.reproducible is one
        ]
        raise ValueError(
            f"reproducible=True cannot hold with distribution={name!r}{found}: its vectors depend on the number of "
            f"workers, or on which of them is faster; choose {' or '.join(wanted)}, or leave reproducible out"
        )
