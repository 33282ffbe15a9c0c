"""Notices of workers that join or leave a training: the first server keeps them until the coordinator reads them.

A worker does not know the coordinator, and the coordinator's port answers no other machine. Both reach the servers.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError, TaskError
from gensim_tfw2v.cluster.exposure import check_allowed
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.cluster.remote_functions import ask_task, register
from gensim_tfw2v.cluster.specification import check_addresses
from gensim_tfw2v.cluster.task import check_versions, text_of, versions

POST = "gensim_tfw2v.post_notice"
READ = "gensim_tfw2v.read_notices"
ASK_TO_LEAVE = "gensim_tfw2v.ask_to_leave"
JOIN, LEAVE = "join", "leave"  # what a worker may want
# The coordinator's answers.
TAKEN = "taken"  # the worker trains
FULL = "full"  # as many workers train as may
REFUSED = "refused"
RELEASED = "released"  # nobody uses the worker any more
WAIT = "wait"  # also until there is an answer
# A notice that is not posted again, or a coordinator that does not read again, is gone after this time.
_KEPT_SECONDS = 10.0
_CALL_SECONDS = 5.0
_SECONDS_BETWEEN_JOINS = 2.0
_LEAVING_SECONDS = 25.0  # Kubernetes and Slurm kill a process 30 s after SIGTERM
_DRAIN_CALL_SECONDS = 20.0
_END_SECONDS = 10.0  # time that a drained worker may take to end, beside the time that it waits for its training
_SECONDS_BETWEEN_LOOKS = 0.2


@dataclass
class _Notice:
    wish: str
    answer: tuple[str, str] = (WAIT, "")  # with the reason
    posted: float = field(default_factory=time.monotonic)


class Notices:
    """The notices on this server; safe to use from several threads.

    Parameters
    ----------
    details : callable
        Returns further entries of this task's description. Workers that join read its ``step``.
    """

    def __init__(self, details: Callable[[], Mapping[str, Any]] = dict) -> None:
        self._details = details
        self._notices: dict[str, _Notice] = {}  # by the worker's address
        self._read: float | None = None  # when a coordinator did so last
        self._lock = threading.Lock()

    def post(self, notice: bytes) -> bytes:
        """Keep the notice ``[address, wish]`` of a worker, and return what the worker may know, as JSON.

        A worker posts its notice again and again. In the answer, ``is_read`` says whether a coordinator reads notices.
        """
        found = _json_in(notice)
        is_notice = isinstance(found, list) and len(found) == 2 and all(isinstance(part, str) for part in found)
        if not is_notice or found[1] not in (JOIN, LEAVE):
            raise TaskError(f"a notice came without a worker's address and wish: {text_of(notice)[:80]!r}")
        address, wish = found
        with self._lock:
            self._drop_old()
            known = self._notices.get(address)
            if known is None or known.wish != wish:
                known = self._notices[address] = _Notice(wish)
            known.posted = time.monotonic()
            answer, reason = known.answer
            is_read = self._read is not None and time.monotonic() - self._read < _KEPT_SECONDS
        return json.dumps(
            {
                "is_read": is_read,
                "answer": answer,
                "reason": reason,
                "step": self._details().get("step", ""),
                **versions(),
            }
        ).encode()

    def read(self, answers: bytes) -> bytes:
        """Keep a coordinator's answers ``{address: [answer, reason]}``, and return all wishes by address, as JSON.

        Answers of null say that the coordinator reads no more.
        """
        found = _json_in(answers)
        with self._lock:
            self._drop_old()
            self._read = None if found is None else time.monotonic()
            for address, answer in (found or {}).items():
                if address in self._notices:
                    self._notices[address].answer = tuple(answer)
            return json.dumps({address: notice.wish for address, notice in self._notices.items()}).encode()

    def register(self) -> None:
        """Let workers and coordinators call these functions by name."""
        register(POST, self.post)
        register(READ, self.read)

    def _drop_old(self) -> None:
        oldest = time.monotonic() - _KEPT_SECONDS
        self._notices = {address: notice for address, notice in self._notices.items() if notice.posted >= oldest}


def _json_in(text: Any) -> Any:
    try:
        return json.loads(text_of(text))
    except (ValueError, RecursionError):
        raise TaskError(f"a notice is not JSON: {text_of(text)[:80]!r}") from None


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
        deadline = time.monotonic() + _LEAVING_SECONDS
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


def drain(address: str, allow_network: bool) -> None:
    """Have a worker leave, and wait until it has ended.

    Raise ClusterError if the task is no worker, does not answer, or does not end; ValueError if this is no address.
    """
    check_addresses([address])
    check_allowed({"the worker": address}, allow_network)
    ask_task(address, ASK_TO_LEAVE, "", _DRAIN_CALL_SECONDS)
    deadline = time.monotonic() + _LEAVING_SECONDS + _END_SECONDS
    while answers(address):
        if time.monotonic() > deadline:
            raise ClusterError(f"the worker at {address} was asked to leave, and still answers")
        time.sleep(_SECONDS_BETWEEN_LOOKS)
