"""Whether tasks answer, checked with a deadline: TensorFlow's own calls to a hung task have none."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.interfaces import host_of
from gensim_tfw2v.cluster.specification import VACANT, port_of
from gensim_tfw2v.runtime.private_tensorflow import has_started, own_executor
from gensim_tfw2v.runtime.system import call_after_fork

_Result = TypeVar("_Result")

_ANSWER_SECONDS = 2.0
_CHECK_SECONDS = 1.0
_CHECKS_AT_ONCE = 100
_SECONDS_BETWEEN_LOOKS = 0.2
_SILENT_LOOKS = 2  # checks in a row without an answer, after which a task counts as silent
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_FRAME_HEAD_BYTES = 9
_TYPE_BYTE, _SETTINGS = 3, 4  # place of a frame's type; type of the first frame of every HTTP/2 server
_Call = tuple[Future[Any], Callable[[], Any]]
_idle: deque[SimpleQueue[_Call]] = deque()  # of threads that have no call
call_after_fork(_idle.clear)  # a forked process has no other threads


def answers(address: str, seconds: float = _ANSWER_SECONDS) -> bool:
    """Return whether a task's server answers at an address; a vacant worker does not.

    It is not enough that a connection is accepted: the system accepts it even for a stopped process (SIGSTOP).
    """
    if address == VACANT:
        return False
    try:
        return _is_greeted(address, seconds)
    except (OSError, UnicodeError):  # UnicodeError: the host's name is not a valid one
        return False


def hangs(address: str) -> bool:
    """Return whether a process there neither answers nor refuses: calls to it would wait without limit."""
    try:
        _is_greeted(address, _ANSWER_SECONDS)
    except TimeoutError:
        return True
    except (OSError, UnicodeError):
        pass
    return False


def _is_greeted(address: str, seconds: float) -> bool:
    head, deadline = b"", time.monotonic() + seconds
    with socket.create_connection((host_of(address), port_of(address)), timeout=seconds) as connection:
        connection.sendall(_GREETING)
        while len(head) < _FRAME_HEAD_BYTES:
            if (left := deadline - time.monotonic()) <= 0:
                raise TimeoutError
            connection.settimeout(left)
            if not (more := connection.recv(_FRAME_HEAD_BYTES - len(head))):
                break
            head += more
    return len(head) == _FRAME_HEAD_BYTES and head[_TYPE_BYTE] == _SETTINGS


def answering(addresses: Iterable[str]) -> set[str]:
    """Return the addresses at which a server answers, checked at the same time: each may take seconds."""
    return _those_that(answers, addresses)


def hanging(addresses: Iterable[str]) -> set[str]:
    """Return the addresses at which a process hangs, checked at the same time."""
    return _those_that(hangs, addresses)


def _those_that(check: Callable[[str], bool], addresses: Iterable[str]) -> set[str]:
    left, found = sorted(set(addresses)), set()
    while left:
        some, left = left[:_CHECKS_AT_ONCE], left[_CHECKS_AT_ONCE:]
        results: dict[str, Future[bool]] = {address: Future() for address in some}
        for address, result in results.items():
            call_in_thread(result, partial(check, address))
        found |= {address for address, result in results.items() if result.result()}
    return found


class Silence:
    """Whether a task is silent: a single check without an answer may be chance."""

    def __init__(self) -> None:
        self._looks = 0  # checks in a row without an answer

    def record(self, does_answer: bool) -> bool:
        """Record another check, and return whether the task has not answered several checks in a row."""
        self._looks = 0 if does_answer else self._looks + 1
        return self._looks >= _SILENT_LOOKS

    def forget(self) -> None:
        """Count from the beginning."""
        self._looks = 0


def is_taken(port: int) -> bool:
    """Return whether a process of this machine listens at a port, on any network interface."""
    with socket.socket(socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET) as one:
        # Servers set this option, too: they may use the port of a server that has just ended.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("", port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def silent_of(tasks: Mapping[str, str]) -> list[str]:
    """Return "name at address" of those tasks, given as addresses by name, that do not answer."""
    there = answering(tasks.values())
    return [f"{name} at {address}" for name, address in tasks.items() if address not in there]


def raise_if_no_worker_answers(addresses: Sequence[str]) -> None:
    """Raise ClusterError if none of the workers at these addresses answers."""
    if not answering(addresses):
        raise ClusterError(f"no answer from any worker: {', '.join(addresses)}; is `tfw2v server` running there?")


def await_answers(tasks: Mapping[str, str], seconds: float) -> None:
    """Wait until all tasks, given as addresses by name, answer; raise ClusterError if some do not in time."""
    deadline = time.monotonic() + seconds
    while silent := silent_of(tasks):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"no answer within {seconds:.0f} s from {', '.join(silent)}; is `tfw2v server` running there?"
            )
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def wait_while_answering(function: Callable[[], _Result], tasks: Mapping[str, str], seconds: float) -> _Result:
    """Return what `function` returns, however long it takes.

    Raise ClusterError if one of the tasks that it needs has not answered for `seconds`. The thread that runs `function`
    then keeps running.
    """
    result: Future[_Result] = Future()
    call_in_thread(result, function)
    last_answer = time.monotonic()
    while not wait([result], _CHECK_SECONDS).done:
        if not (silent := silent_of(tasks)):
            last_answer = time.monotonic()
        elif time.monotonic() - last_answer > seconds:
            raise ClusterError(f"no answer for {seconds:.0f} s from {', '.join(silent)}")
    return result.result()


def call_in_thread(result: Future[_Result], function: Callable[[], _Result]) -> None:
    """Have a thread set the result. It is reused, because each thread's allocator keeps some memory of its own."""
    try:
        calls = _idle.pop()
    except IndexError:
        calls = SimpleQueue()
        threading.Thread(target=_serve_calls, args=[calls], name="tfw2v-cluster-call", daemon=True).start()
    calls.put((result, function))


def _serve_calls(calls: SimpleQueue[_Call]) -> None:
    with contextlib.ExitStack() as thread:
        executor = None
        while True:
            call = calls.get()
            if executor is None and has_started():  # without its own, errors of this thread are raised in others
                executor = thread.enter_context(own_executor())
            _fulfil(*call, executor)
            del call  # what it holds must not outlive the next wait
            _idle.append(calls)


def _fulfil(result: Future[_Result], function: Callable[[], _Result], executor: Any) -> None:
    try:
        result.set_result(function())
    except BaseException as error:
        if executor is not None:
            executor.clear_error()
        result.set_exception(error)
