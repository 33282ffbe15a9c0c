"""This process as the coordinator of a cluster: one connection, which is checked and numbered."""

from __future__ import annotations

import atexit
import contextlib
import copy
import gc
import itertools
import json
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.exposure import check_allowed
from gensim_tfw2v.cluster.health import answers, hangs, silent_of
from gensim_tfw2v.cluster.specification import JOBS, Addresses, addresses_of
from gensim_tfw2v.cluster.strategy import strategy_for
from gensim_tfw2v.cluster.task import DESCRIBE
from gensim_tfw2v.cluster.worker_locks import WorkerLocks
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.version import __version__

logger = logging.getLogger(__name__)

_START_SECONDS = 60.0  # that a task may take to answer at first
_ANSWER_SECONDS = 20.0  # and later
_LAST_CALLS_SECONDS = 10.0  # that running calls may take to end before the connection changes
_numbers = itertools.count()
_current: Connection | None = None
_lock = threading.Lock()
_releases: list[Callable[[], None]] = []


@dataclass(frozen=True)
class Connection:
    """A cluster that this process coordinates."""

    number: int  # different for each connection of this process
    addresses: Addresses
    strategy: Any
    worker_locks: WorkerLocks = field(default_factory=WorkerLocks)
    trainings: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)  # placements that are not closed yet

    @property
    def servers(self) -> int:
        """Return the number of parameter servers."""
        return len(self.addresses["ps"])

    @property
    def workers(self) -> int:
        """Return the number of workers."""
        return len(self.addresses["worker"])

    def describe(self, job: str, task: int) -> dict[str, Any]:
        """Return the description that a task gives of itself."""
        tf = load_tensorflow()
        try:
            with tf.device(device(job, task)):
                (found,) = remote_functions.call(DESCRIBE, [], [tf.string])
            answer = found.numpy()
        except (tf.errors.OpError, KeyError) as error:
            if remote_functions.is_missing_function(error):
                raise ClusterError(
                    f"{job} {task} at {self.addresses[job][task]} was not started by `tfw2v server`; start it "
                    "so, or call gensim_tfw2v.register_task_functions() in it before its "
                    "tf.distribute.Server is made"
                ) from error
            if (reason := remote_functions.task_error_message(error)) is not None:
                raise ClusterError(f"{job} {task} at {self.addresses[job][task]} cannot train: {reason}") from error
            raise ClusterError(
                f"{job} {task} at {self.addresses[job][task]} does not answer: {brief(error)}"
            ) from error
        return description_in(answer, f"{job} {task} at {self.addresses[job][task]}")

    def describe_all(self, *jobs: str) -> dict[str, dict[str, Any]]:
        """Return the descriptions of the tasks of some jobs, or of all tasks, by "job number"."""
        return {
            f"{job} {task}": self.describe(job, task)
            for job in jobs or JOBS
            for task in range(len(self.addresses[job]))
        }

    def describe_answering_workers(self) -> dict[str, dict[str, Any]]:
        """Return the description of every worker that answers, by "job number"."""
        found = {}
        for worker, address in enumerate(self.addresses["worker"]):
            if answers(address):
                with contextlib.suppress(ClusterError):  # restarted, and not connected again yet
                    found[f"worker {worker}"] = self.describe("worker", worker)
        return found

    def tasks(self, *jobs: str) -> dict[str, str]:
        """Return the addresses of the tasks of some jobs by "job number"."""
        return _by_name(self.addresses, jobs)

    def revive_servers(self) -> dict[str, dict[str, Any]]:
        """Return every server's description; restarted servers are connected again, and all have to answer."""
        _await_tasks(self.tasks("ps"), _ANSWER_SECONDS)
        try:
            return self.describe_all("ps")
        except ClusterError:
            _await_tasks(self.tasks(*JOBS), _ANSWER_SECONDS)
            if not self.refresh():
                raise
        return self.describe_all("ps")

    def refresh(self) -> bool:
        """Return whether restarted tasks are connected again, for which all tasks have to answer."""
        from tensorflow.python.eager import context

        # If a task did not answer, TensorFlow would wait here, and a running call on another worker would fail.
        if silent_of(self.tasks(*JOBS)):
            return False
        with self.worker_locks.hold_all(_LAST_CALLS_SECONDS) as alone:
            if alone:  # TensorFlow's own ClusterCoordinator does this when a worker comes back
                context.context().update_server_def(context.context()._server_def)
            return alone

    @contextlib.contextmanager
    def without_calls(self) -> Iterator[None]:
        """Allow no call on workers meanwhile; raise ClusterError if a training is going on, or a call does not end.

        TensorFlow waits for all calls when it connects to another cluster, and blocks this process meanwhile.
        """
        so_far = f"this process is connected to the workers {', '.join(self.addresses['worker'])}"
        if self.trainings:
            raise ClusterError(f"{so_far}, where a training is going on; let it end before you use another cluster")
        with self.worker_locks.hold_all(_LAST_CALLS_SECONDS) as alone:
            if not alone:
                late = [f"worker {worker} at {self.addresses['worker'][worker]}" for worker in self.worker_locks.busy()]
                raise ClusterError(
                    f"{so_far}, and {', '.join(late)} has not answered an earlier training's call; end that task, or "
                    "have it go on, before you use another cluster"
                )
            yield

    def leave(self, seconds: float = _LAST_CALLS_SECONDS) -> None:
        """Disconnect TensorFlow from the tasks, unless a task hangs, or a call does not end within `seconds`.

        Otherwise it calls the tasks when it deletes a function, and prints errors for each one that was lost.
        """
        from tensorflow.python.eager import context

        if any(hangs(address) for address in self.tasks(*JOBS).values()):  # TensorFlow would wait for it
            return
        alone_here = copy.deepcopy(context.context()._server_def)
        for job in [job for job in alone_here.cluster.job if job.name in JOBS]:
            alone_here.cluster.job.remove(job)
        with self.worker_locks.hold_all(seconds) as alone:
            if alone:
                context.context().update_server_def(alone_here)


def description_in(answer: bytes, task: str) -> dict[str, Any]:
    """Return the description that a task has sent; raise ClusterError that names the task if it is none."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not {"package", "tensorflow"} <= found.keys():
        raise ClusterError(f"{task} does not answer as a task of this package does; start it with `tfw2v server`")
    return found


def device(job: str, task: int) -> str:
    """Return the device of a task that has tables and runs steps."""
    return f"/job:{job}/replica:0/task:{task}/device:CPU:0"


def connect(cluster: Any, any_version: bool = False, allow_network: bool = False) -> Connection:
    """Return the connection to a cluster; the same one as long as the cluster stays the same.

    A process has one connection at a time. Connecting to another cluster ends the earlier connection, or raises
    ClusterError while that is in use. Unless `any_version`, ClusterError is also raised if tasks run other versions
    than this process; unless `allow_network`, if a task is on a network.
    """
    global _current
    addresses = addresses_of(cluster)
    check_allowed(_by_name(addresses, JOBS), allow_network)
    with _lock:
        if _current is None or _current.addresses != addresses:
            load_tensorflow()  # takes seconds: tasks are checked after it
            _await_tasks(_by_name(addresses, JOBS), _START_SECONDS)
            with contextlib.nullcontext() if _current is None else _current.without_calls():
                _current = None  # the earlier connection has ended, also if the new one fails
                gc.collect()  # else TensorFlow has the tasks delete graphs that only this process has, and logs errors
                found = Connection(next(_numbers), addresses, strategy_for(cluster, addresses))
            logger.info("connected to %i parameter servers and %i workers", found.servers, found.workers)
            try:
                if not any_version:
                    check_versions(found.describe_all())
            except ClusterError:
                found.leave()
                raise
            _current = found
        else:
            servers = _current.revive_servers()
            if not any_version:  # tasks may have been restarted
                check_versions(servers | _current.describe_answering_workers())
        return _current


def check_for_new_graphs() -> None:
    """Raise ClusterError if a task hangs: TensorFlow sends a new graph to all tasks, and waits for each."""
    tasks = {} if _current is None else _current.tasks(*JOBS)
    deadline = time.monotonic() + _ANSWER_SECONDS
    while hanging := [f"{name} at {address}" for name, address in tasks.items() if hangs(address)]:
        if time.monotonic() > deadline:
            raise ClusterError(
                f"no answer from {', '.join(hanging)}, which has to hear of the first training with these settings; "
                "end it, start it again, or train over a cluster without it"
            )


def call_on_disconnect(release: Callable[[], None]) -> None:
    """Have `release` called whenever this process disconnects, to free what tasks hold for it."""
    _releases.append(release)


def disconnect(addresses: Addresses) -> None:
    """End the connection to a cluster whose tasks are about to end, and free what they hold for this process."""
    global _current
    with _lock:
        if _current is not None and _current.addresses == addresses:
            left, _current = _current, None
            left.leave()
            for release in _releases:
                release()
            gc.collect()  # graphs are part of reference cycles


@atexit.register
def _leave_lost_tasks() -> None:
    """Disconnect from a cluster of which a task was lost, before Python deletes its graphs."""
    if _current is None:
        return
    is_lost = False
    for address in _current.tasks(*JOBS).values():
        if hangs(address):
            return
        is_lost = is_lost or not answers(address)
    if is_lost:
        _current.leave(seconds=0.0)


def _by_name(addresses: Addresses, jobs: Sequence[str]) -> dict[str, str]:
    return {f"{job} {task}": address for job in jobs for task, address in enumerate(addresses[job])}


def _await_tasks(tasks: Mapping[str, str], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while silent := silent_of(tasks):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"no answer within {seconds:.0f} s from {', '.join(silent)}; is `tfw2v server` running there?"
            )
        time.sleep(0.2)


def check_versions(described: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ClusterError naming the tasks whose TensorFlow or package has another version than this process."""
    own = {"package": __version__, "tensorflow": load_tensorflow().__version__}
    wrong = [
        f"{task} has {name} {found[name]}"
        for task, found in described.items()
        for name in own
        if found[name] != own[name]
    ]
    if wrong:
        raise ClusterError(
            f"this process has gensim_tfw2v {own['package']} and tensorflow {own['tensorflow']}, but "
            f"{', '.join(wrong)}; "
            "install the same versions everywhere"
        )
