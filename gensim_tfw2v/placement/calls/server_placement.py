"""The part of a placement with tables on servers that its `ServerTraining` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gensim_tfw2v.arrays import Float32Array
from gensim_tfw2v.placement.calls.ramp_up import RampUp
from gensim_tfw2v.placement.calls.server_training import ServerTraining
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.remote.left_tables import take_over
from gensim_tfw2v.placement.state import PlacementState


class ServerPlacement(Placement):
    """Leaves everything except the training of chunks to a `ServerTraining`.

    Parameters
    ----------
    ramp_up : RampUp, optional
        How many blocks may be in flight. A placement that resumes from another one's state continues that one's
        ramp-up.
    """

    can_fail = True

    def __init__(self, training: ServerTraining, ramp_up: RampUp | None = None) -> None:
        self.training = training
        self._ramp_up = ramp_up

    @property
    def has_failed(self) -> bool:
        return self.training.has_failed

    def load(self, tables: ModelTables) -> None:
        self.training.load(tables)

    def read_into(self, tables: ModelTables) -> None:
        self.training.read_into(tables)

    def rows(self, table: str, first: int, end: int) -> Float32Array:
        return self.training.rows(table, first, end)

    def state(self) -> dict[str, Any]:
        blocks = 0 if self._ramp_up is None else self._ramp_up.done
        return PlacementState(lease=self.training.tables.name, blocks=blocks).to_json()

    def restore(self, state: Mapping[str, Any]) -> None:
        if self._ramp_up is not None:
            self._ramp_up.done = PlacementState.from_json(state).blocks or 0
        take_over(state)

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        return self.training.task_metrics()

    def report(self, raw_words: int) -> dict[str, Any] | None:
        return self.training.report(raw_words)

    def close(self) -> None:
        self.training.close()
