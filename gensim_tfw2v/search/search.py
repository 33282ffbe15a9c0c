"""One search: trains candidates by rounds, each only once, and remembers the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.search.halving import Round, epochs_of, successive_halving
from gensim_tfw2v.search.metrics import Metric
from gensim_tfw2v.search.results import ResultsFile, Trial
from gensim_tfw2v.search.space import Settings

COMPLETE, OUT_OF_BUDGET, INTERRUPTED = "complete", "out of budget", "interrupted"


@dataclass(frozen=True)
class SearchResult:
    """What a search has found.

    Parameters
    ----------
    metric : str
        What models were compared by.
    trials : tuple of Trial
        All trainings, the best first.
    default : Trial
        The training with the default settings and epochs.
    ended : str
        ``"complete"``, ``"out of budget"`` or ``"interrupted"``.
    """

    metric: str
    trials: tuple[Trial, ...]
    default: Trial
    ended: str

    @property
    def best(self) -> Trial:
        """The training with the best value, the first of equal ones."""
        return self.trials[0]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `TFWord2Vec` that train the best settings."""
        return self.best.arguments


Report = Callable[[Trial, Trial, float], None]
"""Receives a training that has ended, the best one so far, and which part of all epochs is trained."""


class _OutOfBudgetError(Exception):
    """No further training may begin."""


Measure = Callable[[Settings, int], float | None]
"""Trains settings for so many epochs, and returns the value of the metric; None if there is none."""


class Search:
    """Trains candidates by rounds. Nothing here knows how a model is trained or measured.

    Parameters
    ----------
    measure : callable
        Trains and measures.
    metric : Metric
        What models are compared by.
    known : ResultsFile
        Trainings that need not be done again. New ones are added.
    budget : float, optional
        Seconds after which no training begins, but for the first one.
    reports : sequence of callable
        Called after each training.
    """

    def __init__(
        self, measure: Measure, metric: Metric, known: ResultsFile, budget: float | None, reports: Sequence[Report]
    ) -> None:
        self._measure, self._metric, self._known, self._reports = measure, metric, known, reports
        self._deadline = None if budget is None else time.monotonic() + budget
        self._trials: list[Trial] = []
        self._all_epochs = self._epochs = 0

    def run(
        self, default: Settings, default_epochs: int, candidates: Sequence[Settings], plan: Sequence[Round]
    ) -> SearchResult:
        """Train the default settings, and then the candidates by rounds."""
        self._all_epochs = default_epochs + epochs_of(plan)
        ended = COMPLETE
        try:
            self._value_of(default, default_epochs)
            successive_halving(candidates, plan, self._value_of)
        except _OutOfBudgetError:
            ended = OUT_OF_BUDGET
        except KeyboardInterrupt:
            ended = INTERRUPTED
            if not self._trials:
                raise
        ranked = sorted(self._trials, key=self._value_to_raise, reverse=True)
        return SearchResult(self._metric.name, tuple(ranked), self._trials[0], ended)

    def _value_of(self, settings: Settings, epochs: int) -> float:
        """Return the value of a training, to be raised, which may be known already."""
        found = self._known.find(settings, epochs)
        if found is None:
            if self._trials and self._deadline is not None and time.monotonic() > self._deadline:
                raise _OutOfBudgetError
            began = time.perf_counter()
            value = self._measure(settings, epochs)
            found = Trial(settings, epochs, value, time.perf_counter() - began)
            self._known.add(found)
        if found not in self._trials:
            self._trials.append(found)
        self._epochs += epochs
        for report in self._reports:
            report(found, self._best(), self._epochs / self._all_epochs)
        return self._value_to_raise(found)

    def _best(self) -> Trial:
        return max(self._trials, key=self._value_to_raise)

    def _value_to_raise(self, trial: Trial) -> float:
        return self._metric.value_to_raise(trial.value)
