"""Renews a lease on servers, also while nobody trains: others may free the tables of a lease that has run out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_RENEWALS = 60.0


class Keepalive:
    """Calls `renew` every minute in a thread of its own, until `end` is called."""

    def __init__(self, renew: Callable[[], None]) -> None:
        self._ended = threading.Event()
        threading.Thread(target=_repeat, args=(renew, self._ended), name="tfw2v-keepalive", daemon=True).start()

    def end(self) -> None:
        """Stop renewing."""
        self._ended.set()


def _repeat(renew: Callable[[], None], ended: threading.Event) -> None:
    while not ended.wait(SECONDS_BETWEEN_RENEWALS):
        try:
            renew()
        except Exception as error:  # calls that need a lost server's rows report the loss
            logger.debug("the servers do not answer: %s", error)
