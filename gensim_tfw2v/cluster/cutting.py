"""Frees this process from tasks that hang: cancels calls, ends connections, and kills tasks that it would wait for.

Some of TensorFlow's calls tell all tasks of a change, and have no time limit. A thread watches meanwhile, and shuts
down connections to a hung task: TensorFlow's call then continues without that task.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeVar

from gensim_tfw2v.cluster.health import answering, hanging
from gensim_tfw2v.cluster.interfaces import host_of
from gensim_tfw2v.cluster.specification import port_of
from gensim_tfw2v.runtime.private_tensorflow import call_with_cancellation, new_cancellation
from gensim_tfw2v.runtime.system import lists_open_files, open_sockets
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_Found = TypeVar("_Found")

_SECONDS_BETWEEN_LOOKS = 0.5


class CancellableCalls:
    """Calls of concrete functions, one after the other, until another thread cancels them.

    A call on a task that does not answer would never end.
    """

    def __init__(self) -> None:
        load_tensorflow()
        self._cancellation = new_cancellation()

    def cancel(self) -> None:
        """End the running call, and all later ones, with a CancelledError; the task may continue with it."""
        self._cancellation.start_cancel()

    def run(self, function: Any, *arguments: Any) -> Any:
        """Call a concrete function with these arguments, nested tuples of tensors, and return its result."""
        tf = load_tensorflow()
        outputs = call_with_cancellation(function, tf.nest.flatten(arguments), self._cancellation)
        return tf.nest.pack_sequence_as(function.structured_outputs, outputs)


def cut(address: str) -> None:
    """End this process's connections to an address: calls that wait for it fail, and later ones connect anew."""
    for one in _connections_to(address):
        with one, contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def cut_silent(addresses: Collection[str]) -> None:
    """Free calls from tasks that do not answer: a request that TensorFlow still sends cannot be cancelled."""
    for address in set(addresses) - answering(addresses):
        cut(address)


def can_cut() -> bool:
    """Return whether this process can find its connections."""
    return lists_open_files()


@contextlib.contextmanager
def cut_hanging(addresses: Collection[str], seconds: float) -> Iterator[None]:
    """End this process's connections to every address that still hangs `seconds` after the block has begun.

    TensorFlow connects anew to a task whose connection has ended, so this happens again and again.
    """
    with _watched(seconds, lambda: hanging(addresses), cut):
        yield


@contextlib.contextmanager
def kill_after(seconds: float, processes: Collection[int]) -> Iterator[None]:
    """Kill these processes if the block takes longer than `seconds`, because it may wait for them without limit."""
    left = list(processes)

    def kill(process: int) -> None:
        left.remove(process)  # only once: another process may get its number later
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)

    with _watched(seconds, lambda: list(left), kill):
        yield


@contextlib.contextmanager
def _watched(seconds: float, find: Callable[[], Collection[_Found]], act: Callable[[_Found], None]) -> Iterator[None]:
    """Act on what is found, every half second from `seconds` after the beginning of the block to its end.

    To find something may take longer than the block. After the end, nothing is done: whoever asks then whether a task
    hangs needs a connection of its own to it.
    """
    ended, is_acting = threading.Event(), threading.Lock()

    def watch() -> None:
        pause = seconds
        while not ended.wait(pause):
            pause = _SECONDS_BETWEEN_LOOKS
            found = find()
            with is_acting:
                for each in () if ended.is_set() else found:
                    act(each)

    threading.Thread(target=watch, name="tfw2v-watch", daemon=True).start()
    try:
        yield
    finally:
        with is_acting:
            ended.set()


def _connections_to(address: str) -> Iterator[socket.socket]:
    """Yield a duplicate of each of this process's connections to an address."""
    try:
        found = socket.getaddrinfo(host_of(address), port_of(address), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return
    wanted = {(str(entry[4][0]), port_of(address)) for entry in found}
    for one in open_sockets():
        with contextlib.ExitStack() as unused, contextlib.suppress(OSError):  # not connected, or closed meanwhile
            unused.enter_context(one)
            if one.family not in (socket.AF_INET, socket.AF_INET6):
                continue
            host, port, *_ = one.getpeername()
            if (str(host).removeprefix("::ffff:"), port) in wanted:
                unused.pop_all()
                yield one
