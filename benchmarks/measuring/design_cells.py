"""What `designs.py` compares: the designs of our class, gensim and Spark, each with what it needs and promises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from measuring.jobs import MODES

OURS, GENSIM, SPARK = "tfw2v", "gensim", "spark"
SYSTEMS = (OURS, GENSIM, SPARK)
BOTH_MODES = ("sg-neg", "sg-hs")
_NO_CHECKPOINT = "nothing; training begins again"
_WORKERS = "lost workers; the loss of all, from a checkpoint or an epoch's end"
_TASKS = "lost workers; lost servers, from a checkpoint or an epoch's end"


@dataclass(frozen=True)
class Entrant:
    """A design, or another system. The last two entries are from the documentation of each."""

    reproducible: str
    survives: str
    system: str = OURS
    modes: Sequence[str] = tuple(MODES)
    passes: int = 1  # for each epoch that the command asks for
    arguments: Mapping[str, Any] = field(default_factory=dict)  # of the job, beside those of the command
    uses_cores: bool = False  # a worker trains with all of its cores


ENTRANTS = {
    "downpour": Entrant("with one worker of one core", _TASKS, uses_cores=True),
    "synchronous": Entrant("yes", _TASKS),
    "averaging": Entrant("yes, unless a worker is lost; with one core each", _WORKERS, uses_cores=True),
    "partition": Entrant("yes, unless a worker is lost; with one core each",
                         "a lost worker, without its share of the training", uses_cores=True),
    "columns": Entrant("with one worker", _TASKS, modes=("sg-neg",)),
    # An epoch is one evaluation of the loss, of which L-BFGS needs more than SGD needs passes.
    "lbfgs": Entrant("yes", _TASKS, modes=("sg-neg", "cbow-neg"), passes=4),
    "gensim": Entrant("with one thread", _NO_CHECKPOINT, system=GENSIM),
    "spark": Entrant("no", "a lost executor, whose partition is trained again; not the driver", system=SPARK,
                     modes=("sg-hs",)),
}  # fmt: skip


class Workers(NamedTuple):
    """How many workers a cluster has, all with as many cores."""

    count: int
    cores: int = 1


@dataclass(frozen=True)
class Cell:
    """One training."""

    mode: str
    name: str
    workers: Workers
    turn: int

    @property
    def label(self) -> dict[str, Any]:
        """Return what distinguishes the run in the results."""
        count, cores = self.workers
        return {"mode": self.mode, "name": self.name, "workers": count, "worker_cores": cores, "round": self.turn}


def names_of(designs: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Return the entrants that are asked for: designs of our class first, then the other systems."""
    return [*(designs if OURS in systems else ()), *(name for name in systems if name != OURS)]


def cells_of(modes: Sequence[str], names: Sequence[str], workers: Sequence[Workers], repeats: int) -> Iterator[Cell]:
    """Yield all trainings. Every other round is in reverse order, so that no entrant is always the first.

    Entrants that use one core of a worker have no trainings on workers with several.
    """
    for turn in range(repeats):
        order = -1 if turn % 2 else 1
        for mode in modes:
            for each in workers[::order]:
                for name in names[::order]:
                    entrant = ENTRANTS[name]
                    if mode in entrant.modes and (each.cores == 1 or entrant.uses_cores):
                        yield Cell(mode, name, each, turn)
