"""A worker as the coordinator sees it: its address, and a thread that calls it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.cluster.cutting import CancellableCalls
from gensim_tfw2v.cluster.health import answers
from gensim_tfw2v.placement.calls.registration import Registration
from gensim_tfw2v.runtime.private_tensorflow import own_executor
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_POLL_SECONDS = 0.5


class Member:
    """One worker of a training.

    Attributes
    ----------
    registration : Registration
        Which model the worker knows.
    is_cut_off : bool
        Whether other workers have not reached it although it answers this process.
    """

    def __init__(self, number: int, connection: Connection) -> None:
        self.number = number
        self.address = connection.addresses["worker"][number]
        self.task = f"worker {number}"
        self.name = f"worker {number} at {self.address}"
        self.registration = Registration()
        self.is_missed = False  # the log has said that it is gone
        self.is_cut_off = False
        self._locks = connection.worker_locks
        self._closed = threading.Event()
        self._calls: SimpleQueue[Any] = SimpleQueue()
        self._answer: Future[bool] | None = None
        self._begin_thread()

    def _begin_thread(self) -> None:
        self._calls = SimpleQueue()
        name = f"tfw2v-cluster-{self.number}"
        self._thread = threading.Thread(target=_serve, args=(self._calls,), name=name, daemon=True)
        self._thread.start()

    def submit(self, function: Callable[[CancellableCalls], Any], locks: list[int]) -> tuple[Future[Any], Any]:
        """Have the thread call a function with these workers' locks held; return its result, and how to cancel it.

        The result counts as running once the thread has ended its former calls.
        """
        result: Future[Any] = Future()
        calls = CancellableCalls()

        def call() -> Any:
            with contextlib.ExitStack() as held:
                for worker in sorted(locks):
                    held.enter_context(self._locks.hold(worker))
                return function(calls)

        self._calls.put((result, call))
        return result, calls

    def begin_anew(self) -> None:
        """Abandon the thread to a call that does not end, and start another thread."""
        self._calls.put(None)
        self._begin_thread()

    def has_come_back(self) -> bool:
        """Return whether a lost worker answers again; a thread checks that, so the caller does not wait."""
        if self._answer is None:
            self._answer, _ = self.submit(lambda _: self._await_answer(), [])
        if not self._answer.done() or self._locks.is_busy(self.number):
            return False
        found, self._answer = self._answer.result(), None
        return found

    def _await_answer(self) -> bool:
        while not self._closed.is_set():
            if answers(self.address):
                return True
            self._closed.wait(_POLL_SECONDS)
        return False

    def close(self, seconds: float) -> bool:
        """End the thread; return whether it ends within these seconds."""
        self._closed.set()
        self._calls.put(None)
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()


def _serve(calls: SimpleQueue[Any]) -> None:
    """Run calls one after the other, with a TensorFlow executor of this thread's own."""
    load_tensorflow()
    with own_executor() as executor:
        while (call := calls.get()) is not None:
            result, function = call
            if not result.set_running_or_notify_cancel():
                continue
            try:
                result.set_result(function())
            except BaseException as error:
                executor.clear_error()
                result.set_exception(error)
            del call, result, function  # what they hold must not outlive the next wait
