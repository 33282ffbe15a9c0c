"""Tells servers that tables are still wanted, also while nobody trains on them: others would free them in the end."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gensim_tfw2v.cluster.tables import ServerTables

logger = logging.getLogger(__name__)

SECONDS_BETWEEN_SIGNS = 60.0


class SignsOfLife:
    """Signs from a thread of their own, until `end` is called."""

    def __init__(self, tables: ServerTables) -> None:
        self._ended = threading.Event()
        threading.Thread(target=_give, args=(tables, self._ended), name="tfw2v-life", daemon=True).start()

    def end(self) -> None:
        """Give none any more."""
        self._ended.set()


def _give(tables: ServerTables, ended: threading.Event) -> None:
    while not ended.wait(SECONDS_BETWEEN_SIGNS):
        try:
            tables.touch()
        except Exception as error:  # a server that is lost is reported by whoever needs its rows
            logger.debug("the servers do not answer: %s", error)
