"""A worker that joins a training, or leaves it: its notices, posted on the first server until they are answered."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from gensim_tfw2v.cluster.descriptions import check_versions
from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.notices import FULL, JOIN, LEAVE, POST, REFUSED, RELEASED, TAKEN
from gensim_tfw2v.cluster.session_calls import ask_task

ASK_TO_LEAVE = "gensim_tfw2v.ask_to_leave"
_CALL_SECONDS = 5.0
_SECONDS_BETWEEN_JOINS = 2.0
# Kubernetes and Slurm kill a process 30 s after SIGTERM.
LEAVING_SECONDS = 25.0


class WorkerNotices:
    """The notices of this process; safe to use from several threads.

    Parameters
    ----------
    address : str
        Of this worker.
    first_server : str
        Address of the server that keeps notices.
    joins : bool
        Whether the worker is no task of the cluster, and asks the coordinator to take it in.
    can_step : callable
        Returns whether this process can run the graphs of a step, given its name.
    say : callable
        Takes a line about what has become of a notice.
    """

    def __init__(
        self,
        address: str,
        first_server: str,
        joins: bool,
        can_step: Callable[[str], bool] = lambda step: True,
        say: Callable[[str], None] = print,
    ) -> None:
        self._address, self._first_server, self._joins = address, first_server, joins
        self._can_step, self._say = can_step, say
        self._is_asked = False
        self._next_join = 0.0
        self._said = ""

    def ask_to_leave(self, _text: bytes) -> bytes:
        """Have this worker leave, as SIGTERM does; a function that `tfw2v cluster drain` calls."""
        self._is_asked = True
        return b"leaves"

    def look(self) -> bool:
        """Post the notice of a worker that joins, if it is time to; return whether the worker has been asked to leave.

        Raise ClusterError if the coordinator does not take the worker.
        """
        if self._joins and not self._is_asked and time.monotonic() >= self._next_join:
            self._join()
            self._next_join = time.monotonic() + _SECONDS_BETWEEN_JOINS
        return self._is_asked

    def _join(self) -> None:
        """Post a notice again, also while the worker trains: the server, or the coordinator, may be another one now."""
        try:
            found = self._post(JOIN)
        except ClusterError as error:
            self._say_once(f"waits for the first server: {error}")
            return
        check_versions({f"ps 0 at {self._first_server}": found})
        if not self._can_step(found["step"]):
            raise ClusterError(
                f"the worker at {self._address} cannot run the {found['step']} operations of the cluster: compile them "
                "on this machine as well"
            )
        if not found["is_read"]:
            self._say_once(f"waits for a training with max_workers on the servers of {self._first_server}")
        elif found["answer"] == REFUSED:
            raise ClusterError(f"the coordinator does not take the worker at {self._address}: {found['reason']}")
        elif found["answer"] in (FULL, TAKEN):
            self._say_once(found["reason"])

    def leave(self, may_end: Callable[[], bool]) -> None:
        """Return once no training uses this worker, or after 25 seconds, or as soon as `may_end` returns True.

        If no coordinator reads notices, it returns at once. `may_end` is called between two posts, and takes its time.
        """
        deadline = time.monotonic() + LEAVING_SECONDS
        while time.monotonic() < deadline:
            try:
                found = self._post(LEAVE)
            except ClusterError:  # the servers have ended, and the training with them
                return
            if not found["is_read"] or found["answer"] == RELEASED:
                return
            self._say_once("leaves once its block is trained")
            if may_end():
                return

    def _post(self, wish: str) -> Mapping[str, Any]:
        answer = ask_task(self._first_server, POST, json.dumps([self._address, wish]), _CALL_SECONDS)
        found: Mapping[str, Any] = json.loads(answer)
        return found

    def _say_once(self, line: str) -> None:
        if line != self._said:
            self._say(f"tfw2v server: worker at {self._address} {line}")
        self._said = line
