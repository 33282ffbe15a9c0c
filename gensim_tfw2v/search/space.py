"""Which settings are searched, with which values, and which combinations of values are tried first."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gensim_tfw2v.corpus.fixed_draws import fractions, key_of
from gensim_tfw2v.search.metrics import Metric

Settings = dict[str, Any]
Dimension = tuple[Settings, ...]
"""The choices of one part of the settings: each sets one of them, or several that belong together."""

_CANDIDATES = 0x74756E65  # purpose of random numbers

# Words without a vector change what is measured, so these settings have one value in a search.
OF_VOCABULARY = ("min_count", "max_vocab_size", "max_final_vocab")
# Losses of different values of these are losses of different things.
OF_LOSS = ("sg", "hs", "negative", "ns_exponent", "window")
SETTABLE = (
    *("vector_size", "sg", "hs", "negative", "ns_exponent", "window", "shrink_windows", "cbow_mean", "sample"),
    *("alpha", "min_alpha", "optimizer", "schedule", "reproducible", *OF_VOCABULARY),
    *("batch_tokens", "run_tokens", "shared_negatives", "update_bound", "compute_dtype"),
)


def _one_by_one(name: str, *values: Any) -> Dimension:
    """Return a choice for each value. Without equal ones, because candidates are drawn until enough of them differ."""
    return tuple({name: value} for place, value in enumerate(values) if value not in values[:place])


# The defaults are among the values.
_OF_TRAINING = (
    _one_by_one("shrink_windows", True, False),
    _one_by_one("sample", 1e-3, 1e-4, 0),
    _one_by_one("alpha", 0.0125, 0.025, 0.05, 0.1),
    _one_by_one("optimizer", None, "sgd"),
)
_OF_WHAT_IS_PREDICTED = (
    _one_by_one("sg", 0, 1),
    _one_by_one("window", 2, 5, 10, 20),
    _one_by_one("ns_exponent", -0.5, 0.0, 0.5, 0.75),
)
# For sessions of items, of which popular ones are no noise, and which come in small numbers. Settings that scored well
# on films are the first of their values (docs/tutorials/items.md).
_OF_ITEMS = (
    _one_by_one("sg", 1, 0),
    _one_by_one("window", 3, 2, 5, 10, 20),
    _one_by_one("ns_exponent", 0.25, 0.0, -0.5, 0.75),
    ({"hs": 0, "negative": 15}, {"hs": 0, "negative": 5}),
    _one_by_one("shrink_windows", False, True),
    _one_by_one("sample", 0, 1e-3, 1e-4),
    _one_by_one("alpha", 0.025, 0.0125, 0.05),
    _one_by_one("optimizer", "adagrad", "sgd"),
    _one_by_one("min_count", 1),
)
_NEGATIVES = ({"hs": 0, "negative": 5}, {"hs": 0, "negative": 15})
_TREE = {"hs": 1, "negative": 0}


def dimensions_for(metric: Metric, own: Mapping[str, Sequence[Any]], items: bool = False) -> list[Dimension]:
    """Return the choices of a search.

    Parameters
    ----------
    metric : Metric
        What is measured, which decides what can be compared.
    own : mapping
        The user's values of settings. One that is named here has only these.
    items : bool
        Whether words are items of sessions. The first choice of each setting is then the one to begin from.

    Raises
    ------
    ValueError
        If a setting cannot be searched, or not with this metric.
    """
    _check(metric, own)
    predictions = _NEGATIVES if metric.needs_negatives else (*_NEGATIVES, _TREE)
    usual: tuple[Dimension, ...] = _OF_ITEMS
    if not items:
        usual = _OF_TRAINING if metric.is_loss else (*_OF_WHAT_IS_PREDICTED, predictions, *_OF_TRAINING)
    others = [dimension for dimension in usual if not any(name in own for name in dimension[0])]
    return others + [_one_by_one(name, *values) for name, values in own.items()]


def _check(metric: Metric, own: Mapping[str, Sequence[Any]]) -> None:
    for name, values in own.items():
        if name not in SETTABLE:
            raise ValueError(f"space has {name!r}, which cannot be searched; it may have {', '.join(SETTABLE)}")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise ValueError(f"space[{name!r}] must be a list of one value or more, got {values!r}")
        if name in OF_VOCABULARY and len(values) > 1:
            raise ValueError(
                f"space[{name!r}] has {len(values)} values, and models of different vocabularies cannot be compared; "
                "give one value"
            )
        if metric.is_loss and name in OF_LOSS and len(values) > 1:
            raise ValueError(
                f"space[{name!r}] has {len(values)} values, and losses with different ones cannot be compared; give "
                "one value, or another metric"
            )
        if metric.needs_negatives and name == "negative" and not all(values):
            raise ValueError(f"metric {metric.name!r} needs negative sampling, and space['negative'] has {values!r}")


def default_candidate(dimensions: Sequence[Dimension], defaults: Mapping[str, Any]) -> Settings:
    """Return the choices that are the defaults, or the first one where there is no such choice."""

    def chosen(dimension: Dimension) -> Settings:
        are_defaults = (choice for choice in dimension if choice.items() <= defaults.items())
        return next(are_defaults, dimension[0])

    return _joined(map(chosen, dimensions))


def first_candidate(dimensions: Sequence[Dimension]) -> Settings:
    """Return the first choices."""
    return _joined(dimension[0] for dimension in dimensions)


def draw_candidates(dimensions: Sequence[Dimension], first: Settings, count: int, seed: int) -> list[Settings]:
    """Return different combinations of choices, `first` and others: so many, or all if there are fewer.

    Each choice of a part of the settings is in about as many combinations as the others of that part.
    """
    sizes = [len(dimension) for dimension in dimensions]
    if int(np.prod(sizes, dtype=object)) <= count:
        places: Iterator[tuple[int, ...]] = itertools.product(*map(range, sizes))
    else:
        draws = [_shuffled_forever(size, key_of([seed, part], _CANDIDATES)) for part, size in enumerate(sizes)]
        places = zip(*draws, strict=False)
    found = [first]
    for place in places:
        if len(found) == count:
            break
        candidate = _joined(dimension[choice] for dimension, choice in zip(dimensions, place, strict=True))
        if candidate not in found:
            found.append(candidate)
    return found


def _shuffled_forever(size: int, key: int) -> Iterator[int]:
    """Yield the numbers below `size` in random order, and then again in other orders."""
    for turn in itertools.count():
        numbers = np.arange(turn * size, (turn + 1) * size)
        yield from np.argsort(fractions(key, numbers)).tolist()


def _joined(choices: Iterable[Settings]) -> Settings:
    return {name: value for choice in choices for name, value in choice.items()}
