"""Leases on servers' tables: names that show another coordinator whose they are, and renewal while nobody trains."""

from __future__ import annotations

import functools
import logging
import os
import platform
import re
import secrets
import threading
from collections.abc import Callable

from gensim_tfw2v.runtime.processes import is_running, machine_name

logger = logging.getLogger(__name__)

_SECONDS_BETWEEN_RENEWALS = 60.0
_NAME = re.compile(r".*/(?P<machine>[^/]*)/(?P<process>[1-9][0-9]{0,8})/(?P<token>[^/]*)/[^/]*", re.DOTALL)


def lease_name(number: int) -> str:
    """Return the name of this process's lease of that number, which no other process ever has."""
    process = os.getpid()
    return f"{platform.node()}/{machine_name()}/{process}/{_token(process)}/{number}"


def owner_has_died(lease: str) -> bool:
    """Return whether a lease's process is known to have ended; that is only known of this machine's processes."""
    found = _NAME.fullmatch(lease)  # None for names that no version of this package gives to leases
    return found is not None and found["machine"] == machine_name() and not is_running(int(found["process"]))


def is_ours(lease: str) -> bool:
    """Return whether a lease is this process's own."""
    found = _NAME.fullmatch(lease)
    return found is not None and found["token"] == _token(os.getpid())


@functools.cache
def _token(process: int) -> str:
    """Return a random name of this process. Later processes with its number have other names, as has a forked child."""
    return secrets.token_hex(8)


class Keepalive:
    """Calls `renew` every minute in a thread of its own, until `end` is called.

    Others may free the tables of a lease that has run out.
    """

    def __init__(self, renew: Callable[[], None]) -> None:
        self._ended = threading.Event()
        threading.Thread(target=_repeat, args=(renew, self._ended), name="tfw2v-keepalive", daemon=True).start()

    def end(self) -> None:
        """Stop renewing."""
        self._ended.set()


def _repeat(renew: Callable[[], None], ended: threading.Event) -> None:
    while not ended.wait(_SECONDS_BETWEEN_RENEWALS):
        try:
            renew()
        except Exception as error:  # calls that need a lost server's rows report the loss
            logger.debug("the servers do not answer: %s", error)
