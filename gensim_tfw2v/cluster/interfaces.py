"""Hosts of addresses → interfaces of this machine."""

from __future__ import annotations

import ctypes
import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

LOOPBACK = "lo"  # Linux gives the loopback interface no other name
LOOPBACK_ADDRESS = "127.0.0.1"
MOST_PORT = 2**16 - 1

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


class _InterfaceAddress(ctypes.Structure):
    """`struct ifaddrs` of the C library."""


_InterfaceAddress._fields_ = [
    ("next", ctypes.POINTER(_InterfaceAddress)),
    ("name", ctypes.c_char_p),
    ("flags", ctypes.c_uint),
    ("address", ctypes.c_void_p),
    ("netmask", ctypes.c_void_p),
    ("broadcast", ctypes.c_void_p),
    ("data", ctypes.c_void_p),
]
# Where the address stands in `struct sockaddr_in` and `struct sockaddr_in6`, and its length, in bytes.
_PLACES = {socket.AF_INET: (4, 4), socket.AF_INET6: (8, 16)}


def host_of(address: str) -> str:
    """Return the host of an address of the form host:port, without the brackets of an IPv6 address."""
    return address.rpartition(":")[0].strip("[]")


def addresses_of_host(host: str) -> list[IPAddress]:
    """Return the addresses that a host's name stands for on this machine, none for an unknown name."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # UnicodeError: the name is not a valid one
        return []
    return list(dict.fromkeys(ip_address(str(address[4][0])) for address in found))


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address is that of the loopback interface alone."""
    found = addresses_of_host(host)
    return bool(found) and all(address.is_loopback for address in found)


def is_name(host: str) -> bool:
    """Return whether a host is given by a name that may stand for something else on another machine."""
    try:
        ip_address(host)
    except ValueError:
        return host != "localhost"
    return False


def interface_of(host: str) -> str | None:
    """Return the interface of this machine that has an address of this host, None if no interface has one."""
    wanted = addresses_of_host(host)
    if wanted and all(address.is_loopback for address in wanted):
        return LOOPBACK
    interfaces = {address: name for name, address in interface_addresses()}
    return next((interfaces[address] for address in wanted if address in interfaces), None)


def interface_addresses() -> Iterator[tuple[str, IPAddress]]:
    """Yield name and address for every address of this machine's interfaces, without those of loopback."""
    library: Any = ctypes.CDLL(None, use_errno=True)
    first = ctypes.POINTER(_InterfaceAddress)()
    if library.getifaddrs(ctypes.byref(first)):
        raise OSError(ctypes.get_errno(), "the interfaces of this machine cannot be listed")
    try:
        entry = first
        while entry:
            found = _address_at(entry.contents.address)
            if found is not None and not found.is_loopback:
                yield entry.contents.name.decode(), found
            entry = entry.contents.next
    finally:
        library.freeifaddrs(first)


def ip_address(text: str) -> IPAddress:
    """Return an address without its zone; an IPv4 address that is written as an IPv6 one is returned as IPv4."""
    found = ipaddress.ip_address(text.partition("%")[0])
    return getattr(found, "ipv4_mapped", None) or found


def _address_at(place: int | None) -> IPAddress | None:
    """Return the address in a `struct sockaddr` in memory, None if there is none of IPv4 or IPv6."""
    if not place:
        return None
    family = ctypes.c_ushort.from_address(place).value
    if family not in _PLACES:
        return None
    offset, length = _PLACES[socket.AddressFamily(family)]
    return ipaddress.ip_address(ctypes.string_at(place + offset, length))
