"""Tells servers that tables are still wanted, also while nobody trains on them: others would free them in the end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_RENEWALS = 60.0


class Keepalive:
    """Signs that `give` gives in a thread of its own, until `end` is called."""

    def __init__(self, give: Callable[[], None]) -> None:
        self._ended = threading.Event()
        threading.Thread(target=_repeat, args=(give, self._ended), name="tfw2v-life", daemon=True).start()

    def end(self) -> None:
        """Give none any more."""
        self._ended.set()


def _repeat(give: Callable[[], None], ended: threading.Event) -> None:
    while not ended.wait(SECONDS_BETWEEN_RENEWALS):
        try:
            give()
        except Exception as error:  # a server that is lost is reported by whoever needs its rows
            logger.debug("the servers do not answer: %s", error)
