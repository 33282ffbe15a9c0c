"""The coordinator's calls of parameter servers: every wait has a limit, and a lost table raises one error for all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gensim_tfw2v.cluster import remote_functions
from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.errors import ClusterError, brief
from gensim_tfw2v.cluster.health import silent_of, wait_while_answering
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_Result = TypeVar("_Result")


class Servers:
    """The servers of one training, which fails if one of them is lost."""

    def __init__(self, connection: Connection, patience: float) -> None:
        self._tf = load_tensorflow()
        self._connection = connection
        self._patience = patience  # seconds that a server may be silent
        self.has_backup = True  # the model has the vectors of its last finished epoch
        self.failure: ClusterError | None = None

    def call(self, function: Callable[[], _Result]) -> _Result:
        """Return what operations on servers return; if a server is lost, raise ClusterError now and in later calls."""
        if self.failure is not None:
            raise self.failure
        try:
            return wait_while_answering(function, self._connection.tasks("ps"), self._patience)
        except self._tf.errors.OpError as error:
            remote_functions.clear_error()
            raise self.declare_lost(brief(error)) from error
        except ClusterError as error:
            raise self.declare_lost(str(error)) from error

    def silent(self) -> list[str]:
        """Return which servers do not answer."""
        return silent_of(self._connection.tasks("ps"))

    def declare_lost(self, reason: str) -> ClusterError:
        """Return the error that all later calls raise."""
        kept = (
            "the model keeps the vectors of its last finished epoch. Start the server again and call train() for the "
            "epochs left"
            if self.has_backup
            else "the model had them nowhere else (vectors_on_servers=True). Start the server again and train anew"
        )
        self.failure = ClusterError(
            f"a parameter server was lost, and its part of the vectors with it; {kept}. The reason: {reason}"
        )
        return self.failure
