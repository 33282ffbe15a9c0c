"""Ends this process's connections to tasks that hang while one of TensorFlow's calls waits for them.

The calls that tell all tasks of a change have no time limit, and block all threads of this process. So a separate
process checks whether the tasks answer. It has duplicates of this process's sockets, and shuts down those to a hung
task: TensorFlow's call then continues without that task.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from gensim_tfw2v.cluster.health import answers, hangs
from gensim_tfw2v.runtime.system import lists_open_files, open_files

_SECONDS_BETWEEN_LOOKS = 0.5
_ROOT = str(Path(__file__).resolve().parents[2])
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from gensim_tfw2v.cluster.cutting import watch; watch()"


@contextlib.contextmanager
def cut_hanging(addresses: Collection[str], seconds: float) -> Iterator[None]:
    """End this process's connections to every address that still hangs `seconds` after the block has begun."""
    with contextlib.ExitStack() as held:
        found = {address: [held.enter_context(one) for one in _connections_to(address)] for address in addresses}
        numbers = {address: [one.fileno() for one in sockets] for address, sockets in found.items()}
        command = [sys.executable, "-I", "-S", "-c", _PROGRAM, _ROOT, str(seconds), json.dumps(numbers)]
        quiet = subprocess.DEVNULL
        # Its standard input ends with the block, and with this process.
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            pass_fds=[number for of_address in numbers.values() for number in of_address],
            start_new_session=True,
        ):
            yield


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


def _connections_to(address: str) -> Iterator[socket.socket]:
    """Yield a duplicate of each of this process's connections to an address."""
    wanted = _resolved(address)
    for number, _ in open_files():
        with contextlib.suppress(OSError):  # no socket, not connected, or closed meanwhile
            duplicate = os.dup(number)
            try:
                one = socket.socket(fileno=duplicate)
            except OSError:
                os.close(duplicate)
                raise
            with contextlib.ExitStack() as unused:
                unused.enter_context(one)
                if one.family not in (socket.AF_INET, socket.AF_INET6):
                    continue
                host, port, *_ = one.getpeername()
                if (str(host).removeprefix("::ffff:"), port) in wanted:
                    unused.pop_all()
                    yield one


def _resolved(address: str) -> set[tuple[str, int]]:
    """Return the IP addresses that the host of an address of the form host:port stands for, each with the port."""
    host, _, port = address.rpartition(":")
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return set()
    return {(str(entry[4][0]), int(port)) for entry in found}


def watch() -> None:
    """Shut down the sockets of tasks that hang, until standard input ends: the work of the separate process."""
    seconds = float(sys.argv[2])
    sockets: Mapping[str, list[int]] = json.loads(sys.argv[3])
    while not select.select([sys.stdin], [], [], seconds)[0]:
        seconds = _SECONDS_BETWEEN_LOOKS
        for address, numbers in sockets.items():
            if hangs(address):
                for number in numbers:
                    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(number)) as one:
                        one.shutdown(socket.SHUT_RDWR)
