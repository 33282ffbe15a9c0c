"""A descent over epochs: each epoch evaluates loss and gradient at one point, and then the next point is chosen."""

from __future__ import annotations

import math
import threading
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, TrainedChunk
from gensim_tfw2v.placement.contract import ModelTables
from gensim_tfw2v.placement.lbfgs.in_order import InOrder
from gensim_tfw2v.placement.lbfgs.minimizer import Minimizer
from gensim_tfw2v.placement.lbfgs.vector_space import VectorSpace

COORDINATOR = "coordinator"  # its name among the tasks that metrics are reported for


class Descent:
    """Counts the portions of evaluations, and has the minimizer judge each evaluation at its end.

    An epoch that another process had begun lacks the portions that were evaluated there, so it is not a whole
    evaluation. Its point is evaluated again in the next epoch.
    """

    def __init__(self, space: VectorSpace, history: int, most_ahead: int) -> None:
        self.minimizer = Minimizer(space, history)
        self.order = InOrder(most_ahead)
        self.is_whole = True  # the present epoch evaluates all portions
        self.portions_of_evaluation = 0  # those of the last whole evaluation, 0 before the first one ends
        self._lock = threading.Lock()  # guards the next two
        self._losses: list[float] = []
        self._begun = 0

    def begin(self, is_whole: bool) -> None:
        """Set the point of an evaluation."""
        self.minimizer.propose()
        self.order.begin()
        with self._lock:
            self._losses, self._begun, self.is_whole = [], 0, is_whole

    def begin_portion(self) -> bool:
        """Count a portion as begun, and return whether it is known to be the evaluation's last one."""
        with self._lock:
            self._begun += 1
            return self._begun == self.portions_of_evaluation

    def end_portion(self, losses: Float64Array) -> None:
        """Count the losses [S] of a portion's batches."""
        loss = math.fsum(losses.tolist()) if np.isfinite(losses).all() else math.inf
        with self._lock:
            self._losses.append(loss)

    def end(self) -> None:
        """End the epoch, and choose the point that the next one evaluates."""
        with self._lock:
            # Exact sums do not depend on the order of the portions.
            losses, self._losses = self._losses, []
        if self.is_whole and losses:
            self.portions_of_evaluation = len(losses)
            self.minimizer.judge(math.fsum(losses))

    def state(self) -> dict[str, Any]:
        """Return what `is_whole_after` needs to know in another process."""
        with self._lock:
            return {"portions": len(self._losses)}

    def metrics(self) -> dict[str, dict[str, float]]:
        """Return the coordinator's metrics so far."""
        steps = self.minimizer.steps
        return {
            COORDINATOR: {
                "evaluations": steps.evaluations,
                "accepted_steps": len(steps.lengths),
                "step_length": steps.lengths[-1] if steps.lengths else 0.0,
                "accepted_loss": steps.losses[-1] if steps.losses else 0.0,
            }
        }

    def report(self) -> dict[str, Any]:
        """Return the results of the evaluations so far."""
        steps = self.minimizer.steps
        return {
            "evaluations": steps.evaluations,
            "accepted_steps": len(steps.lengths),
            "losses": list(steps.losses),
            "step_lengths": list(steps.lengths),
            "restarts": steps.restarts,
            "is_stuck": steps.is_stuck,
            "portions": self.portions_of_evaluation,
        }


def is_whole_after(state: Mapping[str, Any]) -> bool:
    """Return whether the next epoch evaluates all portions when a training resumes from this state."""
    return not state.get("portions")


def fingerprint(tables: ModelTables) -> dict[str, int]:
    """Return checksums that show whether a callback has changed the tables."""
    arrays = {**tables.present(), "lock_factors": tables.lock_factors}
    return {name: zlib.crc32(np.ascontiguousarray(values).data) for name, values in arrays.items()}


def trained(
    losses: Float64Array, pairs: Float64Array, tokens: int, seconds_preparing: float, seconds_stepping: float
) -> TrainedChunk:
    """Return what the loop counts of a portion. Losses that are not finite belong to a step that is too long."""
    is_finite = np.isfinite(losses)
    nothing = np.zeros(len(losses), np.float32)
    return TrainedChunk(
        tokens=tokens,
        batches=BatchMetrics(np.where(is_finite, losses, 0).astype(np.float32), nothing, nothing),
        measured=is_finite,
        pairs=pairs,
        seconds_preparing=seconds_preparing,
        seconds_stepping=seconds_stepping,
    )
