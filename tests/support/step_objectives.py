"""What there is to be trained by a step: each model with each training method."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import pytest

from gensim_tfw2v.blocks.batches import Windows

NUMBER_FORMATS = ("float32", "bfloat16")


class Objective(NamedTuple):
    """What needs a graph of its own."""

    skip_gram: bool
    negative: int
    tree: bool
    mean: bool
    compute_dtype: str
    windows: Windows
    even: bool = False  # running sums add contexts
    adagrad: bool = False

    def __str__(self) -> str:
        """Return the name of its tests."""
        outputs = "+".join(name for name, used in (("neg", self.negative), ("hs", self.tree)) if used)
        model = "sg" if self.skip_gram else f"cbow-{'mean' if self.mean else 'sum'}"
        name = f"{model}-{outputs}-{self.compute_dtype}-{self.windows.value}"
        return name + "-even" * self.even + "-adagrad" * self.adagrad


def objectives() -> list[Objective]:
    """Return all that there are.

    Huffman trees have no mean windows. Skip-gram has no contexts to average, and CBOW no products of bfloat16. Contexts
    within mean windows have different weights.
    """
    return [
        Objective(skip_gram, negative, tree, mean, compute_dtype, windows, even)
        for skip_gram, (negative, tree) in product((True, False), ((5, False), (0, True), (3, True)))
        for mean, compute_dtype in product(*(((True,), NUMBER_FORMATS) if skip_gram else ((True, False), ("float32",))))
        for windows in ((Windows.DRAWN,) if tree else (Windows.DRAWN, Windows.MEAN))
        for even in ((False,) if skip_gram or windows is Windows.MEAN else (False, True))
    ]


def with_adagrad() -> list[Objective]:
    """Return an objective with Adagrad for each model, each training method and each number format."""
    return [
        objective._replace(adagrad=True)
        for objective in objectives()
        if objective.mean and (objective.tree or objective.windows is Windows.MEAN)
    ]


# Each model and each training method.
SOME_OBJECTIVES = [
    Objective(True, 5, False, True, "bfloat16", Windows.MEAN),
    Objective(False, 0, True, False, "float32", Windows.DRAWN),
]


# Those with operations of their own where there is no C.
SOME_WITHOUT_C = [
    Objective(False, 5, False, True, "float32", Windows.MEAN),
    Objective(True, 0, True, True, "float32", Windows.DRAWN),
]


def mostly_slow(every: list[Objective], usual: Sequence[Objective] = SOME_OBJECTIVES) -> list[Any]:
    """Return these objectives, of which most are slow: each needs a graph, which takes seconds."""
    return [
        objective if objective._replace(adagrad=False) in usual else pytest.param(objective, marks=pytest.mark.slow)
        for objective in every
    ]


def with_some_slow(every: list[Objective]) -> list[Any]:
    """Return these objectives, those of two training methods, of sums and of single contexts as slow."""
    return [
        pytest.param(objective, marks=pytest.mark.slow)
        if not objective.mean or (objective.negative and (objective.tree or objective.windows is Windows.DRAWN))
        else objective
        for objective in every
    ]


def slow(every: list[Objective]) -> list[Any]:
    """Return these objectives, all of which are slow."""
    return mostly_slow(every, usual=[])
