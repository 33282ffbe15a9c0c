"""`tune()`: a corpus and a metric → the settings of `TFWord2Vec` that are best, by successive halving."""

from __future__ import annotations

import contextlib
import inspect
import logging
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gensim_tfw2v import tuning
from gensim_tfw2v.arguments.rules import PositiveNumber, WholeNumber
from gensim_tfw2v.runtime.tensorflow import is_tensorflow_loaded, load_tensorflow
from gensim_tfw2v.search.corpora import SearchCorpora, check_corpora, encode_corpora
from gensim_tfw2v.search.halving import plan_rounds
from gensim_tfw2v.search.metrics import Metric, metric_of
from gensim_tfw2v.search.results import ResultsFile, Trial
from gensim_tfw2v.search.search import Report, Search, SearchResult
from gensim_tfw2v.search.space import default_candidate, dimensions_for, draw_candidates, first_candidate
from gensim_tfw2v.training.display import FractionBar, shown_while, wants_bar
from gensim_tfw2v.training.divergence import DivergenceError
from gensim_tfw2v.word2vec import TFWord2Vec

logger = logging.getLogger(__name__)

_SIZE = WholeNumber(1, is_int=True)
_BUDGET = PositiveNumber(unit="seconds", or_none=True)


def tune(
    corpus: str | os.PathLike[str],
    *,
    metric: str | Callable[[Any], float] = "hits@10",
    trials: int = 27,
    epochs: int = 27,
    rounds: int = 3,
    space: Mapping[str, Sequence[Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    validation: float | str | os.PathLike[str] = 0.1,
    share: float | None = None,
    items: bool = False,
    budget: float | None = None,
    results: str | os.PathLike[str] | None = None,
    pairs: Sequence[str] | None = None,
    analogies: Sequence[str] | None = None,
    column: str | None = None,
    seed: int = 1,
    workers: int = 3,
    cache_dir: str | None = None,
    progress: bool | None = None,
    report: Report | None = None,
) -> SearchResult:
    """Search settings of `TFWord2Vec` for a corpus by successive halving.

    The first round trains all candidates for a few epochs. Each further round trains the best third for three times as
    many epochs, from the beginning, so that the learning rate falls to its end in every training. The default settings
    are one of the candidates, except for `items`. They are also trained for the default number of epochs. An interrupt
    (Ctrl-C) ends the search with the best settings so far.

    Parameters
    ----------
    corpus : str or os.PathLike
        A file of one sentence a line, a table, a folder of these, or an encoded corpus. It is encoded once.
    metric : {"hits@10", "ndcg@10", "halves", "score", "loss"} or callable, optional
        What models are compared by (``docs/how-to/search-settings.md`` says which to choose). A function takes a model
        and returns a number, which is higher for better models.
    trials : int, optional
        Candidates of the first round.
    epochs : int, optional
        Epochs of the last round.
    rounds : int, optional
        Number of rounds, at most.
    space : mapping, optional
        Lists of values to try, by the names of settings, in place of the usual ones.
    settings : mapping, optional
        Settings that all trainings have.
    validation : float or str or os.PathLike, optional
        The share of the sentences that is held out, or a corpus to measure on.
    share : float, optional
        The share of the other sentences that is trained. A part of a large corpus is enough to compare settings. By
        default all, or with `items` a tenth, but at least 10,000 sentences.
    items : bool, optional
        Whether sentences are sessions of items. The search then begins from settings that suit them, and tries values
        around these.
    budget : float, optional
        Seconds after which no training begins.
    results : str or os.PathLike, optional
        A file to which every training is appended. A search that is started again with it trains only what is missing.
    pairs, analogies : sequence of str, optional
        Files for the metric ``"score"``; by default gensim's sets of English words.
    column : str, optional
        The column of tables that has the sentences.
    seed : int, optional
        Decides which sentences are held out and which candidates are tried; also the models' seed.
    workers : int, optional
        Cores of a training, -1 for all. With 1, two searches give the same result.
    cache_dir : str, optional
        Folder for the encoded corpora, which are removed at the end.
    progress : bool, optional
        Whether to draw a bar; by default on a terminal and in a notebook.
    report : callable, optional
        Called after each training with it, the best one so far, and the part of all epochs that is trained.

    Returns
    -------
    SearchResult
        Its `arguments` are those of the best training.

    Examples
    --------
    >>> from gensim_tfw2v import TFWord2Vec, tune
    >>> found = tune("sessions.txt", settings={"min_count": 1})  # doctest: +SKIP
    >>> model = TFWord2Vec(corpus_file="sessions.txt", **found.arguments)  # doctest: +SKIP
    """
    measured = metric_of(metric, pairs, analogies)
    if items and isinstance(metric, str) and not measured.needs_negatives:
        raise ValueError(f"items are compared by hits@10, ndcg@10 or a function, and metric is {metric!r}")
    sizes = {"trials": trials, "epochs": epochs, "rounds": rounds}
    trials, epochs, rounds = (_SIZE.plain(name, value) for name, value in sizes.items())
    budget = _BUDGET.plain("budget", budget)
    check_corpora(corpus, validation, 1.0 if share is None else share)
    own = _own_values(space, settings)
    dimensions = dimensions_for(measured, own, items)
    defaults = {name: parameter.default for name, parameter in inspect.signature(TFWord2Vec).parameters.items()}
    default = default_candidate(dimensions, defaults)
    if items and "optimizer" not in own:  # of which items have named ones, so that both are tried
        default["optimizer"] = defaults["optimizer"]
    first = first_candidate(dimensions) if items else default
    candidates = draw_candidates(dimensions, first, trials, seed)
    common: dict[str, Any] = {"seed": seed, "workers": workers}
    for candidate in candidates:
        TFWord2Vec(**common, **candidate)  # which checks the values
    plan = plan_rounds(len(candidates), epochs, rounds)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tfw2v-tune-", dir=cache_dir))
        encode = partial(encode_corpora, corpus, validation, seed=seed, column=column)
        corpora = encode(share=1.0 if share is None else share, folder=Path(folder))
        enough = max(tuning.SHARE_OF_SESSIONS, tuning.LEAST_SESSIONS / corpora.trained.sentences)
        if items and share is None and isinstance(validation, float) and enough < 1:
            part = Path(folder) / "part"
            part.mkdir()
            corpora = encode(share=enough, folder=part)
        known = ResultsFile(results, _identity(corpora, measured, seed, pairs, analogies))
        with shown_while("loading TensorFlow", wants_bar(progress) and not is_tensorflow_loaded()):
            load_tensorflow()
        bar = stack.enter_context(contextlib.closing(FractionBar("tune"))) if wants_bar(progress) else None
        search = Search(
            partial(_train_and_measure, corpora, measured, common),
            measured,
            known,
            budget,
            _reports(measured, bar, report),
        )
        return search.run(default, defaults["epochs"], candidates, plan)


def _train_and_measure(
    corpora: SearchCorpora, metric: Metric, common: Mapping[str, Any], settings: Mapping[str, Any], epochs: int
) -> float | None:
    """Return the value of a model with these settings, None if its training diverges or the value is no number."""
    corpus_file = str(corpora.trained.folder)
    try:
        model = TFWord2Vec(corpus_file=corpus_file, epochs=epochs, progress=False, **common, **settings)
    except DivergenceError as error:
        logger.info("training with %s diverged: %s", settings, error)
        return None
    value = metric.measure(model, str(corpora.held_out.folder))
    return value if math.isfinite(value) else None


def _own_values(
    space: Mapping[str, Sequence[Any]] | None, settings: Mapping[str, Any] | None
) -> dict[str, Sequence[Any]]:
    """Return the user's values of settings, one or more of each."""
    own, fixed = dict(space or {}), dict(settings or {})
    both = sorted(own.keys() & fixed.keys())
    if both:
        raise ValueError(f"{both[0]!r} is in settings and in space; leave it out of one of them")
    own |= {name: [value] for name, value in fixed.items()}
    return {name: _plain(values) for name, values in own.items()}


def _plain(values: Any) -> Any:
    """Return a list of values without NumPy's types, which JSON does not have; anything else as it is."""
    if not isinstance(values, list | tuple | np.ndarray):
        return values
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _identity(
    corpora: SearchCorpora,
    metric: Metric,
    seed: int,
    pairs: Sequence[str] | None,
    analogies: Sequence[str] | None,
) -> dict[str, Any]:
    """Return what results depend on beside settings and epochs."""
    return {
        "metric": metric.name,
        "seed": seed,
        "corpus": corpora.trained.fingerprint,
        "validation": corpora.held_out.fingerprint,
        "pairs": None if pairs is None else list(map(str, pairs)),
        "analogies": None if analogies is None else list(map(str, analogies)),
    }


def _reports(metric: Metric, bar: FractionBar | None, report: Report | None) -> list[Report]:
    """Return what is called after each training."""

    def log(trial: Trial, best: Trial, part: float) -> None:
        logger.info("%.0f%%: %s %s with %s", 100 * part, metric.name, trial.value, trial.arguments)

    def draw(trial: Trial, best: Trial, part: float) -> None:
        if bar is not None:
            bar(part, f"best {metric.name} {best.value if best.value is None else format(best.value, '.4f')}")

    return [log, draw, *([] if report is None else [report])]
