"""The workers of a cluster as encoders of a corpus.

They read the corpus and write the folder themselves: what the coordinator sends and receives is a few numbers for each
2 MB of text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection, connect, device
from gensim_tfw2v.cluster.cutting import cut_silent
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.health import answers, wait_while_answering
from gensim_tfw2v.corpus.sections.encoders import Encoder, LostEncoderError
from gensim_tfw2v.corpus.sections.requests import Answer, Request, answer_of, request_line
from gensim_tfw2v.placement.calls.worker_return import can_be_called, is_lost
from gensim_tfw2v.placement.tasks.encoding_processes import ENCODE
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_ANSWER_SECONDS = 20.0  # a worker that does not answer for so long is lost


def worker_encoders(cluster: Any, allow_network: bool = False) -> list[Encoder]:
    """Return an encoder for each worker of a cluster; `connect` has the arguments and the errors."""
    connection = connect(cluster, allow_network=allow_network)
    return [WorkerEncoder(connection, worker, cores) for worker, cores in enumerate(connection.cores())]


class WorkerEncoder(Encoder):
    """A worker, which takes a request for each of its cores at a time.

    Parameters
    ----------
    connection : Connection
        The cluster.
    worker : int
        The worker's number.
    cores : int
        Its cores.
    """

    def __init__(self, connection: Connection, worker: int, cores: int) -> None:
        self.width = cores
        self._connection, self._worker = connection, worker
        self._address = connection.addresses["worker"][worker]
        self._name = f"worker {worker} at {self._address}"
        self._is_lost = False

    @property
    def is_there(self) -> bool:
        """Whether the worker can be called; one that was restarted is connected again."""
        if self._is_lost:
            self._is_lost = not (answers(self._address) and can_be_called(self._connection, self._worker))
        return not self._is_lost

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """Return the answers to requests; raise ClusterError that names the worker if it does not find a file."""
        lines = self._answer(b"".join(map(request_line, requests)))
        try:
            return [answer_of(line) for line in lines.splitlines(keepends=True)]
        except OSError as error:
            raise ClusterError(
                f"{self._name}: {error}; all workers must see the corpus, and the folder of the encoded corpus, under "
                "the paths that this process uses, and must be allowed to write there"
            ) from error

    def close(self) -> None:
        """End the worker's processes; those of a call that still runs end later, when they get no requests."""
        is_busy = self._connection.worker_locks.is_busy(self._worker)
        if not self._is_lost and not is_busy and answers(self._address):
            with contextlib.suppress(LostEncoderError, ClusterError, load_tensorflow().errors.OpError):
                self._answer(b"")

    def _answer(self, lines: bytes) -> bytes:
        sent = remote_functions.local(lines)

        def ask() -> bytes:
            return remote_functions.ask(device("worker", self._worker), ENCODE, [sent])

        try:
            with self._connection.worker_locks.hold(self._worker):
                return wait_while_answering(ask, {f"worker {self._worker}": self._address}, _ANSWER_SECONDS)
        except ClusterError as error:
            raise self._loss(str(error)) from error
        except load_tensorflow().errors.OpError as error:
            if (reason := remote_functions.task_error_message(error)) is not None:
                raise LostEncoderError(f"{self._name}: {reason}") from error
            if is_lost(self._address, error):
                raise self._loss("it has ended, or was started again") from error
            raise

    def _loss(self, why: str) -> LostEncoderError:
        self._is_lost = True
        cut_silent([self._address])  # else a call that waits for it would outlast this connection to the cluster
        return LostEncoderError(f"{self._name} is lost: {why}")
