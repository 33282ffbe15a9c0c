"""Lost and hung workers: which errors reveal them, and how they take part again."""

from __future__ import annotations

import logging

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.placement.calls.work import Work
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.steps.kernel import COMPILED, kernel

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
_LONGEST_PAUSE_SECONDS = 30.0
# Parts of messages about a task that was restarted, or about a connection in which it is being replaced or left out.
_RESTART_MESSAGES = ("context_id", "unknown device", "Failed to find function")


def is_lost(address: str, error: Exception) -> bool:
    """Return whether a worker's error comes from connections or restarts, not from the work itself."""
    errors = load_tensorflow().errors
    return (
        isinstance(error, (errors.UnavailableError, errors.AbortedError, errors.CancelledError))
        or any(message in str(error) for message in _RESTART_MESSAGES)
        or not answers(address)
    )


def is_of_earlier_training(lease: str, error: Exception) -> bool:
    """Return whether an error is about missing tables of a training other than the one with this lease.

    A hung worker that continues finds its tables freed. TensorFlow reports that error in the next call.
    """
    errors = load_tensorflow().errors
    is_missing = isinstance(error, (errors.NotFoundError, errors.FailedPreconditionError))
    return is_missing and f"{lease}/" not in str(error)


def await_return(worker: int, work: Work, complaint: str | None) -> bool:
    """Return True once a worker can be called again, False if training ends before.

    If the worker cannot be called at once, `complaint` is logged and, later, that the worker is back. Without a
    complaint, nothing is logged. A worker that leaves still answers, but is not called; another worker may come in its
    place.
    """
    connection = work.connection
    is_missed = False  # the error may have been about another worker
    pause, said = _POLL_SECONDS, ""
    while not work.is_over():
        address = connection.addresses["worker"][worker]
        if connection.attendance.is_leaving(worker) or not answers(address):
            pause = _POLL_SECONDS
        elif (error := _why_not(connection, worker)) is None:
            if is_missed:
                logger.warning("worker %i at %s is back", worker, address)
            return True
        else:
            if pause > _POLL_SECONDS and said != str(error):  # at first, it may still be starting
                said = str(error)
                logger.warning("worker %i at %s cannot be called: %s", worker, address, said)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)  # each trial holds up the other workers' calls
        if complaint and not is_missed:
            is_missed = True
            logger.warning("%s; its blocks go to others until it is back", complaint)
        work.closed.wait(pause)
    return False


def can_be_called(connection: Connection, worker: int) -> bool:
    """Return whether a worker that answers accepts calls; a restarted one is connected again first."""
    return _why_not(connection, worker) is None


def _why_not(connection: Connection, worker: int) -> Exception | None:
    """Return why a worker cannot be called, None if it can; one that was not connected, or restarted, is connected."""
    found = _error_of(connection, worker)
    try:
        if found is not None and connection.refresh():
            found = _error_of(connection, worker)
    except load_tensorflow().errors.OpError as error:  # a task ended meanwhile
        found = error
    return found


def _error_of(connection: Connection, worker: int) -> Exception | None:
    try:
        with connection.worker_locks.hold(worker):
            connection.keep({f"worker {worker}": connection.describe("worker", worker)})
            check_steps(connection)
    except (load_tensorflow().errors.OpError, ClusterError) as error:
        return error
    return None


def check_steps(connection: Connection) -> None:
    """Raise ClusterError naming the tasks that cannot run the graphs of this process's kernel."""
    if kernel().name != COMPILED:  # TensorFlow's own operations run on any task
        return
    without = [task for task, step in connection.described_steps.items() if step != COMPILED]
    if without:
        raise ClusterError(
            f"{', '.join(without)} cannot run the package's compiled operations, which this process trains with: "
            "compile them there as well, or start this process with TFW2V_STEP=plain"
        )
