"""A network for emulated machines: each has a namespace and an address of its own, joined by a switch in another one.

Nothing of it can be reached from this machine's own network, or reaches out.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from measuring.checkout import use_checkout

_PREFIX = "tfw2v-node-"
_SWITCH = f"{_PREFIX}switch"
_BRIDGE = "bridge0"
_PORT = 23450
_TBF = ("burst", "256kb", "latency", "50ms")
_NOBODY = "02:00:00:00:00:01"  # an Ethernet address that no machine has


class NetworkError(Exception):
    """This machine does not let us make the network; says why."""


class Network:
    """Machines by name, each on a link of at most `rate` in either direction ("1gbit"; None: unlimited)."""

    def __init__(self, names: Sequence[str], rate: str | None) -> None:
        clear()
        self.addresses = {name: f"10.0.{number // 250}.{number % 250 + 1}" for number, name in enumerate(names)}
        try:
            _run("ip", "netns", "add", _SWITCH)
            _run("ip", "-n", _SWITCH, "link", "add", "name", _BRIDGE, "type", "bridge")
            _run("ip", "-n", _SWITCH, "link", "set", _BRIDGE, "up")
            for name, address in self.addresses.items():
                self._plug_in(name, address, rate)
        except BaseException:
            self.close()
            raise

    def _plug_in(self, name: str, address: str, rate: str | None) -> None:
        space = _PREFIX + name
        _run("ip", "netns", "add", space)
        _run("ip", "-n", _SWITCH, "link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", space)
        _run("ip", "-n", _SWITCH, "link", "set", name, "master", _BRIDGE, "up")
        _run("ip", "-n", space, "address", "add", f"{address}/16", "dev", "eth0")
        for interface in ("lo", "eth0"):
            _run("ip", "-n", space, "link", "set", interface, "up")
        if rate is not None:
            self.set_rate(name, rate)

    def address(self, name: str) -> str:
        """Return where a machine's task listens."""
        return f"{self.addresses[name]}:{_PORT}"

    def inside(self, name: str) -> list[str]:
        """Return what a command has to begin with to run on a machine."""
        return ["ip", "netns", "exec", _PREFIX + name]

    def set_link(self, name: str, is_up: bool) -> None:
        """Take a machine's link down, as if its cable was pulled, or up again."""
        _run("ip", "-n", _SWITCH, "link", "set", name, "up" if is_up else "down")

    def set_rate(self, name: str, rate: str | None) -> None:
        """Limit a machine's link to a rate in either direction; None: no limit, where there was one."""
        for where, interface in ((_SWITCH, name), (_PREFIX + name, "eth0")):
            root = ("dev", interface, "root")
            limit = ("replace", *root, "tbf", "rate", rate, *_TBF) if rate is not None else ("del", *root)
            _run("tc", "-n", where, "qdisc", *limit)

    def set_path(self, sender: str, receiver: str, is_open: bool) -> None:
        """Have all that a machine sends to another one be lost, or arrive again."""
        entry = (self.addresses[receiver], "dev", "eth0")
        change = ("del", *entry) if is_open else ("replace", *entry, "lladdr", _NOBODY, "nud", "permanent")
        _run("ip", "-n", _PREFIX + sender, "neigh", *change)

    def sent_bytes(self) -> dict[str, int]:
        """Return the bytes that each machine has sent so far, as the switch has received them."""
        return self._counts(0)

    def received_bytes(self) -> dict[str, int]:
        """Return the bytes that each machine has received so far, as the switch has sent them."""
        return self._counts(8)

    def _counts(self, column: int) -> dict[str, int]:
        """Return a column of the counters of the switch's interface to each machine."""
        lines = _run("ip", "netns", "exec", _SWITCH, "cat", "/proc/net/dev").splitlines()
        counts = {name.strip(): numbers.split() for name, _, numbers in (line.partition(":") for line in lines)}
        return {name: int(counts[name][column]) for name in self.addresses}

    def close(self) -> None:
        """Remove it all."""
        clear()


class Loopback:
    """Plain processes of this machine in the place of emulated machines."""

    def __init__(self, names: Sequence[str]) -> None:
        use_checkout()
        from gensim_tfw2v.cluster.local import free_addresses

        self.addresses = dict(zip(names, free_addresses(len(names)), strict=True))

    def address(self, name: str) -> str:
        """Return where a task listens."""
        return self.addresses[name]

    def inside(self, name: str) -> list[str]:
        """Return nothing: a command runs as it is."""
        return []

    def sent_bytes(self) -> dict[str, int]:
        """Return nothing: processes that share loopback cannot be told apart."""
        return {}

    received_bytes = sent_bytes

    def close(self) -> None:
        """There is nothing to remove."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Prevent a second benchmark on emulated machines at the same time: each removes all of them that it finds."""
    with open(Path(tempfile.gettempdir()) / "tfw2v-nodes.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit("error: another benchmark on emulated machines is running on this machine") from None
        yield


def why_not(rate: str | None) -> str | None:
    """Return why such a network cannot be made here, None if it can."""
    if os.geteuid() != 0:
        return "that needs root"
    if missing := [program for program in ("ip", "tc") if shutil.which(program) is None]:
        return f"there is no program {missing[0]!r}"
    try:
        Network(["one"], rate).close()
    except NetworkError as error:
        return str(error)
    return None


def clear() -> None:
    """Remove what this run, or an earlier one that was killed, has made, with the processes in it."""
    for line in _run("ip", "netns", "list").splitlines():
        space = line.split()[0] if line else ""
        if space.startswith(_PREFIX):
            for process in _run("ip", "netns", "pids", space).split():
                os.kill(int(process), signal.SIGKILL)
            _run("ip", "netns", "delete", space)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NetworkError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
    return done.stdout
