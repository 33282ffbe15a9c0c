"""Frees this process from tasks that hang: cancels calls, ends connections, and kills tasks that it would wait for.

Some of TensorFlow's calls tell all tasks of a change. They have no time limit, and block all threads of this process.
So a separate process watches meanwhile. It has duplicates of this process's sockets, and shuts down those to a hung
task: TensorFlow's call then continues without that task.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from gensim_tfw2v.cluster.health import answers, hangs
from gensim_tfw2v.cluster.interfaces import host_of
from gensim_tfw2v.cluster.specification import port_of
from gensim_tfw2v.runtime.private_tensorflow import call_with_cancellation, new_cancellation
from gensim_tfw2v.runtime.system import lists_open_files, open_sockets
from gensim_tfw2v.runtime.tensorflow import load_tensorflow

_SECONDS_BETWEEN_LOOKS = 0.5
_ROOT = str(Path(__file__).resolve().parents[2])
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from gensim_tfw2v.cluster import cutting; cutting.watch()"


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


def cut_if_silent(address: str) -> None:
    """Free calls from a task that does not answer: a request that TensorFlow still sends cannot be cancelled."""
    if not answers(address):
        cut(address)


def can_cut() -> bool:
    """Return whether this process can find its connections."""
    return lists_open_files()


@contextlib.contextmanager
def cut_hanging(addresses: Collection[str], seconds: float) -> Iterator[None]:
    """End this process's connections to every address that still hangs `seconds` after the block has begun."""
    with contextlib.ExitStack() as held:
        found = {address: [held.enter_context(one) for one in _connections_to(address)] for address in addresses}
        with _watched(seconds, {address: [one.fileno() for one in sockets] for address, sockets in found.items()}):
            yield


@contextlib.contextmanager
def kill_after(seconds: float, processes: Collection[int]) -> Iterator[None]:
    """Kill these processes if the block takes longer than `seconds`, because it may wait for them without limit."""
    with _watched(seconds, processes=processes):
        yield


@contextlib.contextmanager
def _watched(
    seconds: float, sockets: Mapping[str, list[int]] | None = None, processes: Collection[int] = ()
) -> Iterator[None]:
    work = json.dumps({"seconds": seconds, "sockets": sockets or {}, "processes": list(processes)})
    quiet = subprocess.DEVNULL
    # Its standard input ends with the block, and with this process.
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, _ROOT, work],
        stdin=subprocess.PIPE,
        stdout=quiet,
        stderr=quiet,
        pass_fds=[number for of_address in (sockets or {}).values() for number in of_address],
        start_new_session=True,
    ):
        yield


def watch() -> None:
    """Kill processes and shut down the sockets of tasks that hang, until standard input ends: the separate process."""
    work = json.loads(sys.argv[2])
    seconds, processes = work["seconds"], work["processes"]
    while not select.select([sys.stdin], [], [], seconds)[0]:
        seconds = _SECONDS_BETWEEN_LOOKS
        while processes:  # only once: another process may get a number later
            with contextlib.suppress(ProcessLookupError):
                os.kill(processes.pop(), signal.SIGKILL)
        for address, numbers in work["sockets"].items():
            if hangs(address):
                for number in numbers:
                    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as one:
                        one.shutdown(socket.SHUT_RDWR)


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
