"""Ports of this process that answer one network interface alone.

TensorFlow's servers listen on every interface, whatever their address says. A listening socket can be bound to one
interface afterwards, by any user since Linux 5.7. Earlier connections would stay open, so they are ended.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.interfaces import LOOPBACK, LOOPBACK_ADDRESS, ip_address
from gensim_tfw2v.runtime.system import PROC, bind_to_interface, bound_interface, can_bind_to_interface, open_sockets

_TABLES = (PROC / "self/net/tcp", PROC / "self/net/tcp6")
# The kernel's numbers of the states of a socket.
_OPEN, _HANDSHAKE, _ENDED_BY_PEER, _LISTENING = "01", "03", "08", "0A"
_HANDSHAKE_SECONDS = 90.0  # Linux gives a handshake up after 63 s
_SECONDS_BETWEEN_LOOKS = 0.01


class _Connection(NamedTuple):  # one line of the kernel's tables of TCP sockets
    port: int
    peer: str
    state: str
    inode: int  # 0 if no process has the socket yet


def restrict(ports: Collection[int], interface: str) -> bool:
    """Make ports of this process answer only one interface, and end the connections that came in before.

    If the interface is loopback, connections that came in by it stay. Connections that TensorFlow has not accepted yet
    are ended, wherever they come from.

    Returns
    -------
    bool
        Whether this process listens on one of the ports.

    Raises
    ------
    ClusterError
        If the system does not allow it, or a connection that began before does not end.
    """
    try:
        with contextlib.ExitStack() as held:
            listening = [held.enter_context(one) for one in _own_sockets(ports) if _is_listening(one)]
            for one in listening:
                _bind(one, interface)
            if listening:
                _end_earlier_connections(listening, ports, interface)
            return bool(listening)
    except OSError as error:
        named = ", ".join(map(str, sorted(ports)))
        raise ClusterError(f"port {named} cannot be bound to the interface {interface!r}: {error}") from error


@functools.cache
def why_not() -> str | None:
    """Return why this system cannot bind a listening socket to an interface, None if it can."""
    if not can_bind_to_interface():
        return "only Linux can bind a listening socket to an interface"
    try:
        with socket.create_server((LOOPBACK_ADDRESS, 0)) as trial:
            if restrict([trial.getsockname()[1]], LOOPBACK):
                return None
            return "the system does not list this process's sockets in /proc"
    except (OSError, ClusterError) as error:
        return f"{error} (any user can do that since Linux 5.7)"


def _bind(listening: socket.socket, interface: str) -> None:
    """Bind a socket to an interface, if it is not yet; raise OSError if it then is not."""
    # Only root may bind a socket anew.
    if bound_interface(listening) != interface:
        bind_to_interface(listening, interface)
    if (found := bound_interface(listening)) != interface:
        raise OSError(f"the system has bound it to {found!r}")


def _end_earlier_connections(listening: list[socket.socket], ports: Collection[int], interface: str) -> None:
    """End the connections that began before the sockets were bound, including those whose handshake is not finished."""
    begun = _handshakes(ports)
    deadline = time.monotonic() + _HANDSHAKE_SECONDS
    is_clean = False
    while True:
        unfinished = begun & _handshakes(ports)
        ended = _end_waiting(listening, interface) + _end_strangers(ports, interface)
        # Twice, because TensorFlow may have been accepting a connection during the first check.
        if is_clean and not ended and not unfinished:
            return
        is_clean = not ended and not unfinished
        if time.monotonic() > deadline:
            raise OSError(f"connections that came in before do not end: {sorted(peer for _, peer in unfinished)}")
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _handshakes(ports: Collection[int]) -> set[tuple[int, str]]:
    return {(found.port, found.peer) for found in _connections(ports) if found.state == _HANDSHAKE}


def _end_waiting(listening: list[socket.socket], interface: str) -> int:
    """Close connections that wait to be accepted, and return how many came in before their port was bound."""
    count = 0
    for one in listening:
        one.setblocking(False)  # as in TensorFlow: a socket shares this setting with its duplicates
        with contextlib.suppress(BlockingIOError, ConnectionAbortedError):
            while True:
                waiting, _ = one.accept()
                with waiting:
                    count += bound_interface(waiting) != interface
    return count


def _end_strangers(ports: Collection[int], interface: str) -> int:
    """End accepted connections that came in before their port was bound, and return how many."""
    count = 0
    for one in _own_sockets(ports):
        with one, contextlib.suppress(OSError):  # it may end meanwhile
            # A connection is bound as the listening socket was when the connection began.
            if bound_interface(one) == interface or _is_listening(one):
                continue
            if interface == LOOPBACK and ip_address(one.getpeername()[0]).is_loopback:
                continue
            one.shutdown(socket.SHUT_RDWR)
            count += 1
    return count


def _own_sockets(ports: Collection[int]) -> Iterator[socket.socket]:
    """Yield a duplicate of each TCP socket of this process at these ports that it has not ended."""
    states = _OPEN, _ENDED_BY_PEER, _LISTENING
    return open_sockets({found.inode for found in _connections(ports) if found.state in states})


def _connections(ports: Collection[int]) -> Iterator[_Connection]:
    for table in _TABLES:
        if not table.exists():  # a kernel without IPv6
            continue
        for line in table.read_text().splitlines()[1:]:
            _, local, peer, state, _, _, _, _, _, inode = line.split()[:10]
            port = int(local.rpartition(":")[2], 16)
            if port in ports:
                yield _Connection(port, peer, state, int(inode))


def _is_listening(one: socket.socket) -> bool:
    return bool(one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
