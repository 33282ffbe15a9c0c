"""Listening sockets that are bound to one interface: who can connect then, and which earlier connections stay."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from support.child_process import wait_until
from support.namespaces import FAR, NEAR, OTHER, SERVING, Program, address, two_machines, wait_for_rounds

from gensim_tfw2v.cluster import listening
from gensim_tfw2v.cluster.interfaces import interface_addresses, interface_of, is_loopback, is_name
from gensim_tfw2v.cluster.listening import restrict, why_not

PORT = 23450


@pytest.fixture
def machines() -> Iterator[None]:
    """Have two emulated machines."""
    with two_machines():
        yield


def targets(machine: str, *interfaces: str) -> list[str]:
    """Return the addresses of the port at a machine's interfaces."""
    return [f"{address(machine, interface)}:{PORT}" for interface in interfaces]


@pytest.mark.usefixtures("machines")
@pytest.mark.parametrize("accepts", [True, False], ids=["accepted", "waiting"])
def test_a_port_kept_to_loopback_lets_go_of_strangers_and_takes_no_more(accepts: bool) -> None:
    with (
        Program(SERVING, "listener", PORT) as listener,
        Program(OTHER, "hammer", *targets(SERVING, NEAR, FAR)) as hammer,
    ):
        if accepts:
            listener.ask("accept")
            wait_until(lambda: listener.ask("accepted") > 10)
        wait_until(lambda: hammer.ask("count")["held"] > 10)
        assert listener.ask("restrict", "lo") is True
        wait_until(lambda: hammer.ask("count")["held"] == 0)
        assert wait_for_rounds(hammer) == 0


@pytest.mark.usefixtures("machines")
def test_a_port_kept_to_one_interface_is_closed_at_the_others() -> None:
    with (
        Program(SERVING, "listener", PORT) as listener,
        Program(OTHER, "hammer", *targets(SERVING, FAR)) as by_far,
        Program(SERVING, "hammer", f"127.0.0.1:{PORT}") as by_loopback,
        Program(OTHER, "hammer", *targets(SERVING, NEAR)) as by_near,
        Program(SERVING, "hammer", *targets(SERVING, NEAR)) as by_itself,
    ):
        listener.ask("accept")
        wait_until(lambda: listener.ask("accepted") > 10)
        assert listener.ask("restrict", NEAR) is True
        for hammer in (by_far, by_loopback):
            wait_until(lambda hammer=hammer: hammer.ask("count")["held"] == 0)  # type: ignore[misc]
            assert wait_for_rounds(hammer) == 0
        wait_until(lambda: wait_for_rounds(by_near) > 0)
        wait_until(lambda: wait_for_rounds(by_itself) > 0)  # the machine's own calls of its address


@pytest.mark.usefixtures("machines")
def test_a_handshake_that_began_before_is_waited_for_and_its_connection_ended() -> None:
    with (
        Program(SERVING, "listener", PORT) as listener,
        Program(OTHER, "slow_handshake", address(SERVING, NEAR), PORT) as stranger,
    ):
        listener.ask("accept")
        stranger.ask("begin")
        wait_until(lambda: listener.ask("handshakes") == 1)
        listener.tell("restrict", "lo")
        assert stranger.ask("finish") is True
        assert listener.hear() is True
        wait_until(lambda: stranger.ask("is_open") is False)


def test_connections_of_this_machine_by_loopback_stay() -> None:
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as early, server.accept()[0] as accepted:
            assert restrict([port], "lo")
            early.sendall(b"x")
            assert accepted.recv(1) == b"x"
            with socket.create_connection(("::1", port)):
                pass


def test_a_second_call_changes_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert restrict([port], "lo")
        assert restrict([port], "lo")
        assert server.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0") == b"lo"


def test_other_ports_of_the_process_stay_as_they_are() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_server(("127.0.0.1", 0)) as other:
        assert restrict([server.getsockname()[1]], "lo")
        assert not other.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16).rstrip(b"\0")
        assert other.getblocking()


def test_a_port_where_nobody_listens_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert not restrict([port], "lo")


def test_an_interface_that_is_not_there_is_named() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(listening.ClusterError, match="interface 'none0'"),
    ):
        restrict([server.getsockname()[1]], "none0")


def test_a_system_that_cannot_bind_sockets_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(listening, "_bind", refuse)
    assert "Operation not permitted" in str(why_not.__wrapped__())
    monkeypatch.delattr(socket, "SO_BINDTODEVICE")
    assert "only Linux" in str(why_not.__wrapped__())


@pytest.mark.parametrize("host", ["127.0.0.1", "127.77.0.3", "localhost", "::1"])
def test_hosts_of_loopback(host: str) -> None:
    assert is_loopback(host)
    assert interface_of(host) == "lo"


@pytest.mark.parametrize("host", ["10.77.0.9", "2001:db8::1", "0.0.0.0", "name.invalid", "a..b"])
def test_hosts_that_are_not_loopback_and_of_no_interface(host: str) -> None:
    assert not is_loopback(host)
    assert interface_of(host) is None


def test_the_interface_of_each_of_this_machines_addresses_is_found() -> None:
    for name, found in interface_addresses():
        assert interface_of(str(found)) == name


def test_names_are_told_from_addresses() -> None:
    assert [is_name(host) for host in ("node1", "localhost", "127.0.0.1", "::1", "fe80::1%eth0")] == [
        True,
        *[False] * 4,
    ]
