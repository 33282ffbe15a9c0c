"""The promises that a design of distribution makes, or does not make and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Literal


@dataclass(frozen=True)
class No:
    """A promise that a design does not make."""

    because: str

    def __bool__(self) -> bool:
        return False


Promise = Literal[True] | No
NO_TASKS = No("there are no tasks")
OTHER_TESTS = frozenset(
    ("callbacks", "corpus_error", "ctrl_c", "freed_tables", "threads_and_descriptors", "waits_for_servers")
)
"""Names of tests that take long and belong to no field below."""


class Outcome(Enum):
    """What becomes of a training in which a task is killed."""

    CONTINUES = "the other tasks do its work, and no word is lost"
    LOSES_A_SUBMODEL = "the other tasks continue without its sub-model, and the report says what is lost"
    RECOVERS = "training waits until the task is back, and continues from the end of the last epoch"
    ENDS = "a ClusterError says what to do, and the model has the vectors of the last epoch"


@dataclass(frozen=True)
class DesignPromises:
    """What a design promises in one place: in one process, or on a cluster of two servers and two workers.

    All designs read back what was loaded, call callbacks once an epoch with a current model, raise the corpus's own
    errors, and free tables, threads and descriptors at the end. With `workers=1` they train with one core of a worker.
    The fields say how they differ. An entry makes the promises that it does not name, except those about killed tasks.

    Parameters
    ----------
    name : str
        Of the entry. Tests are named after it.
    arguments : mapping
        Arguments of the model, besides those that all designs are trained with.
    is_local : bool
        Whether it trains in this process.
    equal_runs, equal_runs_of_several : Promise
        Two trainings with one seed give the same bits, with `workers=1` and with `workers=2`.
    like_one_process : Promise
        With `workers=1`, vectors are those of one process.
    moves_in_every_epoch : Promise
        No two epochs end with the same vectors.
    resumes_equally : Promise
        A training that is resumed gives the bits of one that nothing stopped, if two equal trainings do.
    resumes_in_training_equally : Promise
        So does one that is resumed from a checkpoint that was written while training continued.
    freezes : Promise
        Vectors that `freeze` names stay as they are, and the others learn.
    weighs : Promise
        A sentence counts as many times as its weight says.
    moves_by_batch : bool
        Whether that process takes plain steps, in which rows move batch by batch.
    tolerance : float
        By how much they may differ from those, as a share of the largest number.
    killed_worker, killed_server : Outcome, optional
        What becomes of a training. None: there are no tasks.
    takes_in_late_workers : Promise
        A worker that is away when the coordinator connects trains once it answers.
    equal_after_killed_worker, equal_after_killed_server : Promise
        With `workers=2`, the training then gives the bits of one that nothing disturbed.
    has_tables_on : tuple of str
        Jobs whose tasks have tables while training runs.
    reports_tasks : tuple of str
        Tasks that have metrics in the report.
    report_keys : frozenset of str, optional
        Keys of the report, besides those that all designs have on a cluster. None: in one process, the device alone.
    takes : frozenset of str
        Of the arguments that not every design takes, those that it takes.
    refuses : tuple
        Arguments that it cannot be trained with, and words of the reason.
    registered : callable
        Returns a context in which the package knows the design.
    cores : int
        Cores of each worker.
    slow : frozenset of str
        What is tested with --all alone: names of fields, or of `OTHER_TESTS`.
    all_slow : bool
        Whether everything is tested with --all alone.
    documents : bool
        Whether sentences are documents, whose vectors are trained, too.
    """

    name: str
    arguments: Mapping[str, Any]
    is_local: bool
    equal_runs: Promise = True
    equal_runs_of_several: Promise = True
    like_one_process: Promise = True
    resumes_equally: Promise = True
    resumes_in_training_equally: Promise = True
    moves_in_every_epoch: Promise = True
    freezes: Promise = True
    weighs: Promise = True
    moves_by_batch: bool = False
    tolerance: float = 0.0
    killed_worker: Outcome | None = None
    killed_server: Outcome | None = None
    takes_in_late_workers: Promise = True
    equal_after_killed_worker: Promise = NO_TASKS
    equal_after_killed_server: Promise = NO_TASKS
    has_tables_on: tuple[str, ...] = ()
    reports_tasks: tuple[str, ...] = ()
    report_keys: frozenset[str] | None = None
    takes: frozenset[str] = frozenset()
    refuses: tuple[tuple[Mapping[str, Any], str], ...] = ()
    registered: Callable[[], AbstractContextManager[Any]] = nullcontext
    cores: int = 1
    slow: frozenset[str] = frozenset()
    all_slow: bool = False
    documents: bool = False

    def __post_init__(self) -> None:
        assert self.slow <= OTHER_TESTS | {one.name for one in fields(self)}, self.slow

    @property
    def distribution(self) -> str:
        """The value of the argument `distribution`."""
        return str(self.arguments["distribution"])

    @property
    def optimizer(self) -> str | None:
        """The value of the argument `optimizer`, None if the entry leaves it out."""
        return self.arguments.get("optimizer")

    @property
    def waits_for_servers(self) -> bool:
        """Whether training waits for a killed server, and ends with an error where it may not."""
        return self.killed_server is Outcome.RECOVERS
