"""This process as the coordinator of a cluster: one connection, which is checked and numbered."""

from __future__ import annotations

import atexit
import contextlib
import gc
import itertools
import logging
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.cutting import can_cut, cut_hanging
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.exposure import check_allowed
from gensim_tfw2v.cluster.health import answering, answers, await_answers, hanging, silent_of, wait_while_answering
from gensim_tfw2v.cluster.specification import JOBS, VACANT, Addresses, addresses_of, named_tasks
from gensim_tfw2v.cluster.strategy import connect_to, connected_addresses, strategy_for
from gensim_tfw2v.cluster.task import DESCRIBE, checked_cores, description_in
from gensim_tfw2v.cluster.worker_use import LeavingWorkers, WorkerLocks
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)

_START_SECONDS = 60.0  # time that a task may take to answer at first
_ANSWER_SECONDS = 20.0  # time that it may take later
_CUT_SECONDS = 2.0  # time that it may hang while TensorFlow waits for it
_SECONDS_BETWEEN_TRIALS = 0.5
_LAST_CALLS_SECONDS = 10.0  # time that running calls may take to end before the connection changes
_numbers = itertools.count()
_current: Connection | None = None
_lock = threading.Lock()
_attempting = threading.Lock()  # held while TensorFlow connects to another cluster
_attempt = ""  # the tasks that it connects to, or connected to last
_releases: list[Callable[[], None]] = []


@dataclass(frozen=True)
class Connection:
    """A cluster that this process coordinates.

    Workers may join it and leave it while trainings run. A worker's number in `addresses` then is `VACANT` until a task
    has it, and the addresses differ from those that were `asked` for. Workers at `late` addresses did not answer when
    the connection was made: the other workers cannot call them.
    """

    number: int  # different for each connection of this process
    addresses: Addresses
    strategy: Any
    definition: Any = None  # TensorFlow's, of all tasks
    asked: Addresses = field(default_factory=dict)
    allow_network: bool = False
    late: Collection[str] = ()
    worker_locks: WorkerLocks = field(default_factory=WorkerLocks)
    attendance: LeavingWorkers = field(default_factory=LeavingWorkers)
    numbering: threading.Lock = field(default_factory=threading.Lock)  # held while workers get numbers
    trainings: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)  # placements that are not closed yet
    described_cores: dict[str, int] = field(default_factory=dict)  # of tasks by "job number"
    described_steps: dict[str, Any] = field(default_factory=dict)  # of tasks that say which step they take

    @property
    def servers(self) -> int:
        """Return the number of parameter servers."""
        return len(self.addresses["ps"])

    @property
    def workers(self) -> int:
        """Return the number of workers, vacant ones included."""
        return len(self.addresses["worker"])

    def known_addresses(self) -> Addresses:
        """Return the addresses by job, without vacant workers."""
        return {job: [address for address in self.addresses[job] if address != VACANT] for job in JOBS}

    def share_present(self) -> float:
        """Return which share of the workers, vacant ones included, is there and not leaving."""
        addresses = self.addresses["worker"]
        there = [address != VACANT and not self.attendance.is_away(number) for number, address in enumerate(addresses)]
        return sum(there) / self.workers

    def cores(self, most: int | None = None) -> list[int]:
        """Return how many cores of each worker train a block, if at most `most` may.

        A worker that is vacant, or that has not been connected yet, counts as the one with the fewest cores.
        """
        described = {name: self.described_cores[name] for name in self.tasks("worker") if name in self.described_cores}
        least = min(described.values(), default=1)
        known = [described.get(f"worker {worker}", least) for worker in range(self.workers)]
        return known if most is None else [min(most, cores) for cores in known]

    def keep(self, described: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep what tasks say of their cores and steps, after a check of their versions."""
        self.described_cores.update(checked_cores(described))
        self.described_steps.update({name: found["step"] for name, found in described.items() if "step" in found})

    def describe(self, job: str, task: int) -> dict[str, Any]:
        """Return the description that a task gives of itself."""
        tf = load_tensorflow()
        address = self.addresses[job][task]
        name, own = f"{job} {task} at {address}", {f"{job} {task}": address}
        try:
            answer = wait_while_answering(
                lambda: remote_functions.ask(device(job, task), DESCRIBE, []), own, _ANSWER_SECONDS
            )
        except (tf.errors.OpError, KeyError) as error:
            if remote_functions.is_missing_function(error):
                raise ClusterError(
                    f"{name} was not started by `tfw2v server`; start it with that command, or call "
                    "gensim_tfw2v.register_task_functions() in it before its tf.distribute.Server is made"
                ) from error
            if (reason := remote_functions.task_error_message(error)) is not None:
                raise ClusterError(f"{name} cannot train: {reason}") from error
            raise ClusterError(f"{name} does not answer: {brief(error)}") from error
        return description_in(answer, name)

    def describe_all(self, *jobs: str, absent: Collection[str] = ()) -> dict[str, dict[str, Any]]:
        """Return the descriptions of the tasks of some jobs, or of all tasks, by "job number".

        Tasks at `absent` addresses are left out.
        """
        tasks = [(job, task) for job in jobs or JOBS for task in range(len(self.addresses[job]))]
        return {
            f"{job} {task}": self.describe(job, task) for job, task in tasks if self.addresses[job][task] not in absent
        }

    def describe_answering_workers(self) -> dict[str, dict[str, Any]]:
        """Return the description of every worker that answers, by "job number"."""
        found = {}
        for worker, address in enumerate(self.addresses["worker"]):
            if answers(address):
                with contextlib.suppress(ClusterError):  # it was restarted, and is not connected again yet
                    found[f"worker {worker}"] = self.describe("worker", worker)
        return found

    def tasks(self, *jobs: str) -> dict[str, str]:
        """Return the addresses of the tasks of some jobs by "job number"."""
        return named_tasks(self.addresses, jobs)

    def tensorflow_names(self, job: str) -> dict[str, str]:
        """Return TensorFlow's names of the tasks of a job that have been connected, by "job number"."""
        return {name: task_name(*name.split()) for name in self.tasks(job) if name in self.described_cores}

    def revive_servers(self) -> dict[str, dict[str, Any]]:
        """Connect restarted servers again, and return every server's description; all servers must answer."""
        deadline = time.monotonic() + _ANSWER_SECONDS
        await_answers(self.tasks("ps"), _ANSWER_SECONDS)
        try:
            return self.describe_all("ps")
        except ClusterError:
            while not self.refresh():  # a server that has just started on a busy machine may miss a check
                if time.monotonic() > deadline:
                    raise
                time.sleep(_SECONDS_BETWEEN_TRIALS)
        return self.describe_all("ps")

    # -- workers that join and leave -----------------------------------------------------------------------------------

    def reserve(self, most: int | None) -> None:
        """Let trainings that begin from now on have `most` workers, vacant ones included; None: those that are there.

        Raise ValueError if there are more than `most` already.
        """
        with self.numbering:
            workers = self.addresses["worker"]
            if not self.trainings:
                while workers[-1] == VACANT:
                    workers.pop()
            if most is not None and len(workers) > most:
                raise ValueError(
                    f"max_workers={most!r} is less than the number of the cluster's workers, {len(workers)}"
                )
            workers += [VACANT] * ((most or 0) - len(workers))

    def take_in(self, address: str) -> int | None:
        """Give a worker that joins a number, and return it; None if no number is free. A training then connects it.

        A worker that has one keeps it: two trainings may take it in at the same time.
        """
        with self.numbering:
            workers = self.addresses["worker"]
            if address in workers:
                number = workers.index(address)
                self.attendance.give(number)
                return number
            free = [number for number, one in enumerate(workers) if one == VACANT or self.attendance.has_left(number)]
            if not free:
                return None
            (job,) = (job for job in self.definition.cluster.job if job.name == "worker")
            job.tasks[free[0]] = address
            self.described_cores.pop(f"worker {free[0]}", None)
            self.attendance.give(free[0])
            workers[free[0]] = address
            return free[0]

    # -- lost tasks ----------------------------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Connect restarted tasks again, and return whether that succeeded; all servers must answer.

        Workers that do not answer are left out: TensorFlow would wait for them. A later `refresh` connects them again.
        """
        tasks = self.tasks(*JOBS).values()
        silent = set(tasks) - answering(tasks)
        is_a_server_silent = not silent.isdisjoint(self.addresses["ps"])
        if is_a_server_silent or (not can_cut() and hanging(silent)):
            return False
        with self.worker_locks.hold_all(_LAST_CALLS_SECONDS) as alone:  # a running call would fail
            if alone:
                connect_to(self.definition, silent)
            return alone

    @contextlib.contextmanager
    def without_calls(self) -> Iterator[None]:
        """Allow no call on workers meanwhile; raise ClusterError if a training is running, or a call does not end.

        TensorFlow waits for all calls when it connects to another cluster, and blocks this process meanwhile.
        """
        so_far = f"this process is connected to the workers {', '.join(self.addresses['worker'])}"
        if self.trainings:
            raise ClusterError(f"{so_far}, where a training is running; let it end before you use another cluster")
        with self.worker_locks.hold_all(_LAST_CALLS_SECONDS) as alone:
            if not alone:
                late = [f"worker {worker} at {self.addresses['worker'][worker]}" for worker in self.worker_locks.busy()]
                raise ClusterError(
                    f"{so_far}, and {', '.join(late)} has not answered an earlier training's call; end that task, "
                    "or resume it, before you use another cluster"
                )
            yield

    def leave(self, seconds: float = _LAST_CALLS_SECONDS) -> None:
        """Disconnect TensorFlow from the tasks, unless a task hangs, or a call does not end within `seconds`.

        Otherwise it calls the tasks when it deletes a function, and prints errors for each one that was lost.
        """
        addresses = self.tasks(*JOBS).values()
        if hanging(addresses):  # TensorFlow would wait for it
            return
        with self.worker_locks.hold_all(seconds) as alone:
            if alone:
                connect_to(self.definition, addresses)


def device(job: str, task: int) -> str:
    """Return TensorFlow's name of a task's CPU, which has its tables and, unless the task has a GPU, runs steps."""
    return f"{task_name(job, task)}/device:CPU:0"


def task_name(job: str, task: int | str) -> str:
    """Return TensorFlow's name of a task."""
    return f"/job:{job}/replica:0/task:{task}"


def connect(
    cluster: Any, any_version: bool = False, allow_network: bool = False, with_joined: bool = True
) -> Connection:
    """Return the connection to a cluster; the same one as long as the cluster stays the same.

    Workers that do not answer are connected later, when a training finds that they answer. All servers must answer, and
    at least one worker.

    A process has one connection at a time. Connecting to another cluster ends the earlier connection, or raises
    ClusterError while that is in use. Unless `any_version`, ClusterError is also raised if tasks run other versions
    than this process; unless `allow_network`, if a task is on a network. Unless `with_joined`, a connection that
    workers have joined ends as well: the cluster's own workers do not know them.
    """
    global _current
    addresses = addresses_of(cluster)
    check_allowed(named_tasks(addresses, JOBS), allow_network)
    with _lock:
        is_joined = _current is not None and _current.known_addresses() != addresses
        if _current is None or _current.asked != addresses or (is_joined and not with_joined):
            load_tensorflow()  # takes seconds: tasks are checked after it
            absent = _absent_workers(addresses)
            # TensorFlow notifies the former tasks of their end, also those of an attempt that has failed.
            former = cut_hanging(connected_addresses(), _CUT_SECONDS)
            with contextlib.nullcontext() if _current is None else _current.without_calls(), former:
                _current = None  # the earlier connection has ended, even if the new one fails
                gc.collect()  # else TensorFlow has the tasks delete graphs that only this process has, and logs errors
                strategy, definition = _connected(cluster, addresses, absent)
                known = {job: list(tasks) for job, tasks in addresses.items()}
                found = Connection(next(_numbers), known, strategy, definition, addresses, allow_network, absent)
            logger.info("connected to %i parameter servers and %i workers", found.servers, found.workers - len(absent))
            try:
                if not any_version:
                    found.keep(found.describe_all(absent=absent))
            except ClusterError:
                found.leave()
                raise
            _current = found
        else:
            servers = _current.revive_servers()
            if not any_version:  # tasks may have been restarted
                _current.keep(servers | _current.describe_answering_workers())
        return _current


def _absent_workers(addresses: Addresses) -> list[str]:
    """Wait for all tasks, and return the addresses of workers that do not answer in time; one must, and all servers."""
    workers = named_tasks(addresses, ["worker"])
    try:
        await_answers(named_tasks(addresses, JOBS), _START_SECONDS)
    except ClusterError:
        there = answering(workers.values())
        absent = {name: address for name, address in workers.items() if address not in there}
        if len(absent) == len(workers) or silent_of(named_tasks(addresses, ["ps"])):
            raise
        if absent:
            names = ", ".join(f"{name} at {address}" for name, address in absent.items())
            logger.warning("no answer within %.0f s from %s; the other workers begin", _START_SECONDS, names)
        return list(absent.values())
    return []


def _connected(cluster: Any, addresses: Addresses, absent: Collection[str]) -> tuple[Any, Any]:
    """Return the strategy and the definition of `strategy_for`; raise ClusterError if a task stops at that moment."""
    global _attempt
    if not _attempting.acquire(timeout=_ANSWER_SECONDS):  # TensorFlow cannot connect twice at a time
        raise ClusterError(
            f"TensorFlow still connects to {_attempt}, but one stopped meanwhile; resume that task, or end it and "
            "start it again"
        )
    tasks = {name: address for name, address in named_tasks(addresses, JOBS).items() if address not in absent}
    _attempt = ", ".join(f"{name} at {address}" for name, address in tasks.items())

    def attempt() -> tuple[Any, Any]:
        try:
            return strategy_for(cluster, addresses, absent)
        finally:
            _attempting.release()

    return wait_while_answering(attempt, tasks, _ANSWER_SECONDS)


@contextlib.contextmanager
def sending_graphs() -> Iterator[None]:
    """Keep hanging tasks from blocking the code that makes graphs: TensorFlow sends each graph to all tasks and waits.

    Workers that hang are left out; they get the graphs when they are connected again. Raise ClusterError if a server
    hangs.
    """
    if _current is None:
        yield
        return
    _leave_out_hanging(_current)
    with cut_hanging(_current.tasks(*JOBS).values(), _CUT_SECONDS):
        yield
    _leave_out_hanging(_current)  # a task that stopped meanwhile lacks a graph


def _leave_out_hanging(connection: Connection) -> None:
    """Return once no connected task hangs; raise ClusterError that names those that hang for too long."""
    deadline = time.monotonic() + _ANSWER_SECONDS
    while True:
        found = hanging(connected_addresses())
        names = [f"{name} at {address}" for name, address in connection.tasks(*JOBS).items() if address in found]
        if not names:
            return
        if not connection.refresh() and time.monotonic() > deadline:
            raise ClusterError(
                f"no answer from {', '.join(names)}, which must receive the graphs of this training; "
                "end it, start it again, or train over a cluster without it"
            )


def call_on_disconnect(release: Callable[[], None]) -> None:
    """Register `release` to be called whenever this process disconnects, to free what tasks hold for it."""
    _releases.append(release)


def disconnect(addresses: Addresses) -> None:
    """End the connection to a cluster whose tasks are about to end, and free what they hold for this process."""
    global _current
    with _lock:
        if _current is not None and _current.asked == addresses:
            left, _current = _current, None
            left.leave()
            for release in _releases:
                release()
            gc.collect()  # graphs are part of reference cycles


@atexit.register
def _leave_lost_tasks() -> None:
    """Disconnect from a cluster that has lost a task, before Python deletes its graphs."""
    if _current is not None and silent_of(_current.tasks(*JOBS)):
        _current.leave(seconds=0.0)
