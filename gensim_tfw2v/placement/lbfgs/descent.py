"""What all descents do: each epoch evaluates loss and gradient at one point, and then the next point is chosen."""

from __future__ import annotations

import math
import threading
import zlib
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gensim_tfw2v.arrays import Float64Array
from gensim_tfw2v.blocks.chunk_task import BatchMetrics, ChunkTask, TrainedChunk
from gensim_tfw2v.corpus.positions import BEGINNING, PassPosition
from gensim_tfw2v.placement.contract import ModelTables, Placement
from gensim_tfw2v.placement.lbfgs.minimizer import Minimizer
from gensim_tfw2v.placement.lbfgs.vector_space import VectorSpace

_COORDINATOR = "coordinator"  # its name among the tasks that metrics are reported for


class InOrder:
    """Runs one action for each portion, by portion number from 0 on; safe to use from several threads.

    Parameters
    ----------
    most_ahead : int
        Portions that may begin before the action of the first of them has run. Results that wait take memory.
    """

    def __init__(self, most_ahead: int) -> None:
        self._most_ahead = most_ahead
        self._changed = threading.Condition()  # guards the next three
        self._next = 0
        self._ready: dict[int, Callable[[], None]] = {}
        self._has_failed = False
        self._adding = threading.Lock()  # held while actions run

    def begin(self) -> None:
        """Begin with number 0."""
        with self._changed:
            self._next, self._has_failed = 0, False
            self._ready.clear()

    def admit(self, number: int) -> None:
        """Wait until the portion of this number may begin."""
        with self._changed:
            self._changed.wait_for(lambda: number < self._next + self._most_ahead or self._has_failed)

    def add(self, number: int, action: Callable[[], None]) -> None:
        """Run the action once those of all earlier portions have run; another thread's call may do so later."""
        with self._changed:
            self._ready[number] = action
        with self._adding:
            while (following := self._take()) is not None:
                following()
                with self._changed:
                    self._next += 1
                    self._changed.notify_all()

    def _take(self) -> Callable[[], None] | None:
        with self._changed:
            return self._ready.pop(self._next, None)

    def fail(self) -> None:
        """End all waits, because a portion is missing."""
        with self._changed:
            self._has_failed = True
            self._changed.notify_all()


class DescentPlacement(Placement):
    """Evaluates loss and gradient at one point in each epoch, and has the minimizer judge each evaluation at its end.

    An epoch that another process had begun lacks the portions that were evaluated there, so it is not a whole
    evaluation. Its point is evaluated again in the next epoch.

    Parameters
    ----------
    history : int
        Pairs of steps and changes that the two-loop recursion uses.
    seed : int
        Seed of outputs that begin at random.
    most_ahead : int
        Portions that may begin before the gradient of the first of them is added.
    """

    epochs_may_overlap = False

    def __init__(self, history: int, seed: int, most_ahead: int) -> None:
        self._history, self._seed = history, seed
        self._minimizer: Minimizer | None = None  # until there are tables
        self._order = InOrder(most_ahead)
        self._known: dict[str, int] = {}  # fingerprint of the model's tables
        self._is_next_whole = True
        self._is_whole = True  # the present epoch evaluates all portions
        self._portions = 0  # those of the last whole evaluation, 0 before the first one ends
        self._lock = threading.Lock()  # guards the next two
        self._losses: list[float] = []
        self._begun = 0

    @property
    def minimizer(self) -> Minimizer:
        """Chooses the points to evaluate, once tables are loaded."""
        assert self._minimizer is not None
        return self._minimizer

    # -- tables --------------------------------------------------------------------------------------------------------

    @abstractmethod
    def _set_point(self, tables: ModelTables) -> VectorSpace:
        """Set the point to these tables, and return all vectors, which the first call makes."""

    @abstractmethod
    def _fill_outputs_randomly(self) -> None: ...

    def load(self, tables: ModelTables) -> None:
        if self._minimizer is not None and self._known == _fingerprint(tables):
            return
        space = self._set_point(tables)
        if self._minimizer is None:
            self._minimizer = Minimizer(space, self._history)
        if tables.outputs is not None and not tables.outputs.any():
            self._fill_outputs_randomly()
        self._minimizer.restart()

    def _remember(self, tables: ModelTables) -> None:
        """Remember these tables, which are the point: to load them again changes nothing."""
        self._known = _fingerprint(tables)

    # -- evaluations ---------------------------------------------------------------------------------------------------

    def begin_epoch(self, epoch: int, begin: PassPosition = BEGINNING) -> None:
        self.minimizer.propose()
        self._order.begin()
        with self._lock:
            self._losses, self._begun = [], 0
            self._is_whole, self._is_next_whole = self._is_next_whole, True

    def train_chunk(self, task: ChunkTask) -> TrainedChunk:
        number = task.entropy[-1]
        with self._lock:
            self._begun += 1
            is_last = self._begun == self._portions  # as far as is known
        try:
            if self._is_whole:
                self._order.admit(number)
            return self._evaluate(task, number, is_last)
        except BaseException:
            self._order.fail()
            raise

    @abstractmethod
    def _evaluate(self, task: ChunkTask, number: int, is_last: bool) -> TrainedChunk:
        """Evaluate the portion of this number, and have its gradient added if the evaluation is whole."""

    def _counted(
        self, losses: Float64Array, pairs: Float64Array, tokens: int, seconds_preparing: float, seconds_stepping: float
    ) -> TrainedChunk:
        """Count the losses [S] of a portion's batches, and return what the loop counts of the portion.

        Losses that are not finite belong to a step that is too long.
        """
        is_finite = np.isfinite(losses)
        loss = math.fsum(losses.tolist()) if is_finite.all() else math.inf
        with self._lock:
            self._losses.append(loss)
        nothing = np.zeros(len(losses), np.float32)
        return TrainedChunk(
            tokens=tokens,
            batches=BatchMetrics(np.where(is_finite, losses, 0).astype(np.float32), nothing, nothing),
            measured=is_finite,
            pairs=pairs,
            seconds_preparing=seconds_preparing,
            seconds_stepping=seconds_stepping,
        )

    def end_epoch(self, epoch: int) -> None:
        with self._lock:
            losses, self._losses = self._losses, []
        if self._is_whole and losses:
            self._portions = len(losses)
            self.minimizer.judge(math.fsum(losses))  # an exact sum, which does not depend on the order of portions

    # -- state and metrics ---------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        state = super().state()
        if self._minimizer is None:
            return state
        with self._lock:
            return {**state, "portions": len(self._losses)}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._is_next_whole = not state.get("portions")

    def _counts_of_runs(self) -> dict[str, int]:
        """Return what is counted of the portions' runs besides."""
        return {}

    def task_metrics(self) -> Mapping[str, Mapping[str, float]]:
        if self._minimizer is None:
            return super().task_metrics()
        steps = self._minimizer.steps
        own = {
            "evaluations": steps.evaluations,
            "accepted_steps": len(steps.lengths),
            "step_length": steps.lengths[-1] if steps.lengths else 0.0,
            "accepted_loss": steps.losses[-1] if steps.losses else 0.0,
            **self._counts_of_runs(),
        }
        return {**super().task_metrics(), _COORDINATOR: own}

    def report(self, raw_words: int) -> dict[str, Any] | None:
        found = super().report(raw_words)
        if self._minimizer is None:
            return found
        steps = self._minimizer.steps
        lbfgs = {
            "evaluations": steps.evaluations,
            "accepted_steps": len(steps.lengths),
            "losses": list(steps.losses),
            "step_lengths": list(steps.lengths),
            "restarts": steps.restarts,
            "is_stuck": steps.is_stuck,
            "portions": self._portions,
            **self._counts_of_runs(),
        }
        return {**(found or {"raw_words": raw_words}), "lbfgs": lbfgs, "tasks": self.task_metrics()}


def _fingerprint(tables: ModelTables) -> dict[str, int]:
    """Return checksums that show whether a callback has changed the tables."""
    arrays = {**tables.present(), "lock_factors": tables.lock_factors}
    return {name: zlib.crc32(np.ascontiguousarray(values).data) for name, values in arrays.items()}
