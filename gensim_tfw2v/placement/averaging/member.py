"""A worker that averages its rows with others, as the coordinator has it."""

from __future__ import annotations

from typing import Any

from gensim_tfw2v.cluster.connection import Connection
from gensim_tfw2v.placement.averaging.worker_tables import WorkerTables
from gensim_tfw2v.placement.calls.member import Member


class AveragingMember(Member):
    """One worker of a training in rounds.

    Attributes
    ----------
    tables : WorkerTables or None
        None while the worker takes no part.
    partners : Any
        Directions that the worker's last part has found.
    """

    def __init__(self, number: int, connection: Connection) -> None:
        super().__init__(number, connection)
        self.tables: WorkerTables | None = None
        self.partners: Any = None
