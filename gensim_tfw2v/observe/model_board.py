"""A model → its board: what TensorBoard is told of a training that is about to begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gensim_tfw2v.observe.options import TensorBoardLog
from gensim_tfw2v.observe.training_board import Subject, TrainingBoard
from gensim_tfw2v.placement import ModelTables, StepSettings

_HYPERPARAMETERS = (
    "sg", "hs", "negative", "vector_size", "window", "shrink_windows", "cbow_mean", "alpha", "min_alpha", "sample",
    "ns_exponent", "min_count", "epochs", "workers", "seed",
)  # fmt: skip


def start_board(
    model: Any, options: TensorBoardLog, settings: StepSettings, tables: Callable[[], ModelTables]
) -> TrainingBoard:
    """Return the board of a training of `model`, with all that is known beforehand logged."""

    def graph() -> bytes:
        from gensim_tfw2v.graph_arguments import graph_definition

        return graph_definition(settings)

    hyperparameters = {name: _plain(getattr(model, name)) for name in _HYPERPARAMETERS}
    return TrainingBoard(options, Subject(model.wv, hyperparameters | {"words": len(model.wv)}, graph, tables))


def _plain(value: Any) -> Any:
    """Return a setting as the HParams tab takes it: a number or a text."""
    if isinstance(value, bool):
        return int(value)  # the tab cannot filter by truth values
    return value if isinstance(value, int | float | str) else str(value)
