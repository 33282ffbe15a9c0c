"""Who can reach the ports of this process: only this machine, unless a network is allowed."""

from __future__ import annotations

import functools
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.cluster.errors import ClusterError
from gensim_tfw2v.cluster.interfaces import LOOPBACK, host_of, interface_of, is_loopback, is_name
from gensim_tfw2v.cluster.listening import restrict, why_not
from gensim_tfw2v.cluster.specification import JOBS, addresses_of, named_tasks, port_of
from gensim_tfw2v.runtime.system import why_no_cluster

logger = logging.getLogger(__name__)

_restricted: set[int] = set()  # ports of this process as a coordinator


@dataclass(frozen=True)
class Exposure:
    """What a task's port is open to.

    Parameters
    ----------
    interface : str, optional
        The interface whose connections are answered; None for every interface.
    """

    address: str
    interface: str | None

    def apply(self) -> None:
        """Make this process's port answer only the interface; raise ClusterError if that is impossible."""
        if self.interface is not None and not restrict([port_of(self.address)], self.interface):
            raise ClusterError(f"this process does not listen at {self.address}")

    def __str__(self) -> str:
        if self.interface == LOOPBACK:
            return "this machine alone"
        of_all = "every network interface" if self.interface is None else f"network interface {self.interface}"
        return f"{of_all}; whoever reaches {self.address} can run code here and read what is sent"


def exposure_of(task: str, address: str, allow_network: bool, insecure: bool) -> Exposure:
    """Return what the port of a task of this process is open to.

    Parameters
    ----------
    task : str
        Its job and number.
    insecure : bool
        Whether the port is open to every interface if this system cannot keep it to one.

    Raises
    ------
    ClusterError
        If the address is on a network and no network is allowed, or this system cannot keep a port to one interface.
    """
    check_allowed({task: address}, allow_network)
    host = host_of(address)
    interface = interface_of(host)
    reason = why_not()
    if allow_network and interface == LOOPBACK and is_name(host):
        reason = f"{host} is this machine's loopback here, which no other machine reaches; name an address of a network"
    elif interface is None and reason is None:
        reason = f"no network interface of this machine has the address {host}"
    if reason is None:
        return Exposure(address, interface)
    if not insecure:
        raise ClusterError(
            f"{task} cannot keep its port to the interface of {address}: {reason}. Give --insecure to open the port on "
            "every network interface, where whoever reaches it can run code as this user"
        )
    return Exposure(address, None)


def check_cluster(cluster: Any, allow_network: bool) -> None:
    """Raise TypeError or ValueError if this is no cluster, ClusterError if it is on a network and none is allowed."""
    check_allowed(named_tasks(addresses_of(cluster), JOBS), allow_network)


def check_allowed(tasks: Mapping[str, str], allow_network: bool) -> None:
    """If no network is allowed, raise a ClusterError that names the first task, of addresses by name, on a network.

    Raise one as well if this system cannot take part in a cluster.
    """
    check_system()
    if allow_network:
        return
    for task, address in tasks.items():
        if not is_loopback(host_of(address)):
            raise ClusterError(
                f"{task} at {address} is on a network, where nothing is encrypted and whoever reaches a port can run "
                "code: allow that with allow_network=True (--allow-network) if you trust everybody there, or use "
                "cluster/tunnel.sh (docs/how-to/encrypt.md)"
            )


def check_system() -> None:
    """Raise ClusterError if this system cannot take part in a cluster."""
    if (reason := why_no_cluster()) is not None:
        raise ClusterError(reason)


def keep_to_this_machine(ports: Collection[int]) -> None:
    """Make ports of this process answer only this machine; warn once if that is impossible.

    Parameters
    ----------
    ports : collection of int
        Ports. This process listens on at least one of them, or did so in an earlier call.
    """
    if warn_if_open():
        return
    if restrict(ports, LOOPBACK):
        _restricted.update(ports)
        logger.info("this process answers TensorFlow's calls from this machine alone (interface %s)", LOOPBACK)
    elif not _restricted:
        logger.warning("TensorFlow's port was not found among %s; it may be open on every interface", sorted(ports))


def warn_if_open() -> bool:
    """Return whether this system cannot keep ports to this machine; the first time, warn."""
    reason = why_not()
    if reason is not None:
        _warn_once(reason)
    return reason is not None


@functools.cache
def _warn_once(reason: str) -> None:
    logger.warning(
        "the ports of this process and of its local tasks are open on every network interface, and whoever reaches "
        "them can run code as this user: keep them behind a firewall. This system cannot keep them to this machine: %s",
        reason,
    )
