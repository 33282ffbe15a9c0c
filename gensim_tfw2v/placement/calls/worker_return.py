"""Lost and hung workers: which errors reveal them, and how they take part again."""

from __future__ import annotations

import contextlib
import logging
import time

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.placement.calls.work import Work
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.2
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
    while not work.is_over():
        address = connection.addresses["worker"][worker]
        if not connection.attendance.is_leaving(worker) and answers(address):
            with contextlib.suppress(load_tensorflow().errors.OpError, ClusterError):
                if can_be_called(connection, worker):
                    if is_missed:
                        logger.warning("worker %i at %s is back", worker, address)
                    return True
        if complaint and not is_missed:
            is_missed = True
            logger.warning("%s; its blocks go to others until it is back", complaint)
        time.sleep(_POLL_SECONDS)
    return False


def can_be_called(connection: Connection, worker: int) -> bool:
    """Return whether a worker that answers accepts calls; a restarted one is connected again first."""
    try:
        with connection.worker_locks.hold(worker):
            connection.describe("worker", worker)
    except (load_tensorflow().errors.OpError, ClusterError):
        return connection.refresh() and can_be_called(connection, worker)
    return True
