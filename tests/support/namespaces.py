"""Two emulated machines in network namespaces, joined by two links and cut off from all else."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.child_process import environment

SERVING, OTHER = "serving", "other"
NEAR, FAR = "near0", "far0"  # the interfaces of each machine
_NETWORKS = {NEAR: "10.77.0", FAR: "10.77.1"}
_HOSTS = {SERVING: 1, OTHER: 2}
PROGRAMS = Path(__file__).parent / "port_programs"


def address(machine: str, interface: str) -> str:
    """Return the IPv4 address of a machine's interface."""
    return f"{_NETWORKS[interface]}.{_HOSTS[machine]}"


def inside(machine: str) -> list[str]:
    """Return what a command begins with to run on a machine."""
    return ["ip", "netns", "exec", _space(machine)]


@contextlib.contextmanager
def two_machines() -> Iterator[None]:
    """Have the machines meanwhile; skip the test where they cannot be made."""
    if (reason := why_not()) is not None:
        pytest.skip(f"network namespaces cannot be made here: {reason}")
    try:
        _make()
        yield
    finally:
        _remove()


@functools.cache
def why_not() -> str | None:
    """Return why machines cannot be made here, None if they can."""
    if os.geteuid() != 0:
        return "that needs root"
    if shutil.which("ip") is None:
        return "there is no program 'ip'"
    try:
        _make()
    except subprocess.CalledProcessError as error:
        return str(error.stderr).strip()
    finally:
        _remove()
    return None


class Program:
    """A program on a machine that reads commands from standard input and answers each by a line of JSON."""

    def __init__(self, machine: str, name: str, *arguments: object, **variables: str) -> None:
        command = [*inside(machine), sys.executable, str(PROGRAMS / f"{name}.py"), *map(str, arguments)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment() | variables
        )

    def ask(self, *command: str) -> Any:
        """Return the answer to a command."""
        self.tell(*command)
        return self.hear()

    def tell(self, *command: str) -> None:
        """Send a command and do not wait."""
        assert self._process.stdin is not None
        self._process.stdin.write(" ".join(command) + "\n")
        self._process.stdin.flush()

    def hear(self) -> Any:
        """Return the next answer."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the program has ended"
        return json.loads(line)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def limit_ports(machine: str, ports: range) -> None:
    """Make a machine choose free ports among these."""
    write = f"echo {ports.start} {ports.stop - 1} >/proc/sys/net/ipv4/ip_local_port_range"
    subprocess.run([*inside(machine), "sh", "-c", write], check=True)


def wait_for_rounds(hammer: Program, rounds: int = 5) -> int:
    """Return how many connections a hammer opens in some whole rounds from now on."""
    opened = made = 0
    hammer.ask("count")
    while made <= rounds:  # the first round may have begun before
        time.sleep(0.05)
        found = hammer.ask("count")
        opened += found["opened"]
        made += found["rounds"]
    return opened


def _space(machine: str) -> str:
    return f"tfw2v-test-{os.getpid()}-{machine}"


def _make() -> None:
    for machine in _HOSTS:
        _ip("netns", "add", _space(machine))
        _ip("-n", _space(machine), "link", "set", "lo", "up")
    for interface in _NETWORKS:
        ends = [["name", interface, "netns", _space(machine)] for machine in _HOSTS]
        _ip("link", "add", *ends[0], "type", "veth", "peer", *ends[1])
        for machine in _HOSTS:
            _ip("-n", _space(machine), "address", "add", f"{address(machine, interface)}/24", "dev", interface)
            _ip("-n", _space(machine), "link", "set", interface, "up")


def _remove() -> None:
    for machine in _HOSTS:
        subprocess.run(["ip", "netns", "delete", _space(machine)], capture_output=True, check=False)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
