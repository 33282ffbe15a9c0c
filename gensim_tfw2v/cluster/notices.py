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

from gensim_tfw2v.cluster.errors import TaskError
from gensim_tfw2v.cluster.remote_functions import register
from gensim_tfw2v.cluster.task import text_of
from gensim_tfw2v.runtime.tensorflow import load_tensorflow
from gensim_tfw2v.version import __version__

POST = "gensim_tfw2v.post_notice"
READ = "gensim_tfw2v.read_notices"
JOIN, LEAVE = "join", "leave"  # what a worker may want
# The coordinator's answers.
TAKEN = "taken"  # the worker trains
FULL = "full"  # as many workers train as may
REFUSED = "refused"
RELEASED = "released"  # nobody uses the worker any more
WAIT = "wait"  # also until there is an answer
KEPT_SECONDS = 10.0  # after which a notice that is not posted again, or a coordinator that does not read again, is gone


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
            is_read = self._read is not None and time.monotonic() - self._read < KEPT_SECONDS
        return json.dumps(
            {
                "is_read": is_read,
                "answer": answer,
                "reason": reason,
                "step": self._details().get("step", ""),
                "package": __version__,
                "tensorflow": load_tensorflow().__version__,
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

    def _drop_old(self) -> None:
        oldest = time.monotonic() - KEPT_SECONDS
        self._notices = {address: notice for address, notice in self._notices.items() if notice.posted >= oldest}


def register_notices(notices: Notices) -> None:
    """Let workers and coordinators call the functions of this process's notices by name."""
    register(POST, notices.post)
    register(READ, notices.read)


def _json_in(text: Any) -> Any:
    try:
        return json.loads(text_of(text))
    except (ValueError, RecursionError):
        raise TaskError(f"a notice is not JSON: {text_of(text)[:80]!r}") from None
