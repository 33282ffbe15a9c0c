"""Connections to tasks that hang are ended, and tasks killed, by this process or while it waits."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from gensim_tfw2v.cluster.cutting import can_cut, cut, cut_hanging, kill_after

_NOBODY = 2**30  # more than Linux numbers processes: as one that has ended meanwhile
needs_list = pytest.mark.skipif(not can_cut(), reason="this system does not list the files of a process")


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """Return a listening socket behind which nobody answers, as of a stopped process."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def address_of(listening: socket.socket) -> str:
    """Return host:port."""
    return f"127.0.0.1:{listening.getsockname()[1]}"


@needs_list
def test_a_connection_to_a_task_that_hangs_ends_while_this_process_waits_for_it(silent: socket.socket) -> None:
    with socket.create_connection(silent.getsockname(), timeout=60) as one, cut_hanging([address_of(silent)], 0.0):
        assert one.recv(1) == b""


@needs_list
def test_no_connection_ends_after_the_block_although_a_look_has_begun_in_it(silent: socket.socket) -> None:
    with ExitStack() as opened:
        kept = opened.enter_context(socket.create_connection(silent.getsockname(), timeout=6))
        with cut_hanging([address_of(silent)], 0.0):
            for _ in ("kept", "the look, which takes seconds to find that nobody answers"):
                opened.enter_context(silent.accept()[0])
        with pytest.raises(TimeoutError):
            kept.recv(1)


@needs_list
def test_only_connections_to_the_address_are_cut(silent: socket.socket) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        socket.create_connection(silent.getsockname(), timeout=60) as one,
        socket.create_connection(other.getsockname(), timeout=60) as kept,
    ):
        cut(address_of(silent))
        assert one.recv(1) == b""
        accepted, _ = other.accept()
        with accepted:
            accepted.sendall(b"x")
        assert kept.recv(1) == b"x"


def test_an_address_that_cannot_be_one_has_no_connections() -> None:
    cut("a..b:2222")


def test_sockets_of_other_kinds_are_left_alone() -> None:
    """As those of a notebook's kernel, which have no host and no port."""
    with ExitStack() as opened:
        first, second = map(opened.enter_context, socket.socketpair())
        cut("127.0.0.1:9")
        with cut_hanging(["127.0.0.1:9"], 0.1):
            first.sendall(b"here")
        assert second.recv(4) == b"here"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process
        process.kill()


def test_processes_are_killed_when_the_block_lasts_longer(sleeper: subprocess.Popen[bytes]) -> None:
    with kill_after(0.1, [_NOBODY, sleeper.pid]):
        assert sleeper.wait(60) == -signal.SIGKILL


def test_processes_are_left_alone_when_the_block_ends_in_time_or_fails(sleeper: subprocess.Popen[bytes]) -> None:
    with kill_after(300, [sleeper.pid]):
        pass
    with pytest.raises(KeyError), kill_after(300, [sleeper.pid]):
        raise KeyError
    assert sleeper.poll() is None
