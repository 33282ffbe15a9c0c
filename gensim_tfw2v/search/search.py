"""One search: trains candidates by rounds, each only once, and remembers the best."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gensim_tfw2v.search.corpora import SearchCorpora
from gensim_tfw2v.search.halving import Round, epochs_of, successive_halving
from gensim_tfw2v.search.metrics import Metric
from gensim_tfw2v.search.results import ResultsFile, Trial
from gensim_tfw2v.search.space import Settings
from gensim_tfw2v.training.divergence import DivergenceError
from gensim_tfw2v.word2vec import TFWord2Vec

logger = logging.getLogger(__name__)

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


class Search:
    """Trains candidates on the corpora of a search.

    Parameters
    ----------
    corpora : SearchCorpora
        What is trained, and what models are measured on.
    metric : Metric
        What models are compared by.
    known : ResultsFile
        Trainings that need not be done again. New ones are added.
    common : dict
        Arguments of `TFWord2Vec` that are no settings: `seed` and `workers`.
    budget : float, optional
        Seconds after which no training begins, but for the first one.
    reports : sequence of callable
        Called after each training.
    """

    def __init__(
        self,
        corpora: SearchCorpora,
        metric: Metric,
        known: ResultsFile,
        common: dict[str, Any],
        budget: float | None,
        reports: Sequence[Report],
    ) -> None:
        self._corpora, self._metric, self._known, self._common = corpora, metric, known, common
        self._deadline = None if budget is None else time.monotonic() + budget
        self._reports = reports
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
            found = self._train(settings, epochs)
            self._known.add(found)
        if found not in self._trials:
            self._trials.append(found)
        self._epochs += epochs
        for report in self._reports:
            report(found, self._best(), self._epochs / self._all_epochs)
        return self._value_to_raise(found)

    def _train(self, settings: Settings, epochs: int) -> Trial:
        began = time.perf_counter()
        try:
            model = TFWord2Vec(
                corpus_file=str(self._corpora.trained.folder),
                epochs=epochs,
                progress=False,
                **self._common,
                **settings,
            )
        except DivergenceError as error:
            logger.info("training with %s diverged: %s", settings, error)
            return Trial(settings, epochs, None, time.perf_counter() - began)
        value = self._metric.measure(model, str(self._corpora.held_out.folder))
        return Trial(settings, epochs, value if math.isfinite(value) else None, time.perf_counter() - began)

    def _best(self) -> Trial:
        return max(self._trials, key=self._value_to_raise)

    def _value_to_raise(self, trial: Trial) -> float:
        return self._metric.value_to_raise(trial.value)
